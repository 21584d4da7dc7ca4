"""The state machine of the memory jobs, with exact values: who gets a job, when again, and what an end means.

The same in ``state.db`` and in PostgreSQL.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from hdsp_agent.memory.job_table import (
    MEMORY_SCHEMA,
    ClaimRefusal,
    JobClaim,
    claim_consolidation,
    claim_extraction,
    enqueue_consolidation,
    extend_lease,
    finish_job,
    forget_job,
    job_rows,
    note_done,
    release_job,
    void_all_jobs,
    void_consolidation,
)
from hdsp_agent.persistence import SqlConnection

from .._helpers.postgres import TasksDatabase

NOW = 1_800_000_000
LEASE = 3_600
RETRY = 3_600


FOR_UPDATE = {"sqlite": "", "postgres": " FOR UPDATE"}


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    """Where the table is."""
    kind: str = request.param
    return kind


@pytest.fixture
def table(kind: str, request: pytest.FixtureRequest) -> Iterator[SqlConnection]:
    """A connection in a transaction."""
    if kind == "postgres":
        pytest.importorskip("psycopg")
        database: TasksDatabase = request.getfixturevalue("postgres_database")
        with database.connect("ada") as connection:
            connection.execute("BEGIN")
            yield connection
        return
    with closing(sqlite3.connect(":memory:")) as connection:
        for statements in MEMORY_SCHEMA.migrations:
            for statement in statements:
                connection.execute(statement)
        yield connection


def for_update(table: SqlConnection) -> str:
    return FOR_UPDATE["sqlite" if isinstance(table, sqlite3.Connection) else "postgres"]


def extraction(
    table: SqlConnection, *, at: int = NOW, watermark: int = 100, task: str = "t-1"
) -> JobClaim | ClaimRefusal:
    return claim_extraction(
        table, task, "ann", watermark=watermark, most_running=2, now=at, for_update=for_update(table)
    )


def consolidation(table: SqlConnection, *, at: int = NOW, asked: bool = False) -> JobClaim | ClaimRefusal:
    return claim_consolidation(table, "ann", now=at, is_asked_for=asked, for_update=for_update(table))


def claimed(claim: JobClaim | ClaimRefusal) -> JobClaim:
    assert isinstance(claim, JobClaim), claim
    return claim


def test_a_conversation_is_learned_from_once_until_more_is_said(table: SqlConnection) -> None:
    claim = claimed(extraction(table))
    assert finish_job(table, claim, now=NOW + 5)
    assert extraction(table) == "up_to_date"
    assert claimed(extraction(table, watermark=101)).watermark == 101


def test_also_after_the_clock_was_set_back_what_is_said_later_is_new(table: SqlConnection) -> None:
    finish_job(table, claimed(extraction(table, watermark=500)), now=NOW)
    claimed(extraction(table, watermark=90, at=NOW - 86_400))


def test_a_lease_lasts_an_hour_and_is_then_anybodys(table: SqlConnection) -> None:
    first = claimed(extraction(table))
    assert extraction(table, at=NOW + LEASE - 1) == "running"
    second = claimed(extraction(table, at=NOW + LEASE))
    assert second.token != first.token
    assert not finish_job(table, first, now=NOW + LEASE + 1), "who lost the lease decides nothing"
    assert not extend_lease(table, first, NOW + LEASE + 1)
    assert not release_job(table, first)
    assert finish_job(table, second, now=NOW + LEASE + 1)


def test_a_lease_from_before_the_clock_was_set_back_holds_nobody_up(table: SqlConnection) -> None:
    claimed(extraction(table))
    claimed(extraction(table, at=NOW - 30 * 86_400))


def test_a_failure_is_tried_again_after_an_hour_three_times_in_all(table: SqlConnection) -> None:
    at = NOW
    for left in (2, 1, 0):
        assert finish_job(table, claimed(extraction(table, at=at)), now=at, error="refused")
        [row] = job_rows(table, "ann")
        assert (row.status, row.retry_at, row.retries_remaining, row.last_error) == (
            "error",
            at + RETRY,
            left,
            "refused",
        )
        assert extraction(table, at=at + RETRY - 1) == ("retry_backoff" if left else "retry_exhausted")
        at += RETRY
    assert extraction(table, at=at + 86_400) == "retry_exhausted"
    claimed(extraction(table, at=at, watermark=101))  # more was said
    [row] = job_rows(table, "ann")
    assert row.retries_remaining == 3


def test_no_more_than_so_many_run_at_a_time(table: SqlConnection) -> None:
    claimed(extraction(table, task="t-1"))
    claimed(extraction(table, task="t-2"))
    assert extraction(table, task="t-3") == "running"
    claimed(extraction(table, task="t-3", at=NOW + LEASE))


def test_what_is_given_back_is_no_failure(table: SqlConnection) -> None:
    assert release_job(table, claimed(extraction(table)))
    [row] = job_rows(table, "ann")
    assert (row.status, row.retries_remaining, row.retry_at) == ("pending", 3, None)
    claimed(extraction(table, at=NOW + 1))


def test_what_files_say_is_done_is_done_in_a_table_that_is_new(table: SqlConnection) -> None:
    note_done(table, "t-1", "ann", 100)
    assert extraction(table) == "up_to_date"
    note_done(table, "t-1", "ann", 50)
    assert extraction(table) == "up_to_date", "the table knows better"
    forget_job(table, "extract", "t-1")
    assert job_rows(table, "ann") == []


def test_nothing_is_consolidated_before_there_is_something_new(table: SqlConnection) -> None:
    assert consolidation(table) == "up_to_date"
    enqueue_consolidation(table, "ann", 100)
    claim = claimed(consolidation(table))
    assert claim.watermark == 100
    assert consolidation(table) == "running"
    assert finish_job(table, claim, now=NOW + 60, watermark=100)
    assert consolidation(table, at=NOW + 86_400) == "up_to_date"


def test_each_piece_of_news_raises_the_watermark(table: SqlConnection) -> None:
    for told, expected in ((100, 100), (50, 101), (101, 102), (300, 300)):
        enqueue_consolidation(table, "ann", told, for_update=for_update(table))
        [row] = job_rows(table, "ann")
        assert row.input_watermark == expected


def test_news_that_comes_while_it_runs_is_not_lost(table: SqlConnection) -> None:
    enqueue_consolidation(table, "ann", 100)
    claim = claimed(consolidation(table))
    enqueue_consolidation(table, "ann", 90)
    assert finish_job(table, claim, now=NOW, watermark=100)
    assert claimed(consolidation(table, at=NOW + 6 * 3600)).watermark == 101


def test_after_a_success_six_hours_pass_unless_the_person_asks(table: SqlConnection) -> None:
    enqueue_consolidation(table, "ann", 100)
    assert finish_job(table, claimed(consolidation(table)), now=NOW)
    enqueue_consolidation(table, "ann", 200)
    assert consolidation(table, at=NOW + 6 * 3600 - 1) == "cooldown"
    claimed(consolidation(table, at=NOW + 10, asked=True))
    assert finish_job(table, claimed(consolidation(table, at=NOW + 10 + LEASE, asked=True)), now=NOW + 4000)
    enqueue_consolidation(table, "ann", 300)
    claimed(consolidation(table, at=NOW - 86_400))  # a clock that was set back makes nobody wait


def test_a_stale_lease_of_a_consolidation_is_taken_over(table: SqlConnection) -> None:
    enqueue_consolidation(table, "ann", 100)
    first = claimed(consolidation(table))
    assert extend_lease(table, first, NOW + 3_000)
    assert consolidation(table, at=NOW + LEASE) == "running", "the heartbeat extended it"
    second = claimed(consolidation(table, at=NOW + 3_000 + LEASE))
    assert not finish_job(table, first, now=NOW + 7_000)
    assert finish_job(table, second, now=NOW + 7_000)


def test_a_person_who_asks_need_not_wait_for_the_next_try(table: SqlConnection) -> None:
    enqueue_consolidation(table, "ann", 100)
    for _ in range(3):
        assert finish_job(table, claimed(consolidation(table, asked=True)), now=NOW, error="no")
    assert consolidation(table) == "retry_exhausted"
    claimed(consolidation(table, asked=True))


def test_persons_do_not_see_each_others_jobs(table: SqlConnection) -> None:
    enqueue_consolidation(table, "bob", 100)
    assert consolidation(table) == "up_to_date"
    assert job_rows(table, "ann") == [] and len(job_rows(table, "bob")) == 1


def test_what_is_taken_back_while_it_is_done_ends_nothing(table: SqlConnection) -> None:
    enqueue_consolidation(table, "ann", 100)
    whole = claimed(consolidation(table))
    void_consolidation(table, "ann", for_update=for_update(table))
    assert not finish_job(table, whole, now=NOW)
    again = claimed(consolidation(table))
    one = claimed(extraction(table))
    void_all_jobs(table, "ann")
    assert not finish_job(table, again, now=NOW) and not extend_lease(table, one, NOW)
    assert (extraction(table), consolidation(table)) == ("up_to_date", "up_to_date")
