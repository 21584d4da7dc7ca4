from __future__ import annotations

import asyncio
import hashlib
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from hdsp_agent.errors import ArtifactStoreUnavailable, InvalidInput, NotFound
from hdsp_agent.messages import TaskId
from hdsp_agent.persistence import NewTaskRecord, create_tables
from hdsp_agent.persistence.objects._object_store import ObjectStore

from .._helpers.postgres import TasksDatabase
from .._helpers.timing import until
from ._helpers.artifact_servers import Objects, places, rows, serving, try_again_soon
from ._helpers.store_contract import asked

psycopg = pytest.importorskip("psycopg")

from hdsp_agent.persistence.postgres import _artifact_upkeep, _stored_artifacts, _task_schema
from hdsp_agent.persistence.postgres._artifact_tables import ARTIFACT_TABLES
from hdsp_agent.persistence.postgres._postgres_store import PostgresStore

LARGE = bytes(range(256)) * 100
WITH_OBJECTS = next(step for step in _task_schema.MIGRATIONS if ARTIFACT_TABLES[0] in step)


@pytest.fixture(params=["s3", "folder"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> Objects:
    if request.param == "s3":
        return Objects(request.getfixturevalue("s3").url())
    (tmp_path / "shared").mkdir()
    return Objects((tmp_path / "shared").as_uri())


@pytest.fixture
def in_folder(tmp_path: Path) -> Objects:
    (tmp_path / "shared").mkdir()
    return Objects((tmp_path / "shared").as_uri())


@pytest.fixture
def quickly_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a store that was away be tried again soon."""
    try_again_soon(monkeypatch)


async def test_an_artifact_goes_to_the_store_and_comes_back(
    tmp_path: Path, postgres_database: TasksDatabase, objects: Objects
) -> None:
    async with serving(tmp_path, postgres_database, objects.url) as server:
        log = await server.task()
        name = await log.put_artifact(LARGE)
        empty = await log.put_artifact(b"")
        assert name == hashlib.sha256(LARGE).hexdigest()
        assert await log.put_artifact(LARGE) == name
        assert places(postgres_database) == ["store", "store"]
        assert len(objects.keys()) == 2
        assert await log.read_artifact(name) == LARGE
        assert await log.read_artifact(empty) == b""
        with pytest.raises(NotFound):
            await log.read_artifact("0" * 64)
        assert await server.store.size(log.task_id) > len(LARGE)


async def test_keys_are_apart_by_owner_and_cannot_be_guessed(
    tmp_path: Path, postgres_database: TasksDatabase, in_folder: Objects
) -> None:
    for role in ("ada", "bob"):
        async with serving(tmp_path / role, postgres_database, in_folder.url, role=role) as server:
            for name in ("one", "two"):
                await (await server.task(name)).put_artifact(LARGE)
    assert len(in_folder.keys("ada")) == len(in_folder.keys("bob")) == 2
    keys = [key.split("/") for key in in_folder.keys("ada") + in_folder.keys("bob")]
    assert all(len(key) == 3 and len(key[1]) == len(key[2]) == 64 for key in keys)
    # The same bytes have another key each time, and a person's folder is the same for all of theirs.
    assert len({key[2] for key in keys}) == 4 and len({key[1] for key in keys}) == 2
    with postgres_database.connect("bob") as connection:
        for table in ("artifact_folders", "unused_objects"):
            assert "ada" not in str(connection.execute(f"SELECT * FROM {table}").fetchall())
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("INSERT INTO unused_objects (owner, object) VALUES ('ada', 'x')")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("UPDATE artifact_folders SET secret = 'guessed'")


async def test_objects_go_with_their_conversation_and_no_others(
    tmp_path: Path, postgres_database: TasksDatabase, objects: Objects
) -> None:
    async with serving(tmp_path, postgres_database, objects.url, upkeep=True) as server:
        kept, gone = await server.task(), await server.task()
        name = await kept.put_artifact(LARGE)
        await gone.put_artifact(LARGE)
        await gone.put_artifact(b"more")
        await gone.finish()
        await server.store.delete(gone.task_id)
        await until(lambda: len(objects.keys()) == 1)
        await until(lambda: rows(postgres_database, "SELECT object FROM unused_objects") == [])
        assert await kept.read_artifact(name) == LARGE


async def test_what_was_deleted_while_the_store_was_away_is_deleted_later(
    tmp_path: Path, postgres_database: TasksDatabase, in_folder: Objects, quickly_again: None
) -> None:
    async with serving(tmp_path, postgres_database, in_folder.url) as server:
        log = await server.task()
        await log.put_artifact(LARGE)
        await log.finish()
        (tmp_path / "shared").rename(tmp_path / "away")
        await server.store.delete(log.task_id)
        with pytest.raises(ArtifactStoreUnavailable):
            await server.upkeep.delete_unused()
    (tmp_path / "away").rename(tmp_path / "shared")
    assert len(in_folder.keys()) == 1
    async with serving(tmp_path, postgres_database, in_folder.url, upkeep=True):
        await until(lambda: in_folder.keys() == [])


async def test_while_the_store_is_away_nothing_is_lost_and_it_is_told(
    tmp_path: Path, postgres_database: TasksDatabase, in_folder: Objects, quickly_again: None
) -> None:
    async with serving(tmp_path, postgres_database, in_folder.url, upkeep=True) as server:
        log = await server.task()
        before = await log.put_artifact(b"before")
        (tmp_path / "shared").rename(tmp_path / "away")
        name = await log.put_artifact(LARGE)
        assert places(postgres_database) == ["store", "database"]
        assert await log.read_artifact(name) == LARGE
        with pytest.raises(ArtifactStoreUnavailable, match=r"New ones are kept in the database.*Nothing is lost"):
            await log.read_artifact(before)
        assert server.upkeep.trouble is not None
        await server.store.check_usable()
        assert (await log.append_api(asked("goes on"))).seq == 1
        (tmp_path / "away").rename(tmp_path / "shared")
        await until(lambda: places(postgres_database) == ["store", "store"])
        await until(lambda: server.upkeep.trouble is None)
        assert [await log.read_artifact(each) for each in (before, name)] == [b"before", LARGE]


async def test_a_store_that_is_back_is_noticed_though_nothing_waits_for_it(
    tmp_path: Path, postgres_database: TasksDatabase, in_folder: Objects, quickly_again: None
) -> None:
    async with serving(tmp_path, postgres_database, in_folder.url, upkeep=True) as server:
        log = await server.task()
        name = await log.put_artifact(LARGE)
        (tmp_path / "shared").rename(tmp_path / "away")
        with pytest.raises(ArtifactStoreUnavailable):
            await log.read_artifact(name)
        (tmp_path / "away").rename(tmp_path / "shared")
        await until(lambda: server.upkeep.trouble is None)
        await until(lambda: len(in_folder.keys()) == 1)


async def test_a_store_that_was_away_is_left_alone_for_a_moment(
    tmp_path: Path, postgres_database: TasksDatabase, in_folder: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_for = 0
    put = type(in_folder.store).put

    def count(self: ObjectStore, key: str, data: bytes) -> None:
        nonlocal asked_for
        asked_for += 1
        put(self, key, data)

    monkeypatch.setattr(type(in_folder.store), "put", count)
    monkeypatch.setattr(_stored_artifacts, "_AGAIN_SECONDS", float("inf"))
    async with serving(tmp_path, postgres_database, in_folder.url) as server:
        log = await server.task()
        (tmp_path / "shared").rmdir()
        for number in range(5):
            await log.put_artifact(str(number).encode())
        assert asked_for == 1
        assert places(postgres_database) == ["database"] * 5


async def test_reads_that_wait_behind_a_store_that_hangs_do_not_ask_it_again(
    tmp_path: Path, postgres_database: TasksDatabase, in_folder: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    gives_up = threading.Event()
    asked_for = 0

    def hang(self: ObjectStore, key: str, size: int) -> bytes:
        nonlocal asked_for
        asked_for += 1
        gives_up.wait()
        raise self.unavailable("it cannot be reached")

    monkeypatch.setattr(type(in_folder.store), "read", hang)
    monkeypatch.setattr(_stored_artifacts, "_AGAIN_SECONDS", float("inf"))
    async with serving(tmp_path, postgres_database, in_folder.url) as server:
        log = await server.task()
        name = await log.put_artifact(LARGE)
        reading = [asyncio.create_task(log.read_artifact(name)) for _ in range(12)]
        try:
            await until(lambda: server.store._stored._threads._work_queue.qsize() == 8)
        finally:
            gives_up.set()
        told = await asyncio.gather(*reading, return_exceptions=True)
        assert all(isinstance(each, ArtifactStoreUnavailable) for each in told)
        assert asked_for == 4
        # Its traceback would keep what was read or put.
        assert server.upkeep.trouble is not None and server.upkeep.trouble.__traceback__ is None


async def test_objects_are_deleted_though_something_cannot_be_moved(
    tmp_path: Path,
    postgres_database: TasksDatabase,
    in_folder: Objects,
    quickly_again: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put = type(in_folder.store).put

    def take_what_is_small(self: ObjectStore, key: str, data: bytes) -> None:
        if len(data) == len(LARGE):
            raise self.unavailable("it cannot be reached")
        put(self, key, data)

    async with serving(tmp_path, postgres_database, in_folder.url) as server:
        log, gone = await server.task(), await server.task()
        await gone.put_artifact(b"small")
        await gone.finish()
        [key] = in_folder.keys()
        monkeypatch.setattr(type(in_folder.store), "put", take_what_is_small)
        await log.put_artifact(LARGE)
        await server.store.delete(gone.task_id)
        server.upkeep.start()
        await until(lambda: in_folder.keys().count(key) == 0)
        assert places(postgres_database) == ["database"]


async def test_artifacts_are_moved_both_ways(
    tmp_path: Path, postgres_database: TasksDatabase, objects: Objects
) -> None:
    async with serving(tmp_path, postgres_database, objects.url) as server:
        plain = PostgresStore(tmp_path, postgres_database.url())
        await plain.start()
        log = await plain.create(NewTaskRecord())
        names = [await log.put_artifact(bytes([number]) * 1_000) for number in range(45)]
        await log.close()
        await plain.stop()
        assert places(postgres_database) == ["database"] * 45
        moves = await server.upkeep.move("store")
        assert (moves.moved, moves.bytes, moves.damaged) == (45, 45_000, [])
        assert places(postgres_database) == ["store"] * 45 and len(objects.keys()) == 45
        reader = await server.store.view(log.task_id)
        assert [await reader.read_artifact(name) for name in names] == [bytes([n]) * 1_000 for n in range(45)]
        assert (await server.upkeep.move("database")).moved == 45
        assert await server.upkeep.delete_unused() == 45
        assert places(postgres_database) == ["database"] * 45 and objects.keys() == []
        assert await reader.read_artifact(names[-1]) == bytes([44]) * 1_000


async def test_two_servers_that_move_at_once_leave_nothing_behind(
    tmp_path: Path, postgres_database: TasksDatabase, in_folder: Objects
) -> None:
    async with (
        serving(tmp_path / "one", postgres_database, in_folder.url) as one,
        serving(tmp_path / "two", postgres_database, in_folder.url) as two,
    ):
        log = await one.task()
        (tmp_path / "shared").rename(tmp_path / "away")
        names = [await log.put_artifact(bytes([number]) * 100) for number in range(20)]
        (tmp_path / "away").rename(tmp_path / "shared")
        one.store._stored._next_try_at = 0.0
        await asyncio.gather(one.upkeep.move("store"), two.upkeep.move("store"))
        await asyncio.gather(one.upkeep.delete_unused(), two.upkeep.delete_unused())
        assert len(in_folder.keys()) == 20 and places(postgres_database) == ["store"] * 20
        assert [await log.read_artifact(name) for name in names] == [bytes([n]) * 100 for n in range(20)]


async def test_a_damaged_artifact_is_not_moved_and_one_in_the_store_is_told(
    tmp_path: Path, postgres_database: TasksDatabase, in_folder: Objects
) -> None:
    async with serving(tmp_path, postgres_database, in_folder.url) as server:
        log = await server.task()
        name = await log.put_artifact(LARGE)
        lost = await log.put_artifact(b"lost")
        with postgres_database.connect() as connection:
            keys = dict(connection.execute("SELECT name, object FROM artifacts").fetchall())
        in_folder.store.put(keys[name], LARGE[:-1] + b"!")
        in_folder.store.delete([keys[lost]])
        for each in (name, lost):
            with pytest.raises(NotFound, match="restore it from a backup"):
                await log.read_artifact(each)
        moves = await server.upkeep.move("database")
        assert moves.moved == 0 and sorted(moves.damaged) == sorted([name, lost])
        assert places(postgres_database) == ["store", "store"]


async def test_what_is_too_large_is_refused_before_it_is_put(
    tmp_path: Path, postgres_database: TasksDatabase, in_folder: Objects
) -> None:
    async with serving(tmp_path, postgres_database, in_folder.url) as server:
        log = await server.task()
        with pytest.raises(InvalidInput, match="more than this task can store"):
            await log.put_artifact(bytes(101 * 1024 * 1024))
        assert in_folder.keys() == []


async def test_a_row_changes_from_one_place_to_the_other_and_in_nothing_else(
    tmp_path: Path, postgres_database: TasksDatabase, in_folder: Objects
) -> None:
    async with serving(tmp_path, postgres_database, in_folder.url) as server:
        log = await server.task()
        await log.put_artifact(LARGE)
        await log.close()
    changes = (
        "UPDATE artifacts SET object = 'other'",
        "UPDATE artifacts SET data = 'x', object = NULL",
        f"UPDATE artifacts SET data = '\\x{LARGE.hex()}'",
        "UPDATE artifacts SET data = NULL, object = NULL",
        "UPDATE artifacts SET name = 'x'",
        f"UPDATE artifacts SET size = 1, object = NULL, data = '\\x{LARGE.hex()}'",
        "DELETE FROM artifacts",
    )
    with postgres_database.connect() as connection:
        for statement in changes:
            with pytest.raises(psycopg.Error):
                connection.execute(statement)
    with postgres_database.connect("bob") as connection:
        assert connection.execute("UPDATE artifacts SET data = 'x', object = NULL").rowcount == 0


async def test_objects_that_no_row_names_are_found_when_they_are_old_and_deleted(
    tmp_path: Path, postgres_database: TasksDatabase, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(tmp_path, postgres_database, objects.url) as server:
        log = await server.task()
        name = await log.put_artifact(LARGE)
        folder = objects.keys()[0].rpartition("/")[0]
        objects.store.put(f"{folder}/left-by-a-kill", b"left")
        # Of another database that shares the place.
        objects.store.put("ada/another-secret/theirs", b"theirs")
        assert list(await server.upkeep.unnamed()) == []
        monkeypatch.setattr(_artifact_upkeep, "_UNNAMED_AFTER", timedelta(days=-1))
        unnamed = await server.upkeep.unnamed()
        assert [(each.key, each.size) for each in unnamed] == [(f"{folder}/left-by-a-kill", 4)]
        await server.upkeep.delete_unnamed(unnamed)
        assert len(objects.keys()) == 2
        assert await log.read_artifact(name) == LARGE


async def test_artifacts_of_older_tables_are_read_and_moved(
    tmp_path: Path, postgres_database: TasksDatabase, in_folder: Objects
) -> None:
    name = hashlib.sha256(LARGE).hexdigest()
    with postgres_database.connect() as connection:
        connection.execute("DROP SCHEMA hdsp_agent CASCADE")
        for statement in ("CREATE SCHEMA hdsp_agent", "GRANT USAGE ON SCHEMA hdsp_agent TO PUBLIC"):
            connection.execute(statement)
        connection.execute("CREATE TABLE schema_version (version integer NOT NULL)")
        connection.execute("GRANT SELECT ON schema_version TO PUBLIC")
        connection.execute("INSERT INTO schema_version VALUES (?)", (_task_schema.MIGRATIONS.index(WITH_OBJECTS),))
        for statements in _task_schema.MIGRATIONS[: _task_schema.MIGRATIONS.index(WITH_OBJECTS)]:
            for statement in statements:
                connection.execute(statement)
    with postgres_database.connect("ada") as connection:
        state = '{"status": "completed", "updated_at": "2026-01-01T00:00:00.000Z"}'
        connection.execute(
            "INSERT INTO tasks (task_id, place, metadata, state) VALUES ('old', 'completed', '{}', ?)", (state,)
        )
        connection.execute(
            "INSERT INTO artifacts (task, name, size, data) SELECT number, ?, ?, ? FROM tasks",
            (name, len(LARGE), LARGE),
        )
    await asyncio.to_thread(create_tables, postgres_database.url("postgres"))
    async with serving(tmp_path, postgres_database, in_folder.url) as server:
        reader = await server.store.view(TaskId("old"))
        assert await reader.read_artifact(name) == LARGE
        assert (await server.upkeep.move("store")).moved == 1
        assert await reader.read_artifact(name) == LARGE


async def test_without_the_address_it_is_told_that_there_is_one(
    tmp_path: Path, postgres_database: TasksDatabase, in_folder: Objects
) -> None:
    async with serving(tmp_path, postgres_database, in_folder.url) as server:
        log = await server.task()
        name = await log.put_artifact(LARGE)
        await log.close()
    plain = PostgresStore(tmp_path, postgres_database.url())
    await plain.start()
    reader = await plain.view(log.task_id)
    with pytest.raises(ArtifactStoreUnavailable, match="artifact_store_url"):
        await reader.read_artifact(name)
    await plain.stop()


async def test_reads_that_wait_for_the_store_hold_no_thread_of_others(
    tmp_path: Path, postgres_database: TasksDatabase, in_folder: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = threading.Event()
    read = type(in_folder.store).read

    def wait(self: ObjectStore, key: str, size: int) -> bytes:
        goes_on.wait()
        return read(self, key, size)

    async with serving(tmp_path, postgres_database, in_folder.url) as server:
        log = await server.task()
        name = await log.put_artifact(LARGE)
        monkeypatch.setattr(type(in_folder.store), "read", wait)
        reading = [asyncio.create_task(log.read_artifact(name)) for _ in range(8)]
        try:
            await asyncio.sleep(0)
            assert await server.store.tasks() == [log.task_id]
            await asyncio.to_thread(lambda: None)
        finally:
            goes_on.set()
        assert await asyncio.gather(*reading) == [LARGE] * 8
