"""What a person says, made whole for the model: slash commands filled in, files they name attached."""

from __future__ import annotations

from ._expanded_message import ExpandedMessage
from ._expander import MessageExpander
from ._slash_commands import SlashCommands, project_commands

__all__ = ["ExpandedMessage", "MessageExpander", "SlashCommands", "project_commands"]
