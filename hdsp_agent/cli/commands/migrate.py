"""``hdsp-agent migrate``: copies all tasks from one way of keeping them to another."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal

from ...errors import ArtifactStoreUnavailable
from .._amounts import bytes_text, count_text
from .._command import CliCommand, ExitCode, UsageError
from .._home import existing
from .._stores import check_there, history, opened_store, store_to_read

if TYPE_CHECKING:
    from ...memory.sharing import SyncReport
    from ...persistence import Backend, MigrationReport, TaskStore
    from .._terminal import Terminal

__all__ = ["COMMAND"]


def _arguments(parser: ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--to", choices=("sqlite", "files", "postgres"), help="how tasks are stored from now on")
    what.add_argument(
        "--artifacts",
        choices=("store", "database"),
        help="move your artifacts in PostgreSQL to the object store, or back to the database",
    )
    parser.add_argument(
        "--from",
        dest="source",
        choices=("sqlite", "files", "postgres"),
        help="how they are stored now (default: files or sqlite, as the folder has it)",
    )
    parser.add_argument("--dry-run", action="store_true", help="only show what would be copied")


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    if options.artifacts is None:
        return await _copy_tasks(terminal, options)
    if options.source is not None or options.dry_run:
        raise UsageError("--artifacts goes with neither --from nor --dry-run.")
    return await _move_artifacts(terminal, options.artifacts)


async def _move_artifacts(terminal: Terminal, to: Literal["store", "database"]) -> ExitCode:
    async with opened_store(existing(terminal.home), "postgres") as store:
        upkeep = store.artifact_upkeep
        if upkeep is None:
            raise UsageError(
                "artifact_store_url is not set. Set it to the object store's address, also to move artifacts back."
            )
        moves = await upkeep.move(to)
        await upkeep.delete_unused()
    for name in moves.damaged:
        terminal.warn(f"The artifact {name} is damaged or missing and was not moved.")
    if terminal.json:
        terminal.document({"moved": moves.moved, "bytes": moves.bytes, "damaged": moves.damaged})
    else:
        place = "the object store" if to == "store" else "the database"
        terminal.line(f"{count_text(moves.moved)} artifacts ({bytes_text(moves.bytes)}) were moved to {place}.")
    return ExitCode.FOUND if moves.damaged else ExitCode.OK


async def _copy_tasks(terminal: Terminal, options: Namespace) -> ExitCode:
    from ...persistence import migrate, task_record

    to: Backend = options.to
    home = existing(terminal.home)
    source: Backend = options.source or _usual_source(home, to)
    if source == to:
        raise UsageError("--from and --to are the same.")
    check_there(home, source)
    with _target_home(home, to, dry_run=options.dry_run) as target_home:
        # A server's database is only looked at to say what would be done.
        target = store_to_read if options.dry_run and to == "postgres" else opened_store
        async with opened_store(home, source) as old, target(target_home, to) as new:
            report = await migrate(old, new, progress=terminal.progress, dry_run=options.dry_run)
            if not options.dry_run:
                async with history(terminal, to) as index:
                    for task_id in report.copied:
                        record = await asyncio.to_thread(task_record, new, task_id)
                        await index.upsert(record.item, text=record.text, owner=record.owner)
                await _put_into_store(terminal, new)
            memory = None
            if not options.dry_run and "postgres" in (source, to):
                memory = await _share_memory(terminal, new if to == "postgres" else old)
    _tell(terminal, report, memory)
    return ExitCode.FAILED if report.failed else ExitCode.FOUND if report.skipped else ExitCode.OK


async def _put_into_store(terminal: Terminal, store: TaskStore) -> None:
    """The copies were made and verified in the database; their artifacts go on to the object store, if there is one."""
    if (upkeep := store.artifact_upkeep) is None:
        return
    try:
        await upkeep.move("store")
    except ArtifactStoreUnavailable as error:
        terminal.warn(f"Artifacts stay in the database until the server can move them: {error.message}")


async def _share_memory(terminal: Terminal, store: TaskStore) -> SyncReport | None:
    """Bring the memory of this folder and that of the database in line; None if that failed, or is not allowed."""
    from ..._person import person_of_server
    from ...errors import HdspAgentError
    from ...memory.memory_folder import person_folder
    from ...memory.sharing import SharedFolder
    from ...persistence import open_memory
    from .._operator_policy import operator_policy

    if not operator_policy().allow_memory:
        return None
    shared, person = open_memory(store, "postgres"), person_of_server()
    assert shared is not None
    folder = SharedFolder(person_folder(terminal.home, person, person), person, shared)
    try:
        return await asyncio.to_thread(folder.sync)
    except HdspAgentError as error:
        terminal.warn(f"Memory was not copied: {error.message}")
        return None


def _usual_source(home: Path, to: Backend) -> Backend:
    from ...persistence import has_store

    if to == "files" or (to == "postgres" and has_store(home, "sqlite") and not has_store(home, "files")):
        return "sqlite"
    return "files"


@contextmanager
def _target_home(home: Path, to: Backend, *, dry_run: bool) -> Iterator[Path]:
    """Where the target is. To say what would be done, no database is made where none is."""
    from ...persistence import has_store

    if not dry_run or has_store(home, to):
        yield home
        return
    with TemporaryDirectory(prefix="hdsp-agent-") as scratch:
        yield Path(scratch)


def _tell(terminal: Terminal, report: MigrationReport, memory: SyncReport | None) -> None:
    # What failed has been warned of as it was met.
    for left in report.skipped:
        terminal.warn(f"Task {left.task_id} was not copied: {left.reason}")
    for notice in report.damaged:
        terminal.warn(f"Task {notice.task_id}: a damaged line of {notice.stream} was set aside.")
    for task_id, name in report.damaged_artifacts:
        terminal.warn(f"Task {task_id}: the artifact {name} is damaged and was copied as it is.")
    if terminal.json:
        terminal.document(
            {
                "dryRun": report.dry_run,
                "tasks": report.tasks,
                "copied": list(report.copied),
                "already": list(report.already),
                "skipped": {left.task_id: left.reason for left in report.skipped},
                "failed": {left.task_id: left.reason for left in report.failed},
                "lines": report.lines,
                "artifacts": report.artifacts,
                "complete": report.complete,
                "memory": None if memory is None else {"sent": memory.given, "taken": memory.taken},
            }
        )
        return
    would = "would be copied" if report.dry_run else "copied"
    terminal.line(
        f"Of {count_text(report.tasks)} tasks {count_text(len(report.copied))} {would}, {len(report.already)} already there, "
        f"{len(report.skipped)} in use or different there, {len(report.failed)} failed."
    )
    if memory is not None:
        terminal.line(
            f"Of your memory {count_text(memory.given)} files were sent to the database, {count_text(memory.taken)} taken from it."
        )
    if not report.complete and not report.dry_run:
        terminal.note("When they are no longer in use, run the same command again to copy the rest.")


COMMAND = CliCommand(
    help="copy all tasks to a database, or back",
    arguments=_arguments,
    run=_run,
    details="The SQLite database is tasks.db in the storage folder; PostgreSQL is HdspAgentApp.storage_url, else\n"
    "$HDSP_AGENT_STORAGE_URL. Each copy is verified, and the source is not changed.\n"
    "Artifacts are copied, too, to or from the object store if artifact_store_url is set. To move them back to the\n"
    "database, stop your servers and use --artifacts.\n"
    "Your memory is in both after copying to or from PostgreSQL; between files and SQLite it stays where it is.\n"
    "The exit code is 3 if a task was in use and is missing, or if an artifact could not be moved.",
)
