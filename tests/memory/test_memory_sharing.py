"""Servers that run: each hears what another one changed, and a database that goes away holds nobody up."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest

from hdsp_agent.memory import Memories
from hdsp_agent.memory.extracted_files import ExtractedFiles
from hdsp_agent.memory.job_table import JobClaim, LeaseLost
from hdsp_agent.memory.memory_folder import ASIDE_FOLDER, HANDBOOK, SUMMARY
from hdsp_agent.memory.memory_jobs import MemoryJobs
from hdsp_agent.memory.publication import Publication
from hdsp_agent.memory.sharing import MemorySharing, SyncReport, memory_sharing
from hdsp_agent.persistence import StateDatabase

from .._helpers.forked_python import forked_python
from .._helpers.postgres import TasksDatabase
from .._helpers.timing import PATIENCE, until
from ._helpers.shared_home import ME, SharedHome, extracted, publish, shared_home, versions

psycopg = pytest.importorskip("psycopg")

from hdsp_agent.persistence.postgres._history_listener import HistoryListener

ROOT = Path(__file__).parents[2]


class Server:
    """One that runs."""

    def __init__(self, home: SharedHome) -> None:
        self.home = home
        self.memories = Memories(home.folder.root.parent, ME, lambda folder: None)
        self.sharing = self.memories.sharing = MemorySharing(home.memory, self.memories.folder)
        self.jobs = MemoryJobs(home.memory, self.sharing)
        self.joined: list[SyncReport] = []
        self.sharing.on_joined = lambda owner, report: self.joined.append(report)

    def add(self, text: str) -> None:
        self.memories.of_person(ME, None, None).add(text, "person")

    def told(self) -> str:
        """What a model is told."""
        return "\n".join(text.text for text in self.memories.of_task(ME, None, lambda: None).texts())

    async def has(self, *texts: str) -> None:
        """It gets them by itself."""

        async def does() -> bool:
            return sorted(await asyncio.to_thread(self.home.texts)) == sorted(texts)

        await until(does)


@contextmanager
def running(place: Path, tasks: TasksDatabase, *, follows: bool = True) -> Iterator[Server]:
    with shared_home(place, tasks) as home, ExitStack() as stack:
        server = Server(home)
        server.sharing.start(ME)
        stack.callback(server.sharing.stop)
        if follows:
            listener = HistoryListener(home.database, lambda: None, lambda: None)
            listener.start()
            stack.callback(listener.stop)
        yield server


@pytest.fixture
def two(tmp_path: Path, postgres_database: TasksDatabase) -> Iterator[tuple[Server, Server]]:
    with running(tmp_path / "here", postgres_database) as here, running(tmp_path / "there", postgres_database) as there:
        yield here, there


async def test_what_one_server_writes_the_other_has_without_being_asked(
    two: tuple[Server, Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = two
    monkeypatch.setattr(memory_sharing, "_LOOK_SECONDS", 3600.0)
    taken: list[str] = []
    there.sharing.on_taken = taken.append
    await asyncio.to_thread(here.add, "from here")
    await there.has("from here")
    await until(lambda: taken == [ME])
    await asyncio.to_thread(there.add, "from there")
    await here.has("from here", "from there")


async def test_a_model_is_told_what_another_server_has_just_written(
    tmp_path: Path, postgres_database: TasksDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_sharing, "_READING_SECONDS", PATIENCE)
    with (
        running(tmp_path / "here", postgres_database) as here,
        running(tmp_path / "there", postgres_database, follows=False) as there,
    ):
        assert await asyncio.to_thread(there.sharing.bring_up_to_date, ME, PATIENCE)
        await asyncio.to_thread(here.add, "from here")
        assert await asyncio.to_thread(here.sharing.bring_up_to_date, ME, PATIENCE)
        there.sharing._done_at.clear()
        assert "from here" in await asyncio.to_thread(there.told)


async def test_what_is_edited_by_hand_is_found(two: tuple[Server, Server], monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = two
    await asyncio.to_thread(here.add, "from here")
    await there.has("from here")
    profile = there.home.folder.root / "profile.md"
    profile.write_text(profile.read_text() + "- by hand\n")
    assert await asyncio.to_thread(there.sharing.bring_up_to_date, ME, PATIENCE)
    await here.has("from here", "by hand")


async def test_a_note_that_two_servers_change_while_the_database_is_away_is_kept_twice_and_said(
    two: tuple[Server, Server], postgres_database: TasksDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    here, there = two
    await asyncio.to_thread(here.add, "likes polars")
    await there.has("likes polars")
    [note] = here.home.notes.read().notes
    await asyncio.to_thread(postgres_database.let_in, False)
    await asyncio.to_thread(here.memories.of_person(ME, None, None).edit, note.id, "likes pandas", pinned=None)
    await asyncio.to_thread(there.memories.of_person(ME, None, None).edit, note.id, "likes duckdb", pinned=None)
    assert not await asyncio.to_thread(here.sharing.bring_up_to_date, ME, PATIENCE)
    assert "likes pandas" in await asyncio.to_thread(here.told)
    await asyncio.to_thread(postgres_database.let_in, True)
    for server in two:
        await server.has("likes pandas", "likes duckdb")
    # It is told of after the file is written.
    await until(lambda: sum(report.twice for server in two for report in server.joined) == 1)
    assert "Memory is not shared with other servers for now" in caplog.text


async def test_what_was_not_sent_yet_is_sent_when_the_server_stops(
    tmp_path: Path, postgres_database: TasksDatabase
) -> None:
    with running(tmp_path / "here", postgres_database) as here:
        assert await asyncio.to_thread(here.sharing.bring_up_to_date, ME, PATIENCE)
        here.add("the last one")
    [sent] = versions(postgres_database, "profile.md")
    assert sent is not None and "the last one" in sent


async def test_a_folder_that_cannot_be_shared_holds_up_nobody_elses(
    tmp_path: Path, postgres_database: TasksDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    with shared_home(tmp_path / "here", postgres_database) as home, ExitStack() as stack:
        server = Server(home)
        home.folder.make()
        (home.folder.root / "people").write_text("no folder")
        server.sharing.changed("another")
        server.sharing.start(ME)
        stack.callback(server.sharing.stop)
        assert not await asyncio.to_thread(server.sharing.bring_up_to_date, "another", PATIENCE)
        server.add("from here")
        assert await asyncio.to_thread(server.sharing.bring_up_to_date, ME, PATIENCE)
    assert len(versions(postgres_database, "profile.md")) == 1
    assert caplog.text.count("Memory is not shared with other servers for now") == 1


@pytest.mark.parametrize("is_allowed", [True, False])
async def test_an_agent_without_a_server_shares_memory_only_where_it_is_allowed(
    tmp_path: Path, postgres_database: TasksDatabase, is_allowed: bool
) -> None:
    from hdsp_agent.agent import headless_agent
    from hdsp_agent.config import OperatorPolicy

    async with headless_agent(
        tmp_path / "home",
        OperatorPolicy(allow_memory=is_allowed),
        workspace=tmp_path,
        backend="postgres",
        storage_url=postgres_database.url("ada"),
    ) as agent:
        memories = agent.manager.services.memories
        assert memories is not None and (memories.sharing is not None) == is_allowed


async def claimed(server: Server, *, is_news: bool = False) -> JobClaim:
    """The consolidation, or the extraction of the first conversation."""
    if is_news:
        claim = await server.jobs.claim_extraction("00000001", ME, watermark=100, most_running=8)
        assert isinstance(claim, JobClaim)
        await server.jobs.write_if_leased(claim, lambda: server.home.extracted.put(extracted(1)))
        assert await server.jobs.succeed(claim, is_news=True)
    whole = await server.jobs.claim_consolidation(ME, is_asked_for=True)
    assert isinstance(whole, JobClaim), whole
    return whole


@pytest.fixture
def apart(tmp_path: Path, postgres_database: TasksDatabase) -> Iterator[tuple[Server, Server]]:
    """Servers that bring nothing in line by themselves."""
    with (
        shared_home(tmp_path / "here", postgres_database) as here,
        shared_home(tmp_path / "there", postgres_database) as there,
    ):
        yield Server(here), Server(there)


@pytest.mark.skipif(sys.platform == "win32", reason="Processes are killed otherwise there")
async def test_what_is_published_is_there_for_all_or_for_nobody(
    apart: tuple[Server, Server], postgres_database: TasksDatabase
) -> None:
    """Killed in the midst of it, its job is taken over; what it wrote by then is no person's edit."""
    here, there = apart
    assert await here.jobs.release(await claimed(here, is_news=True))
    home = str(here.home.folder.root.parent)
    process = await asyncio.create_subprocess_exec(
        forked_python(), "-m", "tests.memory._helpers.killed_publisher", home, postgres_database.url(), "written here",
        cwd=ROOT, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert await process.stdout.readline() == b"written\n"
    process.kill()
    await process.wait()
    assert "written here" in here.home.folder.text(HANDBOOK) and versions(postgres_database, HANDBOOK) == []
    assert await there.jobs.claim_consolidation(ME, is_asked_for=True) == "running"
    with postgres_database.connect() as admin:
        admin.execute("UPDATE memory_jobs SET lease_until = lease_until - 3600")
    second = await claimed(there)
    await there.jobs.write_if_leased(second, partial(publish, there.home.folder, "written there"))
    assert await there.jobs.succeed(second)
    for server in (here, there, here):
        assert await asyncio.to_thread(server.sharing.bring_up_to_date, ME)
    for server in apart:
        assert server.home.folder.text(HANDBOOK) == "# Task Group: x\n\n- written there\n"
        assert all(edits.is_empty for edits in Publication(server.home.folder).edits().values())
    with pytest.raises(LeaseLost):
        await here.jobs.write_if_leased(second, partial(publish, here.home.folder, "too late"))
    assert "too late" not in here.home.folder.text(HANDBOOK)


async def test_a_publication_begins_from_what_the_person_wrote_elsewhere_meanwhile(
    apart: tuple[Server, Server],
) -> None:
    here, there = apart
    claim = await claimed(here, is_news=True)
    await here.jobs.write_if_leased(claim, partial(publish, here.home.folder, "old"))
    there.sharing.bring_up_to_date(ME)
    handbook = there.home.folder.root / HANDBOOK
    handbook.write_text(handbook.read_text() + "- my own line\n")
    there.sharing.bring_up_to_date(ME)

    def again() -> None:
        publication = Publication(here.home.folder)
        assert [line.text for line in publication.edits()[HANDBOOK].written] == ["- my own line"]

    await here.jobs.write_if_leased(claim, again)


async def test_what_is_forgotten_on_one_server_another_that_was_away_does_not_bring_back(
    apart: tuple[Server, Server], postgres_database: TasksDatabase
) -> None:
    here, there = apart
    task = extracted(1).task_id
    # It learned from the conversation, and lost the database before that was saved.
    here.home.extracted.put(extracted(1, taught="a secret"))
    await there.jobs.forget(ME, there.home.folder, [task], lambda folder: ExtractedFiles(folder).delete(task), 500)
    for server in (here, there):
        assert server.sharing.bring_up_to_date(ME)
        assert list(server.home.extracted.all()) == []
    assert versions(postgres_database, f"extracted/{task}.json") == [None]


async def test_all_that_was_learned_is_forgotten_on_both_and_in_every_version(
    apart: tuple[Server, Server], postgres_database: TasksDatabase
) -> None:
    from hdsp_agent.memory.forgetting import forget_everything

    here, there = apart
    claim = await claimed(here, is_news=True)
    for aside in ("skills-clean-clean.py", HANDBOOK, SUMMARY):
        here.home.folder.write(f"{ASIDE_FOLDER}/0a1b2c3d-{aside}", "a secret")
    here.home.folder.write(f"{ASIDE_FOLDER}/0a1b2c3d-profile.md", "a note")
    for learned in ("a secret", "the secret"):
        await here.jobs.write_if_leased(claim, partial(publish, here.home.folder, learned))
    assert there.sharing.bring_up_to_date(ME)
    await there.jobs.forget_all(ME, lambda: forget_everything(there.home.folder))
    assert here.sharing.bring_up_to_date(ME)
    for server in apart:
        files = (path for path in server.home.folder.root.rglob("*") if path.is_file())
        assert not any("secret" in path.read_text() or "months" in path.read_text() for path in files)
        # It was read, and is not read again.
        assert [each.is_empty for each in server.home.extracted.all()] == [True]
        assert server.home.folder.names(ASIDE_FOLDER) == [f"{ASIDE_FOLDER}/0a1b2c3d-profile.md"]
    with postgres_database.connect() as admin:
        kept = "SELECT path FROM memory_files WHERE position('secret'::bytea IN content) + position('months'::bytea IN content) > 0"
        assert admin.execute(kept).fetchall() == []


async def test_what_a_server_that_was_away_learned_is_forgotten_with_everything(
    apart: tuple[Server, Server], postgres_database: TasksDatabase
) -> None:
    from hdsp_agent.memory.forgetting import forget_everything

    here, there = apart
    task = extracted(1).task_id
    assert isinstance(await here.jobs.claim_extraction(task, ME, watermark=100, most_running=8), JobClaim)
    # It loses the database before what it learned is saved.
    here.home.extracted.put(extracted(1, taught="a secret"))
    await there.jobs.forget_all(ME, lambda: forget_everything(there.home.folder))
    for server in (here, there):
        assert server.sharing.bring_up_to_date(ME)
        assert list(server.home.extracted.all()) == []
    assert versions(postgres_database, f"extracted/{task}.json") == [None]


async def test_without_a_database_nothing_is_shared(tmp_path: Path) -> None:
    from hdsp_agent.memory import MEMORY_SCHEMA
    from hdsp_agent.memory.memory_jobs import StateJobDatabase

    database = StateDatabase(tmp_path / "state.db")
    database.add(MEMORY_SCHEMA)
    async with database:
        jobs = MemoryJobs(StateJobDatabase(database))
        await jobs.bring_up_to_date(ME)
        jobs.files_changed(ME)
        assert await jobs.rows(ME) == []
