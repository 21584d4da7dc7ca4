"""Notebooks are named by the contents API, files by their place in the workspace: the way from one to the other.

Links are followed, so everything here blocks.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ...errors import InvalidInput
from ...notebooks import Notebooks

__all__ = ["Paths", "is_notebook"]


def is_notebook(path: str) -> bool:
    """Whether a file of this name is one."""
    return path.endswith(".ipynb")


class Paths:
    """The two names of files of one workspace."""

    def __init__(self, workspace: Path, notebooks: Notebooks | None) -> None:
        self._workspace = Path(os.path.realpath(workspace))
        self._notebooks = notebooks

    def now_at(self, path: str) -> str:
        """Where a notebook is that was at this path of the contents API. Does not block."""
        return self._notebooks.access.now_at(path) if self._notebooks is not None else path

    def in_workspace(self, path: str) -> str | None:
        """A path of the contents API, relative to the workspace; None for one outside."""
        root = self._notebooks.access.root if self._notebooks is not None else None
        file = (root or self._workspace) / path
        # The file's own link is not followed: it is the link that is kept.
        place = Path(os.path.realpath(file.parent)) / file.name
        return place.relative_to(self._workspace).as_posix() if place.is_relative_to(self._workspace) else None

    def all_in_workspace(self, paths: Iterable[str]) -> dict[str, str]:
        """Those that are in it, each with its place there."""
        return {path: file for path in paths if (file := self.in_workspace(path)) is not None}

    def file(self, path: str) -> str:
        """A file that a person named, by either of its names."""
        return self.in_workspace(path) or path

    def notebooks(self, files: Iterable[str]) -> dict[str, str]:
        """Of these files the notebooks that Jupyter serves, each with its path there."""
        return {file: path for file in files if is_notebook(file) and (path := self.notebook(file)) is not None}

    def found(self, files: Iterable[str]) -> dict[str, bool]:
        """The paths of those notebooks, each with whether its file is there now."""
        return {path: os.path.lexists(self._workspace / file) for file, path in self.notebooks(files).items()}

    def notebook(self, file: str) -> str | None:
        """A notebook's path in the contents API; None for one that Jupyter does not serve."""
        if self._notebooks is None:
            return None
        try:
            return self._notebooks.access.api_path(self._workspace / file)
        except InvalidInput:
            return None
