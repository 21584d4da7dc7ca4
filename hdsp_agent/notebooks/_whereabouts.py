"""Where notebooks are that were renamed or deleted while a task knew them by another name."""

from __future__ import annotations

__all__ = ["Whereabouts"]


class Whereabouts:
    """Old names, each with the present one, and the notebooks that were deleted.

    Several tell of one rename: the server, and each tab that has the notebook open, later and perhaps when it has been
    renamed again.
    """

    def __init__(self) -> None:
        self._now: dict[str, str] = {}
        self._gone: set[str] = set()

    def moved(self, old: str, new: str) -> bool:
        """A file or folder has another name; False if that was known."""
        if old in self._now and self.now(old) == self.now(new):
            return False
        self._now = {origin: _under(now, old, new) for origin, now in self._now.items()}
        self._now[old] = new
        self.appeared(new)
        return True

    def deleted(self, path: str) -> None:
        """A file is no more."""
        self._gone.add(path)

    def appeared(self, path: str) -> None:
        """There is a file of this name: who says it means this one, and not one that had the name before."""
        self._gone.discard(path)
        self._now.pop(path, None)
        if self.now(path) != path:
            # Its folder has the name of one that was renamed; what else was in that is still found where it went.
            self._now[path] = path

    def is_gone(self, path: str) -> bool:
        """Whether it was deleted, and nothing was put there since."""
        return path in self._gone

    def now(self, path: str) -> str:
        """The present name of what a task knows by this one, which may be in a folder that was renamed."""
        known = path
        while known:
            if known in self._now:
                return self._now[known] + path[len(known) :]
            known = known.rpartition("/")[0]
        return path


def _under(path: str, old: str, new: str) -> str:
    """The path of what was at ``old``, or within it, now that it is at ``new``."""
    return new + path[len(old) :] if path == old or path.startswith(f"{old}/") else path
