"""What the tools are for, shown by example: words, a call, what came of it, and the answer."""

from __future__ import annotations

from typing import Final

from ...messages import JsonObject

__all__ = ["EXAMPLES", "MARKS"]

_PLOT: Final = "import numpy as np\nimport matplotlib.pyplot as plt\n\nx = np.linspace(-3, 3, 200)\nplt.plot(x, x ** 2)\nplt.show()"
EXAMPLES: Final[tuple[tuple[str, tuple[str, JsonObject], str, str], ...]] = (
    (
        "Cell 1 (failed):\ntotal = sum(score)\nprint(total)\nOutput: NameError: name 'score' is not defined\n"
        + "Variables:\nscores: list of length 3 = [88, 97, 91]\nPerson: Fix cell 1.",
        ("edit_cell", {"cell": 1, "code": "total = sum(scores)\nprint(total)"}),
        "Cell 1 ran. Output:\n276",
        "Cell 1 works now and prints 276.",
    ),
    (
        "Person: Draw y = x squared from -3 to 3.",
        ("add_cell", {"code": _PLOT}),
        "Cell 2 ran. Output:\n[picture]",
        "Cell 2 shows the curve of x squared.",
    ),
    (
        "Person: What is the largest value in scores?",
        ("add_cell", {"code": "max(scores)"}),
        "Cell 3 ran. Output:\n97",
        "The largest value in scores is 97.",
    ),
)
MARKS: Final = ("scores", "x squared", "276")
"""An answer that says one of these tells of the examples."""
