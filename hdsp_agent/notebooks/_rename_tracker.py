"""Where notebooks are that were renamed or deleted while a task knew them by another name."""

from __future__ import annotations

from typing import Final

from ._renamed_paths import is_within, under

__all__ = ["RenameTracker"]

_MOST_NAMES: Final = 2_000
"""A task that knows one of before, after so many renames, finds no file there and is told so."""


class RenameTracker:
    """Old names, each with the present one, and the notebooks that were deleted.

    Several tell of one rename: the server, and each tab that has the notebook open, later and perhaps when it has been
    renamed again.
    """

    def __init__(self) -> None:
        self._now: dict[str, str] = {}
        self._gone: dict[str, None] = {}

    def moved(self, old: str, new: str) -> bool:
        """A file or folder has another name; False if that was known."""
        if self.now(old) != old and self.now(old) == self.now(new):
            return False
        # What is at the new name is what was moved, whatever was there, or was renamed or deleted there, before.
        self._gone = {under(path, old, new): None for path in self._gone if not is_within(path, new)}
        self._now = {origin: under(now, old, new) for origin, now in self._now.items() if not is_within(origin, new)}
        self._now.pop(old, None)
        self._now[old] = new
        self.appeared(new)
        _forget_oldest(self._now)
        return True

    def deleted(self, path: str) -> None:
        """A file or folder is no more."""
        self._gone[path] = None
        _forget_oldest(self._gone)

    def appeared(self, path: str) -> None:
        """There is a file of this name: who says it means this one, and not one that had the name before."""
        for place in _with_folders(path):
            self._gone.pop(place, None)
        self._now.pop(path, None)
        if self.now(path) != path:
            # Its folder has the name of one that was renamed; what else was in that is still found where it went.
            self._now[path] = path

    def is_gone(self, path: str) -> bool:
        """Whether it was deleted, or a folder it is in, and nothing was put there since."""
        return any(place in self._gone for place in _with_folders(path))

    def now(self, path: str) -> str:
        """The present name of what a task knows by this one, which may be in a folder that was renamed."""
        seen = {path}
        while True:
            known = next((place for place in _with_folders(path) if place in self._now), None)
            if known is None:
                return path
            # It may have been renamed once more within a folder that was.
            path = self._now[known] + path[len(known) :]
            if path in seen:
                return path
            seen.add(path)


def _with_folders(path: str) -> list[str]:
    """The path, and the folders it is in, the innermost first."""
    places = [path]
    while "/" in places[-1]:
        places.append(places[-1].rpartition("/")[0])
    return places


def _forget_oldest(names: dict[str, str] | dict[str, None]) -> None:
    for oldest in list(names)[:-_MOST_NAMES]:
        del names[oldest]
