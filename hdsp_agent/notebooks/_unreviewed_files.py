"""What nobody has looked at, kept over a restart of the server: a small file for each notebook. Everything here blocks."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from .._private_files import locked, make_private_folder, read_with_identity, replace_file, storage_error
from ..errors import HdspAgentError
from ..wire import WireModel
from ._unreviewed_change import UnreviewedChange

__all__ = ["UnreviewedFiles"]

_FOLDER: Final = "unreviewed"
_LOCK_SECONDS: Final = 5.0
_FORGOTTEN_SECONDS: Final = 90 * 24 * 3600


class _KeptNotebook(WireModel):
    """The changes of one notebook."""

    workspace: str
    path: str
    changes: list[UnreviewedChange]


class UnreviewedFiles:
    """The files of the notebooks in one workspace."""

    def __init__(self, home: Path, workspace: Path) -> None:
        self._folder = home / _FOLDER
        self._workspace = str(workspace)

    def read(self) -> dict[str, list[UnreviewedChange]]:
        """The changes by the paths of their notebooks, those of long ago first. Raises HdspAgentError."""
        found: list[tuple[float, _KeptNotebook]] = []
        for file in self._folder.glob("*.json"):
            with suppress(OSError):
                changed_at = file.stat().st_mtime
                if time.time() - changed_at > _FORGOTTEN_SECONDS:
                    file.unlink()
                elif (kept := _read(file)) is not None and kept.workspace == self._workspace:
                    found.append((changed_at, kept))
        found.sort(key=lambda one: one[0])
        return {kept.path: kept.changes for _, kept in found}

    def write(self, path: str, changes: Sequence[UnreviewedChange]) -> None:
        """These are the changes of a notebook now. Raises HdspAgentError."""
        name = hashlib.sha256(f"{self._workspace}\0{path}".encode("utf-8", "surrogatepass")).hexdigest()
        file = self._folder / f"{name[:32]}.json"
        if not changes:
            try:
                file.unlink(missing_ok=True)
            except OSError as error:
                raise storage_error(file, "remove", error) from error
            return
        make_private_folder(self._folder)
        kept = _KeptNotebook(workspace=self._workspace, path=path, changes=list(changes))
        # One lock for all of them: a lock for each notebook would stay beside its file.
        with locked(self._folder, _LOCK_SECONDS):
            # As ASCII: a cell may hold half a surrogate pair, which is no UTF-8.
            replace_file(file, json.dumps(kept.to_wire()).encode())


def _read(file: Path) -> _KeptNotebook | None:
    try:
        found = read_with_identity(file)
        return None if found is None else _KeptNotebook.model_validate(json.loads(found[0]))
    except (HdspAgentError, ValueError, RecursionError):
        # One that cannot be read costs the marks of one notebook, and no other's.
        return None
