"""The tasks of a storage folder, opened for as long as a command needs them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from ..errors import StorageUnavailable, UnknownTask
from ._home import existing, find_artifact_store_url, find_storage_url

if TYPE_CHECKING:
    from ..persistence import Backend, HistoryIndex, TaskReader, TaskStore
    from ._terminal import Terminal

__all__ = [
    "check_there",
    "find_task",
    "history",
    "opened_store",
    "store_to_read",
]

_LEAST_OF_AN_ID: Final = 8


def check_there(home: Path, backend: Backend) -> None:
    """Raise if there is nothing to read; a folder without files is one where nothing was done yet."""
    from ..persistence import has_store

    if backend == "postgres":
        # It is not in the folder, and says itself what is wrong.
        return
    if not has_store(existing(home), backend) and backend == "sqlite":
        raise StorageUnavailable(
            f"There is no database of tasks in {home} yet. The first task creates it. To copy tasks from files to it, run "
            "hdsp-agent migrate --to sqlite.",
            path=str(home), action="read", reason="not found",
        )  # fmt: skip


@asynccontextmanager
async def store_to_read(home: Path, backend: Backend, *, must_exist: bool = True) -> AsyncIterator[TaskStore]:
    """The tasks to look at. Nothing is touched, not even what a crash left behind."""
    from ..persistence import has_store, open_store

    if not must_exist and not has_store(home, backend):
        with TemporaryDirectory(prefix="hdsp-agent-") as scratch:
            async with opened_store(Path(scratch), backend) as empty:
                yield empty
        return
    check_there(home, backend)
    store = open_store(home, backend, url=find_storage_url(), artifact_store_url=find_artifact_store_url())
    try:
        yield store
    finally:
        await store.stop()


@asynccontextmanager
async def opened_store(home: Path, backend: Backend) -> AsyncIterator[TaskStore]:
    """The tasks to work with."""
    from ..persistence import open_store

    store = open_store(home, backend, url=find_storage_url(), artifact_store_url=find_artifact_store_url())
    try:
        await store.start()
        yield store
    finally:
        await store.stop()


@asynccontextmanager
async def history(terminal: Terminal, backend: Backend | None = None) -> AsyncIterator[HistoryIndex]:
    """The history index, filled from the tasks first if it never was. A running server follows what is done to it."""
    from ..persistence import StateDatabase, has_store, history_database, open_history, open_store, task_records

    backend = backend or terminal.backend
    database = StateDatabase(history_database(terminal.home, backend))
    store = open_store(terminal.home, backend, url=find_storage_url(), artifact_store_url=find_artifact_store_url())
    try:
        index = open_history(store, backend, database)
        async with database, index:
            # Tasks that were copied to PostgreSQL no server may have put into the history yet.
            is_whole = await index.is_complete() and (
                backend != "postgres" or set(await index.ids()) == set(await store.tasks())
            )
            if not is_whole and has_store(terminal.home, backend):
                # Tasks that name nobody belong to whom the server belongs; it knows, and says so when it starts.
                await index.rebuild(task_records(store, ""))
            yield index
    finally:
        await store.stop()


async def find_task(store: TaskStore, given: str) -> TaskReader:
    """The task with this id, or whose id alone begins with these characters."""
    from ..messages import TaskId

    try:
        return await store.view(TaskId(given))
    except UnknownTask:
        found = await _beginning_with(store, given)
    if len(found) == 1:
        return await store.view(TaskId(found[0]))
    if found:
        some = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
        raise UnknownTask(
            f"{len(found)} tasks have ids that begin with {given}: {some}. Type more of the id.", task=given
        )
    raise UnknownTask(
        f"There is no task {given}. To list tasks, run hdsp-agent list. The first {_LEAST_OF_AN_ID} characters of an id "
        "are enough.",
        task=given,
    )


async def _beginning_with(store: TaskStore, given: str) -> list[str]:
    if len(given) < _LEAST_OF_AN_ID:
        return []
    return sorted(task_id for task_id in await store.tasks() if task_id.startswith((given, given.lower())))
