"""Servers of people whose artifacts are in an object store, and that store as somebody else sees it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hdsp_agent.messages import TaskId
from hdsp_agent.persistence import NewTaskRecord, TaskLog
from hdsp_agent.persistence.objects._object_store import ObjectStore
from hdsp_agent.persistence.objects._store_address import open_object_store

from ..._helpers.postgres import TasksDatabase

psycopg = pytest.importorskip("psycopg")

from hdsp_agent.persistence.postgres import _artifact_upkeep, _stored_artifacts
from hdsp_agent.persistence.postgres._artifact_upkeep import ArtifactUpkeep
from hdsp_agent.persistence.postgres._postgres_store import PostgresStore


class Objects:
    """The objects of a test, as somebody else's program has them."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.store: ObjectStore = open_object_store(url)

    def keys(self, owner: str = "ada") -> list[str]:
        return sorted(each.key for each in self.store.listed(owner))


class Server:
    """A person's server, whose store a test uses."""

    def __init__(self, store: PostgresStore) -> None:
        self.store = store
        assert store.artifact_upkeep is not None
        self.upkeep: ArtifactUpkeep = store.artifact_upkeep

    async def task(self, name: str | None = None) -> TaskLog:
        return await self.store.create(NewTaskRecord(task_id=TaskId(name)) if name else NewTaskRecord())


@asynccontextmanager
async def serving(
    home: Path, tasks: TasksDatabase, url: str, *, role: str = "ada", upkeep: bool = False
) -> AsyncIterator[Server]:
    store = PostgresStore(home, tasks.url(role), artifact_store_url=url)
    await store.start()
    server = Server(store)
    if upkeep:
        server.upkeep.start()
    try:
        yield server
    finally:
        await store.stop()


def rows(tasks: TasksDatabase, query: str) -> list[tuple[object, ...]]:
    with tasks.connect() as connection:
        return connection.execute(query).fetchall()


def places(tasks: TasksDatabase) -> list[str]:
    """Where each artifact is, in the order in which they were made."""
    found = rows(tasks, "SELECT object IS NULL FROM artifacts ORDER BY id")
    return ["database" if in_row else "store" for (in_row,) in found]


def try_again_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a store that was away be tried again soon."""
    monkeypatch.setattr(_artifact_upkeep, "_AGAIN_SECONDS", 0.01)
    monkeypatch.setattr(_artifact_upkeep, "_LONGEST_PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(_stored_artifacts, "_AGAIN_SECONDS", 0.0)
