"""Whether a shell command may run without asking, and as what it runs then.

Every command in it must fit a rule that allows it, and nothing in it may be in doubt. One command that is denied denies
all of them, however it is wrapped. What is approved is not the text but the literal words read in it, rendered anew.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from ...messages import ApprovalFlag
from ...tools import NotPlain, PlainScript, SimpleCommand, parse_plain, render
from ._command_rules import CommandRule, read_rules
from ._command_warnings import flags_of
from ._denied_commands import commands_of, denying_rule
from ._plain_command_check import CommandPart, PlainCommandChecker, Verdict
from ._workspace_bounds import WorkspaceBounds

__all__ = ["CommandDecision", "CommandPart", "Verdict", "decide_command"]


@dataclass(frozen=True)
class CommandDecision:
    """What is decided about a whole command line."""

    verdict: Verdict
    reason: str
    parts: tuple[CommandPart, ...]
    installs: bool
    runs: str | None = None
    """The command as it runs without a person's yes; None where there is no such leave."""
    is_exact: bool = False
    """Whether the text itself cannot be read otherwise than that."""
    flags: tuple[ApprovalFlag, ...] = ()
    """What to warn a person of."""


def decide_command(
    text: str,
    *,
    allow: Iterable[str],
    deny: Iterable[str] = (),
    workspace: str | None = None,
    allow_installs: bool = False,
    allow_outside_reads: bool = False,
    may_write: Callable[[str], bool] | None = None,
) -> CommandDecision:
    """Decide about a command line by the rules on its words. Blocks: it looks at the files that the words name.

    ``may_write`` says whether redirections may write a file, by its path in the workspace; without it, none may.
    """
    allowed, denied = read_rules(allow), read_rules(deny)
    bounds = WorkspaceBounds(workspace)
    found = list(commands_of(text))
    flags = flags_of(text, found, bounds, workspace)
    refused = _refused((command for _, command in found), allowed, denied)
    installs = "installs" in flags
    if refused is not None:
        reason = f"{refused.command}: {refused.reason}"
        return CommandDecision("deny", reason, _parts(found, allowed, denied, reason), installs, flags=flags)
    judge = PlainCommandChecker(allowed, denied, bounds, workspace, allow_installs, allow_outside_reads, may_write)
    try:
        script = judge.judged(parse_plain(text))
    except NotPlain as doubt:
        reason = str(doubt)
        return CommandDecision("ask", reason, _parts(found, allowed, denied, reason), installs, flags=flags)
    parts = tuple(judge.parts)
    worst = next((part for part in parts if part.verdict == "deny"), None)
    worst = worst or next((part for part in parts if part.verdict == "ask"), None)
    if worst is not None:
        return CommandDecision(worst.verdict, f"{worst.command}: {worst.reason}", parts, installs, flags=flags)
    if sys.platform == "win32":
        return CommandDecision("ask", _NO_SHELL, parts, installs, flags=flags)
    return CommandDecision("approve", _why(parts), parts, installs, render(script), _is_exact(script), flags)


_NO_SHELL: Final = "only a shell as on Linux and macOS can be trusted to run what was judged"


def _refused(
    commands: Iterable[SimpleCommand], allow: tuple[CommandRule, ...], deny: tuple[CommandRule, ...]
) -> CommandPart | None:
    for command in commands:
        part = _part(command, allow, deny, "")
        if part.verdict == "deny":
            return part
    return None


def _parts(
    found: Iterable[tuple[object, SimpleCommand]],
    allow: tuple[CommandRule, ...],
    deny: tuple[CommandRule, ...],
    reason: str,
) -> tuple[CommandPart, ...]:
    """The commands of a line that only a person may approve."""
    return tuple(_part(command, allow, deny, reason) for _, command in found)


def _part(
    command: SimpleCommand, allow: tuple[CommandRule, ...], deny: tuple[CommandRule, ...], reason: str
) -> CommandPart:
    words = tuple(word.text for word in command.words)
    rule = denying_rule(words, allow, deny)
    if rule is not None:
        return CommandPart(command.source, words, "deny", f"the rule {rule.source!r} denies it", rule.source)
    return CommandPart(command.source, words, "ask", reason)


def _is_exact(script: PlainScript) -> bool:
    """A shell of another kind goes into a folder by its name, not by where a link leads."""
    return script.is_exact and all(command.words[0].text != "cd" for command in script.commands)


def _why(parts: tuple[CommandPart, ...]) -> str:
    if not parts:
        return "it runs nothing"
    return parts[0].reason if len(parts) == 1 else "every command in it is allowed by a rule"
