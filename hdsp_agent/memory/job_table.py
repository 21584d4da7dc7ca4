"""Who does which piece of the memory work: jobs with leases in a database, so that no two processes do the same one.

Times are whole seconds of the wall clock. A watermark says up to where a job's source was taken into account: of a
conversation the time of its last message, of the consolidation a number that only grows. Everything here runs in a
transaction of its caller. Where others may write at the same time, ``for_update`` ends a query for a row that is about to
be changed; a row that another transaction is changing is not waited for, but counts as taken.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias, TypeVar

from ..persistence import Schema, SqlConnection
from .pipeline_limits import CONSOLIDATION_COOLDOWN_SECONDS, JOB_LEASE_SECONDS, JOB_RETRIES, JOB_RETRY_SECONDS

__all__ = [
    "MEMORY_SCHEMA",
    "ClaimRefusal",
    "JobClaim",
    "JobKind",
    "JobRow",
    "LeaseLost",
    "WriteIfLeased",
    "claim_consolidation",
    "claim_extraction",
    "enqueue_consolidation",
    "extend_lease",
    "finish_job",
    "forget_job",
    "job_rows",
    "note_done",
    "release_job",
    "void_all_jobs",
    "void_consolidation",
]

JobKind: TypeAlias = Literal["extract", "consolidate"]
JobStatus: TypeAlias = Literal["pending", "running", "done", "error"]
ClaimRefusal: TypeAlias = Literal["up_to_date", "running", "retry_backoff", "retry_exhausted", "cooldown"]

_MIGRATIONS: Final = (
    (
        """
        CREATE TABLE memory_jobs (
            kind TEXT NOT NULL,
            key TEXT NOT NULL,
            owner TEXT NOT NULL,
            status TEXT NOT NULL,
            token TEXT,
            started_at INTEGER,
            finished_at INTEGER,
            lease_until INTEGER,
            retry_at INTEGER,
            retries_remaining INTEGER NOT NULL,
            last_error TEXT,
            input_watermark INTEGER,
            last_success_watermark INTEGER,
            PRIMARY KEY (kind, key)
        ) WITHOUT ROWID
        """,
        "CREATE INDEX memory_jobs_by_owner ON memory_jobs (owner, kind, status)",
    ),
)
R = TypeVar("R")
MEMORY_SCHEMA: Final = Schema("memory", _MIGRATIONS)


class LeaseLost(Exception):
    """A job is not ours any more: somebody does it again, or its source is gone. What it made is thrown away."""


class WriteIfLeased(Protocol):
    """Does what blocks and changes the person's files, unless the job was taken back or over. Raises LeaseLost."""

    def __call__(self, work: Callable[[], R], /) -> Awaitable[R]:
        """What the work returns."""


@dataclass(frozen=True)
class JobClaim:
    """A job that is ours until its lease ends; ``token`` shows it."""

    kind: JobKind
    key: str
    owner: str
    token: str
    watermark: int


@dataclass(frozen=True)
class JobRow:
    """How a job stands."""

    kind: JobKind
    key: str
    owner: str
    status: JobStatus
    token: str | None
    started_at: int | None
    finished_at: int | None
    lease_until: int | None
    retry_at: int | None
    retries_remaining: int
    last_error: str | None
    input_watermark: int | None
    last_success_watermark: int | None

    def is_leased(self, now: int) -> bool:
        """Whether somebody works on it. A lease that lasts longer than any was given before the clock was set back."""
        return (
            self.status == "running"
            and self.lease_until is not None
            and 0 < self.lease_until - now <= JOB_LEASE_SECONDS
        )

    def refusal(self, watermark: int, now: int, *, is_wanted_again: bool = False) -> ClaimRefusal | None:
        """Why an extraction up to there is not to be begun; None if it may be.

        ``is_wanted_again`` says that what was done up to there does not count.
        """
        if self.last_success_watermark == watermark and not is_wanted_again:
            return "up_to_date"
        return _refusal(self, now, has_advanced=self.input_watermark != watermark)

    def consolidation_refusal(self, now: int, *, is_asked_for: bool = False) -> ClaimRefusal | None:
        """Why a consolidation is not to be begun; None if it is due."""
        if self.is_leased(now):
            return "running"
        if (self.input_watermark or 0) <= (self.last_success_watermark or 0):
            return "up_to_date"
        if is_asked_for:
            return None
        succeeded = self.finished_at if self.status == "done" else None
        if succeeded is not None and 0 <= now - succeeded < CONSOLIDATION_COOLDOWN_SECONDS:
            return "cooldown"
        return _refusal(self, now, has_advanced=False)

    def waits(self, now: int) -> bool:
        """Whether it failed so lately that it is not tried again yet."""
        return self.retry_at is not None and 0 < self.retry_at - now <= JOB_RETRY_SECONDS


