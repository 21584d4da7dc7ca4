"""Which kind of store a home folder gets."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, assert_never, get_args

from typing_extensions import Unpack

from ..errors import HdspAgentError, InvalidSetting, Unsupported
from ._task_store import StoreOptions, TaskStore
from .history._index import HistoryIndex, HistoryOptions
from .history._state_database import StateDatabase

if TYPE_CHECKING:
    from ._shared_memory import SharedMemory

__all__ = [
    "BACKENDS",
    "DATABASE_NAME",
    "Backend",
    "backend_named",
    "create_tables",
    "has_store",
    "history_database",
    "open_history",
    "open_memory",
    "open_store",
    "tasks_elsewhere",
]

logger = logging.getLogger(__name__)

Backend = Literal["files", "sqlite", "postgres"]
BACKENDS: Final[tuple[Backend, ...]] = get_args(Backend)

DATABASE_NAME: Final = "tasks.db"


_HISTORY_DATABASES: Final[dict[Backend, str]] = {
    "files": "state.db",
    "sqlite": "state-sqlite.db",
    "postgres": "state-postgres.db",
}


def backend_named(name: str) -> Backend:
    """The backend of this name. Raises ``InvalidSetting``."""
    for backend in BACKENDS:
        if backend == name:
            return backend
    raise InvalidSetting(
        f"storage_backend cannot be {name!a}: it is one of {', '.join(BACKENDS)}.", field="storage_backend"
    )


def history_database(home: Path, backend: Backend) -> Path:
    """The file of the history index and of what else is kept of these tasks, such as memory's jobs. Each backend has its own.

    With PostgreSQL the history index is not in it: see ``open_history``.
    """
    return home / _HISTORY_DATABASES[backend]


def has_store(home: Path, backend: Backend) -> bool:
    """Whether anything is kept in the folder this way, be it that nobody can read it. Of a server nobody knows before asking."""
    match backend:
        case "files":
            return (home / "contexts").exists()
        case "sqlite":
            return (home / DATABASE_NAME).exists()
        case "postgres":
            return True
        case _:
            assert_never(backend)


async def tasks_elsewhere(store: TaskStore, home: Path, backend: Backend) -> dict[Backend, int]:
    """How many tasks the folder has that this store, which is the one in use, does not: they are not shown."""
    found: dict[Backend, int] = {}
    others = [
        other
        for other in BACKENDS
        if other not in (backend, "postgres") and await asyncio.to_thread(has_store, home, other)
    ]
    if not others:
        return found
    shown = set(await store.tasks()) if await asyncio.to_thread(has_store, home, backend) else set()
    for other in others:
        kept = open_store(home, other)
        try:
            count = len(set(await kept.tasks()) - shown)
        except HdspAgentError as error:
            logger.warning("It is not known which tasks are stored in %s: %s", other, error)
            continue
        finally:
            await kept.stop()
        if count:
            found[other] = count
    return found


def open_store(
    home: Path, backend: Backend, *, url: str = "", artifact_store_url: str = "", **options: Unpack[StoreOptions]
) -> TaskStore:
    """The store of this home, not started yet: a folder for each task, or all of them in ``tasks.db`` or the database at ``url``.

    Artifacts of a database at ``url`` are at ``artifact_store_url``, if that is not empty.

    Raises ``Unsupported`` if what the backend needs is not installed.
    """
    match backend:
        case "files":
            from .files._file_store import FileStore

            return FileStore(home, **options)
        case "sqlite":
            from .sqlite._sqlite_store import SqliteStore

            return SqliteStore(home / DATABASE_NAME, **options)
        case "postgres":
            _require_psycopg()
            from .postgres._postgres_store import PostgresStore

            return PostgresStore(home, url, artifact_store_url=artifact_store_url, **options)
        case _:
            assert_never(backend)


def open_history(
    store: TaskStore, backend: Backend, database: StateDatabase, **options: Unpack[HistoryOptions]
) -> HistoryIndex:
    """The history index of this store, not started yet: in ``database``, or beside the tasks if they are on a server.

    It is stopped before the store is.
    """
    if backend != "postgres":
        return HistoryIndex(database, **options)
    from .postgres._postgres_history import PostgresHistoryIndex
    from .postgres._postgres_store import PostgresStore

    assert isinstance(store, PostgresStore)
    return PostgresHistoryIndex(store.server, **options)


def open_memory(store: TaskStore, backend: Backend) -> SharedMemory | None:
    """Where memory is that all servers of a person share; None if it is in the folder alone. It is closed with the store."""
    if backend != "postgres":
        return None
    from .postgres._postgres_memory import PostgresMemory
    from .postgres._postgres_store import PostgresStore

    assert isinstance(store, PostgresStore)
    return PostgresMemory(store.server)


def create_tables(url: str) -> str:
    """Give the PostgreSQL database this version's tables, as its administrator may; which database it is. Blocks."""
    _require_psycopg()
    from .postgres._postgres_database import PostgresDatabase

    database = PostgresDatabase(url)
    database.create_tables()
    return database.name


def _require_psycopg() -> None:
    try:
        import psycopg  # noqa: F401 -- whether it is there
    except ImportError as error:
        raise Unsupported(
            "Keeping conversations in PostgreSQL needs the package psycopg. Install it where this server runs, "
            f"with pip install 'hdsp-agent[postgres]', and start the server again. ({error})"
        ) from error
