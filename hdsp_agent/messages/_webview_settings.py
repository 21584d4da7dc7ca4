"""What the page sends about settings and profiles."""

from typing import Annotated, Literal

from pydantic import Field

from ._base import Flag, JsonObject, Message, Name, Text
from ._webview_base import Request

__all__ = [
    "AllowedCommandsRequest",
    "AutoApprovalEnabledRequest",
    "CustomInstructionsRequest",
    "DebugSettingRequest",
    "DeleteApiConfigurationRequest",
    "DeniedCommandsRequest",
    "EnhancementApiConfigIdRequest",
    "ExportSettingsRequest",
    "GetListApiConfigurationRequest",
    "ImportSettingsRequest",
    "LoadApiConfigurationByIdRequest",
    "LoadApiConfigurationRequest",
    "LockApiConfigAcrossModesRequest",
    "RenameApiConfigurationRequest",
    "RenameValues",
    "ResetStateRequest",
    "SaveApiConfigurationRequest",
    "SettingsMessage",
    "TelemetrySettingRequest",
    "ToggleApiConfigPinRequest",
    "UpdateSettingsRequest",
    "UpsertApiConfigurationRequest",
]

_CommandPatterns = Annotated[list[Annotated[str, Field(min_length=1, max_length=1000)]], Field(max_length=1000)]


class UpdateSettingsRequest(Request):
    """Change some settings; null puts a setting back to its default."""

    type: Literal["updateSettings"] = "updateSettings"
    updated_settings: JsonObject = Field(repr=False)


class SaveApiConfigurationRequest(Request):
    """Write the profile named ``text`` without making it the current one."""

    type: Literal["saveApiConfiguration"] = "saveApiConfiguration"
    text: Name
    api_configuration: JsonObject = Field(repr=False)


class UpsertApiConfigurationRequest(Request):
    """Write the profile named ``text`` and make it the current one."""

    type: Literal["upsertApiConfiguration"] = "upsertApiConfiguration"
    text: Name
    api_configuration: JsonObject = Field(repr=False)


class DeleteApiConfigurationRequest(Request):
    """Delete the profile named ``text``."""

    type: Literal["deleteApiConfiguration"] = "deleteApiConfiguration"
    text: Name


class LoadApiConfigurationRequest(Request):
    """Make the profile named ``text`` the current one."""

    type: Literal["loadApiConfiguration"] = "loadApiConfiguration"
    text: Name


class LoadApiConfigurationByIdRequest(Request):
    """Make the profile with the id ``text`` the current one."""

    type: Literal["loadApiConfigurationById"] = "loadApiConfigurationById"
    text: Name


class RenameValues(Message):
    """The profile's name, and what it shall be."""

    old_name: Name
    new_name: Name


class RenameApiConfigurationRequest(Request):
    """Rename a profile."""

    type: Literal["renameApiConfiguration"] = "renameApiConfiguration"
    values: RenameValues


class GetListApiConfigurationRequest(Request):
    """Ask for the list of profiles."""

    type: Literal["getListApiConfiguration"] = "getListApiConfiguration"


class ToggleApiConfigPinRequest(Request):
    """Pin or unpin the profile with the id ``text``."""

    type: Literal["toggleApiConfigPin"] = "toggleApiConfigPin"
    text: Name


class LockApiConfigAcrossModesRequest(Request):
    """Keep one profile for every mode, or let each mode have its own."""

    type: Literal["lockApiConfigAcrossModes"] = "lockApiConfigAcrossModes"
    bool: Flag


class CustomInstructionsRequest(Request):
    """Replace the instructions given with every task."""

    type: Literal["customInstructions"] = "customInstructions"
    text: Text | None = None


class ImportSettingsRequest(Request):
    """Import the settings file whose content is ``text``."""

    type: Literal["importSettings"] = "importSettings"
    text: Text = Field(repr=False)


class ExportSettingsRequest(Request):
    """Ask for the settings as a file, without keys."""

    type: Literal["exportSettings"] = "exportSettings"


class ResetStateRequest(Request):
    """Put all settings, profiles and keys back to how they came."""

    type: Literal["resetState"] = "resetState"


class AutoApprovalEnabledRequest(Request):
    """Switch auto-approval as a whole on or off."""

    type: Literal["autoApprovalEnabled"] = "autoApprovalEnabled"
    bool: Flag


class AllowedCommandsRequest(Request):
    """Replace the commands that may run without asking."""

    type: Literal["allowedCommands"] = "allowedCommands"
    commands: _CommandPatterns


class DeniedCommandsRequest(Request):
    """Replace the commands that never run without asking."""

    type: Literal["deniedCommands"] = "deniedCommands"
    commands: _CommandPatterns


class EnhancementApiConfigIdRequest(Request):
    """Choose the profile that improves prompts; an empty ``text`` means the current one."""

    type: Literal["enhancementApiConfigId"] = "enhancementApiConfigId"
    text: Annotated[str, Field(max_length=200)]


class TelemetrySettingRequest(Request):
    """Say whether usage may be reported."""

    type: Literal["telemetrySetting"] = "telemetrySetting"
    text: Literal["unset", "enabled", "disabled"]


class DebugSettingRequest(Request):
    """Switch debugging aids on or off."""

    type: Literal["debugSetting"] = "debugSetting"
    bool: Flag


SettingsMessage = (
    UpdateSettingsRequest
    | SaveApiConfigurationRequest
    | UpsertApiConfigurationRequest
    | DeleteApiConfigurationRequest
    | LoadApiConfigurationRequest
    | LoadApiConfigurationByIdRequest
    | RenameApiConfigurationRequest
    | GetListApiConfigurationRequest
    | ToggleApiConfigPinRequest
    | LockApiConfigAcrossModesRequest
    | CustomInstructionsRequest
    | ImportSettingsRequest
    | ExportSettingsRequest
    | ResetStateRequest
    | AutoApprovalEnabledRequest
    | AllowedCommandsRequest
    | DeniedCommandsRequest
    | EnhancementApiConfigIdRequest
    | TelemetrySettingRequest
    | DebugSettingRequest
)
