"""From what a person typed to what the model reads. Their own message on screen stays as they typed it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...config import tool_set
from ...errors import HdspAgentError
from ...mcp.client import PROMPT_PREFIX
from ._attachment_reading import read_attachments, unread
from ._expanded_message import ExpandedMessage, attached_text
from ._mentions import mentions_in, read_mentions
from ._quiet_reader import QuietReader
from ._slash_commands import spoken_command

if TYPE_CHECKING:
    from ...messages import Attachment
    from ..conversation.user_text import Spoken
    from ..task.task_state import TaskState

__all__ = ["MessageExpander"]


class MessageExpander:
    """Listens to the person for one task."""

    def __init__(self, state: TaskState) -> None:
        self._state = state

    async def expand(self, spoken: Spoken) -> ExpandedMessage:
        """The message with its command filled in, and what it points at and names attached. A command may bring its mode
        along."""
        text, images = spoken.text or "", tuple(spoken.images or ())
        along = await self._read(spoken.attachments or ())
        named = await read_mentions(mentions_in(text), QuietReader(self._state))
        attached = attached_text(along, named)
        words = await self._filled(text) if text else spoken.text
        return ExpandedMessage(words, (*images, *named.images), attached)

    async def _read(self, attachments: Sequence[Attachment]) -> Sequence[Attachment]:
        told = await read_attachments(attachments, self._state)
        if failed := unread(attachments, told):
            lines = ["This could not be read, which the model was told:", *failed]
            await self._state.conversation.say("error", "\n".join(lines))
        return told

    async def _filled(self, text: str) -> str:
        spoken = spoken_command(text)
        if spoken is None:
            return text
        state = self._state
        name, arguments = spoken
        command = await state.services.commands.get(name, str(state.folder))
        if command is None:
            return await self._filled_by_server(text, name, arguments)
        asked_at_cell = state.asked_at is not None and command.shown.source == "built-in"
        if asked_at_cell and arguments.strip() and tool_set(state.provider) == "compound":
            # Its tools change that cell and no other; of more words a small model would make too much.
            return arguments
        if command.mode is not None and command.mode != state.mode.slug:
            try:
                await state.switch_mode(command.mode)
            except HdspAgentError as error:
                state.logger.warning("The command %s is for another mode: %s", name, error.message)
        return command.filled(arguments)

    async def _filled_by_server(self, text: str, name: str, arguments: str) -> str:
        """A prompt that an MCP server has written; what is none stays as it is."""
        state = self._state
        if state.mcp is None or not name.startswith(PROMPT_PREFIX) or not state.settings.mcp_enabled:
            return text
        try:
            written = await state.mcp.spoken(name, arguments)
        except HdspAgentError as error:
            return f"{text}\n\n[The prompt was not read: {error.message}]"
        if written is None:
            return text
        state.note_external()
        return f"{text}\n\n[This is the prompt, as the MCP server has written it:]\n{written}"
