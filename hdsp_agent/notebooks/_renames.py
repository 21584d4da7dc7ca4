"""What a path becomes when something is renamed: the file itself, or a folder it is in."""

from __future__ import annotations

__all__ = ["is_within", "under"]


def is_within(path: str, place: str) -> bool:
    """Whether a path is this one, or one in this folder."""
    return path == place or path.startswith(f"{place}/")


def under(path: str, old: str, new: str) -> str:
    """The path of what was at ``old``, or within it, now that it is at ``new``; any other path as it is."""
    return new + path[len(old) :] if is_within(path, old) else path
