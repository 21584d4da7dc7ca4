"""Why there is a checkpoint, told apart so that pages word it in their reader's language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, cast, get_args

from ..files.records import CheckpointRecord

__all__ = ["FOR_VERIFICATION", "CheckpointKind", "StepTool", "is_of_restore", "kind_of", "tool_of"]

CheckpointKind = Literal[
    "before", "after", "while", "meanwhile", "look", "asked_for", "verified", "after_crash", "note"
]
"""``while``: it took too long to be saved before. ``verified``: a notebook was verified as it was then. ``note``: a person's own
words."""

FOR_VERIFICATION: Final = "for a verification"

StepTool = Literal[
    "write_to_file",
    "apply_diff",
    "search_replace",
    "edit_cells",
    "run_cells",
    "run_code",
    "create_notebook",
    "manage_kernel",
    "install_packages",
    "execute_command",
    "use_mcp_tool",
    "access_mcp_resource",
    "new_task",
    "add_cell",
    "edit_cell",
    "run_cell",
    "rename_variable",
    "add_text",
    "delete_cell",
    "remember",
    "forget",
    "restore",
    "restart",
]
"""What is done right after, or was done right before; a tool that is none of ours is named in the reason alone."""

_STEP: Final = re.compile(r"(before|after|while) (\S+)")
_FIXED: Final[Mapping[str, CheckpointKind]] = {
    "look": "look",
    "asked for": "asked_for",
    FOR_VERIFICATION: "verified",
    "after a crash": "after_crash",
    "meanwhile": "meanwhile",
    "before restore": "before",
    "after restore": "after",
    "before restart": "before",
}
_OF_PERSONS: Final = frozenset(("asked for", FOR_VERIFICATION, "before restart"))
"""Those of them that a person's name is with."""
_TOOLS: Final = frozenset(get_args(StepTool))


def is_of_restore(record: CheckpointRecord) -> bool:
    """Whether a restore made it, right before it or by what it did."""
    return record.author == "restore" or record.reason == "before restore"


def kind_of(record: CheckpointRecord) -> CheckpointKind:
    """What kind of reason a checkpoint has. Only a task's checkpoints are about tools: a person's note may sound like that."""
    if record.owner is not None and record.reason not in _OF_PERSONS:
        return "note"
    step = _STEP.fullmatch(record.reason) if record.task_id is not None else None
    return cast(CheckpointKind, step[1]) if step is not None else _FIXED.get(record.reason, "note")


def tool_of(record: CheckpointRecord) -> StepTool | None:
    """The tool it is about, if it is one of ours."""
    step = _STEP.fullmatch(record.reason)
    return cast(StepTool, step[2]) if step is not None and step[2] in _TOOLS and kind_of(record) != "note" else None
