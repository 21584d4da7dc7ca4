"""What the page sends about modes, prompts, commands and skills."""

from typing import Annotated, Literal

from pydantic import Field

from ..config import ModeConfig, ModePrompt
from ._base import Flag, Message, Name, Slug, Text
from ._catalogue import Source
from ._webview_base import Request

__all__ = [
    "CheckRulesDirectoryRequest",
    "CopySystemPromptRequest",
    "CreateCommandRequest",
    "CreateSkillRequest",
    "DeleteCommandRequest",
    "DeleteCustomModeRequest",
    "DeleteSkillRequest",
    "EnhancePromptRequest",
    "ExportModeRequest",
    "GetSystemPromptRequest",
    "HasOpenedModeSelectorRequest",
    "ImportModeRequest",
    "ModeRequest",
    "ModesMessage",
    "MoveSkillRequest",
    "OpenCommandFileRequest",
    "OpenCustomModesSettingsRequest",
    "OpenSkillFileRequest",
    "RefreshCustomToolsRequest",
    "RequestCommandsRequest",
    "RequestModesRequest",
    "RequestSkillsRequest",
    "SourceValues",
    "UpdateCustomModeRequest",
    "UpdatePromptRequest",
    "UpdateSkillModesRequest",
]

_SkillName = Annotated[str, Field(max_length=64, pattern=r"^[a-z0-9]+(?:-[a-z0-9]+)*$")]
_ModeSlugs = Annotated[list[Slug], Field(max_length=200)]


class ModeRequest(Request):
    """Switch to the mode ``text``."""

    type: Literal["mode"] = "mode"
    text: Slug


class RequestModesRequest(Request):
    """Ask for the list of modes."""

    type: Literal["requestModes"] = "requestModes"


class UpdateCustomModeRequest(Request):
    """Write a custom mode."""

    type: Literal["updateCustomMode"] = "updateCustomMode"
    slug: Slug | None = None
    mode_config: ModeConfig


class DeleteCustomModeRequest(Request):
    """Delete a custom mode, or with ``checkOnly`` ask what would go with it."""

    type: Literal["deleteCustomMode"] = "deleteCustomMode"
    slug: Slug
    check_only: Flag | None = None


class OpenCustomModesSettingsRequest(Request):
    """Open the file that holds the custom modes."""

    type: Literal["openCustomModesSettings"] = "openCustomModesSettings"


class ExportModeRequest(Request):
    """Ask for a mode, with its rules, as a file."""

    type: Literal["exportMode"] = "exportMode"
    slug: Slug


class ImportModeRequest(Request):
    """Import the mode whose file has the content ``text``."""

    type: Literal["importMode"] = "importMode"
    source: Source | None = None
    text: Text


class CheckRulesDirectoryRequest(Request):
    """Ask whether a mode has a folder of rules."""

    type: Literal["checkRulesDirectory"] = "checkRulesDirectory"
    slug: Slug


class UpdatePromptRequest(Request):
    """Change the prompt of a built-in mode."""

    type: Literal["updatePrompt"] = "updatePrompt"
    prompt_mode: Slug
    custom_prompt: ModePrompt


class GetSystemPromptRequest(Request):
    """Ask for the system prompt of a mode."""

    type: Literal["getSystemPrompt"] = "getSystemPrompt"
    mode: Slug | None = None


class CopySystemPromptRequest(Request):
    """Ask for the system prompt of a mode, for the clipboard."""

    type: Literal["copySystemPrompt"] = "copySystemPrompt"
    mode: Slug | None = None


class EnhancePromptRequest(Request):
    """Let a model improve the prompt ``text``."""

    type: Literal["enhancePrompt"] = "enhancePrompt"
    text: Text


class HasOpenedModeSelectorRequest(Request):
    """Remember that the person has found the mode selector."""

    type: Literal["hasOpenedModeSelector"] = "hasOpenedModeSelector"
    bool: Flag | None = None


class RequestCommandsRequest(Request):
    """Ask for the list of slash commands."""

    type: Literal["requestCommands"] = "requestCommands"


class SourceValues(Message):
    """Whose the command is."""

    source: Source


class CreateCommandRequest(Request):
    """Create a slash command named ``text``."""

    type: Literal["createCommand"] = "createCommand"
    text: Name | None = None
    values: SourceValues


class DeleteCommandRequest(Request):
    """Delete the slash command named ``text``."""

    type: Literal["deleteCommand"] = "deleteCommand"
    text: Name
    values: SourceValues


class OpenCommandFileRequest(Request):
    """Open the file of the slash command named ``text``."""

    type: Literal["openCommandFile"] = "openCommandFile"
    text: Name


class RequestSkillsRequest(Request):
    """Ask for the list of skills."""

    type: Literal["requestSkills"] = "requestSkills"


class CreateSkillRequest(Request):
    """Create a skill."""

    type: Literal["createSkill"] = "createSkill"
    skill_name: _SkillName
    source: Source
    skill_description: Annotated[str, Field(min_length=1, max_length=1024)]
    skill_mode_slugs: _ModeSlugs | None = None


class DeleteSkillRequest(Request):
    """Delete a skill."""

    type: Literal["deleteSkill"] = "deleteSkill"
    skill_name: _SkillName
    source: Source
    skill_mode: Slug | None = None


class MoveSkillRequest(Request):
    """Move a skill to another mode; no ``newSkillMode`` means every mode."""

    type: Literal["moveSkill"] = "moveSkill"
    skill_name: _SkillName
    source: Source
    skill_mode: Slug | None = None
    new_skill_mode: Slug | None = None


class UpdateSkillModesRequest(Request):
    """Say in which modes a skill is offered; none means every mode."""

    type: Literal["updateSkillModes"] = "updateSkillModes"
    skill_name: _SkillName
    source: Source
    new_skill_mode_slugs: _ModeSlugs | None = None


class OpenSkillFileRequest(Request):
    """Open a skill's file."""

    type: Literal["openSkillFile"] = "openSkillFile"
    skill_name: _SkillName
    source: Source


class RefreshCustomToolsRequest(Request):
    """Read the custom tools again."""

    type: Literal["refreshCustomTools"] = "refreshCustomTools"


ModesMessage = (
    ModeRequest
    | RequestModesRequest
    | UpdateCustomModeRequest
    | DeleteCustomModeRequest
    | OpenCustomModesSettingsRequest
    | ExportModeRequest
    | ImportModeRequest
    | CheckRulesDirectoryRequest
    | UpdatePromptRequest
    | GetSystemPromptRequest
    | CopySystemPromptRequest
    | EnhancePromptRequest
    | HasOpenedModeSelectorRequest
    | RequestCommandsRequest
    | CreateCommandRequest
    | DeleteCommandRequest
    | OpenCommandFileRequest
    | RequestSkillsRequest
    | CreateSkillRequest
    | DeleteSkillRequest
    | MoveSkillRequest
    | UpdateSkillModesRequest
    | OpenSkillFileRequest
    | RefreshCustomToolsRequest
)
