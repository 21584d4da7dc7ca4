from __future__ import annotations

import asyncio
import errno
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from typing_extensions import Unpack

from hdsp_agent.append_log import appender
from hdsp_agent.config import keys_in_use
from hdsp_agent.errors import Conflict, HdspAgentError, InvalidSetting, StorageUnavailable, UnknownTask, Unsupported
from hdsp_agent.messages import TaskId
from hdsp_agent.persistence import NewTaskRecord, TaskLog, TaskStore, create_tables, open_store
from hdsp_agent.persistence._kept_apart import spool_folder
from hdsp_agent.persistence._records import LockRecord
from hdsp_agent.persistence._task_store import StoreOptions
from hdsp_agent.persistence.files._task_locks import own_record
from hdsp_agent.persistence.history._query import HistoryQuery
from hdsp_agent.persistence.tables._sql import STREAM_TABLES, SqlConnection
from hdsp_agent.persistence.tables._table_writer import WriterWork

from .._helpers.forked_python import forked_python
from .._helpers.long_tests import rounds
from .._helpers.postgres import ROLES, TasksDatabase, postgres_cluster
from .._helpers.timing import PATIENCE, until
from ._helpers.scenarios import ROOT, scenario
from ._helpers.store_contract import asked, said
from ._helpers.table_contract import TableContract

if TYPE_CHECKING:
    from psycopg import Connection

psycopg = pytest.importorskip("psycopg")

from hdsp_agent.persistence.postgres import _postgres_database, _postgres_writer, _spool
from hdsp_agent.persistence.postgres._connection import Address, PostgresConnection
from hdsp_agent.persistence.postgres._postgres_database import PostgresDatabase
from hdsp_agent.persistence.postgres._postgres_history import PostgresHistoryIndex
from hdsp_agent.persistence.postgres._postgres_store import PostgresStore
from hdsp_agent.persistence.postgres._postgres_writer import PostgresWriter, _Unsure
from hdsp_agent.persistence.postgres._presence import Presence
from hdsp_agent.persistence.postgres._session_locks import SessionLockJudge
from hdsp_agent.persistence.postgres._task_schema import MIGRATIONS

unix = pytest.mark.skipif(not hasattr(os, "fork"), reason="The scenarios fork")
LOGS = [table for table, _ in STREAM_TABLES.values()]


