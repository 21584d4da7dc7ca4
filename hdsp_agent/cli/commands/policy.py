"""``hdsp-agent policy``: test which shell commands run without asking."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from .._command import CliCommand, ExitCode, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from ...agent.approval import CommandDecision
    from .._terminal import Colour, Terminal

__all__ = ["COMMAND"]

_COLOURS: Final[dict[str, Colour]] = {"approve": "green", "ask": "yellow", "deny": "red"}
_MEANINGS: Final = {"approve": "runs without asking", "ask": "asks first", "deny": "is refused"}


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("action", choices=("check",), help="check: test one command without running it")
    # Another name inside: `command` is the subcommand.
    parser.add_argument("--command", dest="shell_command", metavar="C", required=True, help="the shell command")
    parser.add_argument("--allow", metavar="W", action="append", help="commands that are allowed; may be repeated")
    parser.add_argument("--deny", metavar="W", action="append", help="commands that are denied; may be repeated")
    parser.add_argument("--workspace", metavar="FOLDER", help="where it would run (default: here)")


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    from ...agent.approval import decide_command

    allow, deny, may_install = _rules(terminal.home, options)
    decision = decide_command(
        options.shell_command, allow=allow, deny=deny, workspace=_workspace(options), allow_installs=may_install
    )
    if terminal.json:
        terminal.document(_document(decision))
    else:
        terminal.lines(_lines(terminal, decision))
    return ExitCode.OK


def _workspace(options: Namespace) -> str:
    return os.path.abspath(options.workspace or os.getcwd())


def _rules(home: Path, options: Namespace) -> tuple[Sequence[str], Sequence[str], bool]:
    """The rules given, else those of the person's settings with the operator's over them; and whether it may install."""
    if options.allow is not None or options.deny is not None:
        return options.allow or (), options.deny or (), False
    from pydantic import ValidationError

    from ...config import GlobalSettings
    from .._operator_policy import operator_policy

    file = home / "config.json"
    try:
        stored = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    except (OSError, ValueError) as error:
        raise UsageError(f"The settings in {file} cannot be read ({error}). Give the rules with --allow.") from None
    own = stored.get("globalSettings") if isinstance(stored, dict) else None
    fixed = operator_policy().forced_settings()
    values = {**(own if isinstance(own, dict) else {}), **fixed}
    names = ("allowedCommands", "deniedCommands", "alwaysAllowInstallPackages")
    try:
        settings = GlobalSettings.model_validate({name: values[name] for name in names if name in values})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            f"The settings in {file} have no valid {where}: {first['msg']}. Give the rules with --allow."
        ) from None
    return settings.allowed_commands, settings.denied_commands, settings.always_allow_install_packages


def _document(decision: CommandDecision) -> dict[str, object]:
    parts = [
        {
            "command": part.command,
            "words": list(part.words),
            "decision": part.verdict,
            "reason": part.reason,
            "rule": part.rule,
        }
        for part in decision.parts
    ]
    return {
        "decision": decision.verdict,
        "reason": decision.reason,
        "runs": decision.runs,
        "flags": list(decision.flags),
        "parts": parts,
        "installs": decision.installs,
    }


def _lines(terminal: Terminal, decision: CommandDecision) -> list[str]:
    verdict = terminal.paint(decision.verdict, _COLOURS[decision.verdict])
    lines = [f"{verdict}: it {_MEANINGS[decision.verdict]}; {decision.reason}"]
    if len(decision.parts) > 1:
        lines += [f"  {part.verdict:<8}{part.command}    ({part.reason})" for part in decision.parts]
    if decision.runs:
        lines.append(f"runs: {decision.runs}")
    return lines


COMMAND: Final = CliCommand(
    help="test which shell commands run without asking",
    run=_run,
    arguments=_arguments,
    details="A rule is the beginning of a command: 'git log' matches 'git log -5', but neither 'git logx' nor\n"
    "'git log > file'. The longest matching rule decides; a tie is denied. Without --allow and --deny, the rules in\n"
    "your settings are tested, including those that your administrator fixed.",
)
