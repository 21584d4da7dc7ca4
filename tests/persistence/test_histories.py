"""The effective histories: pure functions of logs and marks that hold whatever was done."""

from __future__ import annotations

import contextlib
from collections.abc import Coroutine, Sequence
from functools import cache
from typing import TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from hdsp_agent.errors import Conflict, InvalidInput, NotFound
from hdsp_agent.messages import ApiMessage, ClineMessage
from hdsp_agent.persistence._records import ApiRecord
from hdsp_agent.persistence.marks._forks import fork_at
from hdsp_agent.persistence.marks._histories import effective_ui
from hdsp_agent.persistence.marks._marks import CondenseMark, Mark, TruncateMark, truncation_text
from hdsp_agent.persistence.marks._replay import replay
from tests.persistence._helpers.effective_history import effective_api, roo_messages, visible_api, whole_pairs

from .._helpers.long_tests import rounds
from .._helpers.timing import lines_run
from ._helpers.conversation import Conversation, text_of

T = TypeVar("T")


def done(coroutine: Coroutine[object, object, T]) -> T:
    """The outcome of what never waits, the log being in memory."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        outcome: T = stop.value
        return outcome
    raise AssertionError("It waits for something.")


def blocks(record: ApiRecord | ApiMessage, kind: str, key: str) -> list[str]:
    content = [] if isinstance(record.content, str) else record.content
    return [str(block[key]) for block in content if block["type"] == kind]


def assert_paired(history: Sequence[ApiRecord]) -> None:
    """Every call is answered once in the turn right after it, and every answer has its call there."""
    asked: list[str] = []
    answered: list[str] = []
    in_answer = False
    for record in history:
        if record.role == "assistant":
            if in_answer:
                assert sorted(asked) == sorted(answered)
                asked, answered, in_answer = [], [], False
            asked += blocks(record, "tool_use", "id")
        else:
            in_answer = True
            answered += blocks(record, "tool_result", "tool_use_id")
    assert sorted(asked) == sorted(answered)


def roo_effective(messages: Sequence[ApiMessage]) -> list[ApiMessage]:
    """What Roo Code sends of a tagged history, as reference/roo.md §2.5 puts it; calls may lack answers."""
    last = max((index for index, message in enumerate(messages) if message.is_summary), default=None)
    shown = messages if last is None else messages[last:]
    summaries = {message.condense_id for message in shown if message.is_summary}
    markers = {message.truncation_id for message in shown if message.is_truncation_marker}
    return [
        message
        for message in shown
        if (message.condense_parent is None or message.condense_parent not in summaries)
        and (message.truncation_parent is None or message.truncation_parent not in markers)
    ]


def roo_rewound(messages: Sequence[ApiMessage], ts: int, removed: set[str | None]) -> list[ApiMessage]:
    """What Roo Code's rewind leaves of a tagged history (§2.7); ``removed`` are the ids of the events it removes.

    Unlike Roo's, a marker takes no part in finding the cut: it is no message of the person. And a summary takes part
    where it was written, not where it stands; for Roo, whose summaries cover everything before them, that is the same.
    """
    timed = [message for message in messages if message.ts is not None and not message.is_truncation_marker]
    cutoff = ts
    if all(message.ts != ts for message in timed) and any((message.ts or 0) < ts for message in timed):
        cutoff = min((m.ts for m in timed if m.role == "user" and m.ts is not None and m.ts >= ts), default=ts)
    kept = [message for message in messages if message.ts is None or message.ts < cutoff]
    kept = [message for message in kept if not message.is_summary or message.condense_id not in removed]
    kept = [message for message in kept if not message.is_truncation_marker or message.truncation_id not in removed]
    summaries = {message.condense_id for message in kept if message.is_summary}
    markers = {message.truncation_id for message in kept if message.is_truncation_marker}
    return [
        message.model_copy(
            update={
                "condense_parent": message.condense_parent if message.condense_parent in summaries else None,
                "truncation_parent": message.truncation_parent if message.truncation_parent in markers else None,
            }
        )
        for message in kept
    ]


State = tuple[list[ClineMessage], list[ApiRecord]]


class Histories(RuleBasedStateMachine):
    """Any sequence of messages, condensations, truncations, rewinds and undos."""

    def __init__(self) -> None:
        super().__init__()
        self.talk = Conversation()
        self.calls = 0

    def state(self) -> State:
        marks = self.talk.marks
        return effective_ui(self.talk.ui, marks), effective_api(self.talk.api, marks)

    def undone_and_redone(self, before: State) -> None:
        """Right after a change: taking it back and bringing it again lead to the same histories, any number of times."""
        after = self.state()
        for _ in range(2):
            done(self.talk.manager.undo())
            assert self.state() == before
            done(self.talk.manager.redo())
            assert self.state() == after

    @rule(timed=st.booleans(), race=st.booleans())
    def person_writes(self, timed: bool, race: bool) -> None:
        self.talk.say(f"q{self.talk.clock}", say="user_feedback")
        if race:
            self.talk.write("assistant", f"still writing {self.talk.clock}")
        self.talk.write("user", f"q{self.talk.clock}", ts=0 if timed else None)

    @rule(timed=st.booleans())
    def model_writes(self, timed: bool) -> None:
        self.talk.say(f"a{self.talk.clock}")
        self.talk.write("assistant", f"a{self.talk.clock}", ts=0 if timed else None)

    @rule(count=st.integers(1, 3), answered=st.integers(0, 3))
    def tools_run(self, count: int, answered: int) -> None:
        names = [f"t{self.calls + index}" for index in range(count)]
        self.calls += count
        self.talk.use_tools(*names, answered=names[:answered])

    @rule(call=st.integers(0, 20))
    def a_late_answer_arrives(self, call: int) -> None:
        self.talk.write("user", [{"type": "tool_result", "tool_use_id": f"t{call}", "content": "late"}])

    @rule()
    def a_summary_is_written_but_not_write_if_leased(self) -> None:
        self.talk.write("user", "never in force", summary=f"lost {self.talk.clock}")

    @rule(spare=st.integers(0, 4), event=st.booleans())
    def condense(self, spare: int, event: bool) -> None:
        seq = self.talk.write("user", f"summary {self.talk.clock}", summary=f"C{self.talk.clock}")
        name = self.talk.api[-1].condense_id or ""
        before = self.state()
        event_ts = self.talk.tick()
        through = max(seq - 1 - spare, 1)
        try:
            done(self.talk.manager.condense(condense_id=name, summary_seq=seq, event_ts=event_ts, through=through))
        except InvalidInput:
            return
        self.undone_and_redone(before)
        if event:
            self.talk.say(name, say="condense_context", ts=event_ts)

    @rule(fraction=st.sampled_from([0.0, 0.3, 0.5, 0.75, 1.0]), event=st.booleans())
    def truncate(self, fraction: float, event: bool) -> None:
        before = self.state()
        visible = {record.seq for record in visible_api(self.talk.api, self.talk.manager.view)}
        name, event_ts = f"T{self.talk.clock}", self.talk.tick()
        mark = done(self.talk.manager.truncate(truncation_id=name, event_ts=event_ts, fraction=fraction))
        if mark is None:
            return
        assert mark.count % 2 == 0
        hidden = [seq for first, last in mark.hides for seq in range(first, last + 1)]
        assert len(hidden) == mark.count
        assert visible.issuperset(hidden)
        self.undone_and_redone(before)
        if event:
            self.talk.say(name, say="sliding_window_truncation", ts=event_ts)

    @precondition(lambda self: self.state()[0])
    @rule(data=st.data(), include=st.booleans(), keep=st.booleans())
    def rewind(self, data: st.DataObject, include: bool, keep: bool) -> None:
        before = self.state()
        place = data.draw(st.integers(0, len(before[0]) - 1))
        ts = before[0][place].ts
        tagged = roo_messages(self.talk.api, self.talk.marks)
        folds = [mark for mark in replay(self.talk.marks).applied if isinstance(mark, CondenseMark | TruncateMark)]
        gone = [mark for mark in folds if mark.event_ts > ts or (mark.event_ts == ts and not include)]
        ids: set[str | None] = {
            mark.condense_id if isinstance(mark, CondenseMark) else mark.truncation_id for mark in gone
        }
        mark = done(self.talk.manager.rewind_to_timestamp(ts, include_target_message=include))
        after = self.state()
        assert after[0] == before[0][: place + 1 if include else place]
        assert roo_messages(self.talk.api, self.talk.marks) == roo_rewound(tagged, ts, ids)
        if mark is not None:
            self.undone_and_redone(before)
            if not keep:
                done(self.talk.manager.undo())

    @rule(aside=st.booleans())
    def undo(self, aside: bool) -> None:
        before = self.state()
        try:
            mark = done(self.talk.manager.undo(newer="set_aside" if aside else "refuse"))
        except (Conflict, NotFound):
            assert self.state() == before
            return
        after = self.state()
        done(self.talk.manager.undo(mark.id))
        assert self.state() == before
        done(self.talk.manager.undo(newer="set_aside"))
        assert self.state() == after

    @rule(aside=st.booleans())
    def redo(self, aside: bool) -> None:
        with contextlib.suppress(Conflict, NotFound):
            done(self.talk.manager.redo(newer="set_aside" if aside else "refuse"))

    @rule()
    def another_process_opens_the_task(self) -> None:
        before = self.talk.manager.view
        self.talk.manager = self.talk.reopened()
        assert self.talk.manager.view == before

    @invariant()
    def the_model_s_history_is_paired_ordered_and_orphan_free(self) -> None:
        history = self.state()[1]
        assert_paired(history)
        seqs = [record.seq for record in history if record.seq and not record.is_summary]
        assert seqs == sorted(set(seqs))
        summaries = [record for record in history if record.is_summary]
        assert len(summaries) <= 1
        standing = self.talk.manager.view.condenses
        assert [record.seq for record in summaries] == [mark.summary_seq for mark in standing[-1:]]
        truncations = {mark.truncation_id for mark in self.talk.manager.view.truncations}
        assert all(record.truncation_id in truncations for record in history if record.is_truncation_marker)

    @invariant()
    def the_screen_is_in_order(self) -> None:
        times = [message.ts for message in self.state()[0]]
        assert times == sorted(set(times))

    @invariant()
    def reading_by_pages_gives_the_same(self) -> None:
        ui, api = self.state()
        assert list(whole_pairs(done(self.talk.manager.api_history()))) == api
        pages: list[ClineMessage] = []
        before: int | None = None
        while page := done(self.talk.manager.ui_page(before, limit=3)):
            pages = [*page, *pages]
            before = page[0].ts
        assert pages == ui

    @invariant()
    def roo_code_would_send_the_same_of_an_export(self) -> None:
        exported = roo_effective(roo_messages(self.talk.api, self.talk.marks))
        counts = {mark.truncation_id: mark.count for mark in self.talk.marks if isinstance(mark, TruncateMark)}
        records: list[ApiRecord] = []
        hidden = 0
        for message in exported:
            hidden = hidden + counts[message.truncation_id or ""] if message.is_truncation_marker else 0
            record = ApiRecord.model_validate(
                {**message.to_wire(), "seq": 1, "timestamp": "", "token_count": 0}, by_alias=True, by_name=True
            )
            if hidden:
                record = record.model_copy(update={"content": truncation_text(hidden)})
                # Ours says once for all markers side by side what Roo's say one by one.
                if records and records[-1].is_truncation_marker:
                    records.pop()
            records.append(record)
        assert [text_of(record) for record in whole_pairs(records)] == [text_of(record) for record in self.state()[1]]


Histories.TestCase.settings = settings(
    max_examples=rounds(20, 150), stateful_step_count=30, deadline=None, report_multiple_bugs=False
)
TestHistories = pytest.mark.slow(Histories.TestCase)


@cache
def long_conversation(messages: int, marks: int) -> Conversation:
    """Tool calls and answers, with rewinds, truncations, condensations and undos among them."""
    talk = Conversation()
    every = messages // marks
    for number in range(messages // 2):
        talk.use_tools(f"t{number}")
        if number * 2 % every != every - 2:
            continue
        match number * 2 // every % 4:
            case 0:
                done(talk.manager.rewind_to_timestamp(talk.ui[-1].ts))
            case 1:
                done(talk.truncate(f"T{number}", 0.1))
            case 2:
                done(talk.manager.undo())
            case _:
                done(talk.condense(f"C{number}", through=talk.last_api_seq // 4))
    return talk


def test_the_cost_of_a_history_grows_with_its_length_and_no_faster() -> None:
    talk = long_conversation(10_000, 100)
    marks: list[Mark] = talk.marks
    assert len(marks) == 100
    assert len(talk.api) > 10_000

    assert len(effective_api(talk.api, marks)) > 3000

    def lines(messages: int, hidden: Sequence[Mark]) -> int:
        return lines_run(lambda: (effective_ui(talk.ui[:messages], hidden), effective_api(talk.api[:messages], hidden)))

    assert lines(10_000, marks) < 12 * lines(1_000, marks)
    assert lines(10_000, marks) < 3 * lines(10_000, marks[:10])


def test_marks_alone_tell_what_is_visible_so_a_view_is_small_whatever_the_length() -> None:
    talk = long_conversation(10_000, 100)
    assert len(talk.manager.view.api_pieces()) <= 3 * 100


async def test_a_fork_starts_with_what_was_said_up_to_the_answer() -> None:
    talk = Conversation()
    talk.ask("q1")
    answer = talk.answer("a1")
    question = talk.ask("q2")
    talk.answer("a2")
    first = fork_at(talk.ui, talk.api, talk.marks, answer)
    assert [message.text for message in first.ui] == ["q1", "a1"]
    assert [text_of(record) for record in first.api] == ["q1", "a1"]
    second = fork_at(talk.ui, talk.api, talk.marks, question)
    assert [message.text for message in second.ui] == ["q1", "a1", "q2"]
    assert [text_of(record) for record in second.api] == ["q1", "a1", "q2"]
    whole = fork_at(talk.ui, talk.api, talk.marks, talk.ui[-1].ts)
    assert [text_of(record) for record in whole.api] == ["q1", "a1", "q2", "a2"]


async def test_a_fork_leaves_behind_what_was_rewound_and_can_undo_what_it_inherits() -> None:
    talk = Conversation()
    talk.ask("q1")
    talk.answer("a1")
    wrong = talk.ask("wrong")
    talk.answer("a wrong")
    await talk.manager.rewind_to_timestamp(wrong)
    talk.ask("q2")
    talk.answer("a2")
    await talk.condense("A")
    here = talk.answer("a3")
    talk.ask("q4")
    await talk.condense("B")
    fork = fork_at(talk.ui, talk.api, talk.marks, here)
    assert [record.seq for record in fork.api] == [1, 2, 3, 4, 5, 6]
    child = Conversation()
    child.clock = talk.clock
    child.ui, child.api, child.lines = fork.ui, fork.api, [mark.to_json() for mark in fork.marks]
    child.manager = child.reopened()
    assert await child.sent() == ["summary A", "a3"]
    assert await child.seen() == ["q1", "a1", "q2", "a2", "A", "a3"]
    await child.manager.undo()
    assert await child.sent() == ["q1", "a1", "q2", "a2", "a3"]


async def test_a_fork_from_a_message_that_is_not_there_is_an_error() -> None:
    with pytest.raises(NotFound):
        fork_at([], [], [], 5)


async def test_an_export_carries_roo_code_s_tags() -> None:
    talk = Conversation()
    for turn in range(4):
        talk.ask(f"q{turn}")
        talk.answer(f"a{turn}")
    await talk.truncate("T")
    await talk.condense("A")
    talk.ask("q4")
    await talk.condense("B")
    tagged = roo_messages(talk.api, talk.marks)
    assert [(m.condense_parent, m.truncation_parent) for m in tagged] == [
        ("A", None),
        ("A", "T"),
        ("A", "T"),
        ("A", None),
        ("A", None),
        ("A", None),
        ("A", None),
        ("A", None),
        ("A", None),
        ("B", None),
        ("B", None),
        (None, None),
    ]
    assert tagged[3].is_truncation_marker
    assert (tagged[9].is_summary, tagged[9].condense_id) == (True, "A")
    assert (tagged[11].is_summary, tagged[11].condense_id) == (True, "B")


def test_answers_without_calls_go_and_calls_without_answers_get_one() -> None:
    talk = Conversation()
    talk.write("user", [{"type": "tool_result", "tool_use_id": "t0", "content": "stray"}])
    talk.use_tools("t1", "t2", answered=["t2", "t2"])
    talk.write("assistant", "thinks")
    talk.write(
        "user", [{"type": "tool_result", "tool_use_id": "t1", "content": "late"}, {"type": "text", "text": "hi"}]
    )
    talk.use_tools("t3", answered=[])
    history = effective_api(talk.api, [])
    assert [text_of(record) for record in history] == [
        "use t1, use t2",
        "result t1, result t2",
        "thinks",
        "hi",
        "use t3",
        "result t3",
    ]
    assert history[-1].seq == 0
    assert_paired(history)


def test_a_summary_without_a_mark_is_in_neither_history_nor_export() -> None:
    talk = Conversation()
    talk.ask("q1")
    talk.write("user", "never in force", summary="lost")
    assert [text_of(record) for record in effective_api(talk.api, [])] == ["q1"]
    assert [message.content for message in roo_messages(talk.api, [])] == ["q1"]


def test_computing_changes_neither_logs_nor_marks() -> None:
    talk = Conversation()
    talk.use_tools("t1", answered=[])
    talk.write("user", "go on")
    logs = [record.model_dump() for record in talk.api]
    effective_api(talk.api, [])
    assert [record.model_dump() for record in talk.api] == logs


def test_a_lost_line_of_the_log_costs_only_itself() -> None:
    talk = long_conversation(200, 10)
    talk.use_tools("last")
    whole = effective_api(talk.api, talk.marks)
    lost = next(record for record in reversed(whole) if record.role == "assistant")
    rest = effective_api([record for record in talk.api if record.seq != lost.seq], talk.marks)
    assert_paired(rest)
    assert {record.seq for record in whole if record.seq} - {record.seq for record in rest} == {lost.seq, lost.seq + 1}
