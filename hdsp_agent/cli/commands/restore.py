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
    parser.add_argument("--overwrite", action="store_true", help="put aside what is there, and take the backup instead")


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    from ...persistence import restore_backup

    archive: Path = options.archive.expanduser().absolute()
    if not await asyncio.to_thread(archive.is_file):
        raise UsageError(
            f"There is no file {archive} to restore. `hdsp-agent backup --list` shows the backups there are."
        )
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
        f"{count_text(report.tasks)} tasks, {count_text(report.files)} files, {bytes_text(report.bytes)} are in {terminal.home}."
    )
    if report.aside is not None:
        terminal.line(f"What was there before is in {report.aside}; delete it when nothing of it is missed.")
    return ExitCode.OK


COMMAND = CliCommand(
    help="put a backup in place",
    arguments=_arguments,
    run=_run,
    details="Stop the server first. A storage folder that has something in it is left alone unless --overwrite is given.\n"
    "An interrupted restore is finished by the same command or by hdsp-agent doctor --repair.",
)
