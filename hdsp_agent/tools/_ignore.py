"""Ignore files in gitignore's syntax: ``.hdspignore``, which hides files from the agent, and ``.gitignore``.

Rules become regular expressions. Those with more than one star would keep Python's engine busy for ever on some names,
so they run on RE2; for the others Python's is ten times as fast.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Final, cast

from pathspec import GitIgnoreSpec
from pathspec.pattern import RegexMatchResult
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from .._regular_files import open_regular_file
from ..config import LinearPattern, linear_pattern
from ._tool_failed import ToolFailed

__all__ = ["IGNORE_FILE", "HiddenFromAgent", "git_ignore"]

IGNORE_FILE: Final = ".hdspignore"
_MOST_BYTES: Final = 1_000_000
_MOST_RULES: Final = 2_000


class _Rule(GitIgnoreSpecPattern):
    """One line. What an engine refuses is a ValueError, as what gitignore's syntax refuses is."""

    __slots__ = ("_linear",)

    def __init__(self, pattern: str, include: bool | None = None) -> None:
        try:
            super().__init__(pattern, include)
        except re.error as error:
            raise ValueError(f"{pattern!r} is no pattern: {error}") from None
        self._linear: LinearPattern | None = None
        if self.regex is not None and pattern.count("*") > 1:
            self._linear = linear_pattern(self.regex.pattern)

    def match_file(self, file: str) -> RegexMatchResult | None:
        """Where it is found in this path."""
        if self._linear is None:
            plain: RegexMatchResult | None = super().match_file(file)
            return plain
        found = self._linear.search(file.encode("utf-8", "replace"))
        return None if found is None else RegexMatchResult(cast("re.Match[bytes]", found))


def _spec(lines: Iterable[str]) -> GitIgnoreSpec:
    # Its own way to RE2 fails for names that are no UTF-8, and where there are many rules.
    return GitIgnoreSpec.from_lines(lines, _Rule, backend="simple")


@dataclass(frozen=True)
class _Loaded:
    stamp: tuple[int, int, int] | None
    spec: GitIgnoreSpec | None
    problem: str | None = None


class HiddenFromAgent:
    """The workspace's ``.hdspignore``, read again when it changes. Everything here blocks.

    A file that cannot be understood hides everything: what the person meant to keep from the agent must not slip through.
    """

    def __init__(self, workspace: Path) -> None:
        self._file = workspace / IGNORE_FILE
        self._loaded = _Loaded(None, None)

    def hides(self, relative: str, *, is_directory: bool) -> bool:
        """Whether the file at this path, relative to the workspace with slashes, is kept from the agent."""
        loaded = self._current()
        if loaded.problem is not None:
            raise ToolFailed(loaded.problem)
        if loaded.spec is None or relative == ".":
            return False
        return loaded.spec.match_file(f"{relative}/" if is_directory else relative)

    def _current(self) -> _Loaded:
        try:
            found = os.stat(self._file)
        except (FileNotFoundError, NotADirectoryError):
            stamp = None
        except OSError as error:
            return _Loaded(None, None, self._unreadable(str(error)))
        else:
            stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        if stamp != self._loaded.stamp:
            self._loaded = _Loaded(None, None) if stamp is None else self._read(stamp)
        return self._loaded

    def _read(self, stamp: tuple[int, int, int]) -> _Loaded:
        if not self._file.is_file() or stamp[1] > _MOST_BYTES:
            return _Loaded(stamp, None, self._unreadable("it is no ordinary file of less than 1 MB"))
        try:
            with TextIOWrapper(open_regular_file(self._file), "utf-8") as file:
                lines = file.read().splitlines()
        except (OSError, UnicodeError) as error:
            return _Loaded(stamp, None, self._unreadable(str(error)))
        if len(lines) > _MOST_RULES:
            return _Loaded(stamp, None, self._unreadable(f"it has more than {_MOST_RULES:,} lines"))
        for number, line in enumerate(lines, 1):
            try:
                _Rule(line)
            except ValueError as error:
                return _Loaded(stamp, None, self._unreadable(f"line {number}: {error}"))
        return _Loaded(stamp, _spec(lines))

    def _unreadable(self, why: str) -> str:
        return (
            f"{IGNORE_FILE} cannot be understood ({why}), so no file of the workspace may be touched. "
            "Tell the person; only they can mend it."
        )


def git_ignore(folder: Path) -> GitIgnoreSpec | None:
    """The folder's own ``.gitignore``. Lines git would not understand are skipped, as git does."""
    try:
        with TextIOWrapper(open_regular_file(folder / ".gitignore"), "utf-8", "replace") as file:
            lines = file.read(_MOST_BYTES).splitlines()[:_MOST_RULES]
    except OSError:
        return None
    patterns: list[str] = []
    for line in lines:
        try:
            _Rule(line)
        except ValueError:
            continue
        patterns.append(line)
    return _spec(patterns) if patterns else None
