"""Messages typed while the agent works. They wait for the next turn, and never approve anything."""

from __future__ import annotations

import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final

from ...errors import InvalidInput, NotFound
from ...messages import Attachment, JsonObject, NotebookRef, QueuedMessage
from .user_text import says_something

__all__ = ["MOST_QUEUED", "MessageQueue"]

_TOLD_AT: Final = "toldAt"

MOST_QUEUED: Final = 100

Save = Callable[[Sequence[QueuedMessage]], Awaitable[None]]


class MessageQueue:
    """The queue of one task. ``save`` records it before anybody is told; ``stored`` is what an earlier life recorded."""

    def __init__(self, save: Save, stored: Iterable[JsonObject] = ()) -> None:
        entries = list(stored)
        self._save = save
        self._messages = [QueuedMessage.model_validate(entry) for entry in entries]
        times = [(str(entry.get("id")), entry.get(_TOLD_AT)) for entry in entries]
        self._told_at = {message_id: ts for message_id, ts in times if isinstance(ts, int)}
        self._may_edit: dict[str, NotebookRef] = {}
        self._claimed: str | None = None
        self._left: frozenset[str] = frozenset()
        self.leave()

    @property
    def messages(self) -> list[QueuedMessage]:
        """What waits, in order."""
        return list(self._messages)

    def __bool__(self) -> bool:
        return bool(self._messages)

    @property
    def to_store(self) -> list[JsonObject]:
        """What to record of it."""
        return [
            {**message.to_wire(), **({_TOLD_AT: ts} if (ts := self._told_at.get(message.id)) is not None else {})}
            for message in self._messages
        ]

    def leave(self) -> None:
        """The work stops here: what was said before does not make it go on, but waits until it does."""
        self._left = frozenset(message.id for message in self._messages)

    @property
    def wants_to_go_on(self) -> bool:
        """Whether something was said since the work stopped."""
        return any(message.id not in self._left for message in self._messages)

    def claim(self) -> QueuedMessage | None:
        """The first message that waits, to be told as it is now: it can be neither changed nor removed any more."""
        first = next(iter(self._messages), None)
        self._claimed = None if first is None else first.id
        return first

    def unclaim(self) -> None:
        """What was claimed was told, or waits on."""
        self._claimed = None

    def told_at(self, message_id: str) -> int | None:
        """When an earlier life was about to make this message part of the conversation, if it was."""
        return self._told_at.get(message_id)

    async def telling(self, message_id: str, ts: int) -> None:
        """It becomes part of the conversation as the message ``ts``. Recorded first, so that a crash tells nothing twice."""
        self._told_at[message_id] = ts
        await self._save(self._messages)

    def may_edit(self, message_id: str) -> NotebookRef | None:
        """The cell that may be changed with this message without another question. A restart forgets it."""
        return self._may_edit.get(message_id)

    async def add(
        self,
        text: str,
        images: Sequence[str] = (),
        attachments: Sequence[Attachment] = (),
        *,
        may_edit: NotebookRef | None = None,
    ) -> QueuedMessage:
        """Put a message at the end."""
        if len(self._messages) >= MOST_QUEUED:
            raise InvalidInput(
                f"{MOST_QUEUED} messages are already queued. Wait until the agent has read some.", field="text"
            )
        message = QueuedMessage(
            timestamp=time.time_ns() // 1_000_000,
            id=str(uuid.uuid4()),
            text=text,
            images=list(images) or None,
            attachments=list(attachments) or None,
        )
        _refuse_empty(message)
        if may_edit is not None:
            self._may_edit[message.id] = may_edit
        await self._turn_to([*self._messages, message])
        return message

    async def edit(
        self,
        message_id: str,
        text: str,
        images: Sequence[str] | None = None,
        attachments: Sequence[Attachment] | None = None,
    ) -> QueuedMessage:
        """Change a message that still waits; what went along with it does, unless something else is given."""
        index = self._index(message_id)
        update: dict[str, object] = {"text": text}
        if images is not None:
            update["images"] = list(images) or None
        if attachments is not None:
            update["attachments"] = list(attachments) or None
        changed = self._messages[index].model_copy(update=update)
        _refuse_empty(changed)
        await self._turn_to([*self._messages[:index], changed, *self._messages[index + 1 :]])
        return changed

    async def remove(self, message_id: str) -> QueuedMessage:
        """Take a message out."""
        index = self._index(message_id)
        removed = self._messages[index]
        await self._turn_to([*self._messages[:index], *self._messages[index + 1 :]])
        return removed

    async def taken(self, message_id: str) -> None:
        """A message became part of the conversation; whether it still waited does not matter."""
        await self._turn_to([message for message in self._messages if message.id != message_id])
        self._told_at.pop(message_id, None)
        self._may_edit.pop(message_id, None)

    def _index(self, message_id: str) -> int:
        for index, message in enumerate(self._messages):
            if message.id == message_id and message_id != self._claimed and message_id not in self._told_at:
                return index
        raise NotFound("This message is no longer queued: the agent has read it, or it was removed.", queued=message_id)

    async def _turn_to(self, messages: list[QueuedMessage]) -> None:
        # The list itself first: what is queued and what is told must not depend on who saves first.
        before, self._messages = self._messages, messages
        try:
            await self._save(messages)
        except BaseException:
            if self._messages is messages:
                self._messages = before
            raise


def _refuse_empty(message: QueuedMessage) -> None:
    if not says_something(message):
        raise InvalidInput("An empty message cannot be queued. Write something, or remove it.", field="text")
