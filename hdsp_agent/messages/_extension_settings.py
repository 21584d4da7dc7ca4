"""What the server says about settings, profiles, keys, modes, prompts, commands and skills."""

from typing import Literal

from ..config import GlobalSettings, ModeConfig, ProfileEntry, SecretStatus
from ._base import Flag, JsonObject, Message
from ._catalogue import (
    Command,
    CustomTool,
    ModeName,
    Skill,
)
from ._errors import Notice

__all__ = [
    "AutoApprovalEnabledMessage",
    "CheckRulesDirectoryResultMessage",
    "CommandsMessage",
    "CustomToolsResultMessage",
    "DeleteCustomModeCheckMessage",
    "DeleteCustomModeMessage",
    "EnhancedPromptMessage",
    "ExportModeResultMessage",
    "ImportModeResultMessage",
    "ListApiConfigMessage",
    "ModesListMessage",
    "NoticeMessage",
    "NoticesUpdatedMessage",
    "ProfilesUpdatedMessage",
    "SecretsUpdatedMessage",
    "SetHistoryPreviewCollapsedMessage",
    "SettingsUpdate",
    "SettingsUpdatedMessage",
    "SkillsMessage",
    "SystemPromptMessage",
    "ToggleApiConfigPinMessage",
    "UpdateCustomModeMessage",
    "UpdatePromptMessage",
]


class SettingsUpdatedMessage(Message):
    """All settings as they are now, and the names of those the operator fixed."""

    type: Literal["settingsUpdated"] = "settingsUpdated"
    settings: GlobalSettings
    fixed: list[str]


class ProfilesUpdatedMessage(Message):
    """The profiles as they are now, and which of them is used where."""

    type: Literal["profilesUpdated"] = "profilesUpdated"
    list_api_config: list[ProfileEntry]
    current_api_config_name: str
    mode_api_configs: dict[str, str] | None = None
    lock_api_config_across_modes: Flag | None = None
    pinned_api_configs: dict[str, bool] | None = None


class SecretsUpdatedMessage(Message):
    """Which keys there are and where they are kept; never a key."""

    type: Literal["secretsUpdated"] = "secretsUpdated"
    status: SecretStatus


class ListApiConfigMessage(Message):
    """The list of profiles."""

    type: Literal["listApiConfig"] = "listApiConfig"
    list_api_config: list[ProfileEntry]


class ToggleApiConfigPinMessage(Message):
    """The profile with the id ``text`` was pinned or unpinned."""

    type: Literal["toggleApiConfigPin"] = "toggleApiConfigPin"
    text: str


class AutoApprovalEnabledMessage(Message):
    """Auto-approval was switched from outside the panel."""

    type: Literal["autoApprovalEnabled"] = "autoApprovalEnabled"
    values: JsonObject | None = None


class SetHistoryPreviewCollapsedMessage(Message):
    """The preview of the history was folded or unfolded."""

    type: Literal["setHistoryPreviewCollapsed"] = "setHistoryPreviewCollapsed"
    values: JsonObject | None = None


class NoticeMessage(Message):
    """Something a person should know."""

    type: Literal["notice"] = "notice"
    notice: Notice


class NoticesUpdatedMessage(Message):
    """All notices as they stand now: those that are gone no longer hold."""

    type: Literal["noticesUpdated"] = "noticesUpdated"
    notices: list[Notice]


class ModesListMessage(Message):
    """The list of modes."""

    type: Literal["modes"] = "modes"
    modes: list[ModeName]


class UpdateCustomModeMessage(Message):
    """A custom mode was written."""

    type: Literal["updateCustomMode"] = "updateCustomMode"
    slug: str
    custom_mode: ModeConfig


class DeleteCustomModeMessage(Message):
    """A custom mode was deleted."""

    type: Literal["deleteCustomMode"] = "deleteCustomMode"
    slug: str


class DeleteCustomModeCheckMessage(Message):
    """What would go with a custom mode."""

    type: Literal["deleteCustomModeCheck"] = "deleteCustomModeCheck"
    slug: str
    rules_folder_path: str | None = None


class ExportModeResultMessage(Message):
    """A mode as a file's content in ``text``, or why there is none."""

    type: Literal["exportModeResult"] = "exportModeResult"
    success: bool
    slug: str
    text: str | None = None
    error: str | None = None


class ImportModeResultMessage(Message):
    """A mode was imported, or why not."""

    type: Literal["importModeResult"] = "importModeResult"
    success: bool
    slug: str | None = None
    error: str | None = None


class CheckRulesDirectoryResultMessage(Message):
    """Whether a mode has a folder of rules."""

    type: Literal["checkRulesDirectoryResult"] = "checkRulesDirectoryResult"
    slug: str
    has_content: bool


class UpdatePromptMessage(Message):
    """The prompt of a built-in mode was changed."""

    type: Literal["updatePrompt"] = "updatePrompt"
    mode: str | None = None
    prompt_text: str | None = None


class SystemPromptMessage(Message):
    """The system prompt of a mode."""

    type: Literal["systemPrompt"] = "systemPrompt"
    text: str
    mode: str | None = None


class EnhancedPromptMessage(Message):
    """The improved prompt; no ``text`` if it could not be improved."""

    type: Literal["enhancedPrompt"] = "enhancedPrompt"
    text: str | None = None
    request_id: str | None = None


class CommandsMessage(Message):
    """The list of slash commands."""

    type: Literal["commands"] = "commands"
    commands: list[Command]


class SkillsMessage(Message):
    """The list of skills."""

    type: Literal["skills"] = "skills"
    skills: list[Skill]


class CustomToolsResultMessage(Message):
    """The custom tools, or why they could not be read."""

    type: Literal["customToolsResult"] = "customToolsResult"
    tools: list[CustomTool]
    error: str | None = None


SettingsUpdate = (
    SettingsUpdatedMessage
    | ProfilesUpdatedMessage
    | NoticesUpdatedMessage
    | SecretsUpdatedMessage
    | ListApiConfigMessage
    | ToggleApiConfigPinMessage
    | AutoApprovalEnabledMessage
    | SetHistoryPreviewCollapsedMessage
    | NoticeMessage
    | ModesListMessage
    | UpdateCustomModeMessage
    | DeleteCustomModeMessage
    | DeleteCustomModeCheckMessage
    | ExportModeResultMessage
    | ImportModeResultMessage
    | CheckRulesDirectoryResultMessage
    | UpdatePromptMessage
    | SystemPromptMessage
    | EnhancedPromptMessage
    | CommandsMessage
    | SkillsMessage
    | CustomToolsResultMessage
)
