"""The tables of the SQLite backend, and how a database gets them.

``PRAGMA application_id`` says that the file is ours, ``PRAGMA user_version`` which of the ``MIGRATIONS`` it has seen.

* ``tasks`` has a row for each task: ``task_id``, the ``place`` it is in (running or completed), and as JSON its
  ``metadata`` and ``state``, which are what ``metadata.json`` and ``state.json`` hold. ``number`` stands for the task in
  all other tables and is never given to another one.
* ``locks`` has a row for each task that is worked on: ``process_id``, ``process_started``, ``hostname``,
  ``acquired_at``, ``heartbeat_at``, ``token`` and ``beats``, as in ``.lock``.
* ``ui_messages`` (key ``ts``), ``messages`` (``seq``), ``summaries`` (``summary_id``), ``tool_calls`` (``seq``) and
  ``marks`` (``seq``) hold a row for each line of the logs, word for word: ``record`` is the line of the file of that
  name. ``id`` rises with each row. Of the rows of ``ui_messages`` with one ``ts`` the newest counts, in the place of the
  first. Nothing in these tables is changed, and nothing deleted but with its whole task: triggers see to it.
* ``artifacts`` holds long outputs and images under the sha256 of their bytes.
* ``set_aside`` keeps what could not be read and had to make way: ``what`` it was, and its bytes.
* ``barrier`` is written to when the disk must have all that came before, for SQLite syncs only what changes something.
* ``message_fields``, ``summary_fields`` and ``tool_call_fields`` show the fields of the records as columns, for people
  with a database tool.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ...errors import StorageUnavailable
from ..tables._schema_versions import newer_tables, older_tables
from ..tables._sql import FIELD_VIEWS, STREAM_TABLES

__all__ = ["APPLICATION_ID", "MIGRATIONS", "OLDEST_SQLITE", "check_schema", "migrate_schema"]

OLDEST_SQLITE: Final = (3, 35, 0)
APPLICATION_ID: Final = 0x48445350
"""``HDSP`` in ASCII."""


def _append_only(table: str) -> Iterator[str]:
    refused = f"SELECT RAISE(ABORT, '{table} is append-only')"
    yield f"CREATE TRIGGER {table}_stays BEFORE UPDATE ON {table} BEGIN {refused}; END"
    # A task's rows go after the task itself is gone, by ON DELETE CASCADE.
    task_is_there = "EXISTS (SELECT 1 FROM tasks WHERE number = OLD.task)"
    yield f"CREATE TRIGGER {table}_keeps BEFORE DELETE ON {table} WHEN {task_is_there} BEGIN {refused}; END"
    # INSERT OR REPLACE deletes without asking the trigger above.
    row_is_there = f"EXISTS (SELECT 1 FROM {table} WHERE rowid = NEW.rowid)"  # noqa: S608 -- our own names
    yield f"CREATE TRIGGER {table}_is_not_replaced BEFORE INSERT ON {table} WHEN {row_is_there} BEGIN {refused}; END"


def _log_table(table: str, key: str) -> Iterator[str]:
    yield (
        f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, "
        f"task INTEGER NOT NULL REFERENCES tasks(number) ON DELETE CASCADE, "
        f"{key} INTEGER NOT NULL, record TEXT NOT NULL)"
    )
    yield f"CREATE INDEX {table}_by_key ON {table}(task, {key})"
    yield from _append_only(table)


def _fields(view: str, table: str, *names: str) -> str:
    # A record that is damaged shows no fields instead of spoiling the query.
    readable = "CASE WHEN json_valid(record) THEN record END"
    columns = ", ".join(f"json_extract({readable}, '$.{name}') AS {name}" for name in names)
    return f"CREATE VIEW {view} AS SELECT task_id, {columns} FROM {table} JOIN tasks ON number = task"  # noqa: S608 -- our own names


_TASKS: Final = """
CREATE TABLE tasks (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id TEXT NOT NULL UNIQUE,
    place TEXT NOT NULL CHECK (place IN ('running', 'completed')),
    metadata TEXT NOT NULL,
    state TEXT NOT NULL
)"""

_LOCKS: Final = """
CREATE TABLE locks (
    task INTEGER PRIMARY KEY REFERENCES tasks(number) ON DELETE CASCADE,
    process_id INTEGER NOT NULL,
    process_started TEXT,
    hostname TEXT NOT NULL,
    acquired_at TEXT NOT NULL,
    heartbeat_at TEXT NOT NULL,
    token TEXT NOT NULL,
    beats INTEGER NOT NULL
)"""

_ARTIFACTS: Final = """
CREATE TABLE artifacts (
    id INTEGER PRIMARY KEY,
    task INTEGER NOT NULL REFERENCES tasks(number) ON DELETE CASCADE,
    name TEXT NOT NULL,
    size INTEGER NOT NULL,
    data BLOB NOT NULL
)"""

_SET_ASIDE: Final = """
CREATE TABLE set_aside (
    id INTEGER PRIMARY KEY,
    task INTEGER NOT NULL REFERENCES tasks(number) ON DELETE CASCADE,
    what TEXT NOT NULL,
    found_at TEXT NOT NULL,
    data BLOB NOT NULL
)"""


MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        _TASKS,
        "CREATE INDEX tasks_by_place ON tasks(place)",
        _LOCKS,
        *(statement for table, key in STREAM_TABLES.values() for statement in _log_table(table, key)),
        _ARTIFACTS,
        # With the size, the index alone tells how much a task keeps.
        "CREATE UNIQUE INDEX artifacts_by_name ON artifacts(task, name, size)",
        *_append_only("artifacts"),
        _SET_ASIDE,
        "CREATE INDEX set_aside_by_task ON set_aside(task)",
        "CREATE TABLE barrier (passed INTEGER NOT NULL)",
        "INSERT INTO barrier VALUES (0)",
        *(_fields(view, table, *names) for view, (table, names) in FIELD_VIEWS.items()),
    ),
)
"""What each version of the schema added, statement by statement. One that was released is never changed."""


def check_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Raise unless the database has the tables that this version reads."""
    if _known_version(connection, path) < len(MIGRATIONS):
        raise older_tables(str(path))


def _known_version(connection: sqlite3.Connection, path: Path) -> int:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    is_empty = connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None
    if not is_empty and application != APPLICATION_ID:
        raise StorageUnavailable(
            f"{path} is a database of another program. Nothing was changed. Choose another file for the tasks.",
            path=str(path), action="open", reason="foreign",
        )  # fmt: skip
    if version > len(MIGRATIONS):
        raise newer_tables(str(path), version, len(MIGRATIONS))
    return version


def migrate_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the database to this version's schema, as one transaction. One of a newer version is refused."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _known_version(connection, path)
        for statements in MIGRATIONS[version:]:
            for statement in statements:
                connection.execute(statement)
        if version < len(MIGRATIONS):
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
