"""What a path becomes when something is renamed: the file itself, or a folder it is in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

__all__ = ["is_within", "renamed", "under"]

T = TypeVar("T")


def is_within(path: str, place: str) -> bool:
    """Whether a path is this one, or one in this folder."""
    return path == place or path.startswith(f"{place}/")


def under(path: str, old: str, new: str) -> str:
    """The path of what was at ``old``, or within it, now that it is at ``new``; any other path as it is."""
    return new + path[len(old) :] if is_within(path, old) else path


def renamed(known: Mapping[str, T], old: str, new: str) -> dict[str, T]:
    """What is known by paths, by the paths of now. What was at the new name before is no more."""
    return {
        under(path, old, new): what for path, what in known.items() if is_within(path, old) or not is_within(path, new)
    }
