"""Condensing, truncating, rewinding and undoing, as a person and the agent do them."""

from __future__ import annotations

import pytest

from hdsp_agent.errors import Conflict, InvalidInput, NotFound, StorageUnavailable
from hdsp_agent.persistence import INTERRUPTED
from hdsp_agent.persistence.marks._marks import Mark
from hdsp_agent.persistence.marks._spans import SpanSet
from tests.persistence._helpers.effective_history import whole_pairs

from ._helpers.conversation import Conversation


def talk(turns: int = 4) -> tuple[Conversation, list[int]]:
    """Questions q1… and answers a1…; the times of the questions on screen."""
    conversation = Conversation()
    asked = []
    for turn in range(1, turns + 1):
        asked.append(conversation.ask(f"q{turn}"))
        conversation.answer(f"a{turn}")
    return conversation, asked


async def test_a_rewind_takes_the_message_and_all_that_followed_from_both_histories() -> None:
    conversation, asked = talk(3)
    await conversation.manager.rewind_to_timestamp(asked[1])
    assert await conversation.seen() == ["q1", "a1"]
    assert await conversation.sent() == ["q1", "a1"]
    assert len(conversation.lines) == 1


async def test_including_the_target_keeps_it_on_screen_and_still_drops_it_from_the_api_history() -> None:
    conversation, asked = talk(3)
    conversation.api[2] = conversation.api[2].model_copy(update={"ts": asked[1]})
    await conversation.manager.rewind_to_timestamp(asked[1], include_target_message=True)
    assert await conversation.seen() == ["q1", "a1", "q2"]
    assert await conversation.sent() == ["q1", "a1"]


async def test_an_unknown_time_is_an_error_and_nothing_is_written() -> None:
    conversation, asked = talk(2)
    with pytest.raises(NotFound, match="Message with timestamp 7 not found"):
        await conversation.manager.rewind_to_timestamp(7)
    await conversation.manager.rewind_to_timestamp(asked[1])
    with pytest.raises(NotFound):
        await conversation.manager.rewind_to_timestamp(asked[1])
    assert len(conversation.lines) == 1


async def test_an_assistant_message_written_after_the_answer_on_screen_stays() -> None:
    conversation = Conversation()
    conversation.ask("q1")
    feedback = conversation.say("no, like this", say="user_feedback")
    conversation.write("assistant", "written while the person answered")
    conversation.write("user", "no, like this")
    mark = await conversation.manager.rewind_to_timestamp(feedback)
    assert await conversation.sent() == ["q1", "written while the person answered"]
    assert mark is not None
    assert mark.api_cutoff == conversation.api[2].ts


async def test_without_a_user_message_to_cut_at_the_time_asked_for_is_the_cut() -> None:
    conversation = Conversation()
    conversation.ask("q1")
    target = conversation.say("text")
    conversation.write("assistant", "dropped")
    await conversation.manager.rewind_to_timestamp(target)
    assert await conversation.sent() == ["q1"]


async def test_with_nothing_earlier_the_race_rule_does_not_apply() -> None:
    conversation = Conversation()
    first = conversation.say("q1")
    conversation.write("assistant", "dropped too")
    conversation.write("user", "q1")
    await conversation.manager.rewind_to_timestamp(first)
    assert await conversation.sent() == []


async def test_messages_without_a_time_are_never_removed() -> None:
    conversation = Conversation()
    first = conversation.ask("q1")
    conversation.write("assistant", "old a", ts=None)
    conversation.write("user", "timed")
    conversation.write("user", "old b", ts=None)
    await conversation.manager.rewind_to_timestamp(first)
    assert await conversation.sent() == ["old a", "old b"]
    assert await conversation.seen() == []


async def test_a_rewind_that_takes_nothing_writes_nothing() -> None:
    conversation, _ = talk(1)
    last = conversation.say("done", say="completion_result")
    assert await conversation.manager.rewind_to_timestamp(last, include_target_message=True) is None
    assert conversation.lines == []


