"""What becomes of a folder's mode, which may never let the agent do more than the person's modes do without it."""

from __future__ import annotations

from typing import Final

from ...config import GroupOptions, ModeConfig, NarrowedMode, ToolGroup
from ._builtin import BUILT_IN, DEFAULT_MODE

__all__ = ["narrowed", "within_code"]

_LONGEST: Final = 100_000


def narrowed(base: ModeConfig, local: ModeConfig) -> ModeConfig:
    """A mode as a folder's mode of the same name makes it: fewer tools and files, and more instructions.

    Who it is and when to use it stay as they were: other words there could undo the instructions that follow them.
    """
    return NarrowedMode.model_validate(
        {
            **dict(base),
            "groups": _both(base, local),
            "custom_instructions": _instructions(base, local),
            "source": local.source,
            "within": base,
        }
    )


def within_code(local: ModeConfig) -> ModeConfig:
    """A mode of a folder's own, which has at most the tools of the built-in mode for code."""
    code = next(mode for mode in BUILT_IN if mode.slug == DEFAULT_MODE)
    return local.model_copy(update={"groups": _both(code, local)})


def _both(base: ModeConfig, local: ModeConfig) -> tuple[ToolGroup | tuple[ToolGroup, GroupOptions], ...]:
    """The groups of a folder's mode, as far as the other one has them. Its own pattern is the narrower, if it has one."""
    known = {_name(group): group for group in base.groups}
    return tuple(
        group if not isinstance(group, str) and group[1].file_regex is not None else known[_name(group)]
        for group in local.groups
        if _name(group) in known
    )


def _instructions(base: ModeConfig, local: ModeConfig) -> str | None:
    parts = (base.custom_instructions, local.role_definition, local.custom_instructions)
    return "\n\n".join(part.strip() for part in parts if part and part.strip())[:_LONGEST] or None


def _name(group: ToolGroup | tuple[ToolGroup, GroupOptions]) -> ToolGroup:
    return group if isinstance(group, str) else group[0]
