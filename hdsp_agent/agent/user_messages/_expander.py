"""From what a person typed to what the model reads. Their own message on screen stays as they typed it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...errors import HdspAgentError
from ._expanded_message import ExpandedMessage
from ._mentions import Attachments, attachments_for
from ._slash_commands import spoken_command

if TYPE_CHECKING:
    from ..task.task_state import TaskState
    from ..task.tool_context import CallParts

__all__ = ["MessageExpander"]


class MessageExpander:
    """Listens to the person for one task."""

    def __init__(self, state: TaskState, parts: Callable[[], CallParts]) -> None:
        self._state = state
        self._parts = parts

    async def expand(self, text: str | None, images: Sequence[str] = ()) -> ExpandedMessage:
        """The message with its command filled in, and what it names attached. A command may bring its mode along."""
        if not text:
            return ExpandedMessage(text, tuple(images))
        attached = await attachments_for(text, self._state, self._parts()) if "@" in text else Attachments()
        return ExpandedMessage(await self._filled(text), (*images, *attached.images), attached.text)

    async def _filled(self, text: str) -> str:
        spoken = spoken_command(text)
        if spoken is None:
            return text
        state = self._state
        name, arguments = spoken
        command = await state.services.commands.get(name, str(state.folder))
        if command is None:
            return text
        if command.mode is not None and command.mode != state.mode.slug:
            try:
                await state.switch_mode(command.mode)
            except HdspAgentError as error:
                state.logger.warning("The command %s is for another mode: %s", name, error.message)
        return command.filled(arguments)
