"""What the page sends about settings and profiles."""

from typing import Annotated, Literal

from pydantic import Field

from ..config import ApprovalPreset
from ._base import FilePath, Flag, JsonObject, Message, Name, Text
from ._webview_base import Request

__all__ = [
    "ClientApproval",
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


class ClientApproval(Message):
    """What another agent of this name may do without asking; without ``approvalPreset`` it asks."""

    name: Annotated[str, Field(min_length=1, max_length=60)]
    approval_preset: ApprovalPreset | None = None


class UpdateSettingsRequest(Request):
    """Change some settings, and what holds for one notebook or another agent; null puts a setting back to its default.

    ``notebookApprovals`` and ``clientApprovals`` cannot be among them: a page changes one notebook at a time, by
    ``notebookApproval``, and one agent by ``clientApproval``.
    """

    type: Literal["updateSettings"] = "updateSettings"
    updated_settings: JsonObject = Field(repr=False)
    notebook_approval: NotebookApproval | None = None
    client_approval: ClientApproval | None = None


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
