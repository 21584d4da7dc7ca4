"""Tasks for the history's tests, and an index of its own, in the database of the backend that the test runs with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from typing_extensions import Unpack

from hdsp_agent.messages import HistoryItem, NotebookRef
from hdsp_agent.persistence.history._index import HistoryChange, HistoryIndex, HistoryOptions, HistoryRecord
from hdsp_agent.persistence.history._query import HistoryQuery
from hdsp_agent.persistence.history._state_database import StateDatabase

from ..._helpers.stored_tasks import backend_under_test, storage_url


def task(id_: str, **fields: object) -> HistoryItem:
    """A task with these fields; the rest is plain."""
    plain: dict[str, object] = {
        "id": id_, "number": 1, "ts": 1_000, "task": f"task {id_}", "tokens_in": 10, "tokens_out": 1, "total_cost": 0.0,
    }  # fmt: skip
    return HistoryItem.model_validate({**plain, **fields})


def notebook(path: str) -> NotebookRef:
    """A reference to a notebook."""
    return NotebookRef(path=path)


@asynccontextmanager
async def history(
    home: Path,
    *,
    source: Callable[[], Iterable[HistoryRecord]] | None = None,
    on_change: Callable[[HistoryChange], None] | None = None,
    poll_seconds: float = 0.05,
) -> AsyncIterator[HistoryIndex]:
    """A started index on the home's ``state.db``; in PostgreSQL that of bob for a home called "lost", else of ada."""
    if backend_under_test() == "postgres":
        async with postgres_history(
            "bob" if home.name == "lost" else "ada", source=source, on_change=on_change
        ) as index:
            yield index
        return
    database = StateDatabase(home / "state.db", poll_seconds=poll_seconds)
    index = HistoryIndex(database, source=source, on_change=on_change)
    async with database, index:
        yield index


@asynccontextmanager
async def postgres_history(role: str = "ada", **options: Unpack[HistoryOptions]) -> AsyncIterator[HistoryIndex]:
    """A started index in the test's PostgreSQL database."""
    from hdsp_agent.persistence.postgres._postgres_database import PostgresDatabase
    from hdsp_agent.persistence.postgres._postgres_history import PostgresHistoryIndex

    database = PostgresDatabase(storage_url().replace("//ada@", f"//{role}@"))
    try:
        async with PostgresHistoryIndex(database, **options) as index:
            yield index
    finally:
        await asyncio.to_thread(database.close)


async def found(index: HistoryIndex, text: str = "", **query: object) -> list[str]:
    """The ids of the tasks a query finds."""
    page = await index.search(HistoryQuery(text, **query))  # type: ignore[arg-type]  # fields of HistoryQuery
    return [hit.item.id for hit in page.hits]


async def eventually(condition: Callable[[], Awaitable[object]], seconds: float = 60.0) -> None:
    """Wait until the condition holds; fail if it does not in time."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not await condition():
        assert loop.time() < deadline, "it did not come about in time"
        await asyncio.sleep(0.01)
