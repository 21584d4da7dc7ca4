"""``hdsp-agent restore``: puts a backup in the place of the storage folder's content."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from .._amounts import bytes_text, count_text
from .._command import CliCommand, ExitCode, UsageError

if TYPE_CHECKING:
    from .._terminal import Terminal

__all__ = ["COMMAND"]


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("archive", metavar="ARCHIVE", type=Path, help="a backup made with hdsp-agent backup")
    parser.add_argument("--overwrite", action="store_true", help="set aside what is there, and use the backup")


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    from ...persistence import restore_backup

    archive: Path = options.archive.expanduser().absolute()
    if not await asyncio.to_thread(archive.is_file):
        raise UsageError(f"There is no file {archive} to restore. To list backups, run hdsp-agent backup --list.")
    report = await restore_backup(archive, terminal.home, overwrite=options.overwrite, progress=terminal.progress)
    if terminal.json:
        terminal.document(
            {
                "home": str(terminal.home),
                "createdAt": report.created_at,
                "tasks": report.tasks,
                "files": report.files,
                "bytes": report.bytes,
                "aside": None if report.aside is None else str(report.aside),
                "replaced": report.replaced,
            }
        )
        return ExitCode.OK
    terminal.line(
        f"{count_text(report.tasks)} tasks, {count_text(report.files)} files, {bytes_text(report.bytes)} restored to {terminal.home}."
    )
    if report.aside is not None:
        terminal.line(f"What was there before is in {report.aside}; delete it when you no longer need it.")
    return ExitCode.OK


COMMAND = CliCommand(
    help="restore a backup",
    arguments=_arguments,
    run=_run,
    details="Stop the server first. A storage folder that is not empty is not changed without --overwrite. To finish an\n"
    "interrupted restore, run the same command again, or hdsp-agent doctor --repair.",
)
