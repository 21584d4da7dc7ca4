"""What the page sends about modes, prompts and commands."""

from typing import Literal

from ..config import ModeConfig, ModePrompt
from ._base import Flag, Message, Name, Slug, Text
from ._choices import Source
from ._webview_base import Request

__all__ = [
    "CommandValues",
    "CreateCommandRequest",
    "DeleteCommandRequest",
    "DeleteCustomModeRequest",
    "EnhancePromptRequest",
    "ExportModeRequest",
    "GetSystemPromptRequest",
    "ImportModeRequest",
    "ModeRequest",
    "ModesMessage",
    "OpenCommandFileRequest",
    "RequestCommandsRequest",
    "RequestModesRequest",
    "SourceValues",
    "UpdateCustomModeRequest",
    "UpdatePromptRequest",
]


class ModeRequest(Request):
    """Switch to the mode ``text``."""

    type: Literal["mode"] = "mode"
    text: Slug


class RequestModesRequest(Request):
    """Ask for the list of modes."""

    type: Literal["requestModes"] = "requestModes"


class UpdateCustomModeRequest(Request):
    """Write a custom mode, in place of the one named ``slug`` if there is such a one."""

    type: Literal["updateCustomMode"] = "updateCustomMode"
    slug: Slug | None = None
    mode_config: ModeConfig


class DeleteCustomModeRequest(Request):
    """Delete a custom mode. The files of its rules stay."""

    type: Literal["deleteCustomMode"] = "deleteCustomMode"
    slug: Slug


class ExportModeRequest(Request):
    """Ask for a mode, with its rules, as a file."""

    type: Literal["exportMode"] = "exportMode"
    slug: Slug


class ImportModeRequest(Request):
    """Import the mode, with its rules, whose file has the content ``text``."""

    type: Literal["importMode"] = "importMode"
    text: Text


class UpdatePromptRequest(Request):
    """Change the prompt of a built-in mode; without any field it is again as it came."""

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


class CommandValues(SourceValues):
    """And what its file says: Markdown, perhaps with facts in front. With ``isNew`` no command that is there is changed."""

    content: Text
    is_new: Flag | None = None


class CreateCommandRequest(Request):
    """Create the slash command named ``text``, or change it."""

    type: Literal["createCommand"] = "createCommand"
    text: Name
    values: CommandValues


class DeleteCommandRequest(Request):
    """Delete the slash command named ``text``."""

    type: Literal["deleteCommand"] = "deleteCommand"
    text: Name
    values: SourceValues


class OpenCommandFileRequest(Request):
    """Ask for what the file of the slash command named ``text`` says, to change it."""

    type: Literal["openCommandFile"] = "openCommandFile"
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
    | OpenCommandFileRequest
)
