"""What the person said, or something that happened, on its way to the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..messages import QueuedMessage
from ._asks import AskAnswer
from ._conversation import text_block
from ._kept import Kept, Untold

if TYPE_CHECKING:
    from ._task import Task

__all__ = ["Words"]


class Words:
    """Tells one task's model, at once or before its next turn. What waits is kept: a restart does not lose it."""

    def __init__(self, task: Task, kept: Kept) -> None:
        self._task = task
        self._kept = kept
        self._untold = kept.untold

    async def add(self, answer: AskAnswer) -> bool:
        """Tell the model what was said with an answer; whether anything was."""
        blocks = (await self._task.speech.heard(answer.text, answer.images)).blocks
        if not blocks:
            return False
        await self._task.conversation.add_api("user", blocks, ts=answer.said_at, durable=True)
        return True

    def add_later(self, answer: AskAnswer) -> None:
        """Tell the model before its next turn: now the results of its calls come first."""
        self._tell_later(Untold(text=answer.text, images=answer.images, said_at=answer.said_at))

    def note(self, text: str) -> None:
        """Tell the model something before its next turn."""
        self._tell_later(Untold(note=text))

    def _tell_later(self, untold: Untold) -> None:
        self._untold = [*self._untold, untold]
        self._kept.keep_untold(self._untold)

    def has_told(self, ts: int) -> None:
        """The model was told what the person said then: it is not told again."""
        self._untold = [untold for untold in self._untold if untold.said_at != ts]
        self._kept.keep_untold(self._untold)

    async def add_late(self) -> bool:
        """Tell the model what was kept for now; whether anything was."""
        untold = list(self._untold)
        if not untold:
            return False
        heard = [await self._task.speech.heard(words.text, words.images) for words in untold]
        self._untold = self._untold[len(untold) :]
        for words, told in zip(untold, heard, strict=True):
            if blocks := told.blocks:
                await self._task.conversation.add_api("user", blocks, ts=words.said_at, durable=True)
        if notes := [text_block(entry.note) for entry in untold if entry.note is not None]:
            await self._task.conversation.add_api("user", notes, durable=True)
        self._kept.keep_untold(self._untold)
        return True

    async def take_queue(self) -> bool:
        """Make what waits in the queue part of the conversation; whether anything was there."""
        waiting = self._task.queue.messages
        for message in waiting:
            await self._take_queued(message)
        return bool(waiting)

    async def _take_queued(self, message: QueuedMessage) -> None:
        """Tell it, or the rest of it: a crash in between must neither lose it nor tell it twice."""
        log, ts = self._task.conversation.log, self._task.queue.told_at(message.id)
        shown = None if ts is None else await log.ui.get(ts)
        if ts is None or shown is None or shown.say != "user_feedback":
            ts = log.next_ts()
            await self._task.queue.telling(message.id, ts)
            await self._task.dialogue.user_said(message.text, message.images or (), ts=ts)
        elif any([record.ts == ts async for record in log.api.iterate()]):
            await self._task.queue.taken(message.id)
            return
        blocks = (await self._task.speech.heard(message.text, message.images or ())).blocks
        await self._task.conversation.add_api("user", blocks, ts=ts, durable=True)
        await self._task.queue.taken(message.id)
