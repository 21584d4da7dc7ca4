"""``hdsp-agent import``: brings in conversations of Roo Code, Cline and Kilo Code, and of our own exports."""

from __future__ import annotations

import asyncio
import os
from argparse import ArgumentParser, Namespace
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .._amounts import count_text
from .._columns import one_line
from .._command import CliCommand, ExitCode
from .._stores import history, opened_store, store_to_read

if TYPE_CHECKING:
    from ...config import TrustedFolders
    from ...persistence import HistoryIndex, ImportFinding, Masker, TaskImportReport, TaskStore
    from .._terminal import Terminal

__all__ = ["COMMAND"]

_TOLD: Final = 20


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "source", metavar="FOLDER", type=Path,
        help="a globalStorage folder, its tasks folder, one task's folder, or a file from hdsp-agent export --format json",
    )  # fmt: skip
    parser.add_argument("--dry-run", action="store_true", help="only show what would be imported")
    parser.add_argument("--user", metavar="NAME", help="whose tasks they are (default: the server's own user)")
    parser.add_argument("--no-masking", action="store_true", help="do not mask secrets and addresses")


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    from ...config import TrustedFolders
    from ...persistence import import_tasks
    from .._operator_policy import operator_policy

    policy = operator_policy()
    may_work_in = _MayWorkIn(TrustedFolders(terminal.home, lambda: policy))
    source: Path = options.source.expanduser().absolute()
    masker = None if options.no_masking else await asyncio.to_thread(_masker, terminal.home)
    async with AsyncExitStack() as stack:
        store: TaskStore
        index: HistoryIndex | None = None
        if options.dry_run:
            store = await stack.enter_async_context(store_to_read(terminal.home, terminal.backend, must_exist=False))
        else:
            store = await stack.enter_async_context(opened_store(terminal.home, terminal.backend))
            index = await stack.enter_async_context(history(terminal))
        report = await import_tasks(
            source,
            store,
            index,
            masker=masker,
            dry_run=options.dry_run,
            user=options.user,
            progress=terminal.progress,
            may_work_in=may_work_in,
        )
    _tell(terminal, report, source)
    return ExitCode.FAILED if report.count("failed") else ExitCode.FOUND if report.problems else ExitCode.OK


class _MayWorkIn:
    """The folder this runs in and what lies in it, and the folders that the person trusts."""

    def __init__(self, trusted: TrustedFolders) -> None:
        self._trusted = trusted
        self._here = Path(os.path.realpath("."))

    def __call__(self, folder: Path) -> bool:
        return self._here in (folder, *folder.parents) or self._trusted.standing(folder).is_trusted


def _masker(home: Path) -> Masker:
    from ...persistence import Masker
    from .._storage_settings import storage_settings

    return Masker(storage_settings(home).masked_kinds)


def _tell(terminal: Terminal, report: TaskImportReport, source: Path) -> None:
    # Tasks that failed have been warned of as they were met.
    brought = [task for task in report.tasks if task.outcome != "failed"]
    problems = [finding for finding in report.findings if finding.weight == "problem"]
    problems += [problem for task in brought for problem in task.problems]
    for problem in problems[:_TOLD]:
        terminal.warn(f"{problem.path}: {problem.reason}")
    if len(problems) > _TOLD:
        terminal.warn(f"and {count_text(len(problems) - _TOLD)} more; use --json to see them")
    if terminal.json:
        terminal.document(_document(report))
        return
    for task in report.tasks:
        if task.outcome in ("imported", "would_import"):
            terminal.line(f"{task.task_id}  {one_line(task.title)[:100]}")
    if not report.tasks:
        terminal.note(f"No tasks were found in {source}.")
    left = sorted({task.left_folder for task in report.tasks if task.left_folder is not None})
    if left:
        terminal.note(
            "Some conversations worked in folders that you do not trust here. They now work in the folder of the server that "
            f"opens them: {one_line(', '.join(left[:_TOLD]))}. To keep a folder, first run hdsp-agent trust for it."
        )
    done, would = report.count("imported") + report.count("would_import"), "would be " if report.dry_run else ""
    terminal.line(
        f"Of {count_text(len(report.tasks))} tasks {count_text(done)} {would}imported, "
        f"{report.count('already_there')} already here, {report.count('empty')} empty, {report.count('failed')} failed."
    )


def _document(report: TaskImportReport) -> dict[str, object]:
    return {
        "dryRun": report.dry_run,
        "tasks": [
            {
                "source": str(task.source),
                "uuid": task.task_id,
                "outcome": task.outcome,
                "title": task.title,
                "uiMessages": task.ui_messages,
                "apiMessages": task.api_messages,
                "marks": task.marks,
                "leftFolder": task.left_folder,
                "findings": [_finding(finding) for finding in task.findings],
            }
            for task in report.tasks
        ],
        "findings": [_finding(finding) for finding in report.findings],
    }


def _finding(finding: ImportFinding) -> dict[str, object]:
    return {
        "path": str(finding.path),
        "reason": finding.reason,
        "weight": finding.weight,
        "count": finding.count,
        "place": finding.place,
    }


COMMAND = CliCommand(
    help="import conversations from Roo Code, Cline, Kilo Code, or our own exports",
    arguments=_arguments,
    run=_run,
    details="The format of FOLDER is detected, and FOLDER is not changed. Tasks that are already here are skipped, so you can\n"
    "run the same command again. The exit code is 3 if something was imported only in part.",
)
