"""How much the tasks take, and whether that is too much."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, Literal

from ...append_log.gzip_logs import PACKED, unpacked_size
from ...errors import HdspAgentError
from .._backends import DATABASE_NAME
from .._task_store import TaskStore
from ..sqlite._sqlite_database import SqliteDatabase
from ..sqlite._sqlite_store import SqliteStore
from ..tables._sql import STREAM_TABLES, SqlConnection
from ..tables._table_store import TableStore
from ..tables._task_database import TaskDatabase
from ._long_work import LongWork, in_thread
from ._work_progress import Progress

__all__ = ["AlertLevel", "PlaceUse", "StorageLimits", "StorageUse", "alert_level", "measure"]

AlertLevel = Literal["ok", "warning", "critical"]

_GIGABYTE: Final = 10**9


@dataclass(frozen=True)
class StorageLimits:
    """From how many bytes on people are told, and told with urgency. 0 is never."""

    warning_bytes: int = 10 * _GIGABYTE
    critical_bytes: int = 50 * _GIGABYTE

    @classmethod
    def of_gigabytes(cls, warning: float, critical: float) -> StorageLimits:
        """The limits as settings and traits name them."""
        return cls(round(warning * _GIGABYTE), round(critical * _GIGABYTE))


@dataclass
class PlaceUse:
    """What the tasks of one place take. ``unpacked_bytes`` is what they would take if nothing were packed."""

    tasks: int = 0
    packed_tasks: int = 0
    bytes: int = 0
    unpacked_bytes: int = 0


@dataclass
class StorageUse:
    """What everything below the home folder takes; ``parts`` are its other files and folders by name."""

    running: PlaceUse = field(default_factory=PlaceUse)
    completed: PlaceUse = field(default_factory=PlaceUse)
    parts: dict[str, int] = field(default_factory=dict)

    @property
    def tasks_bytes(self) -> int:
        """What all tasks take."""
        return self.running.bytes + self.completed.bytes

    @property
    def total_bytes(self) -> int:
        """What everything takes."""
        return self.tasks_bytes + sum(self.parts.values())


def alert_level(use: StorageUse, limits: StorageLimits | None = None) -> AlertLevel:
    """Whether people are to be told."""
    limits = limits or StorageLimits()
    total = use.total_bytes
    if 0 < limits.critical_bytes < total:
        return "critical"
    if 0 < limits.warning_bytes < total:
        return "warning"
    return "ok"


async def measure(home: Path, store: TaskStore | None = None, *, progress: Progress | None = None) -> StorageUse:
    """Add up what is there, and in a store that is elsewhere; what vanishes meanwhile counts nothing."""
    return await in_thread(partial(_measure, home, store), progress)


def _measure(home: Path, store: TaskStore | None, work: LongWork) -> StorageUse:
    use = StorageUse()
    done = 0
    for entry in _entries(home):
        if entry.name == "contexts" and entry.is_dir(follow_symlinks=False):
            for part in _entries(Path(entry.path)):
                place = {"running": use.running, "completed": use.completed}.get(part.name)
                if place is None or not part.is_dir(follow_symlinks=False):
                    use.parts[f"contexts/{part.name}"] = _bytes_below(part)
                    continue
                for task in _entries(Path(part.path)):
                    done += 1
                    work.tell("measure", done, None)
                    _add_task(place, task)
        else:
            work.check()
            use.parts[entry.name] = _bytes_below(entry)
    if DATABASE_NAME in use.parts:
        # One that cannot be read counts as a whole, with everything else.
        with suppress(HdspAgentError):
            _add_database(use, home / DATABASE_NAME)
    if isinstance(store, TableStore) and not isinstance(store, SqliteStore):
        with suppress(HdspAgentError):
            _add_places(use, store.database)
    return use


def _add_database(use: StorageUse, path: Path) -> None:
    """Say of what the database takes which tasks take it; what is left is its own."""
    database = SqliteDatabase(path)
    try:
        left = _add_places(use, database)
    finally:
        database.close()
    # What was written last may be in the write-ahead log still.
    for file in (path.name, f"{path.name}-wal"):
        taken = min(left, use.parts.get(file, 0))
        if taken:
            use.parts[file] -= taken
            left -= taken


def _add_places(use: StorageUse, database: TaskDatabase) -> int:
    """Count the tasks of a database; how many bytes they have."""
    total = 0
    for name, tasks, size in database.read(partial(_places, length=database.dialect.length)):
        place = use.running if name == "running" else use.completed
        place.tasks += tasks
        place.bytes += size
        place.unpacked_bytes += size
        total += size
    return total


def _places(connection: SqlConnection, *, length: str) -> list[tuple[str, int, int]]:
    """Of each place how many tasks it has, and the bytes of their records and artifacts."""
    tasks: dict[str, int] = {}
    sizes: dict[str, int] = {}
    of_task = f"{length.format('metadata')} + {length.format('state')}"
    for place, count, size in connection.execute(
        f"SELECT place, COUNT(*), SUM({of_task}) FROM tasks GROUP BY place"  # noqa: S608 -- our own names
    ):
        tasks[place], sizes[place] = count, int(size)
    of_rows = [(table, length.format("record")) for table, _ in STREAM_TABLES.values()]
    for table, bytes_of_row in (*of_rows, ("artifacts", "size")):
        for place, size in connection.execute(
            f"SELECT place, SUM({bytes_of_row}) FROM {table} JOIN tasks ON number = task GROUP BY place"  # noqa: S608 -- our own names
        ):
            sizes[place] += int(size)
    return [(place, count, sizes[place]) for place, count in tasks.items()]


def _add_task(place: PlaceUse, entry: os.DirEntry[str]) -> None:
    is_task = entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
    place.tasks += is_task
    packed = False
    for file in _files_below(entry):
        with suppress(OSError):
            size = unpacked = file.stat(follow_symlinks=False).st_size
            if file.name.endswith(".jsonl" + PACKED):
                packed = True
                unpacked = unpacked_size(Path(file.path))
            place.bytes += size
            place.unpacked_bytes += unpacked
    place.packed_tasks += is_task and packed


def _bytes_below(entry: os.DirEntry[str]) -> int:
    total = 0
    for file in _files_below(entry):
        with suppress(OSError):
            total += file.stat(follow_symlinks=False).st_size
    return total


def _files_below(entry: os.DirEntry[str]) -> Iterator[os.DirEntry[str]]:
    if not entry.is_dir(follow_symlinks=False):
        yield entry
        return
    for child in _entries(Path(entry.path)):
        yield from _files_below(child)


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    with suppress(FileNotFoundError, NotADirectoryError, PermissionError), os.scandir(folder) as entries:
        yield from entries
