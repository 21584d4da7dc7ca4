"""Which cell a request means: by its number, by what stands in it, because it failed; and when nobody can tell."""

from __future__ import annotations

import pytest

from hdsp_agent.tools.compound._target_cell import CellCandidate, is_identified

READ = CellCandidate("import pandas as pd\nflats = pd.read_csv('flats.csv')")
MEAN = CellCandidate("flats['rent'].mean()")
PLOT = CellCandidate("flats['size'].plot()\nplt.title('Sizes')")
LIMIT = CellCandidate("limit = 100\nprint(limit)")
USES = CellCandidate("flats[flats['rent'] > limit]")
CELLS = [READ, MEAN, PLOT, LIMIT, USES]


def meant(
    words: str, cells: list[CellCandidate] = CELLS, here: int | None = None, *, deletes: bool = False, code: str = "0"
) -> list[int]:
    """The cells that may be given this code, or be deleted."""
    new = None if deletes else code
    return [at for at in range(1, len(cells) + 1) if is_identified(at, cells, words, here=here, code=new)]


@pytest.mark.parametrize(
    ("words", "cells"),
    [
        ("Improve cell 2.", [2]),
        ("2번 셀을 다듬어 줘", [2]),
        ("セル2を短くして", [2]),
        ("Change the limit to 90.", [4]),
        ("limit를 90으로 바꿔 줘", [4]),
        ("limitを90に変えて", [4]),
        ("Make the size plot red.", [3]),
        ("Change 'Sizes' to 'Areas'.", [3]),
    ],
)
def test_a_number_or_a_name_identifies_one_cell(words: str, cells: list[int]) -> None:
    assert meant(words) == cells


@pytest.mark.parametrize(
    "words",
    [
        "Make it nicer.",
        "더 예쁘게 해 줘",
        "もっときれいにして",
        "Add a column with the floor.",
        "새 열을 추가해 줘",
        "列を追加して",
        "Change the colour.",
        # Named in two cells alike, and the person is in neither.
        "Round the rent.",
        # A count is no number of a cell.
        "Delete the last 2 rows.",
        "4개만 보여 줘",
        # A question is no wish for a change of what is named in it.
        "What is the limit?",
        "limit는 얼마야?",
    ],
)
def test_a_request_that_names_no_cell_means_none(words: str) -> None:
    assert meant(words) == []


def test_the_cell_that_the_person_is_in_breaks_a_tie() -> None:
    assert meant("Round the rent.", here=2) == [2]
    assert meant("Make it nicer.", here=2) == []


def test_the_only_cell_that_failed_may_be_mended_and_not_deleted() -> None:
    cells = [READ, CellCandidate("flats['rnet'].mean()", failed=True)]
    assert meant("고쳐 줘", cells) == [2] and meant("直して", cells) == [2]
    assert meant("Remove it.", cells, deletes=True) == []
    assert meant("Fix it.", [*cells, CellCandidate("1 / 0", failed=True)]) == []
    assert meant("Why does it fail?", cells) == []


def test_a_value_is_not_taken_for_the_number_of_a_cell() -> None:
    # 5 is what the limit is to be; cell 5 is another one.
    assert meant("Change limit to 5.", code="limit = 5\nprint(limit)") == [4]
    assert meant("In cell 4 use 5 instead of 100.", code="limit = 5\nprint(limit)") == [4]
    assert meant("In cell 5 use limit instead of 90.", code="flats[flats['rent'] > limit]") == [4, 5]


def test_a_deletion_needs_a_number_or_a_cell_that_the_agent_added() -> None:
    assert meant("Delete cell 3.", deletes=True) == [3]
    assert meant("3번 셀을 지워 줘", deletes=True) == [3]
    assert meant("Delete the plot of the size.", deletes=True) == []
    assert meant("Remove the duplicates of flats, keep 2.", deletes=True) == []
    own = [READ, CellCandidate("x = 1", is_own=True, was_added=True, told=0)]
    assert meant("Undo that.", own, deletes=True) == [2]
    assert meant("Undo that.", [READ, CellCandidate("x = 1", is_own=True)], deletes=True) == []


def test_numbers_are_those_of_when_the_person_spoke() -> None:
    # Cell 2 is gone: what was 3 stands there now.
    moved = [READ, CellCandidate("x = 1", told=3), CellCandidate("y = 2", told=4)]
    assert meant("Delete cell 2.", moved, deletes=True) == []
    assert meant("Delete cell 3.", moved, deletes=True) == [2]
