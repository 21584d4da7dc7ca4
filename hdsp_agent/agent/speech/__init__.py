"""What a person says, made whole for the model: slash commands filled in, files they name attached."""

from __future__ import annotations

from ._commands import CommandBook, SlashCommand, project_commands
from ._speech import Heard, Speech

__all__ = ["CommandBook", "Heard", "SlashCommand", "Speech", "project_commands"]
