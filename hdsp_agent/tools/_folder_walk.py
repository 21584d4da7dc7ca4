"""Walking a folder within bounds: links are shown and not followed, ignored files are left out."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pathspec import GitIgnoreSpec

from .._threads import Stop
from ._ignore import git_ignore
from ._path_policy import PathPolicy

__all__ = ["FolderEntry", "FolderWalk"]

_HEAVY: Final = frozenset(
    {
        "__pycache__",
        "node_modules",
        "site-packages",
        "venv",
        "env",
        "bower_components",
        "dist-packages",
    }
)
"""Folders of others' code, listed and not entered. Hidden ones are not entered either."""

_Rules = tuple[tuple[Path, GitIgnoreSpec], ...]


@dataclass(frozen=True)
class FolderEntry:
    """Something in a folder."""

    path: Path
    is_directory: bool
    is_file: bool
    """Whether it is an ordinary file: no pipe, device or link."""
    link: str | None = None
    """Where it leads, if it is a symbolic link."""
    is_hidden_from_agent: bool = False


@dataclass
class FolderWalk:
    """One walk, breadth first so that a bound leaves out the deepest. Blocks.

    ``denied`` are folders that could not be read; ``stopped_early`` that time ran out.
    """

    root: Path
    paths: PathPolicy
    recursive: bool = True
    seconds: float = 10.0
    with_ignored: bool = False
    """Whether to go on into what ``.gitignore`` names."""
    denied: list[Path] = field(default_factory=list)
    stopped_early: bool = False

    def entries(self, stop: Stop) -> Iterator[FolderEntry]:
        """Everything in the folder, and if ``recursive`` below it. Raises OSError if the folder cannot be read."""
        deadline = time.monotonic() + self.seconds
        folders: deque[tuple[Path, _Rules]] = deque([(self.root, self._outer_rules())])
        while folders:
            folder, rules = folders.popleft()
            try:
                found = sorted(os.scandir(folder), key=lambda entry: (entry.name.casefold(), entry.name))
            except OSError:
                if folder == self.root:
                    raise
                self.denied.append(folder)
                continue
            if not self.with_ignored and (own := git_ignore(folder)) is not None:
                rules = ((folder, own), *rules)
            for item in found:
                if stop() or time.monotonic() > deadline:
                    self.stopped_early = True
                    return
                entry = self._entry(item, rules)
                if entry is None:
                    continue
                yield entry
                if self.recursive and self._enters(entry):
                    folders.append((entry.path, rules))

    def _entry(self, item: os.DirEntry[str], rules: _Rules) -> FolderEntry | None:
        path = Path(item.path)
        try:
            link = os.readlink(path) if item.is_symlink() else None
            is_directory = item.is_dir(follow_symlinks=False)
            is_file = item.is_file(follow_symlinks=False)
        except OSError:
            return None
        if self.recursive and not self.with_ignored and _ignored(path, is_directory, rules):
            return None
        return FolderEntry(path, is_directory, is_file, link, self.paths.hides(path, is_directory=is_directory))

    def _enters(self, entry: FolderEntry) -> bool:
        name = entry.path.name
        return entry.is_directory and not entry.is_hidden_from_agent and not name.startswith(".") and name not in _HEAVY

    def _outer_rules(self) -> _Rules:
        """The rules of the folders above, up to the workspace."""
        rules: list[tuple[Path, GitIgnoreSpec]] = []
        folder = self.root
        while not self.with_ignored and folder != self.paths.workspace and folder.is_relative_to(self.paths.workspace):
            folder = folder.parent
            if (own := git_ignore(folder)) is not None:
                rules.append((folder, own))
        return tuple(rules)


def _ignored(path: Path, is_directory: bool, rules: _Rules) -> bool:
    # The nearest folder's word counts most.
    for folder, spec in rules:
        relative = path.relative_to(folder).as_posix()
        verdict = spec.check_file(f"{relative}/" if is_directory else relative).include
        if verdict is not None:
            return verdict
    return False
