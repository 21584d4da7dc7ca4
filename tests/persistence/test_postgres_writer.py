from __future__ import annotations

import asyncio
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Literal

import pytest

from hdsp_agent.errors import Conflict, HdspAgentError, StorageUnavailable
from hdsp_agent.messages import TaskId
from hdsp_agent.persistence import NewTaskRecord, TaskLog
from hdsp_agent.persistence.tables._table_writer import WriterWork

from .._helpers.long_tests import rounds
from .._helpers.postgres import ROLES, postgres_cluster
from .._helpers.timing import PATIENCE, until
from ._helpers.postgres_contract import PostgresStores, is_usable, lose_at_commit, recorded
from ._helpers.store_contract import asked

psycopg = pytest.importorskip("psycopg")

from hdsp_agent.persistence.postgres import _postgres_writer
from hdsp_agent.persistence.postgres._postgres_store import PostgresStore
from hdsp_agent.persistence.postgres._postgres_writer import PostgresWriter, _Unsure


class TestLostConnections(PostgresStores):
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

    @pytest.mark.slow
    async def test_a_database_that_dies_in_the_midst_of_everything_loses_nothing_and_doubles_nothing(
        self, tmp_path: Path, patient_readers: None
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
                assert [r.content async for r in (await store.view(log.task_id)).api.iterate()] == acknowledged[
                    log.task_id
                ]
                await log.finish()
            await asyncio.gather(*(store.stop() for store in stores))
