"""``hdsp-agent mcp``: connect another agent's program to the running server, look why it does not connect, and list servers."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from .._command import CliCommand, ExitCode
from .._ending_signals import ends_by_signals
from .._mcp_servers import list_servers, servers_arguments

if TYPE_CHECKING:
    from ...mcp.connection_check import CheckStep
    from .._mcp_target import McpTarget
    from .._terminal import Terminal

__all__ = ["COMMAND"]


def _arguments(parser: ArgumentParser) -> None:
    _place(parser, default=None)
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    proxy = actions.add_parser("proxy", help="speak MCP on standard input and output (the default)", allow_abbrev=False)
    test = actions.add_parser("test", help="test the connection, and say what is wrong", allow_abbrev=False)
    servers = actions.add_parser("servers", help="list the MCP servers that our agent uses", allow_abbrev=False)
    servers_arguments(servers)
    for parser_of_one in (proxy, test):
        # What may stand after `mcp` may stand after `mcp test` too.
        _place(parser_of_one, default=argparse.SUPPRESS)
    for parser_of_one in (test, servers):
        parser_of_one.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print JSON")


def _place(parser: ArgumentParser, default: str | None) -> None:
    parser.add_argument("--folder", metavar="FOLDER", default=default, help="where the program works (default: here)")
    parser.add_argument(
        "--server", metavar="ADDRESS", default=default, help="the server's address, if several run for the folder"
    )
    # Programs start others with little of their environment.
    parser.add_argument(
        "--runtime-dir", metavar="FOLDER", default=default, help="what JUPYTER_RUNTIME_DIR is for the server"
    )


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    match options.action:
        case "test":
            return await _test(terminal, options)
        case "servers":
            return await list_servers(terminal, options)
        case _:
            return await _proxy(options)


def _target(options: Namespace) -> McpTarget:
    from .._mcp_target import find_target

    folder = Path(os.path.abspath(os.path.expanduser(options.folder or os.getcwd())))
    runtime = Path(options.runtime_dir) if options.runtime_dir is not None else None
    return find_target(folder, options.server, runtime)


async def _proxy(options: Namespace) -> ExitCode:
    from .._mcp_relay import Relay

    with _protocol_output() as output:
        turn = asyncio.Lock()

        async def write(line: bytes) -> None:
            async with turn:
                await asyncio.to_thread(_write_line, output, line)

        relay = Relay(lambda: _target(options), write)
        with ends_by_signals() as ended:
            try:
                await relay.run(_input_lines())
            except BrokenPipeError:
                # The program is gone without a word.
                return ExitCode.BROKEN_PIPE
            except asyncio.CancelledError:
                if not ended:
                    raise
                return ExitCode.INTERRUPTED
    return ExitCode.OK


def _write_line(output: BinaryIO, line: bytes) -> None:
    output.write(line + b"\n")
    output.flush()


@contextmanager
def _protocol_output() -> Iterator[BinaryIO]:
    """Standard output for the protocol alone: whatever else is printed goes to standard error."""
    sys.stdout.flush()
    number = sys.stdout.fileno()
    own = os.dup(number)
    os.dup2(sys.stderr.fileno(), number)
    try:
        with os.fdopen(os.dup(own), "wb") as output:
            yield output
    finally:
        os.dup2(own, number)
        os.close(own)


async def _input_lines() -> AsyncIterator[bytes]:
    """Lines of standard input, however long. The next is read when there is room for it."""
    from ..._daemon_calls import call_in_daemon

    # Not through sys.stdin, which the interpreter could not close while a thread reads from it; nor can this be closed then.
    lines = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    while line := await call_in_daemon(lines.readline, None):
        yield line
    lines.close()


async def _test(terminal: Terminal, options: Namespace) -> ExitCode:
    from ...errors import Unavailable
    from ...mcp.connection_check import CheckStep, check_connection

    tools: int | None = None
    try:
        target = await asyncio.to_thread(_target, options)
    except Unavailable as error:
        steps = [CheckStep("found", False, error.message)]
    else:
        steps = [CheckStep("found", True, f"This folder belongs to the Jupyter Server at {target.server}.")]
        async with target.client() as client:
            checked = await check_connection(client, target.url)
        steps, tools = [*steps, *checked.steps], checked.tools
    _tell(terminal, steps, tools)
    return ExitCode.OK if all(step.ok for step in steps) else ExitCode.FAILED


def _tell(terminal: Terminal, steps: list[CheckStep], tools: int | None) -> None:
    if terminal.json:
        terminal.document(
            {
                "ok": all(step.ok for step in steps),
                "steps": [{"step": step.step, "ok": step.ok, "message": step.message} for step in steps],
                "tools": tools,
            }
        )
        return
    for step in steps:
        mark = terminal.paint("ok", "green") if step.ok else terminal.paint("failed", "red")
        terminal.line(f"{mark:<8}{step.message}")


COMMAND: Final = CliCommand(
    help="connect Claude Code, Codex or another agent, and list the MCP servers of ours",
    run=_run,
    arguments=_arguments,
    details="Without an action it is what the other program starts: it finds the Jupyter Server of the folder and passes\n"
    "messages on. JupyterLab shows what to paste: HDSP Agent's panel, “Connect another agent…”.",
    interrupted="disconnected",
)
