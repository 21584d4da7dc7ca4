"""Servers on which memory is not allowed: nothing comes, nothing goes, and what is deleted is forgotten all the same."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from hdsp_agent.memory import Memories
from hdsp_agent.memory.forgetting import forget_conversations
from hdsp_agent.memory.job_table import JobClaim
from hdsp_agent.memory.memory_folder import HANDBOOK
from hdsp_agent.memory.memory_jobs import MemoryJobs
from hdsp_agent.memory.sharing import MemorySharing, memory_sharing

from .._helpers.postgres import TasksDatabase
from .._helpers.timing import until
from ._helpers.shared_home import ME, SharedHome, content, extracted, shared_home, versions

pytest.importorskip("psycopg")

NOW = 1_800_000_000.0


class Server:
    """One that can be forbidden memory at any time."""

    def __init__(self, home: SharedHome) -> None:
        self.home = home
        self.is_allowed = True
        self.asked = 0
        memories = Memories(home.folder.root.parent, ME, lambda folder: None)
        self.sharing = MemorySharing(home.memory, memories.folder, self._tell_whether)
        self.jobs = MemoryJobs(home.memory, self.sharing)

    def _tell_whether(self) -> bool:
        self.asked += 1
        return self.is_allowed

    async def forbid(self) -> None:
        """Forbid memory; return when this has been seen, and what was allowed before is done."""
        self.is_allowed = False
        asked = self.asked
        await until(lambda: self.asked > asked)

    def note(self, text: str) -> None:
        self.home.notes.add(text, day="2026-11-30")

    async def delete(self, *numbers: int) -> None:
        """Delete conversations."""
        tasks = [extracted(number).task_id for number in numbers]
        forget = partial(forget_conversations, task_ids=tasks, now=NOW)
        await self.jobs.forget(ME, self.home.folder, tasks, forget, int(NOW * 1000))

    async def learn(self, number: int, taught: str) -> None:
        """Learn from a conversation, and tell what was learned."""
        one = extracted(number, taught=taught)
        claim = await self.jobs.claim_extraction(one.task_id, ME, watermark=100, most_running=8)
        assert isinstance(claim, JobClaim)
        await self.jobs.write_if_leased(claim, lambda: self.home.extracted.put(one))
        assert await self.jobs.succeed(claim, is_news=True)


@pytest.fixture
def two(tmp_path: Path, postgres_database: TasksDatabase) -> Iterator[tuple[Server, Server]]:
    """Here memory is allowed; there it is not."""
    with (
        shared_home(tmp_path / "here", postgres_database) as here,
        shared_home(tmp_path / "there", postgres_database) as there,
    ):
        forbidden = Server(there)
        forbidden.is_allowed = False
        yield Server(here), forbidden


async def test_a_deleted_conversation_is_forgotten_everywhere_and_nothing_else_moves(
    two: tuple[Server, Server], postgres_database: TasksDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = two
    for number, taught in ((1, "a secret"), (2, "Ages are in months.")):
        await here.learn(number, taught)
    here.note("from here")
    assert here.sharing.bring_up_to_date(ME)
    there.note("from there")
    before = content(there.home)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))

    await there.delete(1)
    assert content(there.home) == before and list((tmp_path / "temporary").iterdir()) == []
    assert versions(postgres_database, f"extracted/{extracted(1).task_id}.json") == [None]
    [notes] = versions(postgres_database, "profile.md")
    assert notes is not None and "from here" in notes and "from there" not in notes
    assert here.sharing.bring_up_to_date(ME)
    assert [each.raw_memory for each in here.home.extracted.all()] == ["Ages are in months."]


async def test_what_was_learned_there_before_it_was_forbidden_goes_as_well(
    two: tuple[Server, Server], postgres_database: TasksDatabase
) -> None:
    here, there = two
    there.is_allowed = True
    await here.learn(1, "a secret")
    assert there.sharing.bring_up_to_date(ME) and list(there.home.extracted.all())
    there.is_allowed = False
    await there.delete(1)
    assert list(there.home.extracted.all()) == []
    there.is_allowed = True
    for server in (there, here, there):
        assert server.sharing.bring_up_to_date(ME)
        assert list(server.home.extracted.all()) == []
    assert not [version for version in versions(postgres_database, HANDBOOK) if version and "secret" in version]


async def test_where_nothing_is_shared_deleting_begins_nothing(
    two: tuple[Server, Server], postgres_database: TasksDatabase
) -> None:
    _, there = two
    await there.delete(1)
    assert not there.home.folder.root.exists()
    with postgres_database.connect() as admin:
        assert admin.execute("SELECT count(*) FROM memory_people").fetchone() == (0,)


async def test_nothing_is_shared_that_is_forbidden_while_the_thread_waits(
    two: tuple[Server, Server], postgres_database: TasksDatabase
) -> None:
    here, _ = two
    here.sharing.start(ME)
    try:
        assert await asyncio.to_thread(here.sharing.bring_up_to_date, ME)
        here.is_allowed = False
        here.note("the first")
        here.sharing.changed(ME)
        asked = here.asked
        await until(lambda: here.asked > asked)
    finally:
        await asyncio.to_thread(here.sharing.stop)
    assert versions(postgres_database, "profile.md") == []


async def test_a_server_that_is_forbidden_memory_while_it_runs_waits_until_it_is_allowed(
    two: tuple[Server, Server], postgres_database: TasksDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, _ = two
    monkeypatch.setattr(memory_sharing, "_LOOK_SECONDS", 0.01)
    here.sharing.start(ME)
    try:
        here.note("the first")
        here.sharing.changed(ME)
        await until(lambda: versions(postgres_database, "profile.md"))
        await here.forbid()
        here.note("the second")
        here.sharing.changed(ME)
        assert not await asyncio.to_thread(here.sharing.bring_up_to_date, ME)
        [sent] = versions(postgres_database, "profile.md")
        assert sent is not None and "the second" not in sent
        here.is_allowed = True
        await until(lambda: "the second" in str(versions(postgres_database, "profile.md")[-1]))
        await here.forbid()
        here.note("the third")
    finally:
        await asyncio.to_thread(here.sharing.stop)
    assert "the third" not in str(versions(postgres_database, "profile.md")[-1])
