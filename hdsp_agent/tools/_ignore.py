"""Ignore files in gitignore's syntax: ``.hdspignore``, which hides files from the agent, and ``.gitignore``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pathspec import GitIgnoreSpec

from ._tool import ToolFailed

__all__ = ["IGNORE_FILE", "HiddenFromAgent", "git_ignore"]

IGNORE_FILE: Final = ".hdspignore"
_MOST_BYTES: Final = 1_000_000


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
        if loaded.spec is None or relative in {"", "."}:
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
            lines = self._file.read_text("utf-8").splitlines()
        except (OSError, UnicodeError) as error:
            return _Loaded(stamp, None, self._unreadable(str(error)))
        for number, line in enumerate(lines, 1):
            try:
                GitIgnoreSpec.from_lines([line])
            except ValueError as error:
                return _Loaded(stamp, None, self._unreadable(f"line {number}: {error}"))
        return _Loaded(stamp, GitIgnoreSpec.from_lines(lines))

    def _unreadable(self, why: str) -> str:
        return (
            f"{IGNORE_FILE} cannot be understood ({why}), so no file of the workspace may be touched. "
            "Tell the person; only they can mend it."
        )


def git_ignore(folder: Path) -> GitIgnoreSpec | None:
    """The folder's own ``.gitignore``. Lines git would not understand are skipped, as git does."""
    try:
        with open(folder / ".gitignore", encoding="utf-8", errors="replace") as file:
            lines = file.read(_MOST_BYTES).splitlines()
    except OSError:
        return None
    patterns: list[str] = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        patterns.append(line)
    return GitIgnoreSpec.from_lines(patterns) if patterns else None
