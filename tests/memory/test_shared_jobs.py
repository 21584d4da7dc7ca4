"""The memory jobs in PostgreSQL: two servers of a person never do the same one, and nobody else's are seen."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from hdsp_agent.errors import StorageUnavailable
from hdsp_agent.memory import MemoryFolder
from hdsp_agent.memory.job_table import JobClaim, LeaseLost
from hdsp_agent.memory.memory_jobs import MemoryJobs
from hdsp_agent.messages import TaskId

from .._helpers.postgres import TasksDatabase
from .._helpers.timing import PATIENCE

psycopg = pytest.importorskip("psycopg")

from hdsp_agent.persistence.postgres._postgres_database import PostgresDatabase
from hdsp_agent.persistence.postgres._postgres_memory import PostgresMemory

ME = "me"


@asynccontextmanager
async def server(tasks: TasksDatabase, role: str = "ada") -> AsyncIterator[MemoryJobs]:
    """The jobs as one server has them."""
    database = PostgresDatabase(tasks.url(role))
    try:
        yield MemoryJobs(PostgresMemory(database))
    finally:
        database.close()


async def extraction(jobs: MemoryJobs, task: str = "t-1", *, most: int = 8, watermark: int = 100) -> JobClaim:
    claim = await jobs.claim_extraction(task, ME, watermark=watermark, most_running=most)
    assert isinstance(claim, JobClaim), claim
    return claim


def end_leases(tasks: TasksDatabase) -> None:
    """An hour passes for the database."""
    with tasks.connect() as admin:
        admin.execute("UPDATE memory_jobs SET lease_until = lease_until - 3600, retry_at = retry_at - 3600")


async def test_four_servers_share_the_jobs_and_each_is_done_once(postgres_database: TasksDatabase) -> None:
    done = Counter[str]()

    async def work(jobs: MemoryJobs, first: int) -> None:
        for number in range(12):
            task = f"t-{(number + first) % 12}"
            claim = await jobs.claim_extraction(task, ME, watermark=7, most_running=8)
            if isinstance(claim, JobClaim):
                done[task] += 1
                assert await jobs.succeed(claim, is_news=True)
        whole = await jobs.claim_consolidation(ME, is_asked_for=True)
        if isinstance(whole, JobClaim):
            done[f"whole {whole.watermark}"] += 1
            assert await jobs.succeed(whole)

    async with (
        server(postgres_database) as one,
        server(postgres_database) as two,
        server(postgres_database) as three,
        server(postgres_database) as four,
    ):
        await asyncio.gather(*(work(jobs, 3 * number) for number, jobs in enumerate((one, two, three, four))))
        # A job that another transaction is changing counts as taken, and is left to the next round.
        await work(one, 0)
        rows = await two.rows(ME)
    assert {task: count for task, count in done.items() if task.startswith("t")} == {f"t-{n}": 1 for n in range(12)}
    assert all(count == 1 for count in done.values()) and len(done) > 12
    assert {row.status for row in rows} == {"done"} and len(rows) == 13


async def test_two_servers_together_read_no_more_at_a_time_than_one(postgres_database: TasksDatabase) -> None:
    async with server(postgres_database) as here, server(postgres_database) as there:
        claims = await asyncio.gather(
            *(
                jobs.claim_extraction(f"t-{number}", ME, watermark=7, most_running=3)
                for number in range(6)
                for jobs in (here, there)
            )
        )
    assert sum(isinstance(claim, JobClaim) for claim in claims) == 3


async def test_a_lease_is_measured_by_the_databases_clock_and_taken_over_when_it_ends(
    postgres_database: TasksDatabase,
) -> None:
    async with server(postgres_database) as here, server(postgres_database) as there:
        first = await extraction(here)
        assert await there.claim_extraction("t-1", ME, watermark=100, most_running=8) == "running"
        rows, now = await there.standing(ME)
        with postgres_database.connect() as admin:
            [clock] = admin.execute("SELECT extract(epoch FROM clock_timestamp())::bigint").fetchone()
        assert 0 <= clock - now <= PATIENCE and rows[0].lease_until is not None
        assert 0 <= now + 3600 - rows[0].lease_until <= PATIENCE
        # The first server was killed: nobody extends its lease.
        end_leases(postgres_database)
        second = await extraction(there)
        assert not await here.extend(first) and not await here.succeed(first)
        with pytest.raises(LeaseLost):
            await here.write_if_leased(first, lambda: None)
        assert await there.succeed(second)
        assert [row.status for row in await here.rows(ME)] == ["done"]


async def test_a_job_whose_files_are_being_written_counts_as_taken_at_once(postgres_database: TasksDatabase) -> None:
    writing, may_end = threading.Event(), threading.Event()

    def write() -> str:
        writing.set()
        may_end.wait(PATIENCE)
        return "written"

    async with server(postgres_database) as here, server(postgres_database) as there:
        claim = await extraction(here)
        end_leases(postgres_database)
        work = asyncio.create_task(here.write_if_leased(claim, write))
        await asyncio.to_thread(writing.wait, PATIENCE)
        assert await there.claim_extraction("t-1", ME, watermark=101, most_running=8) == "running"
        await extraction(there, "t-2")
        may_end.set()
        assert await work == "written"


async def test_who_forgets_comes_before_or_after_what_is_written_never_in_between(
    postgres_database: TasksDatabase, tmp_path: Path
) -> None:
    writing, may_end = threading.Event(), threading.Event()
    file = tmp_path / "learned"

    def write() -> None:
        writing.set()
        may_end.wait(PATIENCE)
        file.write_text("learned")

    def forget(folder: MemoryFolder) -> bool:
        assert file.exists()
        file.unlink()
        return True

    async with server(postgres_database) as here, server(postgres_database) as there:
        await here.succeed(await extraction(here), is_news=True)
        claim = await here.claim_consolidation(ME)
        assert isinstance(claim, JobClaim)
        work = asyncio.create_task(here.write_if_leased(claim, write))
        await asyncio.to_thread(writing.wait, PATIENCE)
        forgetting = asyncio.create_task(there.forget(ME, MemoryFolder(tmp_path), [TaskId("t-1")], forget, 500))
        while not waits_for_a_lock(postgres_database):
            assert not forgetting.done()
            await asyncio.sleep(0)
        may_end.set()
        await asyncio.gather(work, forgetting)
        assert not file.exists()
        with pytest.raises(LeaseLost):
            await here.write_if_leased(claim, partial(file.write_text, "again"))
        assert not file.exists()
        [row] = await there.rows(ME)
        assert (row.kind, row.status, row.input_watermark) == ("consolidate", "pending", 500)


def waits_for_a_lock(tasks: TasksDatabase) -> bool:
    with tasks.connect() as admin:
        waiting = (
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )
        return bool(admin.execute(waiting).fetchone()[0])


async def test_an_error_that_quotes_bytes_is_kept(postgres_database: TasksDatabase) -> None:
    async with server(postgres_database) as jobs:
        assert await jobs.fail(await extraction(jobs), "It answered \0PNG")
        assert [row.last_error for row in await jobs.rows(ME)] == ["It answered PNG"]


async def test_nobody_sees_or_changes_the_jobs_of_another(postgres_database: TasksDatabase) -> None:
    async with server(postgres_database) as hers, server(postgres_database, "bob") as his:
        claim = await extraction(hers)
        # Each has a conversation of this id, and a person of this name.
        assert await his.rows(ME) == []
        theirs = await extraction(his)
        assert not await his.extend(claim) and not await his.succeed(claim)
        await his.forget_all(ME, lambda: None)
        assert not await his.extend(theirs) and await hers.extend(claim)
    with postgres_database.connect("bob") as connection:
        for table in ("memory_people", "memory_jobs"):
            assert {role for (role,) in connection.execute(f"SELECT role FROM {table}")} == {"bob"}, table
        for refused in (
            "INSERT INTO memory_people (role, owner) VALUES ('ada', 'x')",
            "UPDATE memory_jobs SET role = 'ada'",
            "INSERT INTO memory_jobs (role, kind, key, owner, status, retries_remaining) VALUES ('ada', '', '', '', '', 3)",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(refused)


async def test_a_database_that_is_away_is_said_and_used_again_when_it_is_back(postgres_database: TasksDatabase) -> None:
    async with server(postgres_database) as jobs:
        claim = await extraction(jobs)
        await asyncio.to_thread(postgres_database.let_in, False)
        with pytest.raises(StorageUnavailable):
            await jobs.succeed(claim)
        await asyncio.to_thread(postgres_database.let_in, True)
        assert await jobs.succeed(claim)
