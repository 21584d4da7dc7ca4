from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from hdsp_agent.config import keys_in_use
from hdsp_agent.errors import Conflict, InvalidSetting, StorageUnavailable, UnknownTask, Unsupported
from hdsp_agent.messages import TaskId
from hdsp_agent.persistence import NewTaskRecord, create_tables, open_store
from hdsp_agent.persistence._records import LockRecord
from hdsp_agent.persistence.files._task_locks import own_record
from hdsp_agent.persistence.history._query import HistoryQuery
from hdsp_agent.persistence.tables._sql import STREAM_TABLES

from .._helpers.long_tests import rounds
from .._helpers.postgres import TasksDatabase
from .._helpers.timing import until
from ._helpers.postgres_contract import PostgresContract, is_usable
from ._helpers.scenarios import scenario
from ._helpers.store_contract import asked, said

psycopg = pytest.importorskip("psycopg")

from hdsp_agent.persistence.postgres import _postgres_database
from hdsp_agent.persistence.postgres._connection import Address, PostgresConnection
from hdsp_agent.persistence.postgres._postgres_database import PostgresDatabase
from hdsp_agent.persistence.postgres._postgres_history import PostgresHistoryIndex
from hdsp_agent.persistence.postgres._postgres_store import PostgresStore
from hdsp_agent.persistence.postgres._presence import Presence
from hdsp_agent.persistence.postgres._session_locks import SessionLockJudge
from hdsp_agent.persistence.postgres._task_schema import MIGRATIONS

unix = pytest.mark.skipif(not hasattr(os, "fork"), reason="The scenarios fork")
LOGS = [table for table, _ in STREAM_TABLES.values()]


