"""The history in PostgreSQL: everybody's own, also of a database that had none, and kept up through a lost connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from hdsp_agent.errors import StorageUnavailable
from hdsp_agent.persistence import create_tables
from hdsp_agent.persistence.history._index import HistoryChange

from .._helpers.postgres import TasksDatabase
from .._helpers.timing import until
from ._helpers.history_samples import found, postgres_history, task

psycopg = pytest.importorskip("psycopg")

from hdsp_agent.persistence.postgres import _postgres_history, _task_schema
from hdsp_agent.persistence.postgres._connection import Address
from hdsp_agent.persistence.postgres._history_tables import OWN_HISTORY_TABLES
from hdsp_agent.persistence.postgres._postgres_history import PostgresHistory

pytestmark = pytest.mark.each_backend("postgres")


async def test_nobody_finds_what_is_anothers(postgres_database: TasksDatabase) -> None:
    async with postgres_history("ada") as hers, postgres_history("bob") as his:
        await hers.upsert(task("t", title="비밀 plan", child_ids=["c"]), text="secret 본문", owner="ada")
        await his.upsert(task("t", title="other"), text="nothing")
        assert (await found(hers, "secret"), await found(his, "secret")) == (["t"], [])
        assert await found(his, "비밀") == await found(his, "secert") == []
        await hers.upsert(task("gone"))
        await hers.delete("gone")
    with postgres_database.connect() as admin:
        words = [word for (word,) in admin.execute("SELECT unnest(tsvector_to_array(grams)) FROM history_grams")]
        numbers = dict(admin.execute("SELECT role, number FROM history_people").fetchall())
        assert f"{numbers['ada']}bsecret" in words
    with postgres_database.connect("bob") as connection:
        for table in ("history_people", *OWN_HISTORY_TABLES):
            assert {role for (role,) in connection.execute(f"SELECT role FROM {table}")} <= {"bob"}, table
        assert len(connection.execute("SELECT row FROM history_grams").fetchall()) == 1
        asked = "SELECT history_found(?::jsonb, ?::text[])"
        assert len(connection.execute(asked, ('[["nothing"]]', ["b"])).fetchall()) == 1
        # Nobody says whose words are looked up: how long that takes would tell whether they are there.
        for field, part in (("b", "secret"), (f"{numbers['ada']}b", "secret"), ("", f"{numbers['ada']}bsecret")):
            assert connection.execute(asked, (f'[["{part}"]]', [field])).fetchall() == []
        with pytest.raises(psycopg.errors.UndefinedFunction):
            connection.execute("SELECT history_found(?::tsquery)", (f"'{numbers['ada']}bsecret'",))
        for refused in (
            "SELECT grams FROM history_grams",
            "INSERT INTO history_texts (role, row, title, task, body, shown) VALUES ('ada', 1, '', '', '', '')",
            "UPDATE history_people SET role = 'ada'",
            "UPDATE history_tasks SET role = 'ada'",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(refused)


async def test_a_database_without_a_history_gets_one(
    postgres_database: TasksDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgres_database.connect() as admin:
        admin.execute("DROP SCHEMA hdsp_agent CASCADE")
        with monkeypatch.context() as older:
            older.setattr(_task_schema, "MIGRATIONS", _task_schema.MIGRATIONS[:1])
            _task_schema.migrate_schema(admin, Address(""))
        assert admin.execute("SELECT version FROM schema_version").fetchall() == [(1,)]
    create_tables(postgres_database.url("postgres"))
    async with postgres_history() as index:
        await index.upsert(task("t"), text="words")
        assert await found(index, "words") == ["t"]
        assert await index.problems() == []


async def test_the_history_goes_on_after_its_connections_were_lost(postgres_database: TasksDatabase) -> None:
    told: list[HistoryChange] = []
    async with postgres_history(on_change=told.append) as here, postgres_history() as there:
        await there.upsert(task("before"))
        await until(lambda: [item.id for change in told for item in change.changed] == ["before"])
        await asyncio.to_thread(postgres_database.end_sessions)
        await there.upsert(task("after"), text="words")
        assert await found(here, "words") == ["after"]
        await until(lambda: [item.id for change in told for item in change.changed] == ["before", "after"])
        await here.delete("after")
        assert await found(there, "words") == []
    assert not any(change.removed for change in told), "what this server did itself is no news"


async def test_a_task_that_is_told_again_is_not_written_again(postgres_database: TasksDatabase) -> None:
    async with postgres_history() as index:
        await index.upsert(task("t", title="title"), text="words", owner="ada")
        with postgres_database.connect() as admin:
            state = "SELECT xmin::text, change FROM history_tasks"
            before = admin.execute(state).fetchall()
            await index.upsert(task("t", title="title"), text="words", owner="ada")
            assert admin.execute(state).fetchall() == before
            await index.upsert(task("t", title="title"), text="other words", owner="ada")
            assert admin.execute(state).fetchall() != before


async def test_what_could_not_be_read_when_it_was_told_is_told_again(
    postgres_database: TasksDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[HistoryChange] = []
    monkeypatch.setattr(_postgres_history, "_AGAIN_SECONDS", 0.01)
    async with postgres_history(on_change=told.append) as here, postgres_history() as there:
        refused: list[Callable[..., object]] = []
        read = PostgresHistory.read

        async def refuse_once(self: PostgresHistory, work: Callable[..., object]) -> object:
            if self is here._database and not refused:
                refused.append(work)
                raise StorageUnavailable("It is away")
            return await read(self, work)

        monkeypatch.setattr(PostgresHistory, "read", refuse_once)
        await there.upsert(task("t"))
        await until(lambda: [item.id for change in told for item in change.changed] == ["t"])
        assert refused
