"""The name by which a shared index knows the folder of a server: made once, and kept in it."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Final

from .._private_files import locked, make_private_folder, read_with_identity, replace_file

__all__ = ["FolderPlace"]

_LOCK_SECONDS: Final = 10.0


class FolderPlace:
    """Called, it returns the name. Blocks."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._name = ""

    def __call__(self) -> str:
        self._name = self._name or self._kept() or self._made()
        return self._name

    @property
    def _path(self) -> Path:
        return self._home / ".recall.place"

    def _kept(self) -> str:
        found = read_with_identity(self._path)
        return found[0].decode("ascii", "replace").strip() if found is not None else ""

    def _made(self) -> str:
        make_private_folder(self._home)
        with locked(self._path, _LOCK_SECONDS):
            if name := self._kept():
                return name
            name = secrets.token_hex(8)
            replace_file(self._path, name.encode())
            return name
