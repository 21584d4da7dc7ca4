"""From what a person typed to what the model reads. Their own message on screen stays as they typed it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import HdspAgentError
from ...messages import JsonObject
from ..conversation.conversation import text_block
from ..conversation.user_text import said
from ._mentions import Attachments, attachments_for
from ._slash_commands import spoken_command

if TYPE_CHECKING:
    from ..task.task import Task

__all__ = ["ExpandedMessage", "MessageExpander"]


@dataclass(frozen=True)
class ExpandedMessage:
    """A message as the model is told it."""

    words: str | None
    images: tuple[str, ...] = ()
    attached: str = ""

    @property
    def text(self) -> str | None:
        """All of it in one text, where there is room for one only."""
        return "\n\n".join(part for part in (self.words, self.attached) if part) or None

    @property
    def blocks(self) -> list[JsonObject]:
        """As content of the user's turn."""
        words, images = said(self.words), said(None, self.images)
        return [*words, *([text_block(self.attached)] if self.attached else []), *images]


class MessageExpander:
    """Listens to the person for one task."""

    def __init__(self, task: Task) -> None:
        self._task = task

    async def heard(self, text: str | None, images: Sequence[str] = ()) -> ExpandedMessage:
        """The message with its command filled in, and what it names attached. A command may bring its mode along."""
        if not text:
            return ExpandedMessage(text, tuple(images))
        attached = await attachments_for(text, self._task) if "@" in text else Attachments()
        return ExpandedMessage(await self._filled(text), (*images, *attached.images), attached.text)

    async def _filled(self, text: str) -> str:
        spoken = spoken_command(text)
        if spoken is None:
            return text
        task = self._task
        name, arguments = spoken
        command = await task.services.commands.get(name, str(task.folder))
        if command is None:
            return text
        if command.mode is not None and command.mode != task.mode.slug:
            try:
                await task.switch_mode(command.mode)
            except HdspAgentError as error:
                task.logger.warning("The command %s is for another mode: %s", name, error.message)
        return command.filled(arguments)
