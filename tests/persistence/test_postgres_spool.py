from __future__ import annotations

import asyncio
import errno
import os
import random
import subprocess
import threading
from functools import partial
from pathlib import Path
from typing import Literal

import pytest

from hdsp_agent.append_log import appender
from hdsp_agent.errors import Conflict, StorageUnavailable
from hdsp_agent.messages import TaskId
from hdsp_agent.persistence import NewTaskRecord
from hdsp_agent.persistence._kept_apart import spool_folder

from .._helpers.forked_python import forked_python
from .._helpers.long_tests import rounds
from .._helpers.postgres import TasksDatabase
from .._helpers.timing import PATIENCE, until
from ._helpers.postgres_contract import PostgresStores, is_usable, lose_at_commit, recorded
from ._helpers.scenarios import ROOT
from ._helpers.store_contract import asked, said

psycopg = pytest.importorskip("psycopg")

from hdsp_agent.persistence.postgres import _postgres_writer, _spool
from hdsp_agent.persistence.postgres._connection import PostgresConnection
from hdsp_agent.persistence.postgres._postgres_database import PostgresDatabase
from hdsp_agent.persistence.postgres._postgres_store import PostgresStore
from hdsp_agent.persistence.postgres._postgres_writer import PostgresWriter

unix = pytest.mark.skipif(not hasattr(os, "fork"), reason="The scenarios fork")


