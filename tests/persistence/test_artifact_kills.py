from __future__ import annotations

import asyncio
import hashlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from typing_extensions import Unpack

from hdsp_agent.persistence import TaskStore
from hdsp_agent.persistence._task_store import StoreOptions

from .._helpers.forked_python import forked_python
from .._helpers.long_tests import rounds
from .._helpers.object_store import S3Server
from .._helpers.postgres import TasksDatabase
from .._helpers.timing import until
from ._helpers.artifact_servers import Objects, places, rows, serving, try_again_soon
from ._helpers.postgres_contract import PostgresContract, PostgresStores
from ._helpers.scenarios import ROOT

psycopg = pytest.importorskip("psycopg")

from hdsp_agent.persistence.postgres._postgres_store import PostgresStore


@pytest.fixture
def quickly_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a store that was away be tried again soon."""
    try_again_soon(monkeypatch)


class InAnObjectStore(PostgresStores):
    """Stores whose artifacts are in S3."""

    @pytest.fixture(autouse=True)
    def new_place(self, s3: S3Server) -> None:
        self.url = s3.url()

    def make_store(self, home: Path, **options: Unpack[StoreOptions]) -> TaskStore:
        return PostgresStore(home, self.tasks.url(), artifact_store_url=self.url, **options)


@pytest.mark.slow
class TestArtifactsInAnObjectStore(InAnObjectStore):
    """What every store does, as far as artifacts have a part in it."""

    test_what_was_recorded_is_read_back_in_every_stream = (
        PostgresContract.test_what_was_recorded_is_read_back_in_every_stream
    )
    test_artifacts_are_kept_once_under_their_hash = PostgresContract.test_artifacts_are_kept_once_under_their_hash
    test_the_event_loop_is_never_blocked = PostgresContract.test_the_event_loop_is_never_blocked


@pytest.mark.long
class TestContractWithAnObjectStore(InAnObjectStore, PostgresContract):
    """All that every store does."""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_writer_that_is_killed_leaves_no_row_without_its_object(
    tmp_path: Path, postgres_database: TasksDatabase, s3: S3Server, moment: Literal["before", "after"]
) -> None:
    place = Objects(s3.url())
    for number in range(rounds(1, 20)):
        with subprocess.Popen(
            [
                forked_python(), "-m", "tests.persistence._helpers.killed_artifacts", str(tmp_path / str(number)),
                postgres_database.url(), place.url, moment,
            ],
            cwd=ROOT, stdout=subprocess.PIPE, text=True,
        ) as server:  # fmt: skip
            assert server.stdout is not None
            acknowledged = [line.strip() for line in iter(server.stdout.readline, "now\n")]
            server.kill()
        named = [str(key) for (key,) in rows(postgres_database, "SELECT object FROM artifacts")]
        assert set(named) <= set(place.keys()), "a row names what the store has not"
        async with serving(tmp_path / str(number), postgres_database, place.url) as other:
            task_id = (await other.store.tasks())[-1]
            reader = await other.store.view(task_id)
            for name in acknowledged:
                assert hashlib.sha256(await reader.read_artifact(name)).hexdigest() == name


@pytest.mark.slow
async def test_a_store_that_is_killed_in_the_midst_of_everything_loses_nothing(
    tmp_path: Path, postgres_database: TasksDatabase, s3: S3Server, quickly_again: None
) -> None:
    url = s3.url()
    async with serving(tmp_path, postgres_database, url, upkeep=True) as server:
        log = await server.task()
        ends = asyncio.Event()
        names: list[str] = []

        async def write() -> None:
            while not ends.is_set():
                names.append(await log.put_artifact(f"{len(names)}".encode() * 2_000))

        writing = asyncio.create_task(write())
        for _ in range(rounds(1, 4)):
            await until(are_more(names, 20))
            await asyncio.to_thread(s3.kill)
            try:
                await until(are_more(names, 5))
            finally:
                await asyncio.to_thread(s3.start)
            await until(lambda: server.upkeep.trouble is None)
        ends.set()
        await writing
        await until(lambda: set(places(postgres_database)) == {"store"})
        for number, name in enumerate(names):
            assert await log.read_artifact(name) == f"{number}".encode() * 2_000


def are_more(names: list[str], number: int) -> Callable[[], bool]:
    there = len(names)
    return lambda: len(names) >= there + number


def test_starting_without_it_loads_no_client() -> None:
    loaded = subprocess.run(
        [
            sys.executable, "-c",
            "import sys, hdsp_agent.persistence.postgres._postgres_store; print('obstore' in sys.modules)",
        ],
        check=True, capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    assert loaded.stdout.strip() == "False"
