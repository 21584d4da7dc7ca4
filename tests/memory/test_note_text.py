"""Notes are list items of a Markdown file: what a person writes around them, and by hand, stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdsp_agent.errors import NotFound
from hdsp_agent.memory.note_text import Note, NoteText, new_note

BY_HAND = """# Mine

Some words of my own.

- Use polars instead of pandas.
* Dates are written as 2026-11-27.
  Also in file names.

## Names
1. not a note
- Call the customer table `cust`. <!-- hdsp id=0a1b2c3d day=2026-10-01 task=t-1 pinned -->

```python
- not_a_note
```
"""


def test_every_list_item_is_a_note_also_one_that_was_written_by_hand() -> None:
    notes = NoteText(BY_HAND).notes
    assert [note.text for note in notes] == [
        "Use polars instead of pandas.",
        "Dates are written as 2026-11-27.\nAlso in file names.",
        "Call the customer table `cust`.",
    ]
    assert notes[2] == Note("0a1b2c3d", "Call the customer table `cust`.", "2026-10-01", "t-1", pinned=True)
    assert len({note.id for note in notes}) == 3


def test_a_note_is_added_changed_and_deleted_and_all_else_stays_as_it_is() -> None:
    note = new_note("Ask before\n\ndeleting files", day="2026-11-27", task="t-2")
    added = NoteText(BY_HAND).with_note(note)
    assert added.get(note.id).text == "Ask before\ndeleting files"
    changed = added.changed(Note(note.id, "Never delete files", "2026-11-28"))
    assert changed.get(note.id) == Note(note.id, "Never delete files", "2026-11-28")
    by_hand = NoteText(BY_HAND).notes[0]
    for text in (added, changed):
        assert text.get(by_hand.id) == by_hand
        assert text.without(note.id).text.rstrip() == BY_HAND.rstrip()
    with pytest.raises(NotFound):
        added.without("ffffffff")


def test_what_a_model_is_told_has_days_and_ids_and_no_comments() -> None:
    told = NoteText(BY_HAND).told
    assert "<!--" not in told and "# Mine\n" not in told
    assert "Some words of my own." in told and "## Names" in told
    assert told.startswith("- Call the customer table `cust`. (2026-10-01, id 0a1b2c3d)\n"), "a pinned one comes first"
    assert told.count("`cust`") == 1


def test_the_same_words_twice_are_two_notes() -> None:
    notes = NoteText("- once\n- once\n").notes
    assert len(notes) == 2 and notes[0].id != notes[1].id
    assert NoteText("- once\n- once\n").without(notes[1].id).notes == [notes[0]]


@given(st.lists(st.text(max_size=60), max_size=8), st.text(max_size=200))
def test_whatever_is_written_can_be_read_back_and_taken_out(texts: list[str], before: str) -> None:
    begin = NoteText(before)
    now, added = begin, list[Note]()
    for text in texts:
        note = new_note(text, day="2026-11-27")
        if not note.text:
            continue
        now = now.with_note(note)
        added.append(note)
        # Behind a fence that nobody closed there are no list items.
        if all(known.id != note.id for known in now.notes):
            return
    for note in added:
        assert now.get(note.id).text == note.text.strip()
    for note in added:
        now = now.without(note.id)
    assert [note.text for note in now.notes] == [note.text for note in begin.notes]


def test_people_read_notes_without_days_and_ids() -> None:
    text = NoteText("# Mine\n- Use polars <!-- 2026-11-27 id=a1b2c3d4 -->\n- Two\n  lines\n\nA word of mine.\n")
    assert text.plain == "- Use polars\n- Two\n  lines\nA word of mine."
    assert "id " in text.told
