"""``hdsp-agent export``: a conversation to read, to import elsewhere, or to run."""

from __future__ import annotations

import codecs
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from .._audit_log import record_access
from .._command import CliCommand, ExitCode, UsageError
from .._stores import find_task, store_to_read

if TYPE_CHECKING:
    from ...persistence import ExportFormat, TaskReader
    from .._terminal import Terminal

__all__ = ["COMMAND"]


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--uuid", metavar="U", required=True, help="the task's id, or its first 8 characters or more")
    parser.add_argument("--format", choices=("markdown", "json", "roo", "notebook"), required=True)
    parser.add_argument(
        "--to", metavar="PATH", type=Path, help="a file or folder to write to (default: standard output)"
    )
    parser.add_argument("--overwrite", action="store_true", help="overwrite what is at PATH")


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    from ...persistence import export_task

    format: ExportFormat = options.format
    if options.to is None and format == "roo":
        raise UsageError("Roo Code's layout is a folder. Use --to FOLDER.", field="to")
    async with store_to_read(terminal.home, terminal.backend) as store:
        reader = await find_task(store, options.uuid)
        record_access(terminal, "export", "export", reader.task_id)
        if options.to is None:
            await _print(terminal, reader, format)
            return ExitCode.OK
        target = options.to.expanduser().absolute()
        made = await export_task(reader, format, target, overwrite=options.overwrite)
    if terminal.json:
        terminal.document({"uuid": reader.task_id, "format": format, "path": str(made)})
    else:
        terminal.line(str(made))
    return ExitCode.OK


async def _print(terminal: Terminal, reader: TaskReader, format: ExportFormat) -> None:
    from ...persistence import render_task

    assert format != "roo"
    if terminal.is_seen:
        decoder = codecs.getincrementaldecoder("utf-8")()
        async for chunk in render_task(reader, format):
            terminal.text(decoder.decode(chunk))
        return
    sys.stdout.flush()
    async for chunk in render_task(reader, format):
        # As it is, in UTF-8: it is a file's content, whatever the encoding of the terminal.
        sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()


COMMAND = CliCommand(
    help="export a conversation as Markdown, JSON, a notebook, or in Roo Code's layout",
    arguments=_arguments,
    run=_run,
    details="It prints the path of the file. Nothing is overwritten without --overwrite.",
)
