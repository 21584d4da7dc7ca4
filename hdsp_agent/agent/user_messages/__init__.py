"""What a person says, made whole for the model: slash commands filled in, files they name attached."""

from __future__ import annotations

from ._draft_state import draft_state
from ._draft_tokens import DraftTokens, TokenCount, draft_tokens
from ._expanded_message import ExpandedMessage
from ._expander import MessageExpander
from ._slash_commands import SlashCommands, project_commands

__all__ = [
    "DraftTokens",
    "ExpandedMessage",
    "MessageExpander",
    "SlashCommands",
    "TokenCount",
    "draft_state",
    "draft_tokens",
    "project_commands",
]
