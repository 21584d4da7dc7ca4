"""What the page sends about modes, prompts, commands and skills."""

from typing import Annotated, Literal

from pydantic import Field

from ..config import ModeConfig, ModePrompt
from ._base import Flag, Message, Name, Slug, Text
from ._catalogue import Source
from ._webview_base import Request

__all__ = [
    "CreateCommandRequest",
    "DeleteCommandRequest",
    "DeleteCustomModeRequest",
    "EnhancePromptRequest",
    "ExportModeRequest",
    "GetSystemPromptRequest",
    "ImportModeRequest",
    "ModeRequest",
    "ModesMessage",
    "RequestCommandsRequest",
    "RequestModesRequest",
    "SourceValues",
    "UpdateCustomModeRequest",
    "UpdatePromptRequest",
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


class ExportModeRequest(Request):
    """Ask for a mode, with its rules, as a file."""

    type: Literal["exportMode"] = "exportMode"
    slug: Slug


class ImportModeRequest(Request):
    """Import the mode whose file has the content ``text``."""

    type: Literal["importMode"] = "importMode"
    source: Source | None = None
    text: Text


class UpdatePromptRequest(Request):
    """Change the prompt of a built-in mode."""

    type: Literal["updatePrompt"] = "updatePrompt"
    prompt_mode: Slug
    custom_prompt: ModePrompt


class GetSystemPromptRequest(Request):
    """Ask for the system prompt of a mode."""

    type: Literal["getSystemPrompt"] = "getSystemPrompt"
    mode: Slug | None = None


class EnhancePromptRequest(Request):
    """Let a model improve the prompt ``text``."""

    type: Literal["enhancePrompt"] = "enhancePrompt"
    text: Text


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


ModesMessage = (
    ModeRequest
    | RequestModesRequest
    | UpdateCustomModeRequest
    | DeleteCustomModeRequest
    | ExportModeRequest
    | ImportModeRequest
    | UpdatePromptRequest
    | GetSystemPromptRequest
    | EnhancePromptRequest
    | RequestCommandsRequest
    | CreateCommandRequest
    | DeleteCommandRequest
)
