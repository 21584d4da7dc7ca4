"""A text that was changed on two servers at once: what each wrote is there, and what one took out is not."""

from __future__ import annotations

import pytest

from hdsp_agent.memory.note_text import NoteText
from hdsp_agent.memory.sharing.line_join import joined_text, line_keys

BASE = "# Notes\n\n- likes polars <!-- hdsp id=a1 -->\n- uses Korean\n  in plots <!-- hdsp id=b2 -->\n"


def joined(mine: str, theirs: str, base: str = BASE) -> str:
    return joined_text(line_keys(base), mine, theirs).text


def test_what_both_added_is_there_where_each_put_it() -> None:
    mine = BASE.replace("- uses", "- new here <!-- hdsp id=c3 -->\n- uses")
    theirs = f"{BASE}- new there <!-- hdsp id=d4 -->\n"
    assert joined(mine, theirs) == mine + "- new there <!-- hdsp id=d4 -->\n"
    notes = [note.id for note in NoteText(joined(theirs, mine)).notes]
    assert sorted(notes) == ["a1", "b2", "c3", "d4"]


def test_what_one_took_out_is_gone_and_what_the_other_wrote_stays() -> None:
    mine = "# Notes\n\n- uses Korean\n  in plots <!-- hdsp id=b2 -->\n"
    theirs = f"{BASE}- new <!-- hdsp id=d4 -->\n"
    for one, other in ((mine, theirs), (theirs, mine)):
        assert [note.id for note in NoteText(joined(one, other)).notes] == ["b2", "d4"]


@pytest.mark.parametrize("theirs", [BASE, f"{BASE}- new\n", "", BASE.replace("polars", "pandas")])
def test_what_only_one_changed_is_as_they_left_it(theirs: str) -> None:
    assert joined(BASE, theirs) == theirs
    assert joined(theirs, BASE) == theirs


def test_a_note_that_both_changed_is_there_twice_and_counted() -> None:
    mine, theirs = BASE.replace("polars", "pandas"), BASE.replace("polars", "duckdb")
    both = joined_text(line_keys(BASE), mine, theirs)
    assert both.twice == 1
    notes = NoteText(both.text).notes
    assert [note.text for note in notes] == ["likes duckdb", "likes pandas", "uses Korean\nin plots"]
    assert len({note.id for note in notes}) == 3


def test_a_line_without_an_id_that_both_changed_is_counted_too() -> None:
    base = "## Tips\n- one\n- two\n"
    both = joined_text(line_keys(base), base.replace("one", "eins"), base.replace("one", "uno"))
    assert (both.text, both.twice) == ("## Tips\n- uno\n- eins\n- two\n", 1)
    added = joined_text(line_keys(base), f"{base}- three\n", f"{base}- four\n")
    assert added.twice == 0 and "- three" in added.text and "- four" in added.text


def test_a_note_that_one_deleted_and_the_other_changed_stays_as_changed() -> None:
    changed = BASE.replace("polars", "pandas")
    deleted = BASE.replace("- likes polars <!-- hdsp id=a1 -->\n", "")
    for one, other in ((changed, deleted), (deleted, changed)):
        assert [note.id for note in NoteText(joined(one, other)).notes] == ["a1", "b2"]


def test_the_same_line_in_two_sections_is_two_lines() -> None:
    base = "## A\n- same\n## B\n- same\n"
    assert joined("## A\n## B\n- same\n", f"{base}- more\n", base) == "## A\n## B\n- same\n- more\n"


def test_texts_that_have_nothing_in_common_are_both_there() -> None:
    both = joined_text([], "# Notes\n\n- mine\n", "# Notes\n\n- theirs\n").text
    assert both == "# Notes\n\n- theirs\n- mine\n"