async def test_a_rewind_that_cannot_be_written_has_not_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    conversation, asked = talk(2)

    async def full(mark: Mark) -> None:
        raise StorageUnavailable("The disk is full.")

    monkeypatch.setattr(conversation, "append_mark", full)
    with pytest.raises(StorageUnavailable):
        await conversation.manager.rewind_to_timestamp(asked[1])
    assert await conversation.seen() == ["q1", "a1", "q2", "a2"]
    assert await conversation.sent() == ["q1", "a1", "q2", "a2"]


async def test_a_summary_takes_the_place_of_what_it_covers() -> None:
    conversation, _ = talk(2)
    await conversation.condense("A")
    conversation.ask("q3")
    assert await conversation.sent() == ["summary A", "q3"]
    assert await conversation.seen() == ["q1", "a1", "q2", "a2", "A", "q3"]
    assert len(conversation.lines) == 1


async def test_a_summary_can_spare_recent_and_chosen_messages() -> None:
    conversation, _ = talk(3)
    await conversation.condense("A", through=4, keep=[3])
    assert await conversation.sent() == ["q2", "summary A", "q3", "a3"]


async def test_the_system_prompt_survives_summary_and_truncation() -> None:
    conversation = Conversation()
    conversation.write("system", "You are an agent.")
    for turn in range(3):
        conversation.ask(f"q{turn}")
        conversation.answer(f"a{turn}")
    await conversation.truncate("T")
    assert (await conversation.sent())[:2] == ["You are an agent.", "q0"]
    await conversation.condense("A")
    assert await conversation.sent() == ["You are an agent.", "summary A"]


async def test_nested_summaries_come_back_one_by_one() -> None:
    conversation, asked = talk(1)
    await conversation.condense("A")
    after_a = conversation.ask("q2")
    await conversation.condense("B")
    assert await conversation.sent() == ["summary B"]
    third = conversation.ask("q3")
    await conversation.manager.rewind_to_timestamp(third)
    assert await conversation.sent() == ["summary B"]
    await conversation.manager.rewind_to_timestamp(after_a)
    assert await conversation.sent() == ["summary A"]
    await conversation.manager.rewind_to_timestamp(asked[0])
    assert await conversation.sent() == []


async def test_rewinding_the_event_of_a_summary_brings_back_what_it_covered() -> None:
    conversation, _ = talk(2)
    event = await conversation.condense("A")
    await conversation.manager.rewind_to_timestamp(event)
    assert await conversation.sent() == ["q1", "a1", "q2", "a2"]
    assert "A" not in await conversation.seen()


async def test_a_summary_whose_event_a_crash_kept_from_the_screen_is_rewound_like_any_other() -> None:
    conversation, asked = talk(2)
    seq = conversation.write("user", "summary A", summary="A")
    await conversation.manager.condense(condense_id="A", summary_seq=seq, event_ts=conversation.tick())
    conversation.manager = conversation.reopened()
    assert await conversation.sent() == ["summary A"]
    await conversation.manager.rewind_to_timestamp(asked[1])
    assert await conversation.sent() == ["q1", "a1"]


async def test_a_truncation_whose_event_a_crash_kept_from_the_screen_goes_with_what_came_before_it() -> None:
    conversation, _ = talk(3)
    before = await conversation.sent()
    done = conversation.say("done", say="completion_result")
    await conversation.manager.truncate(truncation_id="T", event_ts=conversation.tick())
    conversation.manager = conversation.reopened()
    assert await conversation.sent() != before
    await conversation.manager.rewind_to_timestamp(done, include_target_message=True)
    assert await conversation.sent() == before
    assert (await conversation.seen())[-1] == "done"


async def test_a_summary_that_was_never_write_if_leased_is_not_sent() -> None:
    conversation, _ = talk(1)
    conversation.write("user", "summary A", summary="A")
    assert await conversation.sent() == ["q1", "a1"]


