"""The dimensions that cost little to look at: mode, permissions, model, memory, time and cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from ...config import GlobalSettings, ModeConfig, OperatorPolicy
from ...memory import MemoryText, recalled_note
from ...messages import RecalledItem
from ...providers import KnownModel
from ..approval import standing
from ..modes import changeable_files, display_name
from .sections import DimensionName, Section, SectionEntry

__all__ = ["facts", "memory_part", "mode_part", "model_part", "permissions_part", "usage_part"]

_MOST_COMMANDS: Final = 40
_ALL_ASKED: Final = "everything that reads, changes or runs something"


def facts(name: DimensionName, *pairs: tuple[str, str | None]) -> Section:
    """Facts by their labels; those without a value are not there."""
    return Section(name, tuple(SectionEntry(label, f"{label}: {value}") for label, value in pairs if value))


def mode_part(mode: ModeConfig) -> Section:
    """The mode it is in."""
    return facts(
        "mode", ("Current mode", f"{mode.slug} ({display_name(mode)})"), ("Files it may change", changeable_files(mode))
    )


def permissions_part(settings: GlobalSettings, policy: OperatorPolicy, mode: ModeConfig) -> Section:
    """What is done at once, asked about and refused, so that the agent plans with it."""
    decided = standing(settings, policy, mode)
    return facts(
        "permissions",
        ("Done without asking", ", ".join(decided.at_once)),
        ("Asked about first", ", ".join(decided.asked) if decided.at_once else _ALL_ASKED),
        ("Shell commands done without asking begin with", _commands(decided.commands)),
        ("Shell commands that are refused begin with", _commands(settings.denied_commands)),
    )


def model_part(info: KnownModel) -> Section:
    """Which model it is."""
    window = info.context_window
    return facts(
        "model",
        ("Model", info.name or info.id),
        ("Context window", f"{window:,} tokens" if window and info.id else None),
        ("Pictures", None if not info.id else "can be seen" if info.supports_images else "cannot be seen"),
    )


def memory_part(texts: Sequence[MemoryText]) -> Section:
    """What is remembered of other conversations."""
    return Section(
        "memory",
        tuple(SectionEntry(each.title, f"## {each.title}\n\n{each.text}", recalled=_recalled(each)) for each in texts),
    )


def usage_part(settings: GlobalSettings, now: datetime, cost: float) -> Section:
    """What time it is, and what the task has cost."""
    return facts(
        "usage",
        ("Current time", now.isoformat(timespec="minutes") if settings.include_current_time else None),
        ("Cost so far", f"${cost:.4f}" if settings.include_current_cost and cost > 0 else None),
    )


def _recalled(text: MemoryText) -> tuple[RecalledItem, ...]:
    if text.file is not None:
        return (RecalledItem(kind="learned", source=text.file, title=text.file, told=True),)
    return tuple(recalled_note(note, told=True) for note in text.notes)


def _commands(prefixes: Iterable[str]) -> str:
    listed = list(prefixes)
    more = f" and {len(listed) - _MOST_COMMANDS} more" if len(listed) > _MOST_COMMANDS else ""
    return ", ".join(listed[:_MOST_COMMANDS]) + more
