"""What the tools are for, shown by example: a small model copies forms better than it follows rules."""

from __future__ import annotations

from typing import Final, NamedTuple

from ...messages import JsonObject

__all__ = ["EXAMPLES", "EXAMPLE_NAMES", "Example"]


class Example(NamedTuple):
    """A request with what was told before it, perhaps a call and what came of it, and the answer."""

    words: str
    answer: str
    call: tuple[str, JsonObject] | None = None
    result: str = ""


_BEGINNING: Final = """Files:
boats.csv: columns harbour text, length_m float, crew int
Oban,12.5,4
Wick,8.0,2
Oban,21.0,9
Cell 1 (failed):
import pandas as pd
boats = pd.read_csv('boat.csv')
boats.groupby('harbour')['crew'].sum()
Output: FileNotFoundError: [Errno 2] No such file or directory: 'boat.csv'
Write boats.csv instead of boat.csv.
"""
_READ: Final = "import pandas as pd\nboats = pd.read_csv('boats.csv')\nboats.groupby('harbour')['crew'].sum()"
_SUMS: Final = "harbour\nOban    13\nWick     2\nName: crew, dtype: int64"
EXAMPLES: Final = (
    Example(
        f"{_BEGINNING}Person: Please fix the error.",
        "Cell 1 reads boats.csv now and shows the crew of each harbour.",
        ("edit_cell", {"cell": 1, "code": _READ}),
        f"Cell 1 ran. Output:\n{_SUMS}",
    ),
    Example(
        "Person: How many boats are longer than 10 m?",
        "2 boats are longer than 10 m.",
        ("add_cell", {"code": "(boats['length_m'] > 10).sum()"}),
        "Cell 2 ran. Output:\n2",
    ),
    Example(
        "Person: Draw the length against the crew.",
        "Cell 3 shows length_m against crew.",
        ("add_cell", {"code": "boats.plot.scatter(x='crew', y='length_m')\nplt.show()"}),
        "Cell 3 ran. Output:\n[picture]",
    ),
    Example(
        "Person: 2번 셀에서 10 대신 20을 써 줘.",
        "2번 셀은 이제 20 m보다 긴 boats를 셉니다.",
        ("edit_cell", {"cell": 2, "code": "(boats['length_m'] > 20).sum()"}),
        "Cell 2 ran. Output:\n1",
    ),
    Example(
        "Person: Add a column length_ft, the length in feet.",
        "boats has length_ft now.",
        ("add_cell", {"code": "boats['length_ft'] = boats['length_m'] * 3.28084\nboats[['length_m', 'length_ft']]"}),
        "Cell 4 ran. Output:\n   length_m  length_ft\n0      12.5    41.0105\n1       8.0    26.2467\n2      21.0    68.8976",
    ),
    Example("Person: What does cell 1 do?", "It reads boats.csv and adds up the crew of each harbour."),
    Example(
        "Person: length_ft を feet に変えて。",
        "length_ft は feet になりました。",
        ("rename_variable", {"old": "length_ft", "new": "feet"}),
        "length_ft is feet now in cells 4.\nCell 4 ran. Output:\n   length_m     feet\n0      12.5  41.0105",
    ),
    Example(
        "Person: Delete cell 3.",
        "The picture of the boats is gone.",
        ("delete_cell", {"cell": 3}),
        "Cell 3 is gone; those below it moved up.",
    ),
    Example("Person: What is the average age?", "There is no age: boats has harbour, length_m, crew and feet."),
)
EXAMPLE_NAMES: Final = ("boats", "harbour", "length_m", "length_ft", "Oban", "Wick")
"""An answer that says one of these, and nobody else did, tells of the examples."""
