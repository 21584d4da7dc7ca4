"""What the server says about settings, profiles, keys, modes, prompts and commands."""

from typing import Literal

from ..config import GlobalSettings, ProfileEntry, SecretStatus
from ._base import Flag, Message
from ._choices import (
    Command,
    ModeName,
)
from ._errors import Notice

__all__ = [
    "CommandsMessage",
    "EnhancedPromptMessage",
    "ExportModeResultMessage",
    "ImportModeResultMessage",
    "ModesListMessage",
    "NoticesUpdatedMessage",
    "ProfilesUpdatedMessage",
    "SecretsUpdatedMessage",
    "SettingsUpdate",
    "SettingsUpdatedMessage",
    "SystemPromptMessage",
]


class SettingsUpdatedMessage(Message):
    """All settings as they are now, and the names of those the administrator fixed."""

    type: Literal["settingsUpdated"] = "settingsUpdated"
    settings: GlobalSettings
    fixed: list[str]


class ProfilesUpdatedMessage(Message):
    """The profiles as they are now, and which of them is used."""

    type: Literal["profilesUpdated"] = "profilesUpdated"
    list_api_config: list[ProfileEntry]
    current_api_config_name: str
    lock_api_config_across_modes: Flag | None = None


class SecretsUpdatedMessage(Message):
    """Which keys there are and where they are kept; never a key."""

    type: Literal["secretsUpdated"] = "secretsUpdated"
    status: SecretStatus


class NoticesUpdatedMessage(Message):
    """All notices as they stand now: those that are gone no longer hold."""

    type: Literal["noticesUpdated"] = "noticesUpdated"
    notices: list[Notice]


class ModesListMessage(Message):
    """The list of modes."""

    type: Literal["modes"] = "modes"
    modes: list[ModeName]


class ExportModeResultMessage(Message):
    """A mode, with its rules, as a file's content in ``text``."""

    type: Literal["exportModeResult"] = "exportModeResult"
    slug: str
    text: str


class ImportModeResultMessage(Message):
    """The mode ``slug`` was imported."""

    type: Literal["importModeResult"] = "importModeResult"
    slug: str


class SystemPromptMessage(Message):
    """The system prompt of a mode."""

    type: Literal["systemPrompt"] = "systemPrompt"
    text: str
    mode: str


class EnhancedPromptMessage(Message):
    """The improved prompt; no ``text`` if it could not be improved."""

    type: Literal["enhancedPrompt"] = "enhancedPrompt"
    text: str | None = None
    request_id: str | None = None


class CommandsMessage(Message):
    """The list of slash commands."""

    type: Literal["commands"] = "commands"
    commands: list[Command]


SettingsUpdate = (
    SettingsUpdatedMessage
    | ProfilesUpdatedMessage
    | NoticesUpdatedMessage
    | SecretsUpdatedMessage
    | ModesListMessage
    | ExportModeResultMessage
    | ImportModeResultMessage
    | SystemPromptMessage
    | EnhancedPromptMessage
    | CommandsMessage
)
