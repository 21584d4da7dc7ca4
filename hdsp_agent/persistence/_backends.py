"""Which kind of store a home folder gets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

from typing_extensions import TypedDict, Unpack, assert_never

from ._protocol import DamageNotice, TaskStore

__all__ = ["DATABASE_NAME", "Backend", "StoreOptions", "open_store"]

Backend = Literal["files", "sqlite"]

DATABASE_NAME: Final = "tasks.db"


class StoreOptions(TypedDict, total=False):
    """What both kinds of store can be told."""

    on_damage: Callable[[DamageNotice], None] | None
    remembered: int
    heartbeat_seconds: float
    monitor_seconds: float


def open_store(home: Path, backend: Backend, **options: Unpack[StoreOptions]) -> TaskStore:
    """The store of this home, not started yet: a folder for each task, or all of them in ``tasks.db``."""
    match backend:
        case "files":
            from .files._store import FileStore

            return FileStore(home, **options)
        case "sqlite":
            from .sqlite._store import SqliteStore

            return SqliteStore(home / DATABASE_NAME, **options)
        case _:
            assert_never(backend)
