"""``hdsp-agent mcp servers``: the MCP servers that the agent uses, and whether they can be connected to."""

from __future__ import annotations

import os
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ._columns import one_line
from ._command import ExitCode

if TYPE_CHECKING:
    from ..mcp.client import ServerState
    from ._terminal import Terminal

__all__ = ["list_servers", "servers_arguments"]

_SECONDS: Final = 60.0


def servers_arguments(parser: ArgumentParser) -> None:
    """What it can be told."""
    # What stands before its name counts too.
    parser.add_argument("--folder", metavar="FOLDER", default=SUPPRESS, help="the folder to work in (default: here)")
    parser.add_argument("--no-connect", action="store_true", help="only list them; start and call none")


async def list_servers(terminal: Terminal, options: Namespace) -> ExitCode:
    """Connect to each that is switched on, and say what it offers or why it cannot be used."""
    from .._person import person_of_server
    from ..agent import mcp_hub
    from ..config import ContextProxy, SecretStore
    from ._operator_policy import operator_policy

    folder = _folder(options)
    owner, policy = person_of_server(), operator_policy()
    config = ContextProxy(terminal.home, policy, SecretStore(terminal.home, policy))
    await config.start()
    hub = mcp_hub(config, folder)
    try:
        await hub.look(owner, folder)
        if not options.no_connect:
            await hub.prepare(owner, folder, _SECONDS)
        states = hub.states(owner, folder)
        if terminal.json:
            terminal.document([_document(state) for state in states])
        else:
            _tell(terminal, states, is_on=hub.is_on)
        for file in hub.files(folder):
            if file.problem is not None:
                terminal.error(file.problem)
    finally:
        await hub.stop()
        await config.stop()
    return ExitCode.FOUND if any(_problem(state) for state in states) else ExitCode.OK


def _folder(options: Namespace) -> Path:
    return Path(os.path.abspath(os.path.expanduser(options.folder or os.getcwd())))


def _tell(terminal: Terminal, states: Sequence[ServerState], *, is_on: bool) -> None:
    if not is_on:
        terminal.note("MCP servers are switched off in the settings.")
    if not states:
        terminal.note("There are no MCP servers. Add them in the settings, or in mcp.json in the storage folder.")
    for state in states:
        config = state.config
        terminal.line(
            f"{_standing(state):<14}{len(state.listing.tools):>4} tools  {one_line(config.name)} ({config.source})"
        )
        terminal.line(f"    {one_line(config.address)}")
        problem = _problem(state)
        if problem is not None:
            terminal.line(f"    {one_line(problem)}")


def _standing(state: ServerState) -> str:
    if state.is_forbidden:
        return "not allowed"
    if state.needs_approval:
        return "not approved"
    if state.is_disabled:
        return "off"
    return "disconnected" if state.connection is None else state.connection.status


def _problem(state: ServerState) -> str | None:
    """What is wrong with it."""
    if state.config.problem is not None:
        return state.config.problem
    return None if state.connection is None else state.connection.error


def _document(state: ServerState) -> dict[str, object]:
    config = state.config
    return {
        "name": config.name,
        "source": config.source,
        "transport": config.transport,
        "address": config.address,
        "status": "disconnected" if state.connection is None else state.connection.status,
        "disabled": state.is_disabled,
        "needsApproval": state.needs_approval,
        "forbidden": state.is_forbidden,
        "error": _problem(state),
        "tools": [tool.name for tool in state.listing.tools],
    }
