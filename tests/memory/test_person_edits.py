"""What a person wrote into a generated file, or took out, holds whatever the next consolidation writes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hdsp_agent.memory.person_edits import PersonEdits, edits_between, with_edits

PUBLISHED = """# Task Group: churn

## Task 1: clean
### learnings
- Ages are in months [aaaa]
- Rows with id 0 are tests [bbbb]

## General Tips
- Sort first [aaaa]
"""


def test_a_line_that_a_person_wrote_stays_under_its_heading() -> None:
    by_hand = PUBLISHED.replace("- Sort first [aaaa]", "- Sort first [aaaa]\n- Never sort in place")
    edits = edits_between(PUBLISHED, by_hand)
    assert [(line.text, line.heading) for line in edits.written] == [("- Never sort in place", "## General Tips")]
    assert edits.removed == []
    new = "# Task Group: churn\n\n## General Tips\n- Index first [cccc]\n\n# Task Group: other\n"
    assert with_edits(new, edits) == (
        "# Task Group: churn\n\n## General Tips\n- Index first [cccc]\n- Never sort in place\n\n# Task Group: other\n"
    )


def test_a_line_whose_heading_is_gone_stays_as_well() -> None:
    edits = edits_between("", "## Somewhere\n- mine\n")
    new = with_edits("# Task Group: x\n", edits)
    assert "- mine" in new and new.count("## Written by you") == 1
    assert with_edits(new, edits) == new


def test_a_line_that_a_person_took_out_does_not_come_back() -> None:
    edits = edits_between(PUBLISHED, PUBLISHED.replace("- Rows with id 0 are tests [bbbb]\n", ""))
    assert edits.removed == ["- Rows with id 0 are tests [bbbb]"]
    assert "id 0" not in with_edits(PUBLISHED, edits)


def test_the_last_word_counts() -> None:
    first = edits_between("- a\n", "- a\n- mine\n")
    taken_back = first.joined(edits_between("- a\n- mine\n", "- a\n"))
    assert "- mine" not in with_edits("- a\n- mine\n", taken_back)
    again = taken_back.joined(edits_between("- a\n", "- a\n- mine\n"))
    assert "- mine" in with_edits("- a\n", again)


LINES = st.lists(st.sampled_from(["# One", "## Two", "- a", "- b", "- c", "words", ""]), max_size=12).map("\n".join)


def test_a_line_is_the_same_whatever_it_was_learned_from() -> None:
    removed = edits_between("- a [aaaa]\n", "- b [aaaa]\n")
    assert with_edits("- a [cccc, aaaa]\n- b [dddd]\n", removed) == "- b [dddd]\n"


@given(LINES, LINES, LINES)
def test_whatever_is_written_next_all_the_persons_lines_are_in_it_and_none_of_those_they_took_out(
    published: str, by_hand: str, new: str
) -> None:
    edits = edits_between(published, by_hand)
    lines = {line.strip() for line in with_edits(new, edits).split("\n")}
    assert {line.text for line in edits.written} <= lines
    assert not set(edits.removed) & lines
    assert PersonEdits().joined(edits) == edits