async def test_what_cannot_be_condensed_is_refused() -> None:
    conversation, _ = talk(2)
    with pytest.raises(NotFound):
        await conversation.manager.condense(condense_id="A", summary_seq=1, event_ts=conversation.tick())
    with pytest.raises(NotFound):
        await conversation.manager.condense(condense_id="A", summary_seq=99, event_ts=conversation.tick())
    await conversation.condense("A")
    with pytest.raises(InvalidInput, match="as far as"):
        await conversation.condense("B", through=2)
    with pytest.raises(InvalidInput, match="nothing to condense"):
        await conversation.condense("C", keep=[1])


async def test_a_truncation_hides_an_even_number_after_the_first_and_says_so() -> None:
    conversation, _ = talk(4)
    await conversation.truncate("T")
    marker = "[Sliding window truncation: 2 messages hidden to reduce context]"
    assert await conversation.sent() == ["q1", marker, "a2", "q3", "a3", "q4", "a4"]
    record = (await conversation.manager.api_history())[1]
    assert record.is_truncation_marker
    assert record.truncation_id == "T"
    assert record.ts == (conversation.api[3].ts or 0) - 1


async def test_a_truncation_after_a_summary_counts_only_what_is_visible() -> None:
    conversation, _ = talk(10)
    await conversation.condense("A")
    for turn in range(4):
        conversation.ask(f"r{turn}")
        conversation.answer(f"s{turn}")
    await conversation.truncate("T")
    marker = "[Sliding window truncation: 4 messages hidden to reduce context]"
    assert await conversation.sent() == ["summary A", marker, "r2", "s2", "r3", "s3"]


async def test_truncating_again_and_again_leaves_one_marker_for_all() -> None:
    conversation, _ = talk(8)
    await conversation.truncate("T")
    await conversation.truncate("U")
    sent = await conversation.sent()
    assert sent[:2] == ["q1", "[Sliding window truncation: 10 messages hidden to reduce context]"]
    assert len(sent) == 2 + 5


async def test_too_little_to_truncate_changes_nothing() -> None:
    conversation, _ = talk(1)
    assert await conversation.truncate("T") is None
    assert conversation.lines == []
    with pytest.raises(InvalidInput):
        await conversation.truncate("T", fraction=1.5)


async def test_rewinding_the_event_of_a_truncation_brings_back_what_it_hid() -> None:
    conversation, _ = talk(4)
    before = await conversation.sent()
    event = await conversation.truncate("T")
    assert event is not None
    conversation.ask("later")
    await conversation.manager.rewind_to_timestamp(event)
    assert await conversation.sent() == before


async def test_undo_and_redo_of_a_rewind_restore_exactly() -> None:
    conversation, asked = talk(3)
    before = await conversation.seen(), await conversation.sent()
    await conversation.manager.rewind_to_timestamp(asked[1])
    rewound = await conversation.seen(), await conversation.sent()
    for _ in range(3):
        await conversation.manager.undo()
        assert (await conversation.seen(), await conversation.sent()) == before
        await conversation.manager.redo()
        assert (await conversation.seen(), await conversation.sent()) == rewound
    assert len(conversation.lines) == 7


async def test_several_undos_go_back_step_by_step_and_redos_forward() -> None:
    conversation, asked = talk(4)
    states = [(await conversation.seen(), await conversation.sent())]
    await conversation.manager.rewind_to_timestamp(asked[3])
    states.append((await conversation.seen(), await conversation.sent()))
    await conversation.truncate("T")
    states.append((await conversation.seen(), await conversation.sent()))
    await conversation.manager.rewind_to_timestamp(asked[1])
    states.append((await conversation.seen(), await conversation.sent()))
    for state in reversed(states[:-1]):
        await conversation.manager.undo()
        assert (await conversation.seen(), await conversation.sent()) == state
    with pytest.raises(NotFound, match="nothing to undo"):
        await conversation.manager.undo()
    for state in states[1:]:
        await conversation.manager.redo()
        assert (await conversation.seen(), await conversation.sent()) == state
    with pytest.raises(NotFound, match="nothing to redo"):
        await conversation.manager.redo()


