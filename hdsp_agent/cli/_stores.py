"""The tasks of a storage folder, opened for as long as a command needs them."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..errors import StorageUnavailable, UnknownTask
from ._home import existing

if TYPE_CHECKING:
    from ..persistence import Backend, FileStore, HistoryIndex, TaskReader, TaskStore
    from ._terminal import Terminal

__all__ = [
    "backend_option",
    "check_there",
    "find_task",
    "history",
    "is_there",
    "opened_files",
    "opened_store",
    "store_to_read",
]

_LEAST_OF_AN_ID: Final = 8


def backend_option(parser: ArgumentParser) -> None:
    """Let the person say which of the two stores of the folder is meant."""
    parser.add_argument(
        "--backend", choices=("files", "sqlite"), default="files", help="where the tasks are kept (default: files)"
    )


def is_there(home: Path, backend: Backend) -> bool:
    """Whether the folder has a store of this kind."""
    from ..persistence import DATABASE_NAME

    return (home / (DATABASE_NAME if backend == "sqlite" else "contexts")).exists()


def check_there(home: Path, backend: Backend) -> None:
    """Raise if there is nothing to read; a folder without files is one where nothing was done yet."""
    if backend == "sqlite" and not is_there(existing(home), backend):
        raise StorageUnavailable(
            f"There is no database of tasks in {home}. Make it with hdsp-agent migrate --to sqlite.",
            path=str(home), action="read", reason="not found",
        )  # fmt: skip


@asynccontextmanager
async def store_to_read(home: Path, backend: Backend, *, must_exist: bool = True) -> AsyncIterator[TaskStore]:
    """The tasks to look at. Of those kept in files nothing is touched, not even what a crash left behind."""
    from ..persistence import open_store

    if must_exist:
        existing(home)
    check_there(home, backend)
    store = open_store(home, backend)
    try:
        if backend == "sqlite":
            await store.start()
        yield store
    finally:
        await store.stop()


@asynccontextmanager
async def opened_store(home: Path, backend: Backend) -> AsyncIterator[TaskStore]:
    """The tasks to work with."""
    from ..persistence import open_store

    store = open_store(home, backend)
    try:
        await store.start()
        yield store
    finally:
        await store.stop()


@asynccontextmanager
async def opened_files(home: Path) -> AsyncIterator[FileStore]:
    """The tasks kept in files, to work with."""
    from ..persistence import FileStore

    store = FileStore(home)
    try:
        await store.start()
        yield store
    finally:
        await store.stop()


@asynccontextmanager
async def history(terminal: Terminal) -> AsyncIterator[HistoryIndex]:
    """The history index, filled from the folders first if it never was. A running server follows what is done to it."""
    from ..persistence import HistoryIndex, StateDatabase, TaskFolders, task_records

    database = StateDatabase(terminal.home / "state.db")
    index = HistoryIndex(database)
    async with database, index:
        if not await index.is_complete():
            # Tasks that name nobody belong to whom the server belongs; it knows, and says so when it starts.
            await index.rebuild(task_records(TaskFolders(terminal.home), ""))
        yield index


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
        raise UnknownTask(f"{len(found)} tasks begin with {given}: {some}. Give more of the id.", task=given)
    raise UnknownTask(
        f"There is no task {given}. `hdsp-agent list` shows the tasks there are; the first {_LEAST_OF_AN_ID} characters "
        "of an id are enough.",
        task=given,
    )


async def _beginning_with(store: TaskStore, given: str) -> list[str]:
    if len(given) < _LEAST_OF_AN_ID:
        return []
    return sorted(task_id for task_id in await store.tasks() if task_id.startswith((given, given.lower())))