def claim_extraction(
    connection: SqlConnection,
    task_id: str,
    owner: str,
    *,
    watermark: int,
    most_running: int,
    now: int,
    is_wanted_again: bool = False,
    for_update: str = "",
) -> JobClaim | ClaimRefusal:
    """Take the extraction of one conversation, or why it cannot be taken."""
    known = _claimable(connection, "extract", task_id, for_update)
    if known == "running":
        return known
    if known is not None:
        refusal = known.refusal(watermark, now, is_wanted_again=is_wanted_again)
        if refusal is not None:
            return refusal
    if _running(connection, "extract", owner, now) >= most_running:
        return "running"
    has_advanced = known is None or known.input_watermark != watermark
    retries = JOB_RETRIES if known is None or has_advanced else known.retries_remaining
    return _begin(connection, "extract", task_id, owner, watermark, retries, now, known)


def enqueue_consolidation(connection: SqlConnection, owner: str, watermark: int, *, for_update: str = "") -> None:
    """There is something new to consolidate. Each time the watermark is a greater one."""
    known = _consolidation(connection, owner, for_update)
    before = max(known.input_watermark or 0, known.last_success_watermark or 0)
    connection.execute(
        "UPDATE memory_jobs SET input_watermark = ?, retries_remaining = ? WHERE kind = 'consolidate' AND key = ?",
        (watermark if watermark > before else before + 1, JOB_RETRIES, owner),
    )


def claim_consolidation(
    connection: SqlConnection, owner: str, *, now: int, is_asked_for: bool = False, for_update: str = ""
) -> JobClaim | ClaimRefusal:
    """Take the consolidation of a person's memory, or why it cannot be taken. A person who asks for it need not wait."""
    known = _claimable(connection, "consolidate", owner, for_update)
    if known == "running":
        return known
    if known is None or known.input_watermark is None:
        return "up_to_date"
    if (refusal := known.consolidation_refusal(now, is_asked_for=is_asked_for)) is not None:
        return refusal
    retries = max(1, known.retries_remaining) if is_asked_for else known.retries_remaining
    return _begin(connection, "consolidate", owner, owner, known.input_watermark, retries, now, known)


def extend_lease(connection: SqlConnection, claim: JobClaim, now: int) -> bool:
    """Go on holding a job; False if it is somebody else's by now."""
    changed = connection.execute(
        "UPDATE memory_jobs SET lease_until = ? WHERE kind = ? AND key = ? AND status = 'running' AND token = ?",
        (now + JOB_LEASE_SECONDS, *_holder(claim)),
    )
    return changed.rowcount == 1


def finish_job(
    connection: SqlConnection, claim: JobClaim, *, now: int, error: str | None = None, watermark: int | None = None
) -> bool:
    """Say how a job ended; False if it is somebody else's by now, and the outcome is to be thrown away."""
    if error is None:
        changed = connection.execute(
            "UPDATE memory_jobs SET status = 'done', token = NULL, finished_at = ?, lease_until = NULL, retry_at = NULL, "
            "last_error = NULL, retries_remaining = ?, last_success_watermark = ? "
            "WHERE kind = ? AND key = ? AND status = 'running' AND token = ?",
            (now, JOB_RETRIES, claim.watermark if watermark is None else watermark, *_holder(claim)),
        )
    else:
        changed = connection.execute(
            "UPDATE memory_jobs SET status = 'error', token = NULL, finished_at = ?, lease_until = NULL, retry_at = ?, "
            "last_error = ?, retries_remaining = CASE WHEN retries_remaining > 0 THEN retries_remaining - 1 ELSE 0 END "
            "WHERE kind = ? AND key = ? AND status = 'running' AND token = ?",
            (now, now + JOB_RETRY_SECONDS, _stored(error), *_holder(claim)),
        )
    return changed.rowcount == 1


def release_job(connection: SqlConnection, claim: JobClaim) -> bool:
    """Give a job back undone: it is no failure, and the next who looks may take it."""
    changed = connection.execute(
        "UPDATE memory_jobs SET status = 'pending', token = NULL, lease_until = NULL, "
        "input_watermark = CASE kind WHEN 'extract' THEN NULL ELSE input_watermark END "
        "WHERE kind = ? AND key = ? AND status = 'running' AND token = ?",
        _holder(claim),
    )
    return changed.rowcount == 1


def note_done(connection: SqlConnection, task_id: str, owner: str, watermark: int) -> None:
    """A conversation was extracted up to there, as the files say: the table may have been made anew."""
    connection.execute(
        "INSERT INTO memory_jobs (kind, key, owner, status, retries_remaining, input_watermark, last_success_watermark) "
        "VALUES ('extract', ?, ?, 'done', ?, ?, ?) ON CONFLICT DO NOTHING",
        (task_id, owner, JOB_RETRIES, watermark, watermark),
    )


