"""The tables of memory in PostgreSQL, which all servers of a person share.

``role`` is the login that rows belong to, as in the tables of the history; ``owner`` is the person whose memory it is.
``memory_jobs`` is that of ``state.db`` (``memory/job_table.py``). Who looks how many jobs of a person run holds their row
of ``memory_people`` meanwhile.
"""

from __future__ import annotations

from typing import Final

__all__ = ["MEMORY_TABLES", "OWN_MEMORY_TABLES"]

OWN_MEMORY_TABLES: Final = ("memory_people", "memory_jobs")
"""The tables of which everybody sees their own rows, the tables' owner too."""

_PEOPLE: Final = """
CREATE TABLE memory_people (
    role name NOT NULL DEFAULT current_user,
    owner text NOT NULL,
    PRIMARY KEY (role, owner)
)"""

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
    # Who may change their own row may hold it.
    "GRANT SELECT, INSERT (owner), UPDATE (owner) ON memory_people TO PUBLIC",
    _JOBS,
    "CREATE INDEX memory_jobs_by_owner ON memory_jobs (role, owner, kind, status)",
    f"GRANT SELECT, INSERT ({_JOB_COLUMNS}), UPDATE ({_JOB_COLUMNS}), DELETE ON memory_jobs TO PUBLIC",
)
"""What makes them, statement by statement. Once released, it is never changed."""
