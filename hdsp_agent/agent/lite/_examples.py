"""A short conversation that shows a small model what is expected: it copies forms better than it follows rules."""

from __future__ import annotations

import json
from collections.abc import Collection
from functools import lru_cache
from typing import Final

from ...messages import ApiMessage

__all__ = ["OTHER_NOTEBOOK", "examples"]

OTHER_NOTEBOOK: Final = "This is another notebook."
"""Begins the first real message, so that the examples' cells are not taken for its own."""

_PLOT: Final = "import numpy as np\nimport matplotlib.pyplot as plt\n\nx = np.linspace(-3, 3, 200)\nplt.plot(x, x ** 2)\nplt.show()"
_EXAMPLES: Final[tuple[tuple[str, dict[str, object], str, str], ...]] = (
    (
        "Cell 1 (failed):\ntotal = sum(score)\nprint(total)\nOutput: NameError: name 'score' is not defined\n"
        + "Variables:\nscores: list of length 3 = [88, 97, 91]\nPerson: Fix cell 1.",
        {"tool": "edit_cell", "cell": 1, "code": "total = sum(scores)\nprint(total)"},
        "Cell 1 ran. Output:\n276",
        "Cell 1 works now and prints 276.",
    ),
    (
        "Person: Draw y = x squared from -3 to 3.",
        {"tool": "add_cell", "code": _PLOT},
        "Cell 2 ran. Output:\n[picture]",
        "Cell 2 shows the curve of x squared.",
    ),
    (
        "Person: What is the largest value in scores?",
        {"tool": "add_cell", "code": "max(scores)"},
        "Cell 3 ran. Output:\n97",
        "The largest value in scores is 97.",
    ),
)


def examples(tools: Collection[str]) -> list[ApiMessage]:
    """The examples whose tools the model has."""
    return list(_messages(frozenset(tools)))


@lru_cache(maxsize=8)
def _messages(tools: frozenset[str]) -> tuple[ApiMessage, ...]:
    made: list[ApiMessage] = []
    for words, call, result, answer in _EXAMPLES:
        if call["tool"] not in tools:
            continue
        made += [
            _message("user", words),
            _message("assistant", json.dumps(call)),
            _message("user", result),
            _message("assistant", json.dumps({"tool": "answer", "text": answer})),
        ]
    return tuple(made)


def _message(role: str, text: str) -> ApiMessage:
    return ApiMessage.model_validate({"role": role, "content": [{"type": "text", "text": text}]})
