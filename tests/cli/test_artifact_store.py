"""``doctor``, ``clean`` and ``migrate`` where artifacts of PostgreSQL's conversations are in a folder on a shared disk."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hdsp_agent.messages import TaskId
from hdsp_agent.persistence import open_store

from .._helpers.postgres import TasksDatabase
from .._helpers.stored_tasks import storage_url
from ._helpers.homes import FINISHED, Home

IMAGE = b"\x89PNG" * 5_000

pytestmark = pytest.mark.parametrize("storage_backend", ["postgres"], indirect=True)


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "shared").mkdir()
    return tmp_path / "shared"


@pytest.fixture
def home(own_home: Home, shared: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A home whose finished task has an artifact, in the database."""
    add_artifact(own_home, "")
    (own_home.config / "jupyter_server_config.py").write_text(
        f"c.HdspAgentApp.artifact_store_url = {shared.as_uri()!r}\n"
    )
    yield own_home


def add_artifact(home: Home, url: str) -> None:
    async def add() -> None:
        store = open_store(home.path, "postgres", url=storage_url(), artifact_store_url=url)
        await store.start()
        log = await store.resume(FINISHED)
        await log.put_artifact(IMAGE)
        await log.finish()
        await store.stop()

    asyncio.run(add())


def files(shared: Path) -> list[Path]:
    return [path for path in shared.rglob("*") if path.is_file()]


def where(tasks: TasksDatabase) -> list[object]:
    with tasks.connect() as connection:
        found = connection.execute("SELECT CASE WHEN object IS NULL THEN 'database' ELSE 'store' END FROM artifacts")
        return [row[0] for row in found.fetchall()]


def test_artifacts_are_moved_to_the_store_and_back(home: Home, shared: Path, postgres_database: TasksDatabase) -> None:
    moved = home.run("migrate", "--artifacts", "store", "--json").json()
    assert moved == {"moved": 1, "bytes": len(IMAGE), "damaged": []}
    assert where(postgres_database) == ["store"]
    assert [path.read_bytes() for path in files(shared)] == [IMAGE]
    back = home.run("migrate", "--artifacts", "database")
    assert (back.code, "1 artifacts" in back.out, "moved to the database" in back.out) == (0, True, True)
    assert where(postgres_database) == ["database"]
    assert files(shared) == []


def test_without_a_store_it_is_told_what_to_set(home: Home, shared: Path) -> None:
    (home.config / "jupyter_server_config.py").unlink()
    refused = home.run("migrate", "--artifacts", "database")
    assert (refused.code, "artifact_store_url is not set" in refused.err) == (2, True)
    both = home.run("migrate", "--artifacts", "store", "--to", "files")
    assert (both.code, "not allowed with" in both.err) == (2, True)


def test_a_migration_carries_artifacts_both_ways(home: Home, shared: Path, postgres_database: TasksDatabase) -> None:
    assert home.run("migrate", "--artifacts", "store").code == 0
    report = home.run("migrate", "--from", "postgres", "--to", "sqlite", "--json").json()
    assert report["complete"] is True and report["artifacts"] == 1
    with postgres_database.connect() as connection:
        connection.execute("DELETE FROM tasks")
    for path in files(shared):
        path.unlink()
    report = home.run("migrate", "--from", "sqlite", "--to", "postgres", "--json").json()
    assert report["complete"] is True and report["artifacts"] == 1
    assert where(postgres_database) == ["store"]
    assert [path.read_bytes() for path in files(shared)] == [IMAGE]
    shared.rename(shared.with_name("away"))
    lost = home.run("migrate", "--from", "postgres", "--to", "files", "--json")
    assert (lost.code, "the folder does not exist" in str(lost.json()["failed"])) == (1, True)


def test_objects_that_no_conversation_names_are_told_and_deleted(home: Home, shared: Path) -> None:
    assert home.run("migrate", "--artifacts", "store").code == 0
    (kept,) = files(shared)
    left, new = kept.with_name("left-by-a-kill"), kept.with_name("just-now")
    for path in (left, new):
        path.write_bytes(b"left")
    two_days_ago = time.time() - 2 * 86_400
    os.utime(left, (two_days_ago, two_days_ago))
    os.utime(kept, (two_days_ago, two_days_ago))
    looked = home.run("doctor")
    assert "Objects that no conversation refers to: 1, 4 bytes." in looked.out
    assert home.run("clean", "--dry-run", "--json").json()["objects"] == 1
    assert left.exists()
    assert "1 were deleted" in home.run("clean").out
    assert sorted(files(shared)) == sorted([kept, new])
    assert "no conversation refers to" not in home.run("doctor").out


def test_what_is_deleted_here_takes_its_objects_along(home: Home, shared: Path) -> None:
    assert home.run("migrate", "--artifacts", "store").code == 0
    assert len(files(shared)) == 1
    age(FINISHED)
    assert home.run("clean", "--delete-days", "1").code == 0
    assert files(shared) == []


def test_a_store_that_is_away_and_one_that_lost_something_are_told(home: Home, shared: Path) -> None:
    assert home.run("migrate", "--artifacts", "store").code == 0
    shared.rename(shared.with_name("away"))
    looked = home.run("doctor", "--json").json()
    problems = looked["problems"]
    assert isinstance(problems, list)
    assert {problem["kind"] for problem in problems} == {"artifact_store_away"}
    cleaned = home.run("clean")
    assert (cleaned.code, "Nothing was deleted from the object store" in cleaned.err) == (1, True)
    shared.mkdir()
    looked = home.run("doctor", "--json").json()
    problems = looked["problems"]
    assert isinstance(problems, list)
    assert [(problem["kind"], problem["taskId"]) for problem in problems] == [("artifact_missing", FINISHED)]
    moved = home.run("migrate", "--artifacts", "database")
    assert (moved.code, "is damaged or missing and was not moved" in moved.err) == (3, True)


def age(task_id: TaskId) -> None:
    from .._helpers.stored_tasks import change_state

    change_state(Path(), task_id, completed_at="2020-01-01T00:00:00.000Z", updated_at="2020-01-01T00:00:00.000Z")
