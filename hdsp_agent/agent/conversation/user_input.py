"""What the person said, or something that happened, on its way to the model."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING

from ..._background_tasks import BackgroundTasks
from ...messages import ClineMessage, JsonObject, QueuedMessage
from ..task.persisted_state import UnsentInput
from .asks import AskAnswer
from .conversation import text_block
from .user_text import word_for_word

if TYPE_CHECKING:
    from ..task.task_state import TaskState
    from ..user_messages._expanded_message import Expand

__all__ = ["PendingUserInput"]


class PendingUserInput:
    """Tells one task's model, at once or before its next turn. What waits is kept: a restart does not lose it."""

    def __init__(self, state: TaskState, expand: Expand) -> None:
        self._state = state
        self._expand = expand
        self._kept = kept = state.persisted
        self._untold = kept.untold
        self._held = BackgroundTasks()

    async def add(self, answer: AskAnswer) -> bool:
        """Tell the model what was said with an answer; whether anything was."""
        blocks = (await self._expand(answer)).blocks
        if not blocks:
            return False
        await self._state.conversation.add_api("user", blocks, ts=answer.said_at, durable=True)
        return True

    def add_later(self, answer: AskAnswer) -> None:
        """Tell the model before its next turn: now the results of its calls come first."""
        if answer.says_something:
            self._tell_later(
                UnsentInput(
                    text=answer.text, images=answer.images, attachments=answer.attachments, said_at=answer.said_at
                )
            )

    def note(self, text: str) -> None:
        """Tell the model something before its next turn."""
        self._tell_later(UnsentInput(note=text))

    async def keep(self, messages: Sequence[ClineMessage]) -> None:
        """Tell the model before its next turn what the person said and it never heard; on the disk then.

        What comes into the log from now on is newer, so that the log alone would not tell of them any more.
        """
        known = {untold.said_at for untold in self._untold}
        new = [message for message in messages if message.ts not in known]
        for message in new:
            self._tell_later(
                UnsentInput(
                    text=message.text,
                    images=tuple(message.images or ()),
                    attachments=tuple(message.attachments or ()),
                    said_at=message.ts,
                )
            )
        if new:
            await self._state.conversation.log.save_state()

    @property
    def any_said(self) -> bool:
        """Whether words of the person's wait."""
        return any(untold.said_at is not None and self._is_there(untold) for untold in self._untold)

    async def add_late(self) -> bool:
        """Tell the model what was kept for now; whether anything was."""
        untold = [entry for entry in self._untold if self._is_there(entry)]
        for entry in untold:
            blocks = (await self._expand(entry)).blocks
            if entry.note is not None:
                blocks.append(text_block(entry.note))
            await self._to_its_end(self._tell(entry, blocks))
        return bool(untold)

    async def take_queue(self) -> bool:
        """Make what waits in the queue part of the conversation, one after the other; whether anything was there."""
        queue, taken = self._state.queue, False
        while (message := queue.claim()) is not None:
            try:
                expanded = await self._expand(message)
                await self._to_its_end(self._take_queued(message, expanded.blocks))
            finally:
                queue.unclaim()
            taken = True
        return taken

    async def hand_over(self) -> list[JsonObject]:
        """Tell all that waits as the two above do, and give it back for a program outside: word for word, nothing is read
        that it names."""
        handed: list[JsonObject] = []
        for entry in [entry for entry in self._untold if self._is_there(entry)]:
            blocks = word_for_word(entry) + ([text_block(entry.note)] if entry.note is not None else [])
            await self._to_its_end(self._tell(entry, blocks))
            handed += blocks
        queue = self._state.queue
        while (message := queue.claim()) is not None:
            try:
                blocks = word_for_word(message)
                await self._to_its_end(self._take_queued(message, blocks))
            finally:
                queue.unclaim()
            handed += blocks
        return handed

    def _tell_later(self, untold: UnsentInput) -> None:
        self._untold = [*self._untold, untold]
        self._kept.keep_untold(self._untold)

    def _is_there(self, untold: UnsentInput) -> bool:
        """Whether it was not taken back."""
        return untold.said_at is None or untold.said_at in self._state.conversation.history.view.visible_ui

    async def _tell(self, untold: UnsentInput, blocks: list[JsonObject]) -> None:
        if blocks:
            await self._state.conversation.add_api("user", blocks, ts=untold.said_at, durable=True)
        self._untold = [entry for entry in self._untold if entry is not untold]
        self._kept.keep_untold(self._untold)

    async def _take_queued(self, message: QueuedMessage, blocks: list[JsonObject]) -> None:
        """Tell it, or the rest of it: a crash in between must neither lose it nor tell it twice."""
        state, ts = self._state, self._state.queue.told_at(message.id)
        log = state.conversation.log
        shown = None if ts is None else await log.ui.get(ts)
        if shown is None or shown.say != "user_feedback":
            ts = await state.dialogue.user_said(
                message,
                first=lambda ts: state.queue.telling(message.id, ts),
                may_edit=state.queue.may_edit(message.id),
            )
        elif any([record.ts == ts async for record in log.api.iterate()]):
            await state.queue.taken(message.id)
            return
        await state.conversation.add_api("user", blocks, ts=ts, durable=True)
        await state.queue.taken(message.id)

    async def _to_its_end(self, work: Coroutine[object, object, None]) -> None:
        """Do it whole: whoever is stopped in the middle waits for the end, and nothing is told twice or half."""
        try:
            await self._held.finish(work)
        finally:
            await self._held.drain()
