"""The tables of the PostgreSQL backend, and how a database gets them: in the schema ``hdsp_agent``.

They are those of the SQLite backend (``sqlite/_task_schema.py`` says what each is for), and ``schema_version`` says which
of the ``MIGRATIONS`` they have seen. What differs:

* A task belongs to the role that made it (``owner``). Row-level security shows everybody their own tasks and what belongs to
  them, the tables' owner too; so every person's server logs in with a role of its own, and any role may.
* Nobody, whatever they may do, changes or removes what is in the logs and artifacts, but with its whole task.
* Who listens to a role's channel hears the id of each task of that role that was made, deleted, or shows differently in
  the history. Anybody may listen to any channel, so its name is a secret of that role's: its row in ``channels``.
* The history index is here, too: see ``_history_tables.py``. So are memory (``_memory_tables.py``) and the index of recall
  (``_recall_tables.py``).
* The bytes of artifacts may be in an object store: see ``_artifact_tables.py``.
* ``writers`` says which of its transactions each server wrote last, for whoever lost the connection in the midst of one. A
  server that ends takes its row along; those of servers that died are deleted when they are of no more use to anybody.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import psycopg

from ...errors import StorageUnavailable, Unsupported
from ..tables._schema_versions import newer_tables, older_tables
from ..tables._sql import FIELD_VIEWS, STREAM_TABLES
from ._artifact_tables import ARTIFACT_TABLES, OWN_ARTIFACT_TABLES
from ._connection import SCHEMA, Address, PostgresConnection
from ._history_tables import HISTORY_TABLES, OWN_HISTORY_TABLES
from ._memory_tables import MEMORY_TABLES, OWN_MEMORY_TABLES
from ._recall_tables import RECALL_TABLES

__all__ = ["MIGRATIONS", "check_schema", "has_schema", "migrate_schema", "prepare_schema"]

_OLDEST: Final = 130_000
_MIGRATING: Final = 0x4844535041474E54
"""The advisory lock of whoever changes the schema."""

_THIS_DATABASE: Final = "pg_database WHERE datname = current_database()"
# Asked of the catalogue, for pg_has_role calls a superuser a member of all roles.
_OUR_ROLES: Final = (
    "WITH RECURSIVE ours(role) AS (SELECT oid FROM pg_roles WHERE rolname = current_user"
    " UNION SELECT roleid FROM pg_auth_members JOIN ours ON member = role)"
)
_OWNS_DATABASE: Final = f"{_OUR_ROLES} SELECT datdba IN (SELECT role FROM ours) FROM {_THIS_DATABASE}"  # noqa: S608
# A superuser or the database's owner could do the same without the schema.
_SCHEMA_OWNER: Final = (
    f"SELECT rolname, pg_has_role(nspowner, (SELECT datdba FROM {_THIS_DATABASE}), 'MEMBER')"  # noqa: S608 -- our own names
    " FROM pg_namespace JOIN pg_roles ON pg_roles.oid = nspowner WHERE nspname = ?"
)

_TASKS: Final = """
CREATE TABLE tasks (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner name NOT NULL DEFAULT current_user,
    task_id text NOT NULL,
    place text NOT NULL CHECK (place IN ('running', 'completed')),
    metadata text NOT NULL,
    state text NOT NULL,
    UNIQUE (owner, task_id)
) WITH (fillfactor = 50)"""

_LOCKS: Final = """
CREATE TABLE locks (
    task bigint PRIMARY KEY REFERENCES tasks(number) ON DELETE CASCADE,
    process_id bigint NOT NULL,
    process_started text,
    hostname text NOT NULL,
    acquired_at text NOT NULL,
    heartbeat_at text NOT NULL,
    token text NOT NULL,
    beats bigint NOT NULL
) WITH (fillfactor = 50)"""

_ARTIFACTS: Final = """
CREATE TABLE artifacts (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task bigint NOT NULL REFERENCES tasks(number) ON DELETE CASCADE,
    name text NOT NULL,
    size bigint NOT NULL,
    data bytea NOT NULL,
    UNIQUE (task, name)
)"""

_SET_ASIDE: Final = """
CREATE TABLE set_aside (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task bigint NOT NULL REFERENCES tasks(number) ON DELETE CASCADE,
    what text NOT NULL,
    found_at text NOT NULL,
    data bytea NOT NULL
)"""

_APPEND_ONLY: Final = f"""
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql SET search_path = {SCHEMA}, pg_temp AS $$
BEGIN
    -- A task's rows go after the task itself is gone, by ON DELETE CASCADE.
    IF TG_OP = 'DELETE' THEN
        IF NOT EXISTS (SELECT 1 FROM tasks WHERE number = OLD.task) THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$"""  # noqa: S608 -- our own names

_AS_JSON: Final = f"""
CREATE FUNCTION as_json(record text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE SET search_path = {SCHEMA}, pg_temp AS $$
BEGIN
    RETURN record::jsonb;
EXCEPTION WHEN data_exception THEN
    RETURN NULL;
END $$"""

_CHANNELS: Final = """
CREATE TABLE channels (
    owner name PRIMARY KEY DEFAULT current_user,
    name text NOT NULL DEFAULT 'hdsp_agent_' || replace(gen_random_uuid()::text, '-', '')
)"""

_WRITERS: Final = """
CREATE TABLE writers (
    id text PRIMARY KEY,
    owner name NOT NULL DEFAULT current_user,
    wrote bigint NOT NULL,
    wrote_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50)"""

_TELL: Final = f"""
CREATE FUNCTION tell_of_task() RETURNS trigger LANGUAGE plpgsql SET search_path = {SCHEMA}, pg_temp AS $$
BEGIN
    PERFORM pg_notify(name, coalesce(NEW.task_id, OLD.task_id)) FROM channels WHERE owner = coalesce(NEW.owner, OLD.owner);
    RETURN NULL;
END $$"""

_TELL_OF_ROWS: Final = (
    "CREATE TRIGGER tasks_are_told AFTER INSERT OR DELETE ON tasks FOR EACH ROW EXECUTE FUNCTION tell_of_task()"
)
_TELL_OF_STATE: Final = """
CREATE TRIGGER changes_are_told AFTER UPDATE ON tasks FOR EACH ROW
WHEN (as_json(OLD.state) -> 'history_item' IS DISTINCT FROM as_json(NEW.state) -> 'history_item'
    OR as_json(OLD.state) -> 'status' IS DISTINCT FROM as_json(NEW.state) -> 'status')
EXECUTE FUNCTION tell_of_task()"""


def _append_only(table: str) -> Iterator[str]:
    for events, rows in (("UPDATE OR DELETE", "ROW"), ("TRUNCATE", "STATEMENT")):
        yield (
            f"CREATE TRIGGER {table}_stays_{rows.lower()} BEFORE {events} ON {table} "
            f"FOR EACH {rows} EXECUTE FUNCTION refuse_change()"
        )


def _granted(table: str, *columns: str) -> str:
    """Nobody chooses a row's number: one that is taken would stand in another person's way."""
    return f"GRANT SELECT, INSERT ({', '.join(columns)}) ON {table} TO PUBLIC"


def _log_table(table: str, key: str) -> Iterator[str]:
    yield (
        f"CREATE TABLE {table} (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
        f"task bigint NOT NULL REFERENCES tasks(number) ON DELETE CASCADE, "
        f"{key} bigint NOT NULL, record text NOT NULL)"
    )
    yield f"CREATE INDEX {table}_by_key ON {table}(task, {key}, id)"
    yield from _append_only(table)
    yield _granted(table, "task", key, "record")


def _own_rows(table: str, condition: str) -> Iterator[str]:
    yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
    yield f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY"
    yield f"CREATE POLICY own ON {table} USING ({condition}) WITH CHECK ({condition})"


def _fields(view: str, table: str, *names: str) -> str:
    columns = ", ".join(f"as_json(record) ->> ''{name}'' AS {name}" for name in names)
    # Before 15 a view shows what its owner may see, to everybody.
    return f"""DO $$ BEGIN
    IF current_setting('server_version_num')::int >= 150000 THEN
        EXECUTE 'CREATE VIEW {view} WITH (security_invoker = true) AS SELECT task_id, {columns} FROM {table} JOIN tasks ON number = task';
        EXECUTE 'GRANT SELECT ON {view} TO PUBLIC';
    END IF;
END $$"""  # noqa: S608 -- our own names


_OF_TASK: Final = "EXISTS (SELECT 1 FROM tasks WHERE number = task)"

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        _TASKS,
        "CREATE INDEX tasks_by_place ON tasks(owner, place)",
        _granted("tasks", "owner", "task_id", "place", "metadata", "state"),
        "GRANT UPDATE (place, metadata, state), DELETE ON tasks TO PUBLIC",
        _LOCKS,
        "GRANT SELECT, INSERT, UPDATE, DELETE ON locks TO PUBLIC",
        _APPEND_ONLY,
        *(statement for table, key in STREAM_TABLES.values() for statement in _log_table(table, key)),
        _ARTIFACTS,
        # What is compressed already, as images are, is not compressed in vain.
        "ALTER TABLE artifacts ALTER COLUMN data SET STORAGE EXTERNAL",
        *_append_only("artifacts"),
        _granted("artifacts", "task", "name", "size", "data"),
        _SET_ASIDE,
        "CREATE INDEX set_aside_by_task ON set_aside(task)",
        _granted("set_aside", "task", "what", "found_at", "data"),
        *_own_rows("tasks", "owner = current_user"),
        *(
            statement
            for table in ("locks", *(table for table, _ in STREAM_TABLES.values()), "artifacts", "set_aside")
            for statement in _own_rows(table, _OF_TASK)
        ),
        _AS_JSON,
        *(_fields(view, table, *names) for view, (table, names) in FIELD_VIEWS.items()),
        _CHANNELS,
        _granted("channels", "owner"),
        *_own_rows("channels", "owner = current_user"),
        _WRITERS,
        "GRANT SELECT, INSERT (id, wrote), UPDATE (wrote, wrote_at), DELETE ON writers TO PUBLIC",
        *_own_rows("writers", "owner = current_user"),
        _TELL,
        _TELL_OF_ROWS,
        _TELL_OF_STATE,
    ),
    (
        *HISTORY_TABLES,
        *(statement for table in OWN_HISTORY_TABLES for statement in _own_rows(table, "role = current_user")),
    ),
    (
        *ARTIFACT_TABLES,
        *(statement for table in OWN_ARTIFACT_TABLES for statement in _own_rows(table, "owner = current_user")),
    ),
    (
        *MEMORY_TABLES,
        *(statement for table in OWN_MEMORY_TABLES for statement in _own_rows(table, "role = current_user")),
    ),
    RECALL_TABLES,
)
"""What each version of the schema added, statement by statement. One that was released is never changed."""


def has_schema(connection: PostgresConnection, address: Address) -> bool:
    """Whether the database has tables of any version of ours."""
    return _known_version(connection, address) > 0


def check_schema(connection: PostgresConnection, address: Address) -> None:
    """Raise unless the database has the tables that this version reads."""
    _check_owner(connection, address)
    if _known_version(connection, address) < len(MIGRATIONS):
        raise older_tables(address.name) if _owns_database(connection) else _may_not_make_tables(address)


def prepare_schema(connection: PostgresConnection, address: Address) -> None:
    """The same for whoever is about to write; if the database is theirs, it is brought to this version's schema."""
    _check_owner(connection, address)
    if _known_version(connection, address) == len(MIGRATIONS):
        return
    if not _owns_database(connection):
        # Who makes the tables sees what everybody keeps in them.
        raise _may_not_make_tables(address)
    migrate_schema(connection, address)


def migrate_schema(connection: PostgresConnection, address: Address) -> None:
    """Bring the database to this version's schema, as one transaction. One of a newer version is refused."""
    _check_owner(connection, address)
    if _known_version(connection, address) == len(MIGRATIONS):
        return
    connection.execute("BEGIN")
    try:
        connection.execute("SELECT pg_advisory_xact_lock(?)", (_MIGRATING,))
        version = _known_version(connection, address)
        if version == 0:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            connection.execute(f"GRANT USAGE ON SCHEMA {SCHEMA} TO PUBLIC")
            connection.execute("CREATE TABLE schema_version (version integer NOT NULL)")
            connection.execute("GRANT SELECT ON schema_version TO PUBLIC")
            connection.execute("INSERT INTO schema_version VALUES (0)")
        for statements in MIGRATIONS[version:]:
            for statement in statements:
                connection.execute(statement)
        if version < len(MIGRATIONS):
            connection.execute("UPDATE schema_version SET version = ?", (len(MIGRATIONS),))
        # Somebody may have made the schema meanwhile.
        _check_owner(connection, address)
        connection.execute("COMMIT")
    except BaseException as error:
        if not connection.is_lost:
            connection.execute("ROLLBACK")
        if isinstance(error, psycopg.errors.InsufficientPrivilege):
            raise _may_not_make_tables(address) from error
        raise


def _owns_database(connection: PostgresConnection) -> bool:
    return bool(connection.execute(_OWNS_DATABASE).fetchone()[0])


def _check_owner(connection: PostgresConnection, address: Address) -> None:
    """Raise if the schema is somebody's who could change what we put into it."""
    found = connection.execute(_SCHEMA_OWNER, (SCHEMA,)).fetchone()
    if found is not None and not found[1]:
        raise StorageUnavailable(
            f"The schema {SCHEMA} in {address.name} belongs to {found[0]}, who could read everybody's conversations in "
            "it. Nothing was changed. Ask the database's administrator to drop it, and to run `hdsp-agent create-tables` as "
            "a superuser or as the database's owner.",
            path=address.name, action="open", reason="permission denied",
        )  # fmt: skip


def _may_not_make_tables(address: Address) -> StorageUnavailable:
    return StorageUnavailable(
        f"{address.name} has no tables for this version of HDSP Agent, and this log-in may not make them. "
        "Ask its administrator to run `hdsp-agent create-tables` once, with an address in "
        "HDSP_AGENT_STORAGE_URL that may.",
        path=address.name, action="open", reason="permission denied",
    )  # fmt: skip


def _known_version(connection: PostgresConnection, address: Address) -> int:
    # Looked for in the catalogue itself: by its name alone a session would not see what another one has just made.
    server, encoding, table = connection.execute(
        "SELECT current_setting('server_version_num')::int, current_setting('server_encoding'), (SELECT relname::text"
        " FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = ? AND relname = ?)",
        (SCHEMA, "schema_version"),
    ).fetchone()
    if server < _OLDEST or encoding != "UTF8":
        raise Unsupported(
            f"Keeping tasks in PostgreSQL needs version 13 or newer and a database in UTF8; {address.name} is of version "
            f"{server // 10_000}, in {encoding}. Use another database, or keep the tasks in files.",
            version=server,
        )
    if table is None:
        return 0
    version = int(connection.execute(f"SELECT version FROM {SCHEMA}.schema_version").fetchone()[0])  # noqa: S608 -- our own name
    if version > len(MIGRATIONS):
        raise newer_tables(address.name, version, len(MIGRATIONS))
    return version