async def test_undoing_a_rewind_after_the_conversation_went_on_asks_first_and_can_be_taken_back() -> None:
    conversation, asked = talk(2)
    await conversation.manager.rewind_to_timestamp(asked[1])
    conversation.ask("another way")
    with pytest.raises(Conflict, match="has continued"):
        await conversation.manager.undo()
    await conversation.manager.undo(newer="set_aside")
    assert await conversation.seen() == ["q1", "a1", "q2", "a2"]
    assert await conversation.sent() == ["q1", "a1", "q2", "a2"]
    conversation.ask("q3")
    with pytest.raises(Conflict):
        await conversation.manager.redo()
    await conversation.manager.redo(newer="set_aside")
    assert await conversation.seen() == ["q1", "a1", "another way"]
    assert await conversation.sent() == ["q1", "a1", "another way"]


async def test_undoing_a_summary_leaves_later_messages_alone_and_takes_its_event_off_the_screen() -> None:
    conversation, _ = talk(2)
    await conversation.condense("A")
    conversation.ask("q3")
    await conversation.manager.undo()
    assert await conversation.sent() == ["q1", "a1", "q2", "a2", "q3"]
    assert await conversation.seen() == ["q1", "a1", "q2", "a2", "q3"]
    await conversation.manager.redo()
    assert await conversation.sent() == ["summary A", "q3"]
    assert await conversation.seen() == ["q1", "a1", "q2", "a2", "A", "q3"]


async def test_what_does_not_count_any_more_cannot_be_undone() -> None:
    conversation, asked = talk(3)
    mark = await conversation.manager.rewind_to_timestamp(asked[2])
    assert mark is not None
    await conversation.manager.undo(mark.id)
    with pytest.raises(Conflict):
        await conversation.manager.undo(mark.id)
    with pytest.raises(NotFound, match="no change x"):
        await conversation.manager.undo("x")


async def test_a_call_whose_answer_was_rewound_is_answered_as_interrupted() -> None:
    conversation, _ = talk(1)
    conversation.use_tools("t1", answered=[])
    after = conversation.say("result", say="command_output")
    conversation.write("user", [{"type": "tool_result", "tool_use_id": "t1", "content": "42"}])
    await conversation.manager.rewind_to_timestamp(after)
    assert await conversation.sent() == ["q1", "a1", "use t1", "result t1"]
    content = list(whole_pairs(await conversation.manager.api_history()))[-1].content
    assert isinstance(content, list)
    assert content[0]["content"] == INTERRUPTED
    conversation.ask("go on")
    assert (await conversation.sent())[-1] == "result t1, go on"


async def test_an_edit_begins_at_the_person_s_message_or_at_the_first() -> None:
    conversation = Conversation()
    first = conversation.say("the task")
    early = conversation.say("thinking")
    feedback = conversation.ask("more")
    late = conversation.say("working")
    assert await conversation.manager.edit_cutoff(late) == feedback
    assert await conversation.manager.edit_cutoff(feedback) == feedback
    assert await conversation.manager.edit_cutoff(early) == first
    with pytest.raises(NotFound):
        await conversation.manager.edit_cutoff(7)


async def test_a_page_reads_no_more_than_it_shows_however_long_the_task() -> None:
    conversation, asked = talk(500)
    await conversation.manager.rewind_to_timestamp(asked[100])
    conversation.ask("new")
    conversation.reads = 0
    page = await conversation.manager.ui_page(limit=3)
    assert [message.text for message in page] == ["q100", "a100", "new"]
    older = await conversation.manager.ui_page(page[0].ts, limit=2)
    assert [message.text for message in older] == ["q99", "a99"]
    assert conversation.reads == 5


async def test_the_model_s_history_reads_nothing_that_a_summary_hides() -> None:
    conversation, _ = talk(500)
    await conversation.condense("A")
    conversation.ask("new")
    conversation.reads = 0
    assert await conversation.sent() == ["summary A", "new"]
    assert conversation.reads <= 3


async def test_a_message_replaced_on_screen_shows_its_newest_line_and_stays_hidden_once_rewound() -> None:
    conversation, asked = talk(2)
    conversation.say("q1 again", ts=asked[0])
    assert await conversation.seen() == ["q1 again", "a1", "q2", "a2"]
    await conversation.manager.rewind_to_timestamp(asked[1])
    conversation.say("late", ts=asked[1])
    assert await conversation.seen() == ["q1 again", "a1"]