class TestSpool(PostgresStores):
    async def test_what_is_recorded_while_the_database_is_away_is_kept_here_and_saved_afterwards(
        self, tmp_path: Path, quickly_away: None
    ) -> None:
        async with self.store(tmp_path) as store:
            assert isinstance(store, PostgresStore)
            log, other = await store.create(NewTaskRecord()), await store.create(NewTaskRecord())
            await log.append_api(asked("before"))
            self.tasks.let_in(False)
            await asyncio.gather(*(log.append_api(asked(f"kept {number}"), durable=True) for number in range(20)))
            message = await log.append_ui(said(log, "shown"))
            await other.append_api(asked("kept"))
            assert log.paused is None
            (spool,) = (tmp_path / ".tasks.postgres.spool").glob("*.spool")
            assert spool.stat().st_mode & 0o777 == 0o600
            with pytest.raises(StorageUnavailable, match="is kept on this server") as told:
                await store.check_usable()
            assert told.value.params["kept"] == "here"
            with pytest.raises(StorageUnavailable):
                await store.create(NewTaskRecord())
            ending = asyncio.create_task(other.finish())
            self.tasks.let_in(True)
            # Whoever reads sees what was acknowledged, however soon.
            kept = ["before", *(f"kept {number}" for number in range(20))]
            assert await recorded(store, log) == kept
            assert [m.text for m in await (await store.view(log.task_id)).ui.newest()] == [message.text]
            await asyncio.gather(ending, return_exceptions=True)
            assert (await log.append_api(asked("after"))).seq == 22
            assert await recorded(store, log) == [*kept, "after"]
            assert list((tmp_path / ".tasks.postgres.spool").iterdir()) == []
            await until(partial(is_usable, store))

    @pytest.mark.parametrize("how", ["committed", "ended"])
    async def test_a_commit_that_nobody_knows_of_is_kept_here_and_not_written_twice(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quickly_away: None, how: Literal["committed", "ended"]
    ) -> None:
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            lose_at_commit(monkeypatch, how, then=lambda: self.tasks.let_in(False))
            for number in range(3):
                await log.append_api(asked(str(number)))
            self.tasks.let_in(True)
            assert await recorded(store, log) == ["0", "1", "2"]
            assert (await log.append_api(asked("3"))).seq == 4

    @pytest.mark.parametrize("how", ["committed", "ended", "hanging"])
    async def test_a_replay_that_is_interrupted_writes_nothing_twice(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quickly_away: None,
        how: Literal["committed", "ended", "hanging"],
    ) -> None:  # fmt: skip
        monkeypatch.setattr(_spool, "_PORTION_BYTES", 1)
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            self.tasks.let_in(False)
            for number in range(5):
                await log.append_api(asked(str(number)))
            lost = lose_at_commit(monkeypatch, how)
            self.tasks.let_in(True)
            await until(lambda: lost)
            # Its session ends when the server notices that nobody is there any more.
            lost[0].close()
            assert await recorded(store, log) == ["0", "1", "2", "3", "4"]

    async def test_what_does_not_fit_here_either_is_refused(self, tmp_path: Path, quickly_away: None) -> None:
        async with self.store(tmp_path) as store:
            assert isinstance(store, PostgresStore) and isinstance(store.writer, PostgresWriter)
            log = await store.create(NewTaskRecord())
            store.writer.spool.max_bytes = 2_000
            self.tasks.let_in(False)
            await log.append_api(asked("kept"))
            with pytest.raises(StorageUnavailable):
                await log.append_api(asked("x" * 2_000))
            assert log.paused is not None
            await log.append_api(asked("kept, too"))
            self.tasks.let_in(True)
            assert await recorded(store, log) == ["kept", "kept, too"]

    @pytest.mark.parametrize("is_full", [False, True])
    async def test_what_a_server_kept_goes_to_the_database_before_the_next_one_begins(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quickly_away: None, is_full: bool
    ) -> None:
        def refuse(path: Path, line: bytes) -> None:
            raise StorageUnavailable("The disk is full")

        if is_full:
            monkeypatch.setattr(_spool, "append_durably", refuse)
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            other = await store.create(NewTaskRecord())
            self.tasks.let_in(False)
            await asyncio.gather(log.append_api(asked("kept")), other.append_api(asked("lost to another")))
        self.tasks.let_in(True)
        with self.tasks.connect() as connection:
            # Another server has taken it over.
            connection.execute(
                "UPDATE locks SET token = 'theirs' WHERE task = (SELECT number FROM tasks WHERE task_id = ?)",
                (other.task_id,),
            )
        async with self.store(tmp_path) as store:
            assert await recorded(store, log) == ["kept"]
            assert await recorded(store, other) == []
            (refused,) = (tmp_path / ".tasks.postgres.spool").iterdir()
            kept = refused.read_bytes()
            assert b"lost to another" in kept and other.task_id.encode() in kept
            assert (log.task_id.encode() in kept) == is_full
            # This very process lives on.
            monkeypatch.setattr(store.rows._judge, "_settled_seconds", 0)  # type: ignore[attr-defined]
            assert (await (await store.resume(log.task_id)).append_api(asked("after"))).seq == 2

    async def test_who_finds_another_process_replaying_waits_for_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quickly_away: None
    ) -> None:
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            self.tasks.let_in(False)
            await log.append_api(asked("kept"))
        self.tasks.let_in(True)
        begun, goes_on = threading.Event(), threading.Event()

        def connect() -> PostgresConnection:
            begun.set()
            assert goes_on.wait(PATIENCE)
            return PostgresDatabase(self.tasks.url()).open_for_writing()

        replaying = asyncio.create_task(asyncio.to_thread(_spool.replay_left_behind, spool_folder(tmp_path), connect))
        await asyncio.to_thread(begun.wait)
        other = self.make_store(tmp_path)
        with monkeypatch.context() as impatient:
            impatient.setattr(_spool, "_REPLAY_PATIENCE_SECONDS", 0)
            with pytest.raises(StorageUnavailable, match="another process"):
                await other.start()
        goes_on.set()
        await replaying
        await other.start()
        assert await recorded(other, log) == ["kept"]
        assert list(spool_folder(tmp_path).iterdir()) == []
        await other.stop()

    async def test_what_the_database_cannot_take_is_kept_apart_and_holds_nothing_up(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quickly_away: None
    ) -> None:
        async with self.store(tmp_path) as store:
            log, gone = await store.create(NewTaskRecord()), await store.create(NewTaskRecord())
            self.tasks.let_in(False)
            texts = ("one", "poison", "two")
            await asyncio.gather(*(log.append_api(asked(text)) for text in texts), gone.append_api(asked("deleted")))
        self.tasks.let_in(True)
        with self.tasks.connect() as connection:
            self.refuse_poison(connection)
            connection.execute("DELETE FROM tasks WHERE task_id = ?", (gone.task_id,))
        (spool,) = spool_folder(tmp_path).glob("*.spool")
        damaged = b"1 2 \0\0 api\n"
        spool.write_bytes(damaged + spool.read_bytes())
        with monkeypatch.context() as losing:
            lose_at_commit(losing, "ended")
            connect = PostgresDatabase(self.tasks.url()).open_for_writing
            with pytest.raises(psycopg.OperationalError):
                await asyncio.to_thread(_spool.replay_left_behind, spool_folder(tmp_path), connect)
        async with self.store(tmp_path) as store:
            assert await recorded(store, log) == ["one", "two"]
        (refused,) = spool_folder(tmp_path).iterdir()
        poisoned, other = refused.read_bytes().splitlines(keepends=True)
        assert b"poison" in poisoned and log.task_id.encode() in poisoned and other == damaged

    async def test_a_disk_that_refuses_keeps_nobody_from_the_database(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quickly_away: None
    ) -> None:
        unlink = Path.unlink

        def refuse(path: Path, *arguments: object, **named: bool) -> None:
            if path.suffix == ".spool":
                raise OSError(errno.EROFS, os.strerror(errno.EROFS))
            unlink(path, **named)

        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            await log.append_api(asked("before"))
            self.tasks.let_in(False)
            with monkeypatch.context() as full:
                full.setattr(appender, "open_private", refuse)
                with pytest.raises(StorageUnavailable, match="Read-only"):
                    await log.append_api(asked("refused"))
            self.tasks.let_in(True)
            await until(partial(is_usable, store))
            assert await recorded(store, log) == ["before"]
            with monkeypatch.context() as fixed:
                fixed.setattr(Path, "unlink", refuse)
                self.tasks.let_in(False)
                await log.append_api(asked("kept"))
                self.tasks.let_in(True)
                assert await recorded(store, log) == ["before", "kept"]
            self.tasks.let_in(False)
            await log.append_api(asked("kept, too"))
            self.tasks.let_in(True)
            assert await recorded(store, log) == ["before", "kept", "kept, too"]
            assert list(spool_folder(tmp_path).iterdir()) == []

    async def test_after_an_end_that_nobody_knows_of_nothing_more_is_kept(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quickly_away: None
    ) -> None:
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            lose_at_commit(monkeypatch, "committed", then=lambda: self.tasks.let_in(False))
            with pytest.raises(StorageUnavailable):
                await log.finish()
            with pytest.raises(StorageUnavailable):
                await log.append_api(asked("homeless"))
            self.tasks.let_in(True)
            await until(partial(is_usable, store))
            assert not any(spool_folder(tmp_path).glob("*"))
            with pytest.raises(Conflict):
                await log.append_api(asked("homeless"))

    async def test_without_room_for_it_here_work_pauses_and_goes_on_afterwards(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_postgres_writer, "_PAUSE_SECONDS", 0.01)
        async with self.store(tmp_path) as store:
            assert isinstance(store, PostgresStore) and isinstance(store.writer, PostgresWriter)
            monkeypatch.setattr(store.writer, "_patience_seconds", 0.3)
            store.writer.spool.max_bytes = 0
            log = await store.create(NewTaskRecord())
            await log.append_api(asked("before"))
            self.tasks.let_in(False)
            for _ in range(2):
                with pytest.raises(StorageUnavailable, match="Check that the database runs"):
                    await log.append_api(asked("refused"))
                assert log.paused is not None
            self.tasks.let_in(True)
            assert (await log.append_api(asked("after"))).seq == 2
            assert log.paused is None
            await log.finish()