class TestPostgresStore(TableContract):
    @pytest.fixture(autouse=True)
    def new_database(self, postgres_database: TasksDatabase) -> None:
        self.tasks = postgres_database

    def make_store(self, home: Path, **options: Unpack[StoreOptions]) -> TaskStore:
        return PostgresStore(home, self.tasks.url(), **options)

    def database(self, home: Path) -> AbstractContextManager[SqlConnection]:
        return self.tasks.connect()

    def let_rows_change(self, connection: SqlConnection, table: str) -> None:
        connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")

    def refuse_poison(self, connection: SqlConnection) -> None:
        connection.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN IF NEW.record LIKE '%poison%' THEN RAISE EXCEPTION 'refused'; END IF; RETURN NEW; END $$"
        )
        connection.execute("CREATE TRIGGER refuse BEFORE INSERT ON messages FOR EACH ROW EXECUTE FUNCTION refuse()")

    def place_on_disk(self, home: Path) -> Path:
        pytest.skip("It is no place of this machine's")

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

    async def test_a_lost_connection_loses_nothing_and_writes_nothing_twice(self, tmp_path: Path) -> None:
        async with self.store(tmp_path) as store:
            logs = [await store.create(NewTaskRecord()) for _ in range(4)]

            async def write(log: TaskLog) -> None:
                for number in range(150):
                    await log.append_api(asked(str(number)))

            def recorded() -> int:
                return sum(log.last_api_seq for log in logs)

            def are_recorded(number: int) -> bool:
                return recorded() >= number

            writing = asyncio.gather(*(write(log) for log in logs))
            for _ in range(5):
                await until(partial(are_recorded, recorded() + 20))
                self.tasks.end_sessions()
            await writing
            for log in logs:
                assert [r.content async for r in (await store.view(log.task_id)).api.iterate()] == [
                    str(number) for number in range(150)
                ]
                await log.finish()

    @pytest.mark.parametrize("how", ["committed", "ended", "hanging"])
    async def test_a_connection_lost_in_the_midst_of_a_commit_writes_nothing_twice(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: Literal["committed", "ended", "hanging"]
    ) -> None:
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            lost = lose_at_commit(monkeypatch, how)
            for number in range(3):
                await log.append_api(asked(str(number)))
            (session,) = lost
            session.close()
            assert [r.content for r in await (await store.view(log.task_id)).api.newest()] == ["0", "1", "2"]

    async def test_what_was_refused_and_is_there_after_all_is_not_numbered_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with self.store(tmp_path) as store:
            assert isinstance(store, PostgresStore)
            log = await store.create(NewTaskRecord())
            other = await store.create(NewTaskRecord())
            monkeypatch.setattr(store.writer, "_patience_seconds", 0)
            lose_at_commit(monkeypatch, "committed")
            with pytest.raises(StorageUnavailable):
                await log.append_api(asked("sent"))
            with pytest.raises(Conflict, match="resume"):
                await log.append_api(asked("next"))
            assert (await other.append_api(asked("fine"))).seq == 1
            await log.close()
            log = await store.resume(log.task_id)
            assert (await log.append_api(asked("next"))).seq == 2
            assert [r.content for r in await (await store.view(log.task_id)).api.newest()] == ["sent", "next"]

    async def test_what_ends_the_session_each_time_is_refused_and_holds_nobody_up(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_postgres_writer, "_PAUSE_SECONDS", 0.01)
        async with self.store(tmp_path) as store:
            assert isinstance(store, PostgresStore)
            first, second = await asyncio.gather(*(store.create(NewTaskRecord()) for _ in range(2)))
            with self.tasks.connect() as connection:
                connection.execute(
                    "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                    " IF NEW.record LIKE '%poison%' THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;"
                    " RETURN NEW; END $$"
                )
                connection.execute("CREATE TRIGGER die BEFORE INSERT ON messages FOR EACH ROW EXECUTE FUNCTION die()")
            monkeypatch.setattr(store.writer, "_patience_seconds", 0.2)
            poisoned, healthy = await asyncio.gather(
                first.append_api(asked("poison")), second.append_api(asked("fine")), return_exceptions=True
            )
            assert isinstance(poisoned, StorageUnavailable) and not isinstance(healthy, BaseException)
            await store.check_usable()
            assert (await first.append_api(asked("again"))).seq == 1

    async def test_a_server_that_only_reads_now_is_waited_for(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, patient_readers: None
    ) -> None:
        monkeypatch.setattr(_postgres_writer, "_PAUSE_SECONDS", 0.01)
        async with self.store(tmp_path) as store:
            assert isinstance(store, PostgresStore)
            log = await store.create(NewTaskRecord())
            await store.writer.run(
                lambda connection: connection.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
            )
            await log.append_api(asked("goes on"))
            admin = self.tasks.cluster.connect()
            admin.execute(f"ALTER DATABASE {self.tasks.name} SET default_transaction_read_only = on")
            monkeypatch.setattr(store.writer, "_patience_seconds", 0.2)
            self.tasks.end_sessions()
            await log.append_api(asked("kept"))
            admin.execute(f"ALTER DATABASE {self.tasks.name} RESET default_transaction_read_only")
            admin.close()
            assert (await log.append_api(asked("after"))).seq == 3
            assert await recorded(store, log) == ["goes on", "kept", "after"]

    async def test_nothing_is_written_until_it_is_known_what_was(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with self.store(tmp_path) as store:
            assert isinstance(store, PostgresStore)
            log = await store.create(NewTaskRecord())
            monkeypatch.setattr(store.writer, "_patience_seconds", 0)
            lose_at_commit(monkeypatch, "committed")
            with pytest.raises(StorageUnavailable):
                await log.append_api(asked("sent"))
            with monkeypatch.context() as asking:
                # It cannot be asked, it does not end, and the question fails.
                for question in ("SELECT 'in progress' WHERE 0 < ?", "SELECT 1 / 0 WHERE 0 < ?"):
                    asking.setattr(_postgres_writer, "_STATUS", question)
                    with pytest.raises(StorageUnavailable):
                        await log.append_api(asked("next"))
            await until(partial(is_usable, store))
            with pytest.raises(Conflict, match="resume"):
                await log.append_api(asked("next"))
            await log.close()

    async def test_what_nobody_thought_of_leaves_no_transaction_open(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object) -> None:
            raise RuntimeError("Nobody thought of this")

        async with self.store(tmp_path) as store:
            assert isinstance(store, PostgresStore) and isinstance(store.writer, PostgresWriter)
            log = await store.create(NewTaskRecord())
            session = store.writer.session
            with monkeypatch.context() as failing:
                failing.setattr(_postgres_writer, "insert_lines", fail)
                with pytest.raises(HdspAgentError, match="Nobody thought of this"):
                    await log.append_api(asked("refused"))
            assert (await log.append_api(asked("fine"))).seq == 1
            # With the old session what was begun in it would have been committed, too.
            assert store.writer.session != session

    async def test_a_transaction_that_the_server_never_heard_of_did_not_take_place(self, tmp_path: Path) -> None:
        async with self.store(tmp_path) as store:
            assert isinstance(store, PostgresStore)
            log = await store.create(NewTaskRecord())
            store.writer._unsure = _Unsure(5_000_000, 1, ())  # type: ignore[attr-defined]
            assert (await log.append_api(asked("fine"))).seq == 1

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

    async def test_who_gives_up_at_the_last_moment_does_not_end_the_writer(self, tmp_path: Path) -> None:
        class GivesUp(Future[None]):
            def set_result(self, result: None) -> None:
                self.cancel()
                super().set_result(result)

        async with self.store(tmp_path) as store:
            assert isinstance(store, PostgresStore)
            store.writer._put(WriterWork(None, False, lambda _: None, GivesUp()))
            async with asyncio.timeout(PATIENCE):
                await store.create(NewTaskRecord())

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


@pytest.mark.slow
async def test_a_database_that_dies_in_the_midst_of_everything_loses_nothing_and_doubles_nothing(
    tmp_path: Path, patient_readers: None
) -> None:
    with postgres_cluster() as cluster, cluster.database() as tasks:
        stores = [PostgresStore(tmp_path / name, tasks.url(name)) for name in ROLES]
        await asyncio.gather(*(store.start() for store in stores))
        owned = [(store, await store.create(NewTaskRecord())) for store in stores for _ in range(3)]
        logs = [log for _, log in owned]
        acknowledged: dict[TaskId, list[str]] = {log.task_id: [] for log in logs}
        ends = asyncio.Event()

        async def write(log: TaskLog) -> None:
            number = 0
            while not ends.is_set():
                texts = [f"{number}", f"{number} too"]
                # Two at once: the order in which they were handed over is kept.
                await asyncio.gather(*(log.append_api(asked(text)) for text in texts))
                acknowledged[log.task_id] += texts
                number += 1

        def are_acknowledged(number: int) -> bool:
            return sum(map(len, acknowledged.values())) >= number

        writing = asyncio.gather(*(write(log) for log in logs))
        for _ in range(rounds(2, 10)):
            await until(partial(are_acknowledged, sum(map(len, acknowledged.values())) + 50))
            await asyncio.to_thread(cluster.stop, "immediate")
            await asyncio.to_thread(cluster.start)
        ends.set()
        await writing
        for store, log in owned:
            assert [r.content async for r in (await store.view(log.task_id)).api.iterate()] == acknowledged[log.task_id]
            await log.finish()
        await asyncio.gather(*(store.stop() for store in stores))


@pytest.fixture
def patient_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let readers wait as long as a replay takes, which begins soon after the database is back."""
    monkeypatch.setattr(_postgres_database, "_REPLAY_SECONDS", PATIENCE)
    monkeypatch.setattr(_postgres_writer, "_LONGEST_PAUSE_SECONDS", 0.05)


@pytest.fixture
def quickly_away(monkeypatch: pytest.MonkeyPatch, patient_readers: None) -> None:
    """Let no server wait long for a database that is away."""
    monkeypatch.setattr(_postgres_writer, "_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(_postgres_writer, "_SPOOL_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(_postgres_writer, "_PATIENCE_SECONDS", 1.0)


async def recorded(store: TaskStore, log: TaskLog) -> list[object]:
    """What the model was told in a task, as the database has it."""
    return [record.content async for record in (await store.view(log.task_id)).api.iterate()]


async def is_usable(store: TaskStore) -> bool:
    try:
        await store.check_usable()
    except StorageUnavailable:
        return False
    return True


def lose_at_commit(
    monkeypatch: pytest.MonkeyPatch,
    how: Literal["committed", "ended", "hanging"],
    then: Callable[[], None] = lambda: None,
) -> Sequence[Connection[tuple[object, ...]]]:
    """Let the connection be lost at the next commit: after it, before it, or so that the server waits for it; which it was."""
    lost: list[Connection[tuple[object, ...]]] = []
    execute = PostgresConnection.execute

    def lose(self: PostgresConnection, statement: str, parameters: Sequence[object] = (), /) -> object:
        if statement != "COMMIT" or lost:
            return execute(self, statement, parameters)
        if how == "committed":
            execute(self, statement, parameters)
        session = self._connection
        lost.append(session)
        if how == "hanging":
            self._connection = psycopg.connect(session.info.dsn)
        self.close()
        then()
        raise psycopg.OperationalError("the connection is lost")

    monkeypatch.setattr(PostgresConnection, "execute", lose)
    return lost


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
    turns = rounds(12, 80)
    report = scenario("kill", tmp_path, turns, 1)
    assert report["wrong"] == []
    assert int(str(report["started"])) > turns / 3
    assert int(str(report["messages"])) > turns


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


@unix
@pytest.mark.slow
@pytest.mark.usefixtures("server_url")
def test_racing_processes_never_own_one_task_together(tmp_path: Path) -> None:
    """In the long form more than 1,000 times over 8 processes."""
    turns = rounds(5, 40)
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
