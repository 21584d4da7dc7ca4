"""The names that a shell's pattern stands for, looked up here: what runs then names files, no patterns."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from fnmatch import translate
from typing import Final

__all__ = ["FilePatternProblem", "expanded"]

_MOST_ENTRIES: Final = 20_000
_MOST_MATCHES: Final = 1_000
_LONGEST: Final = 500
_MOST_STARS: Final = 12
_QUOTED: Final = re.compile(r"\[([*?\[])\]")


class FilePatternProblem(Exception):
    """The names cannot be told. The message says why, as the end of a sentence."""


def expanded(pattern: str, folder: str, root: str) -> list[str]:
    """The files inside ``root`` that the pattern stands for in ``folder``, in order; none where nothing fits. Blocks.

    Characters that were quoted stand in brackets: ``[*]``.
    """
    if len(pattern) > _LONGEST or pattern.count("*") + pattern.count("?") > _MOST_STARS:
        raise FilePatternProblem("it has a pattern too long to be looked up")
    search = _Search(os.path.realpath(root))
    found = search.below(folder, "", pattern.split("/"))
    if any(not _is_readable(name) for name in found):
        raise FilePatternProblem("it has a pattern that fits names no text can hold")
    return sorted(found)


@dataclass
class _Search:
    root: str
    scanned: int = 0
    found: list[str] = field(default_factory=list)

    def below(self, folder: str, shown: str, parts: list[str]) -> list[str]:
        self._step(folder, shown, parts)
        return self.found

    def _step(self, folder: str, shown: str, parts: list[str]) -> None:
        part, rest = parts[0], parts[1:]
        for name in self._names(folder, part) if _is_pattern(part) else [_QUOTED.sub(r"\1", part)]:
            path, now = os.path.join(folder, name or "/" if not shown else name), shown + name
            if rest:
                self._step(path, now + "/", rest)
            elif os.path.lexists(path):
                self.found.append(now)
                if len(self.found) > _MOST_MATCHES:
                    raise FilePatternProblem("it has a pattern that fits very many files")

    def _names(self, folder: str, part: str) -> list[str]:
        real = os.path.realpath(folder)
        if real != self.root and not real.startswith(self.root.rstrip("/") + "/"):
            raise FilePatternProblem("it has a pattern for files outside the workspace")
        fits = re.compile(translate(part)).match
        names: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self.scanned += 1
                    if self.scanned > _MOST_ENTRIES:
                        raise FilePatternProblem("it has a pattern for a folder with very many files")
                    if (part.startswith(".") or not entry.name.startswith(".")) and fits(entry.name):
                        names.append(entry.name)
        except OSError:
            # No folder, or none that may be read: nothing fits there, as in a shell.
            return []
        return names


def _is_pattern(part: str) -> bool:
    return re.search(r"[*?\[]", _QUOTED.sub("", part)) is not None


def _is_readable(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\n" not in name
