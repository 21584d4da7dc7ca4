"""The lines of marks.jsonl and what they come to when replayed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdsp_agent.persistence.marks._marks import (
    AnyMark,
    CondenseMark,
    RewindMark,
    TruncateMark,
    UndoMark,
    UnknownMark,
    parse_mark,
    truncation_text,
)
from hdsp_agent.persistence.marks._replay import MarkReplay, replay
from hdsp_agent.persistence.marks._spans import EVERYTHING, OPEN, Span, SpanSet

SAMPLES: list[AnyMark] = [
    CondenseMark(
        id="c", ts=1, ui_end=90, api_end=5, condense_id="A", summary_seq=5, covers=[(1, 4)], after=4, event_ts=100
    ),
    TruncateMark(
        id="t",
        ts=2,
        ui_end=100,
        api_end=9,
        truncation_id="T",
        hides=[(6, 7)],
        count=2,
        before=8,
        marker_ts=79,
        event_ts=110,
    ),
    RewindMark(id="r", ts=3, ui_end=110, api_end=9, target_ts=60, api_cutoff=61, ui_from=60, api_hides=[(3, 9)]),
    UndoMark(id="u", ts=4, ui_end=110, api_end=9, target="r"),
]


@pytest.mark.parametrize("mark", SAMPLES, ids=lambda mark: mark.kind)
def test_a_mark_is_one_line_that_reads_back_the_same(mark: CondenseMark) -> None:
    line = mark.to_json()
    assert "\n" not in line
    assert parse_mark(line) == mark
    assert parse_mark(line.encode()) == mark


def test_the_names_on_disk_are_those_of_the_wire() -> None:
    assert json.loads(SAMPLES[0].to_json()) == {
        "id": "c",
        "ts": 1,
        "uiEnd": 90,
        "apiEnd": 5,
        "kind": "condense",
        "condenseId": "A",
        "summarySeq": 5,
        "covers": [[1, 4]],
        "after": 4,
        "eventTs": 100,
    }


def test_a_field_of_a_later_version_does_no_harm() -> None:
    line = json.dumps({**json.loads(SAMPLES[3].to_json()), "why": "a slip"})
    assert parse_mark(line) == SAMPLES[3]


@pytest.mark.parametrize("line", ["", "{", "[]", "7", '{"kind": 3}', '{"id": "x"}', '{"kind": "undo", "id": "x"}'])
def test_a_line_that_is_no_mark_is_a_value_error(line: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_mark(line)


def test_a_kind_of_a_later_version_has_no_effect_and_is_reported() -> None:
    unknown = parse_mark('{"kind": "splice", "id": "s", "ts": 5, "with": {"x": 1}}')
    assert unknown == UnknownMark(kind="splice", id="s", ts=5)
    marks = MarkReplay([SAMPLES[0], unknown, SAMPLES[1]])
    assert marks.view == replay(SAMPLES[:2])
    assert [(problem.mark_id, problem.kind) for problem in marks.problems] == [("s", "splice")]


def test_a_mark_written_twice_counts_once_and_is_reported() -> None:
    marks = MarkReplay([SAMPLES[2], SAMPLES[2]])
    assert marks.view == replay([SAMPLES[2]])
    assert len(marks.problems) == 1


def test_an_undo_of_a_lost_mark_has_no_effect_and_is_reported() -> None:
    marks = MarkReplay([SAMPLES[0], SAMPLES[3]])
    assert marks.view == replay([SAMPLES[0]])
    assert [problem.mark_id for problem in marks.problems] == ["u"]


def test_undoing_twice_the_same_mark_has_no_second_effect() -> None:
    again = SAMPLES[3].model_copy(update={"id": "v"})
    marks = MarkReplay([SAMPLES[2], SAMPLES[3], again])
    assert marks.view == replay([SAMPLES[2], SAMPLES[3]])
    assert [problem.mark_id for problem in marks.problems] == ["v"]


def test_a_later_undo_of_the_same_thing_supersedes_the_earlier() -> None:
    condense = SAMPLES[0]
    undo = [UndoMark(id=f"u{n}", ts=n, ui_end=100, api_end=5, target=t) for n, t in enumerate(["c", "u0", "c", "u1"])]
    marks = MarkReplay([condense, *undo])
    assert not marks.view.condenses
    assert [problem.mark_id for problem in marks.problems] == ["u3"]


def test_pieces_name_the_spans_and_put_summary_and_marker_in_place() -> None:
    pieces = replay(SAMPLES[:2]).api_pieces()
    assert [piece if isinstance(piece, Span) else piece.truncation_id for piece in pieces] == [
        Span(0, 0),
        Span(5, 5),
        "T",
        Span(8, OPEN),
    ]


def test_the_marker_says_what_roo_code_s_says() -> None:
    assert truncation_text(6) == "[Sliding window truncation: 6 messages hidden to reduce context]"


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), st.booleans())))
def test_spans_are_the_sets_they_stand_for(steps: list[tuple[int, int, bool]]) -> None:
    spans, expected = EVERYTHING, set(range(40))
    for first, last, opening in steps:
        if opening:
            spans = spans.open_from(first)
            expected |= set(range(first, 40))
        else:
            spans = spans.without(first, last)
            expected -= set(range(first, last + 1))
    member = spans.membership()
    assert {n for n in range(40) if n in spans} == expected
    assert {n for n in range(40) if member(n)} == expected
    assert {n for n in reversed(range(40)) if member(n)} == expected
    assert all(one.last + 1 < two.first for one, two in zip(spans.items, spans.items[1:], strict=False))
    assert SpanSet.of(spans.items) == spans
    assert spans.until(17).items == tuple(Span(s.first, min(s.last, 17)) for s in spans.items if s.first <= 17)
