"""``hdsp-agent hub``: the service of a JupyterHub that keeps keys, passes requests on to models, counts and limits."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .._command import CliCommand, ExitCode

if TYPE_CHECKING:
    from ...hub import HubPolicies
    from .._terminal import Terminal

__all__ = ["COMMAND"]

logger = logging.getLogger(__name__)

_PARENT_SECONDS: Final = 1.0


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--policies",
        metavar="FILE",
        default="hub-policies.yml",
        help="the file of policies (default: hub-policies.yml)",
    )
    parser.add_argument(
        "--data", metavar="FOLDER", help="where use and the audit log are kept (default: hub in the storage folder)"
    )
    parser.add_argument("--check", action="store_true", help="only check the file of policies and its keys")


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    path = _absolute(options.policies)
    if options.check:
        return _check(terminal, path)
    return await _serve(terminal, path, _absolute(options.data) if options.data else terminal.home / "hub")


async def _serve(terminal: Terminal, policies: Path, folder: Path) -> ExitCode:
    from ...hub import HubAddresses, HubServer, HubService

    parent = os.getppid()
    service = HubService(HubAddresses.of(os.environ), policies, folder)
    server = HubServer(service)
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    watch = asyncio.create_task(_follow(parent, ended)) if service.addresses.is_managed else None
    # Windows has none of these, and there the service ends with its process.
    with suppress(NotImplementedError):
        for name in ("SIGTERM", "SIGINT"):
            loop.add_signal_handler(getattr(signal, name), ended.set)
        loop.add_signal_handler(signal.SIGHUP, lambda: service.held.begin(service.policies.read_again()))
    try:
        await server.start()
        terminal.line(f"The hub service listens on {server.url}")
        terminal.flush()
        await ended.wait()
    finally:
        if watch is not None:
            watch.cancel()
            await asyncio.wait([watch])
        await server.stop()
    return ExitCode.OK


async def _follow(parent: int, ended: asyncio.Event) -> None:
    """End with JupyterHub. If it was killed, it stopped nothing, and the next one starts a service of its own."""
    while os.getppid() == parent:  # noqa: ASYNC110 -- nothing tells when another process ends
        await asyncio.sleep(_PARENT_SECONDS)
    logger.warning("JupyterHub ended without stopping this service, which ends as well.")
    ended.set()


def _absolute(name: str) -> Path:
    return Path(os.path.abspath(os.path.expanduser(name)))


def _check(terminal: Terminal, path: Path) -> ExitCode:
    from ...hub import PolicyFileError, load_policies

    try:
        policies = load_policies(path).policies
    except PolicyFileError as error:
        if terminal.json:
            terminal.document({"ok": False, "problems": [problem.__dict__ for problem in error.problems]})
        else:
            terminal.lines(f"{path}: {problem}" for problem in error.problems)
        return ExitCode.FOUND
    if terminal.json:
        terminal.document({"ok": True, "problems": []})
    else:
        terminal.lines(_summary(path, policies))
    return ExitCode.OK


def _summary(path: Path, policies: HubPolicies) -> list[str]:
    lines = [f"{path} is valid."]
    for name, policy in policies.named():
        models = [model for _, model in policies.models_of(policy)]
        budgets = (*policy.budgets, *policies.budgets)
        lines.append(f"  {name}: {len(models)} models ({', '.join(models)}), {len(budgets)} budgets")
    return lines


COMMAND: Final = CliCommand(
    help="run the service of a JupyterHub that keeps keys and limits use",
    run=_run,
    arguments=_arguments,
    details="JupyterHub starts it and gives it its address and token. It reads the file of policies again when the file\n"
    "changes, and on SIGHUP. With --check the exit code is 3 if the file has mistakes.",
)