@pytest.fixture
def server_url(postgres_database: TasksDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    """What other processes find in the environment."""
    monkeypatch.setenv("HDSP_AGENT_STORAGE_URL", postgres_database.url())


@unix
@pytest.mark.slow
@pytest.mark.usefixtures("server_url")
async def test_what_was_kept_here_survives_the_kill_of_the_server(
    tmp_path: Path, postgres_database: TasksDatabase
) -> None:
    chance = random.Random(0)
    for number in range(rounds(2, 20)):
        home = tmp_path / str(number)
        with subprocess.Popen(
            [forked_python(), "-m", "tests.persistence._helpers.table_processes", "away", str(home)],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        ) as server:  # fmt: skip
            assert server.stdin is not None and server.stdout is not None
            task_id = TaskId(server.stdout.readline().strip())
            postgres_database.let_in(False)
            server.stdin.write("go on\n")
            server.stdin.flush()
            acknowledged = [server.stdout.readline() for _ in range(chance.randrange(1, 60))]
            if number % 2:
                # Killed in the midst of the replay, perhaps.
                postgres_database.let_in(True)
                acknowledged.append(server.stdout.readline())
            server.kill()
            acknowledged += [line for line in server.stdout.readlines() if line.endswith("\n")]
        postgres_database.let_in(True)
        store = PostgresStore(home, postgres_database.url())
        await store.start()
        contents = [r.content async for r in (await store.view(task_id)).api.iterate()]
        assert contents[: len(acknowledged)] == [line.strip() for line in acknowledged]
        assert contents == [f"message {number}" for number in range(len(contents))]
        await store.stop()
