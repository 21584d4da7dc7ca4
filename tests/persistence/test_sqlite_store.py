from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from math import ceil
from pathlib import Path

import pytest
from typing_extensions import Unpack

from hdsp_agent.errors import Conflict, StorageUnavailable
from hdsp_agent.persistence import ApiDraft, FileStore, NewTaskRecord, TaskStore
from hdsp_agent.persistence._backends import DATABASE_NAME, open_store
from hdsp_agent.persistence._task_store import StoreOptions
from hdsp_agent.persistence.files import _task_locks
from hdsp_agent.persistence.sqlite._sqlite_store import SqliteStore
from hdsp_agent.persistence.sqlite._task_schema import APPLICATION_ID, MIGRATIONS
from hdsp_agent.persistence.tables._sql import SqlConnection
from hdsp_agent.persistence.upkeep._retention import RetentionRules, clean

from .._helpers.forked_python import forked_python
from .._helpers.long_tests import rounds
from ._helpers.scenarios import scenario
from ._helpers.store_contract import asked, said
from ._helpers.table_contract import TableContract

ROOT = Path(__file__).parents[2]
unix = pytest.mark.skipif(not hasattr(os, "fork"), reason="The scenarios fork")


@contextmanager
def database(home: Path) -> Iterator[sqlite3.Connection]:
    """The database as somebody else's program has it."""
    with closing(sqlite3.connect(home / DATABASE_NAME, isolation_level=None)) as connection:
        yield connection


def bytes_read() -> int:
    """How much this process has read of files so far."""
    return int(dict(line.split(": ") for line in Path("/proc/self/io").read_text("ascii").splitlines())["rchar"])


