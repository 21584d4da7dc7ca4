"""``hdsp-agent trust``: trust a folder, take that back, and see what was decided."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .._columns import one_line
from .._command import CliCommand, ExitCode, UsageError

if TYPE_CHECKING:
    from ...agent.trust import FolderTrust, WorkspaceTrust
    from ...config import FolderVerdict
    from .._terminal import Terminal

__all__ = ["COMMAND"]

_VERDICTS: Final[dict[FolderVerdict, str]] = {
    "trusted": "trusted",
    "notTrusted": "not trusted",
    "undecided": "not decided",
}


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", nargs="?", type=Path, help="the folder (default: list decisions)")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--revoke", action="store_true", help="stop trusting it")
    how.add_argument("--forget", action="store_true", help="delete the decision, so that you are asked again")
    how.add_argument(
        "--show", action="store_true", help="change nothing; only show whether it is trusted and what it brings"
    )


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    from ...agent.trust import WorkspaceTrust
    from ...config import TrustedFolders
    from .._operator_policy import operator_policy

    # What counts only by a setting is listed too: the setting may change.
    trust = WorkspaceTrust(TrustedFolders(terminal.home, operator_policy), with_subfolders=lambda: True)
    if options.folder is None:
        if options.revoke or options.forget or options.show:
            raise UsageError("Name the folder.")
        return await _list(terminal, trust)
    folder = options.folder.expanduser().absolute()
    if options.show:
        found = await trust.of(folder)
    else:
        found = await trust.decide(folder, None if options.forget else not options.revoke)
    if terminal.json:
        terminal.document(_document(found))
    else:
        _tell(terminal, found)
    return ExitCode.OK


async def _list(terminal: Terminal, trust: WorkspaceTrust) -> ExitCode:
    decisions = await trust.decisions()
    if terminal.json:
        terminal.document([one.to_wire() for one in decisions])
        return ExitCode.OK
    if not decisions:
        terminal.note("You have not decided about any folder.")
    for one in decisions:
        terminal.line(f"{'trusted' if one.trusted else 'not trusted':<13}{one.decided_at}  {one_line(one.folder)}")
    return ExitCode.OK


def _document(found: FolderTrust) -> dict[str, object]:
    standing = found.standing
    return {
        "folder": str(standing.folder),
        "verdict": standing.verdict,
        "decidedBy": standing.decided_by,
        "through": None if standing.through is None else str(standing.through),
        "brings": [{"kind": one.kind, "name": one.name, "path": one.path} for one in found.brings],
    }


def _tell(terminal: Terminal, found: FolderTrust) -> None:
    standing = found.standing
    why = ""
    if standing.decided_by == "operator":
        why = " (your administrator decides)"
    elif standing.through is not None and standing.through != standing.folder:
        why = f" (through {one_line(str(standing.through))})"
    terminal.line(f"{one_line(str(standing.folder))}: {_VERDICTS[standing.verdict]}{why}")
    for one in found.brings:
        terminal.line(f"  {one.kind}  {one.name}" + (f" ({one.path})" if one.path != one.name else ""))


COMMAND: Final = CliCommand(
    help="trust a folder, or stop trusting it",
    run=_run,
    arguments=_arguments,
    details="Modes, rules, slash commands and AGENTS.md of a folder are used only after you trust the folder. Folders\n"
    "inside a trusted one are trusted too. Running servers follow your decision.",
)
