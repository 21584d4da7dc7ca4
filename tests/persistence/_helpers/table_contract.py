"""What every store must do that keeps tasks in the tables of a database. A backend's tests derive from ``TableContract``."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import socket
import tracemalloc
from abc import abstractmethod
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx
from typing_extensions import Unpack

from hdsp_agent.errors import Conflict, StorageUnavailable
from hdsp_agent.messages import ClineMessage, TaskId
from hdsp_agent.persistence import DamageNotice, NewTaskRecord, TaskStore
from hdsp_agent.persistence._task_store import StoreOptions
from hdsp_agent.persistence.tables._sql import SqlConnection
from hdsp_agent.persistence.tables._table_task_log import TableTaskLog

from ..._helpers.long_tests import rounds
from ..._helpers.timing import until
from .store_contract import StoreContract, asked, said


class TableContract(StoreContract):
    unreadable = "'{'"
    """What the database can hold, and nobody can read, as SQL."""

    @abstractmethod
    def make_store(self, home: Path, **options: Unpack[StoreOptions]) -> TaskStore: ...

    @abstractmethod
    def database(self, home: Path) -> AbstractContextManager[SqlConnection]:
        """The database as somebody else's program has it."""

    @abstractmethod
    def let_rows_change(self, connection: SqlConnection, table: str) -> None:
        """Let a log's rows be changed from now on."""

    @abstractmethod
    def refuse_poison(self, connection: SqlConnection) -> None:
        """Let the database refuse messages with this word."""

    def leave_behind(self, home: Path, task_id: TaskId, *, locked: bool) -> None:
        with self.database(home) as connection:
            state = json.loads(connection.execute("SELECT state FROM tasks").fetchone()[0])
            connection.execute("UPDATE tasks SET state = ?", (json.dumps({**state, "status": "processing"}),))
            if locked:
                connection.execute(
                    "INSERT INTO locks SELECT number, ?, 'long ago', ?, '', '', 'theirs', 1 FROM tasks",
                    (os.getpid(), socket.gethostname()),
                )

    async def test_the_heartbeat_shows_in_the_lock_and_the_state(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path, heartbeat_seconds=0.05)
        await store.start()
        log = await store.create(NewTaskRecord())

        def look() -> tuple[int, str, str, int, str, str]:
            with self.database(tmp_path) as connection:
                *lock, state = connection.execute(
                    "SELECT process_id, hostname, acquired_at, beats, heartbeat_at, state"
                    " FROM locks JOIN tasks ON number = task"
                ).fetchone()
                return (*lock, json.loads(state)["updated_at"])

        first = look()
        assert first[:2] == (os.getpid(), socket.gethostname())

        def is_later() -> bool:
            now = look()
            return now[3] > first[3] and now[4] > first[4] and now[5] > first[5]

        await until(is_later)
        assert look()[:3] == first[:3]
        await log.close()
        await store.stop()

    async def test_the_event_loop_is_never_blocked(self, tmp_path: Path) -> None:
        with blockbuster_ctx(scanned_modules=["hdsp_agent"]):
            async with self.store(tmp_path / "home") as store:
                log = await store.create(NewTaskRecord())
                for number in range(30):
                    await log.append_api(asked(str(number)), durable=number % 3 == 0)
                    await log.put_ui(said(log, "x"))
                await log.api.page(before=5)
                await log.put_artifact(b"x")
                await log.sync()
                await log.finish()
                log = await store.resume(log.task_id)
                await store.recover()
                await (await store.view(log.task_id)).read_state()

    async def test_memory_does_not_grow_with_the_number_of_messages(self, tmp_path: Path) -> None:
        async with self.store(tmp_path / "home") as store:
            log = await store.create(NewTaskRecord())

            async def call_model(times: int) -> None:
                for number in range(times):
                    await log.append_api(asked(f"{number} " * 300))
                    await log.put_ui(said(log, f"{number} " * 300))

            await call_model(200)
            tracemalloc.start()
            try:
                await call_model(50)
                gc.collect()
                before, _ = tracemalloc.get_traced_memory()
                await call_model(rounds(300, 700))
                gc.collect()
                after, _ = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            assert after - before < 100_000

    async def test_a_damaged_row_costs_nothing_else_and_is_told(self, tmp_path: Path) -> None:
        told: list[DamageNotice] = []
        store = self.make_store(tmp_path, on_damage=told.append)
        await store.start()
        log = await store.create(NewTaskRecord())
        for number in range(1, 101):
            await log.append_api(asked(f"message {number}"))
            await log.put_ui(ClineMessage(ts=number, type="say", say="text", text="early"))
            await log.put_ui(ClineMessage(ts=number, type="say", say="text", text=f"message {number}"))
        await log.finish()
        with self.database(tmp_path) as connection:
            self.let_rows_change(connection, "messages")
            self.let_rows_change(connection, "ui_messages")
            connection.execute("UPDATE messages SET record = 'XXXX' || substr(record, 5) WHERE seq IN (40, 98)")
            connection.execute(f"UPDATE messages SET record = {self.unreadable} WHERE seq = 99")
            connection.execute("UPDATE ui_messages SET record = 'X' WHERE ts = 95 AND record LIKE '%message%'")
        log = await store.resume(log.task_id)
        readable = [number for number in range(1, 101) if number not in (40, 98, 99)]
        assert [r.seq for r in await log.api.newest(30)] == readable[-30:]
        assert [r.seq async for r in log.api.iterate()] == readable
        assert [r.seq for r in await log.api.page(before=100, limit=3)] == [95, 96, 97]
        assert await log.api.count() == 97
        ui = {message.ts: message.text async for message in log.ui.iterate()}
        assert ui == {n: "early" if n == 95 else f"message {n}" for n in range(1, 101)}
        assert (await log.append_api(asked("next"))).seq == 101
        await asyncio.sleep(0)
        assert sorted((notice.stream, notice.damage) for notice in told) == [("api", "corrupt")] * 3 + [
            ("ui", "corrupt")
        ]
        await store.stop()

    async def test_a_damaged_state_is_kept_and_the_task_goes_on(self, tmp_path: Path) -> None:
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            await log.append_api(asked("hi"))
            await log.finish()
            with self.database(tmp_path) as connection:
                connection.execute("UPDATE tasks SET state = '{\"sta', metadata = '{'")
            state = await (await store.view(log.task_id)).read_state()
            assert state.status == "failed" and state.error is not None
            log = await store.resume(log.task_id)
            assert (await log.append_api(asked("more"))).seq == 2
            with self.database(tmp_path) as connection:
                assert connection.execute("SELECT data FROM set_aside").fetchall() == [(b'{"sta',)]

    async def test_who_lost_the_task_writes_nothing_more_to_it(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path, heartbeat_seconds=0.05)
        await store.start()
        log = await store.create(NewTaskRecord())
        await log.append_api(asked("mine"))
        with self.database(tmp_path) as connection:
            connection.execute("UPDATE locks SET token = 'theirs', process_id = 1")
        for change in (log.append_api(asked("late")), log.put_ui(said(log, "late")), log.save_state(), log.finish()):
            with pytest.raises(Conflict):
                await change
        await log.close()
        reader = await store.view(log.task_id)
        assert [r.content for r in await reader.api.newest()] == ["mine"]
        with self.database(tmp_path) as connection:
            assert connection.execute("SELECT token FROM locks").fetchall() == [("theirs",)]
        await store.stop()

    async def test_a_process_that_only_has_the_same_id_does_not_hold_the_task(self, tmp_path: Path) -> None:
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            with self.database(tmp_path) as connection:
                connection.execute("UPDATE locks SET token = 'former', process_started = 'long ago'")
            async with self.store(tmp_path) as other:
                state = await (await other.view(log.task_id)).read_state()
                assert (state.status, state.resumable) == ("failed", True)
                assert (await other.resume(log.task_id)).task_id == log.task_id

    async def test_a_lock_that_this_process_could_not_remove_holds_nobody_up(self, tmp_path: Path) -> None:
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            assert isinstance(log, TableTaskLog)
            assert await store.recover() == []
            log._lock.forget()
            assert [recovery.task_id for recovery in await store.recover()] == [log.task_id]

    async def test_one_task_that_is_refused_does_not_stand_in_the_way_of_others(self, tmp_path: Path) -> None:
        async with self.store(tmp_path) as store:
            first, second = await asyncio.gather(*(store.create(NewTaskRecord()) for _ in range(2)))
            with self.database(tmp_path) as connection:
                self.refuse_poison(connection)
            poisoned, healthy = await asyncio.gather(
                asyncio.gather(
                    *(first.append_api(asked(text)) for text in ("poison", "behind")), return_exceptions=True
                ),
                asyncio.gather(*(second.append_api(asked(str(number))) for number in range(3))),
            )
            assert [type(error) for error in poisoned] == [StorageUnavailable] * 2
            assert [record.seq for record in healthy] == [1, 2, 3]
            assert first.paused is not None and second.paused is None
            assert (await first.append_api(asked("again"))).seq == 1
            assert [r.content for r in await first.api.newest()] == ["again"]

    async def test_two_servers_see_each_other_s_tasks_at_once(self, tmp_path: Path) -> None:
        ours, theirs = self.make_store(tmp_path), self.make_store(tmp_path)
        await asyncio.gather(ours.start(), theirs.start())
        logs = await asyncio.gather(*(store.create(NewTaskRecord()) for store in (ours, theirs) * 5))
        await asyncio.gather(*(log.append_api(asked(str(n)), durable=n % 4 == 0) for log in logs for n in range(20)))
        for store in (ours, theirs):
            assert set(await store.tasks("running")) == {log.task_id for log in logs}
            for log in logs:
                assert [r.content async for r in (await store.view(log.task_id)).api.iterate()] == [
                    str(n) for n in range(20)
                ]
        await asyncio.gather(ours.stop(), theirs.stop())
