"""What a mode lets the agent do."""

from __future__ import annotations

from ...config import GroupOptions, ModeConfig, ToolGroup, path_matches
from ._builtin import display_name

__all__ = ["allows_group", "changeable_files", "file_refusal"]


def allows_group(mode: ModeConfig, group: ToolGroup | None) -> bool:
    """Whether the mode has the tools of this group; tools without a group are always there."""
    return group is None or group == "modes" or any(_name(entry) == group for entry in mode.groups)


def file_refusal(mode: ModeConfig, path: str) -> str | None:
    """Why the mode does not let this file be changed, in a sentence for the model; None if it does."""
    patterns = (options.file_regex for options in mode.edit_limits() if options.file_regex is not None)
    if all(path_matches(pattern, path) for pattern in patterns):
        return None
    what = changeable_files(mode)
    return (
        f"The mode {display_name(mode)} may only change {what}; {path} is none of them. Switch the mode, or change another "
        "file."
    )


def changeable_files(mode: ModeConfig) -> str | None:
    """Which files alone the mode lets be changed; None if it does not say."""
    limits = [options.description or f"files that match {options.file_regex}" for options in mode.edit_limits()]
    return ", and of these only ".join(limits) or None


def _name(entry: ToolGroup | tuple[ToolGroup, GroupOptions]) -> ToolGroup:
    return entry if isinstance(entry, str) else entry[0]
