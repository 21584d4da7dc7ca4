"""What a mode lets the agent do."""

from __future__ import annotations

from ...config import GroupOptions, ModeConfig, ToolGroup, path_matches

__all__ = ["allows_group", "changeable_files", "file_refusal"]


def allows_group(mode: ModeConfig, group: ToolGroup | None) -> bool:
    """Whether the mode has the tools of this group; tools without a group are always there."""
    return group is None or group == "modes" or any(_name(entry) == group for entry in mode.groups)


def file_refusal(mode: ModeConfig, path: str) -> str | None:
    """Why the mode does not let this file be changed, in a sentence for the model; None if it does."""
    options = _editing(mode)
    if options is None or options.file_regex is None:
        return None
    if path_matches(options.file_regex, path):
        return None
    what = changeable_files(mode)
    return (
        f"The mode {mode.name} may only change {what}; {path} is none of them. Switch the mode, or change another file."
    )


def changeable_files(mode: ModeConfig) -> str | None:
    """Which files alone the mode lets be changed; None if it does not say."""
    options = _editing(mode)
    if options is None or options.file_regex is None:
        return None
    return options.description or f"files that match {options.file_regex}"


def _editing(mode: ModeConfig) -> GroupOptions | None:
    return next((entry[1] for entry in mode.groups if not isinstance(entry, str) and entry[0] == "edit"), None)


def _name(entry: ToolGroup | tuple[ToolGroup, GroupOptions]) -> ToolGroup:
    return entry if isinstance(entry, str) else entry[0]
