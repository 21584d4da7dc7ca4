"""``hdsp-agent create-tables``: makes PostgreSQL ready for conversations, as its administrator does once."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from .._command import CliCommand, ExitCode
from .._home import find_storage_url

if TYPE_CHECKING:
    from .._terminal import Terminal

__all__ = ["COMMAND"]


def _arguments(parser: ArgumentParser) -> None:
    """It takes none."""


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    from ...persistence import create_tables

    database = await asyncio.to_thread(create_tables, find_storage_url())
    if terminal.json:
        terminal.document({"database": database})
    else:
        terminal.line(f"{database[0].upper()}{database[1:]} is ready for conversations.")
    return ExitCode.OK


COMMAND = CliCommand(
    help="create or update the tables for conversations in PostgreSQL",
    arguments=_arguments,
    run=_run,
    details="It uses the database of HdspAgentApp.storage_url, else of $HDSP_AGENT_STORAGE_URL. Run it as a role that may\n"
    "create a schema there, after each update of HDSP Agent. A server does the same at its start, if its own role may.",
)
