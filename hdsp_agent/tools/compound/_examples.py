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
| Oban,12.5,4
| Wick,8.0,2
| Oban,21.0,9
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
        f"{_BEGINNING}Person: 오류를 없애 줘.",
        "이제 1번 셀이 boats.csv를 읽습니다.",
        ("edit_cell", {"cell": 1, "code": _READ}),
        f"Cell 1 ran. Output:\n{_SUMS}",
    ),
    Example("Person: What is the average age?", "There is no age: boats has harbour, length_m and crew."),
    Example(
        "Person: harbour별 crew 합계를 막대그래프로.",
        "2번 셀에 harbour별 crew 합계가 있습니다.",
        ("add_cell", {"code": "boats.groupby('harbour')['crew'].sum().plot.bar()\nplt.show()"}),
        "Cell 2 ran. Output:\n[picture]",
    ),
    Example(
        "Person: Delete cell 2.",
        "Cell 2 is gone.",
        ("delete_cell", {"cell": 2}),
        "Cell 2 is gone; those below it moved up.",
    ),
    Example(
        "Person: 10 mより長い船はいくつ？",
        "10 mより長いboatsは2です。",
        ("add_cell", {"code": "(boats['length_m'] > 10).sum()"}),
        "Cell 2 ran. Output:\nnp.int64(2)",
    ),
    Example(
        "Person: In cell 2 use 20 instead of 10.",
        "Cell 2 counts the boats that are longer than 20 m now.",
        ("edit_cell", {"cell": 2, "code": "(boats['length_m'] > 20).sum()"}),
        "Cell 2 ran. Output:\nnp.int64(1)",
    ),
    Example(
        "Person: Add a column length_ft, the length in feet.",
        "boats has a column length_ft now.",
        ("add_cell", {"code": "boats['length_ft'] = boats['length_m'] * 3.28084"}),
        "Cell 3 ran without output.",
    ),
    Example("Person: What does cell 1 do?", "It reads boats.csv and adds up the crew of each harbour."),
    Example(
        "Person: Please call length_ft feet.",
        "The column length_ft is called feet now.",
        ("rename_variable", {"old": "length_ft", "new": "feet"}),
        "length_ft is feet now in cells 3.\nCell 3 ran without output.",
    ),
    Example(
        "Person: How large is the largest crew?",
        "The largest crew of the boats is 9.",
        ("add_cell", {"code": "boats['crew'].max()"}),
        "Cell 4 ran. Output:\nnp.int64(9)",
    ),
)
EXAMPLE_NAMES: Final = ("boats", "harbour", "length_m", "length_ft", "Oban", "Wick")
"""An answer that says one of these, and nobody else did, tells of the examples."""