async def test_a_summary_write_if_leased_again_tells_of_what_was_truncated_meanwhile() -> None:
    conversation, _ = talk(4)
    await conversation.condense("A")
    undo = await conversation.manager.undo()
    await conversation.truncate("T")
    await conversation.manager.undo(undo.id)
    assert await conversation.sent() == ["summary A"]


async def test_a_summary_that_was_never_write_if_leased_does_not_part_markers() -> None:
    conversation, _ = talk(6)
    conversation.write("user", "never in force", summary="lost")
    await conversation.truncate("T", fraction=1.0)
    conversation.write("user", "nor this", summary="lost too")
    await conversation.truncate("U", fraction=1.0)
    conversation.ask("q7")
    conversation.answer("a7")
    await conversation.truncate("V", fraction=1.0)
    sent = await conversation.sent()
    assert sum(text.startswith("[Sliding window truncation") for text in sent) == 1


async def test_what_is_foreseen_is_what_happens_and_nothing_is_written_by_looking() -> None:
    conversation, asked = talk(4)
    manager = conversation.manager

    async def looked(spans: SpanSet) -> list[str | None]:
        return [message.text async for message in manager.messages_in(spans)]

    foreseen = await manager.foresee_rewind(asked[2])
    assert (await looked(foreseen.removed), foreseen.restored.items) == (["q3", "a3", "q4", "a4"], ())
    kept = await manager.foresee_rewind(asked[2], include_target_message=True)
    assert await looked(kept.removed) == ["a3", "q4", "a4"]
    assert conversation.lines == []

    before = manager.view.visible_ui
    await manager.rewind_to_timestamp(asked[2])
    assert before.minus(manager.view.visible_ui) == foreseen.removed
    back = await manager.foresee_undo()
    assert (await looked(back.restored), back.removed.items, back.gone_on) == (["q3", "a3", "q4", "a4"], (), False)
    conversation.ask("else")
    later = await manager.foresee_undo()
    assert (await looked(later.removed), later.gone_on) == (["else"], True)
    assert len(conversation.lines) == 1


async def test_the_newest_marks_are_told_as_what_they_would_undo_and_redo() -> None:
    conversation, asked = talk(3)
    manager = conversation.manager
    assert manager.newest_marks.to_wire() == {}
    mark = await manager.rewind_to_timestamp(asked[1])
    assert mark is not None
    told = manager.newest_marks
    assert (told.undoable and told.undoable.id, told.redoable) == (mark.id, None)
    assert told.undoable is not None
    assert (told.undoable.kind, told.undoable.message_ts) == ("rewind", asked[1])
    undo = await manager.undo()
    told = manager.newest_marks
    assert (told.undoable, told.redoable and told.redoable.id) == (None, undo.id)
    assert told.redoable is not None
    assert (told.redoable.kind, told.redoable.message_ts) == ("rewind", asked[1])


async def test_being_asked_whether_to_go_on_does_not_count_as_going_on() -> None:
    conversation, asked = talk(2)
    await conversation.manager.rewind_to_timestamp(asked[1])
    conversation.ask_to_go_on()
    assert not (await conversation.manager.foresee_undo()).gone_on
    await conversation.manager.undo()
    assert await conversation.seen() == ["q1", "a1", "q2", "a2"]


async def test_only_an_undo_can_be_redone_by_its_name() -> None:
    conversation, asked = talk(2)
    mark = await conversation.manager.rewind_to_timestamp(asked[1])
    assert mark is not None
    with pytest.raises(InvalidInput, match="is not an undo"):
        await conversation.manager.redo(mark.id)
    undo = await conversation.manager.undo()
    with pytest.raises(NotFound, match="no undo x"):
        await conversation.manager.redo("x")
    await conversation.manager.redo(undo.id)
    assert await conversation.seen() == ["q1", "a1"]
