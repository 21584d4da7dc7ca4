"""Which words of a command lead out of the workspace: by their own path, behind an option, or through a link."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator
from typing import Final

__all__ = ["WorkspaceBounds"]

_ALWAYS_THERE: Final = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"})
# Behind an option, a revision or a sign that what follows is a file: --file=x, HEAD:x, @x, a,b.
_SEPARATORS: Final = re.compile(r"[=:@,]")
_LONGEST_PATH: Final = 4_096
_LONGEST_OPTION: Final = 64
_MOST_PARTS: Final = 100


class WorkspaceBounds:
    """The folder that commands may read and change, as far as their words say it. Looking blocks."""

    def __init__(self, root: str | None) -> None:
        self._root = None if root is None else os.path.realpath(root)

    def outside(self, word: str, folder: str | None = None) -> str | None:
        """The part of the word that leads outside of the workspace for a command that runs in ``folder``."""
        parts = list(_parts(word))
        if len(parts) > _MOST_PARTS:
            return word
        return next((part for part in parts if self._is_outside(part, folder)), None)

    def holds(self, path: str) -> bool:
        """Whether the path is the workspace or inside it."""
        root = self._root
        return root is None or path == root or path.startswith(root.rstrip("/") + "/")

    def _is_outside(self, part: str, folder: str | None) -> bool:
        if part in _ALWAYS_THERE:
            return False
        if part == "~" or part.startswith("~/"):
            return True
        pieces = part.split("/")
        if (
            part.startswith("/")
            and ".." not in pieces
            and not os.path.lexists("/" + part.lstrip("/").partition("/")[0])
        ):
            # A regular expression, an address or an option's value: there is nothing of that name to be read.
            return False
        if self._root is None or folder is None:
            return part.startswith("/") or os.path.normpath(part).split("/")[0] == ".."
        path = os.path.join(folder, part)
        if ".." in pieces and not self.holds(os.path.normpath(os.path.join(os.path.realpath(folder), part))):
            return True
        return ("/" in part or os.path.lexists(path)) and not self.holds(os.path.realpath(path))


def _parts(word: str) -> Iterator[str]:
    """What of the word may be a path: all of it, what stands behind a sign, and what an option may be joined with."""
    starts = {0, *(found.end() for found in _SEPARATORS.finditer(word))}
    if word.startswith("-"):
        starts |= set(range(2, min(len(word), _LONGEST_OPTION)))
        starts |= {word.index(sign) for sign in ("/", "~", "..") if sign in word}
    for start in sorted(starts):
        part = word[start:]
        if part and len(part) <= _LONGEST_PATH:
            yield part
