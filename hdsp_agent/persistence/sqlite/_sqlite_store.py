"""The store that keeps all tasks in one SQLite database."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from typing_extensions import Unpack

from ...errors import StorageUnavailable
from .._disk_space import check_free_space
from .._task_store import StoreOptions
from ..tables._artifact_rows import ArtifactRows
from ..tables._table_store import TableStore
from ._process_locks import ProcessLockJudge
from ._sqlite_database import BUSY_SECONDS, SqliteDatabase
from ._sqlite_writer import SqliteWriter

__all__ = ["SqliteStore"]


class SqliteStore(TableStore):
    """See ``TaskStore`` for what it does. ``busy_seconds`` is how long another process may keep the database."""

    def __init__(self, path: Path, *, busy_seconds: float = BUSY_SECONDS, **options: Unpack[StoreOptions]) -> None:
        self._file = SqliteDatabase(path, busy_seconds=busy_seconds)
        clock_notes = path.with_name(f".{path.name}.clean.json")
        super().__init__(
            self._file,
            SqliteWriter(self._file),
            ProcessLockJudge(path),
            clock_notes,
            ArtifactRows(self._file),
            **options,
        )

    @property
    def path(self) -> Path:
        """The database's file."""
        return self._file.path

    async def check_usable(self) -> None:
        await asyncio.to_thread(self._check_file)
        await super().check_usable()

    def _check_file(self) -> None:
        path = self.path
        self._file.check_there()
        if not all(os.access(place, os.W_OK) for place in (path, path.parent)):
            raise StorageUnavailable(
                f"Conversations cannot be saved in {path}: permission denied. What was saved before is safe. Check who owns "
                "that file and its folder, and their permissions.",
                path=str(path), action="write", reason="permission denied",
            )  # fmt: skip
        check_free_space(path)
