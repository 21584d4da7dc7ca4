"""The tables of memory in PostgreSQL, which all servers of a person share.

``role`` is the login that rows belong to, as in the tables of the history; ``owner`` is the person whose memory it is.
``memory_jobs`` is that of ``state.db`` (``memory/job_table.py``). Who looks how many jobs of a person run, or adds versions
of their files, holds their row of ``memory_people`` meanwhile.

``memory_files`` has the versions of files; one without content says that the file was deleted. Versions are added and deleted,
never changed. Their numbers are those of a person's changes (``change``), so they say what is new since another one.
``memory_servers`` says which of its transactions each server wrote last, for whoever was killed before they could note it.
"""

from __future__ import annotations

from typing import Final

from ._connection import SCHEMA

__all__ = ["MEMORY_TABLES", "OWN_MEMORY_TABLES"]

OWN_MEMORY_TABLES: Final = ("memory_people", "memory_jobs", "memory_files", "memory_servers")
"""The tables of which everybody sees their own rows, the tables' owner too."""

_PEOPLE: Final = """
CREATE TABLE memory_people (
    role name NOT NULL DEFAULT current_user,
    owner text NOT NULL,
    place text NOT NULL DEFAULT gen_random_uuid()::text,
    change bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (role, owner)
) WITH (fillfactor = 50)"""

_FILES: Final = """
CREATE TABLE memory_files (
    role name NOT NULL DEFAULT current_user,
    owner text NOT NULL,
    path text NOT NULL CHECK (length(path) <= 1000),
    version bigint NOT NULL,
    content bytea CHECK (octet_length(content) <= 2000000),
    server text NOT NULL CHECK (length(server) <= 100),
    written_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (role, owner, path, version)
)"""

_SERVERS: Final = """
CREATE TABLE memory_servers (
    role name NOT NULL DEFAULT current_user,
    owner text NOT NULL,
    server text NOT NULL CHECK (length(server) <= 100),
    change bigint NOT NULL,
    written_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (role, owner, server)
) WITH (fillfactor = 50)"""

# Servers listen to the history of their role already.
_TELL: Final = f"""
CREATE FUNCTION tell_of_memory() RETURNS trigger LANGUAGE plpgsql SET search_path = {SCHEMA}, pg_temp AS $$
BEGIN
    PERFORM pg_notify(name || '_history', 'memory') FROM channels WHERE owner = NEW.role;
    RETURN NULL;
END $$"""

_JOBS: Final = """
CREATE TABLE memory_jobs (
    role name NOT NULL DEFAULT current_user,
    kind text NOT NULL,
    key text NOT NULL,
    owner text NOT NULL,
    status text NOT NULL,
    token text,
    started_at bigint,
    finished_at bigint,
    lease_until bigint,
    retry_at bigint,
    retries_remaining integer NOT NULL,
    last_error text,
    input_watermark bigint,
    last_success_watermark bigint,
    PRIMARY KEY (role, kind, key)
) WITH (fillfactor = 50)"""
_JOB_COLUMNS: Final = (
    "kind, key, owner, status, token, started_at, finished_at, lease_until, retry_at, retries_remaining, last_error, "
    "input_watermark, last_success_watermark"
)

MEMORY_TABLES: Final[tuple[str, ...]] = (
    _PEOPLE,
    "GRANT SELECT, INSERT (owner), UPDATE (change) ON memory_people TO PUBLIC",
    _JOBS,
    "CREATE INDEX memory_jobs_by_owner ON memory_jobs (role, owner, kind, status)",
    f"GRANT SELECT, INSERT ({_JOB_COLUMNS}), UPDATE ({_JOB_COLUMNS}), DELETE ON memory_jobs TO PUBLIC",
    _FILES,
    "CREATE INDEX memory_files_by_version ON memory_files (role, owner, version)",
    "GRANT SELECT, INSERT (owner, path, version, content, server), DELETE ON memory_files TO PUBLIC",
    _SERVERS,
    "GRANT SELECT, INSERT (owner, server, change), UPDATE (change, written_at), DELETE ON memory_servers TO PUBLIC",
    _TELL,
    (
        "CREATE TRIGGER memory_is_told AFTER UPDATE ON memory_people FOR EACH ROW WHEN (NEW.change > OLD.change)"
        " EXECUTE FUNCTION tell_of_memory()"
    ),
)
"""What makes them, statement by statement. Once released, it is never changed."""
