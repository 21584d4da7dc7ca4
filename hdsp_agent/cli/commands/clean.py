"""``hdsp-agent clean``: packs and deletes what is old enough, and objects that no conversation names."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser, Namespace
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import ArtifactStoreUnavailable, StorageUnavailable
from .._amounts import bytes_text, count_text
from .._columns import table
from .._command import CliCommand, ExitCode
from .._home import existing, find_artifact_store_url, find_storage_url
from .._options import at_least_zero
from .._stores import check_there, history, opened_store

if TYPE_CHECKING:
    from ...persistence import CleanReport, HistoryIndex, TaskStore
    from .._terminal import Terminal

__all__ = ["COMMAND"]


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="only show what would be done")
    parser.add_argument(
        "--compress-days", metavar="DAYS", type=at_least_zero, help="compress after DAYS without activity; 0: never"
    )
    parser.add_argument(
        "--delete-days", metavar="DAYS", type=at_least_zero, help="delete after DAYS without activity; 0: never"
    )


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    from ...persistence import RetentionRules, clean, open_store
    from .._storage_settings import storage_settings

    home = existing(terminal.home)
    check_there(home, terminal.backend)
    compress, delete = options.compress_days, options.delete_days
    if compress is None or delete is None:
        settings = await asyncio.to_thread(storage_settings, home)
        compress = settings.retention_compress_days if compress is None else compress
        delete = settings.retention_delete_days if delete is None else delete
    rules = RetentionRules(compress, delete)
    if options.dry_run:
        # Not started: a start already finishes what a crash left behind.
        store = open_store(home, terminal.backend, url=find_storage_url(), artifact_store_url=find_artifact_store_url())
        report = await clean(store, rules, dry_run=True, progress=terminal.progress)
        objects = await _clean_objects(terminal, store, dry_run=True)
        await store.stop()
    else:
        async with AsyncExitStack() as opened:
            store = await opened.enter_async_context(opened_store(home, terminal.backend))
            index = await _index(terminal, opened)
            report = await clean(store, rules, index=index, progress=terminal.progress)
            objects = await _clean_objects(terminal, store, dry_run=False)
    packed = f"compressed after {compress:g} days, " if terminal.backend == "files" else ""
    _tell(terminal, report, objects, rules_text=f"{packed}deleted after {delete:g} days")
    return ExitCode.FAILED if report.failed or objects.failed else ExitCode.OK


@dataclass(frozen=True)
class _CleanedObjects:
    """How many objects that no conversation names were deleted, or would be."""

    count: int = 0
    bytes: int = 0
    failed: bool = False


async def _clean_objects(terminal: Terminal, store: TaskStore, *, dry_run: bool) -> _CleanedObjects:
    upkeep = store.artifact_upkeep
    if upkeep is None:
        return _CleanedObjects()
    try:
        if not dry_run:
            await upkeep.delete_unused()
        unnamed = await upkeep.unnamed()
        if not dry_run:
            await upkeep.delete_unnamed(unnamed)
    except ArtifactStoreUnavailable as error:
        terminal.warn(f"Nothing was deleted from the object store: {error.message}")
        return _CleanedObjects(failed=True)
    return _CleanedObjects(len(unnamed), sum(each.size for each in unnamed))


async def _index(terminal: Terminal, opened: AsyncExitStack) -> HistoryIndex | None:
    """The history, if it can be written: where the disk is full, making room must not depend on it."""
    try:
        return await opened.enter_async_context(history(terminal))
    except StorageUnavailable as error:
        terminal.warn(f"The history was not updated; the next start updates it: {error.message}")
        return None


def _tell(terminal: Terminal, report: CleanReport, objects: _CleanedObjects, rules_text: str) -> None:
    # What failed has been warned of as it was met.
    if report.clock_doubted:
        terminal.warn(
            "The clock has jumped since the last run, so nothing is deleted. If the clock is right, run this again in an hour."
        )
    if terminal.json:
        terminal.document(_document(report, objects))
        return
    would = "would be " if report.dry_run else ""
    if report.done:
        rows = [
            (task.task_id, task.step, f"{task.age_days:.0f}", bytes_text(task.before), bytes_text(task.after))
            for task in report.done
        ]
        terminal.lines(table(("TASK", would + "DONE", "DAYS OLD", "BEFORE", "AFTER"), rows, right=frozenset({2, 3, 4})))
        terminal.line()
    terminal.line(
        f"Of {count_text(report.looked_at)} finished tasks {count_text(len(report.packed))} {would or 'were '}compressed and "
        f"{count_text(len(report.deleted))} {would or 'were '}deleted: {bytes_text(report.freed)} {would or ''}freed."
    )
    terminal.line(f"Kept though old enough: {count_text(report.exempt)} pinned or favorite, {len(report.busy)} in use.")
    if objects.count:
        terminal.line(
            f"Objects that no conversation refers to: {count_text(objects.count)} {would or 'were '}deleted, "
            f"{bytes_text(objects.bytes)}."
        )
    terminal.note(f"Rules: {rules_text} (0: never).")


def _document(report: CleanReport, objects: _CleanedObjects) -> dict[str, object]:
    return {
        "dryRun": report.dry_run,
        "lookedAt": report.looked_at,
        "done": [
            {"taskId": t.task_id, "step": t.step, "ageDays": t.age_days, "before": t.before, "after": t.after}
            for t in report.done
        ],
        "freed": report.freed,
        "exempt": report.exempt,
        "busy": list(report.busy),
        "failed": dict(report.failed),
        "forgotten": report.forgotten,
        "clockDoubted": report.clock_doubted,
        "objects": objects.count,
        "objectBytes": objects.bytes,
    }


COMMAND = CliCommand(
    help="compress and delete old tasks",
    arguments=_arguments,
    run=_run,
    details="The settings say after how many days. Your administrator can fix them in Jupyter's configuration.\n"
    "Pinned and favorite tasks and tasks in use are kept. Objects of artifact_store_url that no task refers to, such as\n"
    "those of a server that was killed, are deleted after a day.",
)