class TestPostgresStore(PostgresContract):
    async def test_a_store_whose_place_is_gone_says_so_until_it_is_back(self, tmp_path: Path) -> None:
        async with self.store(tmp_path) as store:
            await (await store.create(NewTaskRecord())).close()
            await store.check_usable()
            self.tasks.let_in(False)

            async def is_unusable() -> bool:
                return not await is_usable(store)

            await until(is_unusable)
            with pytest.raises(StorageUnavailable, match="What was saved before is safe"):
                await store.tasks()
            self.tasks.let_in(True)
            await until(partial(is_usable, store))
            assert len(await store.tasks()) == 1

    @pytest.mark.long
    async def test_memory_does_not_grow_with_the_number_of_messages(self, tmp_path: Path) -> None:
        await super().test_memory_does_not_grow_with_the_number_of_messages(tmp_path)

    async def test_the_fields_of_records_are_columns_of_views(self, tmp_path: Path) -> None:
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            await log.append_api(asked("hi"))
            with self.tasks.connect("ada") as connection:
                fields = connection.execute("SELECT task_id, seq, role, content, token_count FROM message_fields")
                assert fields.fetchall() == [(log.task_id, "1", "user", "hi", "1")]
            with self.tasks.connect("bob") as connection:
                assert connection.execute("SELECT * FROM message_fields").fetchall() == []

    async def test_logs_are_append_only_for_everybody(self, tmp_path: Path) -> None:
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            await log.append_api(asked("hi"))
            await log.put_ui(said(log, "hi"))
            await log.put_artifact(b"x")
            changes = (
                "UPDATE messages SET record = '{}'", "UPDATE ui_messages SET ts = 1", "DELETE FROM messages",
                "DELETE FROM artifacts", "TRUNCATE messages", "TRUNCATE tasks CASCADE",
            )  # fmt: skip
            with self.tasks.connect() as connection:
                for statement in changes:
                    with pytest.raises(psycopg.Error, match="append-only"):
                        connection.execute(statement)
            with self.tasks.connect("ada") as connection:
                for statement in (*changes, "ALTER TABLE messages DISABLE TRIGGER USER", "DROP TABLE locks CASCADE"):
                    with pytest.raises(psycopg.errors.InsufficientPrivilege):
                        connection.execute(statement)
            await log.finish()
            await store.delete(log.task_id)
            with self.tasks.connect() as connection:
                for table in ("tasks", "locks", *LOGS, "artifacts"):
                    assert connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (0,)

    async def test_another_person_sees_nothing_of_mine_and_changes_nothing(self, tmp_path: Path) -> None:
        mine = TaskId("mine")
        bobs = PostgresStore(tmp_path / "bob", self.tasks.url("bob"))
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord(task_id=mine))
            await log.append_api(asked("secret"))
            await log.put_artifact(b"secret")
            await bobs.start()
            assert await bobs.tasks() == []
            for ask in (bobs.view, bobs.resume, bobs.delete):
                with pytest.raises(UnknownTask):
                    await ask(mine)
            # Each has a task of this id.
            other = await bobs.create(NewTaskRecord(task_id=mine))
            await other.append_api(asked("his"))
            assert [r.content for r in await log.api.newest()] == ["secret"]
            await log.close()
            with self.tasks.connect() as connection:
                number = connection.execute("SELECT number FROM tasks WHERE owner = 'ada'").fetchone()[0]
            with self.tasks.connect("bob") as connection:
                for table in ("tasks", *LOGS, "artifacts", "locks", "set_aside"):
                    seen = connection.execute(f"SELECT * FROM {table}").fetchall()
                    assert "secret" not in str(seen) and "ada" not in str(seen)
                for statement in (
                    "INSERT INTO messages (task, seq, record) VALUES (?, 9, '{}')",
                    "INSERT INTO artifacts (task, name, size, data) VALUES (?, 'x', 1, 'x')",
                    "INSERT INTO set_aside (task, what, found_at, data) VALUES (?, '', '', '')",
                    "INSERT INTO locks VALUES (?, 1, '', '', '', '', '', 1)",
                ):
                    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
                        connection.execute(statement, (number,))
                for table, columns, values in (
                    ("tasks", "number, task_id, place, metadata, state", "99, 'x', 'running', '{}', '{}'"),
                    ("messages", "id, task, seq, record", "99, 2, 9, '{}'"),
                    ("artifacts", "id, task, name, size, data", "99, 2, 'x', 1, 'x'"),
                    ("set_aside", "id, task, what, found_at, data", "99, 2, '', '', ''"),
                ):
                    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied"):
                        connection.execute(f"INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE VALUES ({values})")
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(
                        "INSERT INTO tasks (owner, task_id, place, metadata, state) VALUES "
                        "('ada', 'forged', 'running', '{}', '{}')"
                    )
                for statement in ("UPDATE tasks SET state = '{}'", "DELETE FROM tasks", "DELETE FROM locks"):
                    connection.execute(statement)
            await bobs.stop()
            assert (await (await store.view(mine)).read_state()).status == "paused"

    async def test_who_would_see_everybody_s_conversations_is_refused(self, tmp_path: Path) -> None:
        store = PostgresStore(tmp_path, self.tasks.url("postgres"))
        for work in (store.start(), store.tasks()):
            with pytest.raises(StorageUnavailable, match="a role of the person's own"):
                await work
        await store.stop()

    async def test_a_key_in_the_address_is_never_shown(self, tmp_path: Path) -> None:
        url = self.tasks.url().replace("ada@", "ada:correct-horse-battery%21@")
        store = PostgresStore(tmp_path, url)
        for text in ("It is correct-horse-battery! here", "It is correct-horse-battery%21 here"):
            assert "correct-horse" not in keys_in_use.mask(text)
        assert "correct-horse" not in store.database.name
        wrong = PostgresStore(tmp_path, url.replace(self.tasks.name, "nowhere"))
        with pytest.raises(StorageUnavailable, match="nowhere") as refused:
            await wrong.start()
        assert "correct-horse" not in f"{refused.value.message} {refused.value.params}"
        await wrong.stop()
        with pytest.raises(InvalidSetting) as malformed:
            PostgresStore(tmp_path, "postgresql://ada:correct-horse-battery@[host/x")
        assert "correct-horse" not in malformed.value.message

    async def test_a_newer_schema_is_refused_and_left_alone(self, tmp_path: Path) -> None:
        with self.tasks.connect() as connection:
            connection.execute("UPDATE schema_version SET version = 99")
        for work in (self.make_store(tmp_path).start(), self.make_store(tmp_path).tasks()):
            with pytest.raises(StorageUnavailable, match=r"newer version.*Nothing was changed"):
                await work

    async def test_who_may_not_make_the_tables_is_told_who_can(self, tmp_path: Path) -> None:
        with self.tasks.connect() as connection:
            connection.execute("DROP SCHEMA hdsp_agent CASCADE")
        for work in (self.make_store(tmp_path).start(), self.make_store(tmp_path).tasks()):
            with pytest.raises(StorageUnavailable, match="hdsp-agent create-tables"):
                await work
        # Two at once, as two servers start.
        await asyncio.gather(*(asyncio.to_thread(create_tables, self.tasks.url("postgres")) for _ in range(2)))
        with self.tasks.connect() as connection:
            assert connection.execute("SELECT version FROM schema_version").fetchall() == [(len(MIGRATIONS),)]
        async with self.store(tmp_path) as store:
            assert await store.tasks() == []

    async def test_heartbeats_that_wait_for_the_database_hold_no_thread(self, tmp_path: Path) -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        store = self.make_store(tmp_path, heartbeat_seconds=0.05)
        assert isinstance(store, PostgresStore)
        store.writer._patience_seconds = float("inf")  # type: ignore[attr-defined]
        await store.start()
        await store.create(NewTaskRecord())
        self.tasks.let_in(False)
        await until(lambda: store.writer._trouble is not None)  # type: ignore[attr-defined]
        async with asyncio.timeout(20):
            await asyncio.to_thread(lambda: None)
        self.tasks.let_in(True)
        await store.stop()

    async def test_reads_that_wait_hold_no_thread_of_others(self, tmp_path: Path) -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        async with self.store(tmp_path) as store:
            assert isinstance(store, PostgresStore) and isinstance(store.database, PostgresDatabase)
            async with PostgresHistoryIndex(store.database) as index:
                for _ in range(4):
                    store.database._room.acquire()
                searching = asyncio.create_task(index.search(HistoryQuery("words")))
                reading = [asyncio.create_task(store.tasks()) for _ in range(8)]
                await until(lambda: store.database._threads._work_queue.qsize() >= 5)
                async with asyncio.timeout(20):
                    await asyncio.to_thread(lambda: None)
                for _ in range(4):
                    store.database._room.release()
                assert await asyncio.gather(*reading) == [[]] * 8
                assert (await searching).total == 0

    async def test_a_server_that_ends_leaves_no_row_of_its_own(self, tmp_path: Path) -> None:
        async with self.store(tmp_path) as store:
            await (await store.create(NewTaskRecord())).finish()
            with self.tasks.connect() as connection:
                assert connection.execute("SELECT count(*) FROM writers").fetchone() == (1,)
                connection.execute("INSERT INTO writers VALUES ('long ago', 'ada', 1, now() - interval '91 days')")
                connection.execute("INSERT INTO writers VALUES ('died', 'ada', 1, now() - interval '1 day')")
        async with self.store(tmp_path):
            pass
        with self.tasks.connect() as connection:
            assert connection.execute("SELECT id FROM writers").fetchall() == [("died",)]

    async def test_a_large_artifact_is_read_in_ranges(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        large = os.urandom(9_000_000)
        ranges: list[int] = []
        execute = PostgresConnection.execute

        def count(self: PostgresConnection, statement: str, parameters: Sequence[object] = (), /) -> object:
            if "substr" in statement:
                ranges.append(len(execute(self, statement, parameters).fetchone()[0]))
            return execute(self, statement, parameters)

        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            name = await log.put_artifact(large)
            monkeypatch.setattr(PostgresConnection, "execute", count)
            assert await log.read_artifact(name) == large
            assert sum(ranges) == len(large) and max(ranges) < len(large) / 2

    async def test_tables_are_not_put_into_a_schema_of_somebody_else_s(self) -> None:
        with self.tasks.connect() as connection, self.tasks.connect("bob") as bobs:
            connection.execute("DROP SCHEMA hdsp_agent CASCADE")
            connection.execute(f"GRANT CREATE ON DATABASE {self.tasks.name} TO bob")
            bobs.execute("CREATE SCHEMA hdsp_agent")
            with pytest.raises(StorageUnavailable, match="belongs to bob"):
                await asyncio.to_thread(create_tables, self.tasks.url("postgres"))
            assert connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'hdsp_agent'").fetchone() == (
                0,
            )
            with pytest.raises(StorageUnavailable, match="belongs to bob"):
                await asyncio.to_thread(create_tables, self.tasks.url("bob"))

    async def test_nothing_is_put_into_tables_of_a_schema_of_somebody_else_s(self, tmp_path: Path) -> None:
        with self.tasks.connect() as connection:
            connection.execute("ALTER SCHEMA hdsp_agent OWNER TO bob")
        store = self.make_store(tmp_path)
        for work in (store.start(), store.tasks()):
            with pytest.raises(StorageUnavailable, match="belongs to bob"):
                await work
        await store.stop()

    async def test_a_server_makes_the_tables_only_in_a_database_of_its_own(self, tmp_path: Path) -> None:
        with self.tasks.connect() as connection:
            connection.execute("DROP SCHEMA hdsp_agent CASCADE")
            connection.execute(f"GRANT CREATE ON DATABASE {self.tasks.name} TO ada")
            with pytest.raises(StorageUnavailable, match="hdsp-agent create-tables"):
                await self.make_store(tmp_path).start()
            connection.execute(f"ALTER DATABASE {self.tasks.name} OWNER TO ada")
        async with self.store(tmp_path) as store:
            assert await store.tasks() == []
        # And its administrator may bring them up to date.
        await asyncio.to_thread(create_tables, self.tasks.url("postgres"))

    async def test_nobody_else_can_listen_to_what_changes(self, tmp_path: Path) -> None:
        async with self.store(tmp_path):
            with self.tasks.connect("ada") as connection:
                ((channel,),) = connection.execute("SELECT name FROM channels").fetchall()
            with self.tasks.connect("bob") as connection:
                assert connection.execute("SELECT * FROM channels").fetchall() == []
                guessed = connection.execute("SELECT 'hdsp_agent_' || md5('ada')").fetchone()[0]
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute("INSERT INTO channels (owner) VALUES ('ada')")
            assert channel != guessed
        async with self.store(tmp_path):
            with self.tasks.connect("ada") as connection:
                assert connection.execute("SELECT name FROM channels").fetchall() == [(channel,)]

    async def test_a_start_that_comes_after_the_stop_opens_nothing(self) -> None:
        presence = Presence(PostgresDatabase(self.tasks.url()))
        presence.stop()
        presence.start()
        assert presence._thread is None

    async def test_a_connection_whose_log_in_cannot_be_judged_is_closed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        opened: list[PostgresConnection] = []
        connect = Address.connect

        def remember(self: Address) -> PostgresConnection:
            opened.append(connect(self))
            return opened[-1]

        monkeypatch.setattr(Address, "connect", remember)
        monkeypatch.setattr(_postgres_database, "_SEES_ALL", "SELECT 1 / 0")
        store = self.make_store(tmp_path)
        for work in (store.start(), store.tasks()):
            with pytest.raises(StorageUnavailable):
                await work
        assert len(opened) == 2 and all(connection.is_lost for connection in opened)
        await store.stop()

    async def test_a_dead_server_s_tasks_are_free_in_the_end_and_a_living_one_s_are_not(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            with self.tasks.connect() as connection:
                # Of this machine, it seems, and gone; but its session is there.
                connection.execute("UPDATE locks SET process_started = 'long ago'")
                async with self.store(tmp_path) as other:
                    with pytest.raises(Conflict):
                        await other.resume(log.task_id)
                    # And one of another machine, whose session has ended; perhaps it comes back.
                    connection.execute("UPDATE locks SET hostname = 'far', token = 'abc-def'")
                    assert isinstance(other, PostgresStore)
                    for _ in range(2):
                        with pytest.raises(Conflict, match="far"):
                            await other.resume(log.task_id)
                    monkeypatch.setattr(other.rows._judge, "_settled_seconds", 0)
                    assert (await other.resume(log.task_id)).task_id == log.task_id

    async def test_a_lock_that_is_held_again_is_looked_at_anew(self, tmp_path: Path) -> None:
        mine, theirs = (Presence(PostgresDatabase(self.tasks.url())) for _ in range(2))
        judge = SessionLockJudge(mine)
        lock = LockRecord.model_validate({**own_record().model_dump(), "hostname": "far", "token": f"{theirs.key:x}-1"})
        with self.tasks.connect("ada") as connection, self.tasks.connect("ada") as holder:
            assert not judge.is_dead(connection, lock)
            holder.execute("SELECT pg_advisory_lock(?)", (theirs.key,))
            assert not judge.is_dead(connection, lock)
            holder.execute("SELECT pg_advisory_unlock(?)", (theirs.key,))
            judge._settled_seconds = 0.05
            assert not judge.is_dead(connection, lock)
            await until(partial(judge.is_dead, connection, lock))
            # Seen free so long ago that it may have been held since.
            judge._free_since[lock.token] -= 60
            assert not judge.is_dead(connection, lock)
            judge.forget_all_but([])
            assert judge._free_since == {}

    async def test_a_server_whose_session_was_lost_is_known_to_live_again_at_once(self, tmp_path: Path) -> None:
        async with self.store(tmp_path) as store, self.store(tmp_path) as other:
            log = await store.create(NewTaskRecord())
            admin = self.tasks.cluster.connect()
            presence = (
                "SELECT pid FROM pg_locks JOIN pg_database ON pg_database.oid = database"
                " WHERE locktype = 'advisory' AND granted AND datname = ?"
            )
            before = admin.execute(presence, (self.tasks.name,)).fetchall()
            assert len(before) == 2
            self.tasks.end_sessions()

            def all_are_back() -> bool:
                now = admin.execute(presence, (self.tasks.name,)).fetchall()
                return len(now) == 2 and not set(now) & set(before)

            await until(all_are_back)
            admin.close()
            with pytest.raises(Conflict):
                await other.resume(log.task_id)
            await log.append_api(asked("still mine"))
            await log.finish()

    async def test_two_that_look_at_once_do_not_take_each_other_for_the_holder(self, tmp_path: Path) -> None:
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            await log.close()
        self.leave_behind(tmp_path, log.task_id, locked=True)
        stores = [self.make_store(tmp_path) for _ in range(2)]
        with stores[0].database.snapshot() as one, stores[1].database.snapshot() as two:  # type: ignore[attr-defined]
            for store, connection in zip(stores, (one, two), strict=True):
                assert [task_id for task_id, _ in store.rows.left_behind(connection)] == [log.task_id]  # type: ignore[attr-defined]
        for store in stores:
            await store.stop()


def test_without_its_package_it_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(Unsupported, match=r"pip install 'hdsp-agent\[postgres\]'"):
        open_store(tmp_path, "postgres")


@pytest.fixture
def server_url(postgres_database: TasksDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    """What other processes find in the environment."""
    monkeypatch.setenv("HDSP_AGENT_STORAGE_URL", postgres_database.url())


@unix
@pytest.mark.slow
@pytest.mark.usefixtures("server_url")
def test_nothing_acknowledged_is_lost_by_kills_of_a_busy_task(tmp_path: Path) -> None:
    turns = rounds(8, 80)
    report = scenario("kill", tmp_path, turns, 1)
    assert report["wrong"] == []
    assert int(str(report["started"])) > turns / 3
    assert int(str(report["messages"])) > turns


@unix
@pytest.mark.slow
@pytest.mark.usefixtures("server_url")
def test_racing_processes_never_own_one_task_together(tmp_path: Path) -> None:
    """In the long form more than 1,000 times over 8 processes."""
    turns = rounds(3, 40)
    report = scenario("race", tmp_path / "home", 8, turns)
    assert report["wrong"] == []
    assert int(str(report["held"])) + int(str(report["busy"])) > turns * 25
    assert int(str(report["busy"])) > 0
    assert int(str(report["died"])) == turns * 2


async def test_a_dump_that_was_restored_has_everything_and_is_guarded_as_before(
    tmp_path: Path, postgres_database: TasksDatabase
) -> None:
    store = PostgresStore(tmp_path, postgres_database.url())
    await store.start()
    log = await store.create(NewTaskRecord())
    await log.append_api(asked("kept"))
    name = await log.put_artifact(b"\x00kept")
    await log.finish()
    with postgres_database.cluster.restored(postgres_database) as copy:
        other = PostgresStore(tmp_path, copy.url())
        await other.start()
        again = await other.resume(log.task_id)
        assert (await again.append_api(asked("more"))).seq == 2
        assert [r.content for r in await again.api.newest()] == ["kept", "more"]
        assert await again.read_artifact(name) == b"\x00kept"
        await other.stop()
        with copy.connect("bob") as connection:
            assert connection.execute("SELECT * FROM messages").fetchall() == []
        with copy.connect() as connection, pytest.raises(psycopg.Error, match="append-only"):
            connection.execute("DELETE FROM messages")
    await store.stop()
