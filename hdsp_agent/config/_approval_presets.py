"""What the agent may do without asking, as a few presets in the place of many settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from pydantic import JsonValue

from ._operator_policy import OperatorPolicy
from ._setting_overrides import overridden
from ._settings import ApprovalPreset, GlobalSettings

T = TypeVar("T")

__all__ = ["APPROVAL_PRESETS", "chosen_for", "with_preset"]

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


def _values(preset: ApprovalPreset) -> dict[str, JsonValue]:
    """The settings that make up a preset. Whether questions are answered for the person is none of them."""
    allowed = APPROVAL_PRESETS[preset]
    classes = [name for name in _CLASSES if name != "alwaysAllowFollowupQuestions"]
    return {_MAIN_SWITCH: bool(allowed), **{name: name in allowed for name in classes}}


def with_preset(settings: GlobalSettings, preset: ApprovalPreset | None, policy: OperatorPolicy) -> GlobalSettings:
    """The settings with a preset over them, and what the operator has fixed over that; None leaves them as they are."""
    return settings if preset is None else overridden(settings, _values(preset), policy)


def chosen_for(name: str, choice: T | None) -> Callable[[Mapping[str, T]], Mapping[str, T]]:
    """The change of a list of choices, such as presets, that gives this name one, or takes it away."""

    def change(known: Mapping[str, T]) -> Mapping[str, T]:
        others = {one: chosen for one, chosen in known.items() if one != name}
        return others if choice is None else {**others, name: choice}

    return change
