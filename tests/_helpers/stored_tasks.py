"""What a store under test has on the disk, seen and changed behind its back, whichever backend it is.

Tests that are marked ``each_backend`` run with each of them; all others with the one that HDSP_AGENT_STORAGE_BACKEND
names. So ``HDSP_AGENT_STORAGE_BACKEND=sqlite pytest tests/agent tests/comm tests/cli`` tests the product on that database.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from typing_extensions import Unpack

from hdsp_agent._storage_dir import default_storage_backend
from hdsp_agent.persistence import (
    DATABASE_NAME,
    STREAM_FILES,
    Backend,
    Place,
    Stream,
    TaskStore,
    backend_named,
    history_database,
    open_store,
)
from hdsp_agent.persistence._task_store import StoreOptions
from hdsp_agent.persistence.tables._sql import STREAM_TABLES, SqlConnection

from .postgres import TasksDatabase

__all__ = [
    "URL_FOR_TESTS",
    "backend_under_test",
    "change_state",
    "damage_line",
    "is_worked_on",
    "leave_behind",
    "make_store",
    "remove_history",
    "remove_task",
    "said_in",
    "spoil_state",
    "storage_of",
    "storage_url",
    "stored_ids",
    "stored_in",
    "stored_state",
]


URL_FOR_TESTS: Final = "TEST_STORAGE_URL"

_of_this_test: list[TasksDatabase] = []


@contextmanager
def stored_in(database: TasksDatabase) -> Iterator[None]:
    """Within the block tasks are kept in this database."""
    _of_this_test.append(database)
    try:
        yield
    finally:
        _of_this_test.pop()


def storage_url() -> str:
    """Where the database is, for whoever is not told by the environment."""
    return _of_this_test[-1].url() if _of_this_test else os.environ.get(URL_FOR_TESTS, "")


def backend_under_test() -> Backend:
    """Which backend this test runs with."""
    return backend_named(default_storage_backend())


def make_store(home: Path, **options: Unpack[StoreOptions]) -> TaskStore:
    """The store of this home, not started yet."""
    return open_store(home, backend_under_test(), url=storage_url(), **options)


def storage_of(home: Path) -> Path:
    """The folder or file that has all tasks, if they are on this disk."""
    return home / (DATABASE_NAME if backend_under_test() == "sqlite" else "contexts")


def stored_ids(home: Path, place: Place) -> list[str]:
    """The tasks in a place."""
    if backend_under_test() == "files":
        return sorted(folder.name for folder in (home / "contexts" / place).glob("*"))
    if backend_under_test() == "sqlite" and not storage_of(home).exists():
        return []
    with _database(home) as connection:
        return sorted(row[0] for row in connection.execute("SELECT task_id FROM tasks WHERE place = ?", (place,)))


def stored_state(home: Path, task_id: str, *, backend: Backend | None = None) -> dict[str, object]:
    """The task's state, as it is kept."""
    if (backend or backend_under_test()) == "files":
        text: str | bytes = (_folder(home, task_id) / "state.json").read_bytes()
    else:
        with _database(home) as connection:
            text = connection.execute("SELECT state FROM tasks WHERE task_id = ?", (task_id,)).fetchone()[0]
    state: dict[str, object] = json.loads(text)
    return state


def change_state(home: Path, task_id: str, *, backend: Backend | None = None, **fields: object) -> None:
    """Let the task's state say this."""
    backend = backend or backend_under_test()
    text = json.dumps({**stored_state(home, task_id, backend=backend), **fields})
    if backend == "files":
        (_folder(home, task_id) / "state.json").write_text(text, encoding="utf-8")
        return
    with _database(home) as connection:
        connection.execute("UPDATE tasks SET state = ? WHERE task_id = ?", (text, task_id))


def spoil_state(home: Path, task_id: str) -> None:
    """Let nobody be able to read the task's state."""
    if backend_under_test() == "files":
        (_folder(home, task_id) / "state.json").write_text("{", encoding="utf-8")
        return
    with _database(home) as connection:
        connection.execute("UPDATE tasks SET state = '{' WHERE task_id = ?", (task_id,))


def damage_line(home: Path, task_id: str, stream: Stream, number: int) -> None:
    """Let nobody be able to read a line of a log."""
    if backend_under_test() == "files":
        log = _folder(home, task_id) / STREAM_FILES[stream]
        lines = log.read_bytes().splitlines(keepends=True)
        lines[number] = b"\x00" * (len(lines[number]) - 1) + b"\n"
        log.write_bytes(b"".join(lines))
        return
    table = STREAM_TABLES[stream][0]
    with _database(home) as connection:
        if _of_this_test:
            connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        else:
            connection.execute(f"DROP TRIGGER {table}_stays")
        row = connection.execute(
            f"SELECT id FROM {table} JOIN tasks ON number = task WHERE task_id = ? ORDER BY id LIMIT 1 OFFSET ?",
            (task_id, number),
        ).fetchone()[0]
        connection.execute(f"UPDATE {table} SET record = '\x01' WHERE id = ?", (row,))


def said_in(home: Path, stream: Stream) -> str:
    """What all tasks together have in these logs."""
    if backend_under_test() == "files":
        return "\n".join(path.read_text("utf-8") for path in (home / "contexts").rglob(STREAM_FILES[stream]))
    with _database(home) as connection:
        return "\n".join(row[0] for row in connection.execute(f"SELECT record FROM {STREAM_TABLES[stream][0]}"))


def is_worked_on(home: Path, task_id: str) -> bool:
    """Whether the task has a lock, be it of a dead process."""
    if backend_under_test() == "files":
        return (_folder(home, task_id) / ".lock").exists()
    with _database(home) as connection:
        found = connection.execute("SELECT 1 FROM locks JOIN tasks ON number = task WHERE task_id = ?", (task_id,))
        return found.fetchone() is not None


def leave_behind(home: Path, task_id: str) -> None:
    """Make a task of a database look as if its process had died."""
    change_state(home, task_id, status="processing", history_item=None)
    with _database(home) as connection:
        connection.execute("UPDATE tasks SET place = 'running' WHERE task_id = ?", (task_id,))
        connection.execute(
            "INSERT INTO locks SELECT number, ?, 'long ago', ?, '', '', 'theirs', 1 FROM tasks WHERE task_id = ?",
            (os.getpid(), socket.gethostname(), task_id),
        )


def remove_task(home: Path, task_id: str) -> None:
    """Let the task be gone, and nobody know of it."""
    if backend_under_test() == "files":
        shutil.rmtree(_folder(home, task_id))
        return
    with _database(home) as connection:
        connection.execute("DELETE FROM tasks WHERE task_id = ?", (task_id,))


def remove_history(home: Path) -> None:
    """Let the history index be lost."""
    path = history_database(home, backend_under_test())
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _folder(home: Path, task_id: str) -> Path:
    (found,) = (path for path in (home / "contexts").glob(f"*/{task_id}"))
    return found


@contextmanager
def _database(home: Path) -> Iterator[SqlConnection]:
    if _of_this_test:
        with _of_this_test[-1].connect() as remote:
            yield remote
        return
    with closing(sqlite3.connect(home / DATABASE_NAME, isolation_level=None, timeout=30)) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        yield connection
