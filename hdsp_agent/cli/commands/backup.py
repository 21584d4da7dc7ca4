"""``hdsp-agent backup``: makes a backup, or lists those there are."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from .._amounts import bytes_text, count_text, time_text
from .._columns import table
from .._command import CliCommand, ExitCode
from .._home import existing
from .._options import positive

if TYPE_CHECKING:
    from ...persistence import BackupInfo
    from .._terminal import Terminal

__all__ = ["COMMAND"]


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--to", metavar="FOLDER", type=Path, help="where backups are kept (default: backups in the storage folder)"
    )
    parser.add_argument("--generations", metavar="N", type=positive, default=7, help="keep the newest N (default: 7)")
    parser.add_argument("--list", action="store_true", help="only list backups")


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    from ...persistence import back_up, backups

    home = existing(terminal.home)
    target = home / "backups" if options.to is None else options.to.expanduser().absolute()
    if options.list:
        _list(terminal, await asyncio.to_thread(backups, target))
        return ExitCode.OK
    report = await back_up(home, target, generations=options.generations, progress=terminal.progress)
    if terminal.backend == "postgres":
        terminal.warn("Conversations are in PostgreSQL, so this backup has none. Back them up with pg_dump.")
    # What was left out has been warned of as it was met.
    made = report.backup
    if terminal.json:
        terminal.document(
            {
                **_document(made),
                "files": report.files,
                "bytes": report.bytes,
                "removed": [str(path) for path in report.removed],
                "leftOut": report.left_out,
            }
        )
    else:
        terminal.line(str(made.path))
        terminal.note(
            f"{count_text(made.tasks)} tasks, {count_text(report.files)} files, {bytes_text(report.bytes)} in "
            f"{bytes_text(made.size)}; {len(report.removed)} old backups removed. Keys are never in a backup."
        )
    return ExitCode.FOUND if report.left_out else ExitCode.OK


def _list(terminal: Terminal, found: list[BackupInfo]) -> None:
    if terminal.json:
        terminal.document({"backups": [_document(info) for info in found]})
        return
    from ...persistence import parse_iso_time

    rows = [
        (time_text(parse_iso_time(info.created_at)), count_text(info.tasks), bytes_text(info.size), str(info.path))
        for info in found
    ]
    terminal.lines(table(("MADE", "TASKS", "SIZE", "ARCHIVE"), rows, right=frozenset({1, 2})))


def _document(info: BackupInfo) -> dict[str, object]:
    return {
        "path": str(info.path),
        "generation": info.generation,
        "createdAt": info.created_at,
        "tasks": info.tasks,
        "size": info.size,
    }


COMMAND = CliCommand(
    help="make a backup, or list backups",
    arguments=_arguments,
    run=_run,
    details="The server may keep running. The new backup is verified before older ones are deleted. The exit code is 3 if\n"
    "a file could not be read and is missing.",
)
