"""What the page sends about settings and profiles."""

from typing import Literal

from pydantic import Field

from ..config import ApprovalPreset
from ._base import FilePath, Flag, JsonObject, Message, Name, Text
from ._webview_base import Request

__all__ = [
    "ExportSettingsRequest",
    "ImportSettingsRequest",
    "LoadApiConfigurationRequest",
    "LockApiConfigAcrossModesRequest",
    "NotebookApproval",
    "SaveApiConfigurationRequest",
    "SettingsMessage",
    "ToggleApiConfigPinRequest",
    "UpdateSettingsRequest",
]


class NotebookApproval(Message):
    """What the agent may do without asking in one notebook; without ``approvalPreset`` the settings decide again."""

    path: FilePath
    approval_preset: ApprovalPreset | None = None


class UpdateSettingsRequest(Request):
    """Change some settings, and what holds for one notebook; null puts a setting back to its default.

    ``notebookApprovals`` cannot be among them: a page changes one notebook at a time, by ``notebookApproval``. Nor can
    ``clientApprovals`` and ``clientQuestions``: what another agent may do is changed beside that agent.
    """

    type: Literal["updateSettings"] = "updateSettings"
    updated_settings: JsonObject = Field(repr=False)
    notebook_approval: NotebookApproval | None = None


class SaveApiConfigurationRequest(Request):
    """Write the profile named ``text`` without making it the current one."""

    type: Literal["saveApiConfiguration"] = "saveApiConfiguration"
    text: Name
    api_configuration: JsonObject = Field(repr=False)


class LoadApiConfigurationRequest(Request):
    """Make the profile named ``text`` the current one."""

    type: Literal["loadApiConfiguration"] = "loadApiConfiguration"
    text: Name


class ToggleApiConfigPinRequest(Request):
    """Pin or unpin the profile with the id ``text``."""

    type: Literal["toggleApiConfigPin"] = "toggleApiConfigPin"
    text: Name


class LockApiConfigAcrossModesRequest(Request):
    """Keep one profile for every mode, or let each mode have its own."""

    type: Literal["lockApiConfigAcrossModes"] = "lockApiConfigAcrossModes"
    bool: Flag


class ImportSettingsRequest(Request):
    """Import the settings file whose content is ``text``."""

    type: Literal["importSettings"] = "importSettings"
    text: Text = Field(repr=False)


class ExportSettingsRequest(Request):
    """Ask for the settings as a file, without keys."""

    type: Literal["exportSettings"] = "exportSettings"


SettingsMessage = (
    UpdateSettingsRequest
    | SaveApiConfigurationRequest
    | LoadApiConfigurationRequest
    | ToggleApiConfigPinRequest
    | LockApiConfigAcrossModesRequest
    | ImportSettingsRequest
    | ExportSettingsRequest
)
