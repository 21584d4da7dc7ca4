"""What of the past an answer says that it was given for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from hdsp_agent.agent.conversation.dialogue import MOST_RECALLED
from hdsp_agent.agent.task.recalled_items import recalled_for_answer
from hdsp_agent.agent.task.task_state import TaskState
from hdsp_agent.messages import ClineMessage, RecalledItem


@dataclass
class FakeState:
    """As much of a task as is looked at: it is its own context, conversation and history."""

    told: Sequence[RecalledItem]
    messages: Sequence[ClineMessage]

    @property
    def context(self) -> FakeState:
        return self

    conversation = history = context

    async def recalled(self) -> Sequence[RecalledItem]:
        return self.told

    async def ui_page(self, before: int | None) -> Sequence[ClineMessage]:
        return [message for message in self.messages if before is None or message.ts < before][-2:]


def note(number: int, *, told: bool = True) -> RecalledItem:
    return RecalledItem(kind="note", source=f"n{number}", title=f"Note {number}", told=True if told else None)


def reading(ts: int, *items: RecalledItem) -> ClineMessage:
    return ClineMessage(ts=ts, type="ask", ask="tool", text="{}", recalled=list(items))


def passage(source: str) -> RecalledItem:
    return RecalledItem(kind="conversation", source=source, title=source, place="1")


async def given(told: Sequence[RecalledItem], *messages: ClineMessage) -> list[str]:
    return [item.source for item in await recalled_for_answer(cast(TaskState, FakeState(told, messages)))]


async def test_many_notes_leave_room_for_what_was_read() -> None:
    sources = await given(
        [note(number) for number in range(MOST_RECALLED + 10)], reading(1, passage("a")), reading(2, passage("b"))
    )
    assert sources == [*(f"n{number}" for number in range(MOST_RECALLED)), "a", "b"]


async def test_of_too_much_that_was_read_the_first_is_kept() -> None:
    read = [reading(ts, passage(f"c{ts}")) for ts in range(1, MOST_RECALLED + 10)]
    assert await given([note(0)], *read) == ["n0", *(f"c{ts}" for ts in range(1, MOST_RECALLED + 1))]


async def test_a_note_that_was_told_is_not_named_again_when_it_is_read() -> None:
    assert await given([note(0)], reading(1, note(0, told=False))) == ["n0"]
