"""What the agent may do without asking, as a few presets in the place of many settings."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from pydantic import JsonValue

from ._operator_policy import OperatorPolicy
from ._setting_overrides import overridden
from ._settings import ApprovalPreset, GlobalSettings

__all__ = ["APPROVAL_PRESETS", "ApprovalStanding", "preset_of", "preset_values", "with_preset"]

ApprovalStanding: TypeAlias = ApprovalPreset | Literal["custom"]

APPROVAL_PRESETS: Final[dict[ApprovalPreset, tuple[str, ...]]] = {
    "ask": (),
    "edit": ("alwaysAllowReadOnly", "alwaysAllowWrite"),
    "editAndRun": ("alwaysAllowReadOnly", "alwaysAllowWrite", "alwaysAllowRunCells"),
    "everything": (
        "alwaysAllowReadOnly",
        "alwaysAllowWrite",
        "alwaysAllowRunCells",
        "alwaysAllowExecute",
        "alwaysAllowMcp",
        "alwaysAllowModeSwitch",
        "alwaysAllowSubtasks",
    ),
}
"""What each allows, by the names of the settings. None reaches outside the workspace, installs or fetches anything."""

_MAIN_SWITCH: Final = "autoApprovalEnabled"
_CLASSES: Final = tuple(
    info.alias or name for name, info in GlobalSettings.model_fields.items() if name.startswith("always_allow_")
)


def preset_values(preset: ApprovalPreset) -> dict[str, JsonValue]:
    """The settings that make up a preset. Whether questions are answered for the person is none of them."""
    allowed = APPROVAL_PRESETS[preset]
    classes = [name for name in _CLASSES if name != "alwaysAllowFollowupQuestions"]
    return {_MAIN_SWITCH: bool(allowed), **{name: name in allowed for name in classes}}


def preset_of(settings: GlobalSettings) -> ApprovalStanding:
    """The preset that these settings are, or ``custom`` where they are none."""
    values = settings.to_wire()
    if not values[_MAIN_SWITCH]:
        return "ask"
    for preset in APPROVAL_PRESETS:
        if all(values[name] == wanted for name, wanted in preset_values(preset).items()):
            return preset
    return "custom"


def with_preset(settings: GlobalSettings, preset: ApprovalPreset | None, policy: OperatorPolicy) -> GlobalSettings:
    """The settings with a preset over them, and what the operator has fixed over that; None leaves them as they are."""
    return settings if preset is None else overridden(settings, preset_values(preset), policy)