class TestSqliteStore(TableContract):
    unreadable = "CAST(x'7bff00' AS TEXT)"

    def make_store(self, home: Path, **options: Unpack[StoreOptions]) -> TaskStore:
        return SqliteStore(home / DATABASE_NAME, **options)

    def database(self, home: Path) -> AbstractContextManager[SqlConnection]:
        return database(home)

    def let_rows_change(self, connection: SqlConnection, table: str) -> None:
        connection.execute(f"DROP TRIGGER {table}_stays")

    def refuse_poison(self, connection: SqlConnection) -> None:
        connection.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON messages WHEN NEW.record LIKE '%poison%' "
            "BEGIN SELECT RAISE(ABORT, 'refused'); END"
        )

    def place_on_disk(self, home: Path) -> Path:
        return home / DATABASE_NAME

    async def test_only_the_owner_can_read_the_database_whatever_the_umask(self, tmp_path: Path) -> None:
        home = tmp_path / "home"
        before = os.umask(0)
        try:
            async with self.store(home) as store:
                log = await store.create(NewTaskRecord())
                await log.append_api(asked("hi"), durable=True)
                modes = {path.name: path.stat().st_mode & 0o777 for path in home.iterdir()}
                assert {f"{DATABASE_NAME}{suffix}" for suffix in ("", "-wal", "-shm")} <= set(modes)
                if sys.platform != "win32":
                    assert set(modes.values()) == {0o600}
                    assert home.stat().st_mode & 0o777 == 0o700
        finally:
            os.umask(before)

    async def test_the_file_says_whose_and_of_which_version_it_is(self, tmp_path: Path) -> None:
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            await log.append_api(ApiDraft(role="user", content="hi"))
            with database(tmp_path) as connection:
                assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
                assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
                assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
                fields = connection.execute("SELECT task_id, seq, role, content, token_count FROM message_fields")
                assert fields.fetchall() == [(log.task_id, 1, "user", "hi", 1)]

    @pytest.mark.parametrize("pragma", ["user_version = 99", "application_id = 1"])
    async def test_a_database_of_a_newer_version_or_another_program_is_left_alone(
        self, tmp_path: Path, pragma: str
    ) -> None:
        async with self.store(tmp_path):
            pass
        with database(tmp_path) as connection:
            connection.execute(f"PRAGMA {pragma}")
        before = (tmp_path / DATABASE_NAME).read_bytes()
        with pytest.raises(StorageUnavailable, match="Nothing was changed"):
            await self.make_store(tmp_path).start()
        assert (tmp_path / DATABASE_NAME).read_bytes() == before

    async def test_logs_are_append_only_for_everybody(self, tmp_path: Path) -> None:
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            await log.append_api(asked("hi"))
            await log.put_ui(said(log, "hi"))
            await log.put_artifact(b"x")
            with database(tmp_path) as connection:
                for statement in (
                    "UPDATE messages SET record = '{}'",
                    "UPDATE ui_messages SET ts = 1",
                    "DELETE FROM messages",
                    "DELETE FROM artifacts",
                    "INSERT OR REPLACE INTO messages (id, task, seq, record) SELECT id, task, seq, '{}' FROM messages",
                ):
                    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                        connection.execute(statement)
            await log.finish()
            await store.delete(log.task_id)
            with database(tmp_path) as connection:
                for table in ("tasks", "locks", "messages", "ui_messages", "artifacts"):
                    assert connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (0,)

    @pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="Nothing tells what was read")
    async def test_the_size_of_a_long_task_is_not_counted_from_its_beginning_again(self, tmp_path: Path) -> None:
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            await asyncio.gather(*(log.append_api(asked("x" * 100_000)) for _ in range(100)))
            size = await store.size(log.task_id)
            await log.append_api(asked("y" * 1_000))
            begun = bytes_read()
            assert 1_000 < await store.size(log.task_id) - size < 2_000
            assert bytes_read() - begun < size / 4
            other = SqliteStore(tmp_path / DATABASE_NAME)
            assert await store.size(log.task_id) == await other.size(log.task_id)
            await other.stop()

    @pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="Nothing tells what was read")
    async def test_looking_for_what_is_old_enough_reads_no_conversation(self, tmp_path: Path) -> None:
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            await asyncio.gather(*(log.append_api(asked("x" * 100_000)) for _ in range(100)))
            await log.finish()
        async with self.store(tmp_path) as store:
            begun = bytes_read()
            report = await clean(store, RetentionRules(7, 30))
            assert (report.looked_at, report.done) == (1, [])
            assert bytes_read() - begun < 2_000_000

    async def test_the_space_of_a_deleted_task_is_given_back(self, tmp_path: Path) -> None:
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            await log.put_artifact(os.urandom(3_000_000))
            await asyncio.gather(*(log.append_api(asked("x" * 10_000)) for _ in range(100)))
            await log.finish()
        path = tmp_path / DATABASE_NAME
        assert path.stat().st_size > 4_000_000
        async with self.store(tmp_path) as store:
            await store.delete(log.task_id)
        assert path.stat().st_size < 400_000

    async def test_only_what_must_be_durable_is_synced(self, tmp_path: Path) -> None:
        store = SqliteStore(tmp_path / DATABASE_NAME)
        await store.start()
        log = await store.create(NewTaskRecord())

        def synchronous(connection: SqlConnection) -> int:
            return int(connection.execute("PRAGMA synchronous").fetchone()[0])

        async def level(*, durable: bool) -> int:
            recorded = log.append_api(asked("hi"), durable=durable)
            _, found = await asyncio.gather(recorded, store.writer.run(synchronous, durable=durable))
            return found

        assert [await level(durable=durable) for durable in (False, True, False)] == [1, 2, 1]
        await store.stop()

    async def test_a_database_that_is_damaged_as_a_whole_says_so_and_is_kept(self, tmp_path: Path) -> None:
        path = tmp_path / DATABASE_NAME
        path.write_bytes(b"This is no database at all. " * 100)
        with pytest.raises(StorageUnavailable, match="backup"):
            await self.make_store(tmp_path).start()
        assert path.read_bytes() == b"This is no database at all. " * 100

    async def test_another_host_is_judged_by_its_heartbeat_alone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            with database(tmp_path) as connection:
                connection.execute(
                    "UPDATE locks SET token = 'far', hostname = 'far', heartbeat_at = '2001-01-01T00:00:00Z'"
                )
            async with self.store(tmp_path) as other:
                # However old its clock says it is, it was seen only once.
                with pytest.raises(Conflict, match="far"):
                    await other.resume(log.task_id)
                monkeypatch.setattr(_task_locks, "STALE_SECONDS", 0.3)
                await asyncio.sleep(0.4)
                with database(tmp_path) as connection:
                    connection.execute("UPDATE locks SET beats = beats + 1")
                with pytest.raises(Conflict):
                    await other.resume(log.task_id)
                await asyncio.sleep(0.4)
                assert (await other.resume(log.task_id)).task_id == log.task_id

    async def test_work_pauses_while_another_program_keeps_the_database_and_goes_on_afterwards(
        self, tmp_path: Path
    ) -> None:
        store = SqliteStore(tmp_path / DATABASE_NAME, busy_seconds=0.2)
        await store.start()
        log = await store.create(NewTaskRecord())
        await log.append_api(asked("before"))
        holder = await asyncio.create_subprocess_exec(
            forked_python(), "-m", "tests.persistence._helpers.table_processes", "hold", str(tmp_path),
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert holder.stdout is not None
        assert await holder.stdout.readline() == b"held\n"
        refused = await asyncio.gather(
            *(log.append_api(asked("refused"), durable=durable) for durable in (False, True)), return_exceptions=True
        )
        assert [type(error) for error in refused] == [StorageUnavailable, StorageUnavailable]
        paused = log.paused
        assert paused is not None and "another program keeps it locked" in str(paused)
        assert [r.content for r in await (await store.view(log.task_id)).api.newest()] == ["before"]
        await holder.communicate(b"")
        assert (await log.append_api(asked("after"))).seq == 2
        assert log.paused is None
        await log.finish()
        await store.stop()

    async def test_a_database_deleted_in_mid_task_is_noticed_by_the_next_message(self, tmp_path: Path) -> None:
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            await log.append_api(asked("hi"))
            for path in tmp_path.glob(f"{DATABASE_NAME}*"):
                path.unlink()
            for _ in range(2):
                with pytest.raises(StorageUnavailable):
                    await log.append_api(asked("lost?"))
                assert log.paused is not None
            assert not (tmp_path / DATABASE_NAME).exists()


def test_each_backend_is_opened_by_its_name(tmp_path: Path) -> None:
    assert isinstance(open_store(tmp_path, "files", heartbeat_seconds=1), FileStore)
    store = open_store(tmp_path, "sqlite", monitor_seconds=1, on_damage=None)
    assert isinstance(store, SqliteStore)
    assert store.path == tmp_path / DATABASE_NAME
    # Nothing is made before it is started.
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def quick_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder whose fsync costs nothing where there is one: what kill −9 leaves does not depend on it."""
    shared = Path("/dev/shm")
    if not os.access(shared, os.W_OK):
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(dir=shared))
    yield folder
    shutil.rmtree(folder)


@unix
@pytest.mark.slow
def test_nothing_acknowledged_is_lost_by_kills_of_a_busy_task(quick_folder: Path) -> None:
    kills = rounds(20, 60)
    report = scenario("kill", quick_folder, kills, 1)
    assert report["wrong"] == []
    assert int(str(report["started"])) > kills / 2
    assert int(str(report["messages"])) > kills


@unix
@pytest.mark.slow
def test_nothing_acknowledged_is_lost_by_kills_on_a_real_disk(tmp_path: Path) -> None:
    assert scenario("kill", tmp_path, rounds(6, 15), 2)["wrong"] == []


@pytest.mark.in_short(1)
@unix
@pytest.mark.parametrize(("processes", "turns"), [(2, rounds(10, 25)), (6, 12)])
@pytest.mark.slow
def test_racing_processes_never_own_one_task_together(quick_folder: Path, processes: int, turns: int) -> None:
    report = scenario("race", quick_folder / "home", processes, turns)
    assert report["wrong"] == []
    assert int(str(report["died"])) == turns * ceil(processes / 4)
    assert int(str(report["busy"])) > 0


@unix
def test_a_task_pauses_while_the_disk_is_full_and_goes_on_afterwards(tmp_path: Path) -> None:
    report = scenario("full", tmp_path)
    assert report["refusal"] and report["paused"] is True
    assert report["paused after"] is False
    assert report["all there"] is True
