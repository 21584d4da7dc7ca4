"""``state.db`` opens whatever it meets, keeps the damaged bytes, refuses clearly, and is private."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hdsp_agent.errors import StorageUnavailable
from hdsp_agent.persistence.history._index import HistoryRecord
from hdsp_agent.persistence.history._query import HistoryQuery
from hdsp_agent.persistence.history._state_database import Schema, StateDatabase

from ._helpers.history_samples import eventually, found, history, task

NOTES = Schema("notes", (("CREATE TABLE notes (text TEXT)",),))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
async def test_the_file_and_its_companions_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        async with history(tmp_path / "home") as index:
            await index.upsert(task("t"))
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "home").iterdir()}
    finally:
        os.umask(before)
    assert set(modes) >= {"state.db", "state.db-wal", "state.db-shm"}
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
async def test_a_file_others_could_read_is_made_private(tmp_path: Path) -> None:
    async with history(tmp_path):
        pass
    (tmp_path / "state.db").chmod(0o644)
    async with history(tmp_path):
        assert stat.S_IMODE((tmp_path / "state.db").stat().st_mode) == 0o600


def garbage(path: Path) -> None:
    path.write_bytes(b"this was never a database " * 500)


def cut_in_half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def wrong_header(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\x00" + os.urandom(8000))


def folder_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()


def tables_missing(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("DROP TABLE history_items")
    connection.close()


def pages_overwritten(path: Path) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 4096))


def records() -> Iterator[HistoryRecord]:
    for number in range(40):
        yield HistoryRecord(task(f"t{number}", ts=number), f"되찾은 글 {number} " + "내용 " * 50)


@pytest.mark.parametrize(
    "damage", [garbage, cut_in_half, wrong_header, folder_instead, tables_missing, pages_overwritten]
)
async def test_a_damaged_file_is_kept_aside_and_made_anew_from_the_folders(tmp_path: Path, damage: object) -> None:
    assert callable(damage)
    async with history(tmp_path, source=records) as index:
        await eventually(index.is_complete)
    damage(tmp_path / "state.db")
    damaged = (tmp_path / "state.db").read_bytes() if (tmp_path / "state.db").is_file() else b""
    async with history(tmp_path, source=records) as index:
        await index.upsert(task("new"), text="새 글")
        await found(index, "되찾은")
        await eventually(index.is_complete)
        assert (await index.search(HistoryQuery("되찾은"))).total == 40
        assert await found(index, "새 글") == ["new"]
        assert await index.problems() == []
    aside = next(tmp_path.glob("state.db.corrupt-*"))
    if damaged and damage is not tables_missing:
        assert aside.read_bytes()[4096:].startswith(damaged[4096:8000])


async def test_damage_that_shows_while_in_use_costs_no_request(tmp_path: Path) -> None:
    tasks = list(records())
    async with history(tmp_path, source=lambda: tasks) as index:
        await eventually(index.is_complete)
        # Only bytes change, not the file: as when a disk goes bad. Closing the file here would drop SQLite's locks,
        # so another process does it.
        writing = (
            "import os,sys; f=open(sys.argv[1],'r+b'); n=os.path.getsize(sys.argv[1]);"
            "f.seek(0); f.write(os.urandom(n)); f.close(); os.truncate(sys.argv[1]+'-wal', 0)"
        )
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", writing, str(tmp_path / "state.db"))
        assert await process.wait() == 0
        # A task is in its folder before it is in the history.
        new = [HistoryRecord(task(f"new{n}"), "고장 뒤") for n in range(5)]
        tasks += new
        await asyncio.gather(
            *(index.upsert(record.item, text=record.text) for record in new),
            *(index.search(HistoryQuery("되찾은")) for _ in range(5)),
        )
        await eventually(index.is_complete)
        assert (await index.search(HistoryQuery("되찾은"))).total == 40
        assert (await index.search(HistoryQuery("고장"))).total == 5
        assert len(list(tmp_path.glob("state.db.corrupt-*"))) == 1


@pytest.mark.parametrize("missing", ["state.db", "all"])
async def test_a_file_deleted_while_in_use_is_made_anew(tmp_path: Path, missing: str) -> None:
    async with history(tmp_path, source=records) as index:
        await eventually(index.is_complete)
        for path in list(tmp_path.iterdir()):
            if missing == "all" or path.name == missing:
                path.unlink()
        await index.search(HistoryQuery())
        await eventually(index.is_complete)
        assert (await index.search(HistoryQuery("되찾은"))).total == 40


async def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    async with history(tmp_path) as index:
        await index.upsert(task("t"))
    connection = sqlite3.connect(tmp_path / "state.db")
    connection.execute("UPDATE schemas SET version = 99 WHERE name = 'history'")
    connection.commit()
    connection.close()
    with pytest.raises(StorageUnavailable, match="newer version"):
        async with history(tmp_path):
            pass
    assert not list(tmp_path.glob("*corrupt*"))


async def test_parts_keep_their_tables_side_by_side_and_migrate_on_their_own(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    database = StateDatabase(path)
    database.add(NOTES)
    async with database:
        await database.write(lambda connection: connection.execute("INSERT INTO notes VALUES ('one')").rowcount)
    async with history(tmp_path) as index:
        await index.upsert(task("t"))
    database = StateDatabase(path)
    database.add(Schema("notes", (*NOTES.migrations, ("ALTER TABLE notes ADD COLUMN colour TEXT DEFAULT 'red'",))))
    async with database:
        assert await database.read(lambda c: c.execute("SELECT * FROM notes").fetchall()) == [("one", "red")]
    async with history(tmp_path) as index:
        assert await found(index) == ["t"]


async def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    database = StateDatabase(tmp_path / "state.db")
    database.add(NOTES)

    def half(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO notes VALUES ('half')")
        raise ZeroDivisionError

    async with database:
        with pytest.raises(ZeroDivisionError):
            await database.write(half)
        assert await database.read(lambda c: c.execute("SELECT * FROM notes").fetchall()) == []
        with pytest.raises(StorageUnavailable, match="readonly"):
            await database.read(lambda c: c.execute("INSERT INTO notes VALUES ('sly')").fetchall())


async def test_a_full_disk_is_said_and_what_was_written_stays(tmp_path: Path) -> None:
    database = StateDatabase(tmp_path / "state.db")
    database.add(NOTES)

    def fill(connection: sqlite3.Connection) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 5}")
        connection.execute("INSERT INTO notes VALUES (zeroblob(1000000))")

    async with database:
        await database.write(lambda connection: connection.execute("INSERT INTO notes VALUES ('kept')").rowcount)
        with pytest.raises(StorageUnavailable, match="Free some space"):
            await database.write(fill)
        assert await database.read(lambda c: c.execute("SELECT * FROM notes").fetchall()) == [("kept",)]
        assert not list(tmp_path.glob("*corrupt*"))


async def test_a_writer_elsewhere_that_does_not_end_is_named(tmp_path: Path) -> None:
    database = StateDatabase(tmp_path / "state.db", busy_seconds=0.1)
    database.add(NOTES)
    async with database:
        other = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageUnavailable, match="another program keeps it locked"):
            await database.write(lambda connection: connection.execute("INSERT INTO notes VALUES ('x')").rowcount)
        assert await database.read(lambda c: c.execute("SELECT count(*) FROM notes").fetchone()) == (0,)
        other.execute("ROLLBACK")
        other.close()


async def test_after_closing_a_request_is_refused_and_closing_again_is_harmless(tmp_path: Path) -> None:
    database = StateDatabase(tmp_path / "state.db")
    async with database:
        pass
    await database.close()
    with pytest.raises(StorageUnavailable, match="closed"):
        await database.read(lambda connection: None)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs folders that can be closed to us")
async def test_a_folder_that_may_not_be_written_is_said(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StorageUnavailable):
            async with history(tmp_path):
                pass
    finally:
        tmp_path.chmod(0o700)