def forget_job(connection: SqlConnection, kind: JobKind, key: str) -> None:
    """Its source is gone."""
    connection.execute("DELETE FROM memory_jobs WHERE kind = ? AND key = ?", (kind, key))


def void_consolidation(connection: SqlConnection, owner: str, *, for_update: str = "") -> None:
    """What is being made of a person's memory just now is not to be put in force."""
    if for_update:
        # Nobody begins one either until this transaction ends.
        _consolidation(connection, owner, for_update)
    connection.execute(
        "UPDATE memory_jobs SET status = 'pending', token = NULL, lease_until = NULL "
        "WHERE kind = 'consolidate' AND key = ? AND status = 'running'",
        (owner,),
    )


def void_all_jobs(connection: SqlConnection, owner: str) -> None:
    """Nothing that a person's jobs are making just now is to be put in force, and what they read counts as read."""
    connection.execute(
        "UPDATE memory_jobs SET status = 'done', token = NULL, lease_until = NULL, last_success_watermark = input_watermark "
        "WHERE owner = ? AND (status = 'running' OR kind = 'consolidate')",
        (owner,),
    )


def job_rows(connection: SqlConnection, owner: str) -> list[JobRow]:
    """All jobs of one person, those that ended last first."""
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM memory_jobs WHERE owner = ? ORDER BY coalesce(finished_at, started_at, 0) DESC, key",  # noqa: S608
        (owner,),
    )
    return [JobRow(*row) for row in found]


_COLUMNS: Final = (
    "kind, key, owner, status, token, started_at, finished_at, lease_until, retry_at, retries_remaining, last_error, "
    "input_watermark, last_success_watermark"
)
_LONGEST_ERROR: Final = 1_000


def _stored(error: str) -> str:
    """As every database takes it."""
    return error.replace("\0", "")[:_LONGEST_ERROR]


def _holder(claim: JobClaim) -> tuple[str, str, str]:
    return claim.kind, claim.key, claim.token


def _row(connection: SqlConnection, kind: JobKind, key: str, for_update: str = "") -> JobRow | None:
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM memory_jobs WHERE kind = ? AND key = ?{for_update}",  # noqa: S608 - our own words
        (kind, key),
    ).fetchone()
    return None if row is None else JobRow(*row)


def _consolidation(connection: SqlConnection, owner: str, for_update: str) -> JobRow:
    """The row of a person's consolidation, made if there is none."""
    connection.execute(
        "INSERT INTO memory_jobs (kind, key, owner, status, retries_remaining) "
        "VALUES ('consolidate', ?, ?, 'pending', ?) ON CONFLICT DO NOTHING",
        (owner, owner, JOB_RETRIES),
    )
    found = _row(connection, "consolidate", owner, for_update)
    assert found is not None
    return found


def _claimable(
    connection: SqlConnection, kind: JobKind, key: str, for_update: str
) -> JobRow | Literal["running"] | None:
    """The row, which nobody else changes from now on; ``running`` if another transaction is changing it."""
    if not for_update:
        return _row(connection, kind, key)
    free = _row(connection, kind, key, f"{for_update} SKIP LOCKED")
    return "running" if free is None and _row(connection, kind, key) is not None else free


def _running(connection: SqlConnection, kind: JobKind, owner: str, now: int) -> int:
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM memory_jobs WHERE owner = ? AND kind = ? AND status = 'running'",  # noqa: S608 - as above
        (owner, kind),
    )
    return sum(JobRow(*row).is_leased(now) for row in found)


def _refusal(known: JobRow, now: int, *, has_advanced: bool) -> ClaimRefusal | None:
    if known.is_leased(now):
        return "running"
    if has_advanced:
        return None
    if known.retries_remaining <= 0:
        return "retry_exhausted"
    return "retry_backoff" if known.waits(now) else None


def _begin(
    connection: SqlConnection,
    kind: JobKind,
    key: str,
    owner: str,
    watermark: int,
    retries: int,
    now: int,
    known: JobRow | None,
) -> JobClaim | ClaimRefusal:
    claim = JobClaim(kind, key, owner, secrets.token_hex(8), watermark)
    if known is None:
        made = connection.execute(
            "INSERT INTO memory_jobs (kind, key, owner, status, retries_remaining) VALUES (?, ?, ?, 'pending', ?) "
            "ON CONFLICT DO NOTHING",
            (kind, key, owner, retries),
        )
        if made.rowcount == 0:
            # Another server has just said that it is done.
            return "up_to_date"
    connection.execute(
        "UPDATE memory_jobs SET owner = ?, status = 'running', token = ?, started_at = ?, finished_at = NULL, "
        "lease_until = ?, retry_at = NULL, retries_remaining = ?, input_watermark = ? WHERE kind = ? AND key = ?",
        (owner, claim.token, now, now + JOB_LEASE_SECONDS, retries, watermark, kind, key),
    )
    return claim
