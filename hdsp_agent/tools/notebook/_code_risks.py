"""What running code risks: besides Python there may be shell commands in a cell, and installations.

Not a sandbox: Python can do anything without either. It holds what a cell says plainly to the rules for the same words
in a terminal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...messages import ApprovalFlag
from .._action import Risk
from .cell_code import CodeFindings, read_cell

__all__ = ["CodeRisks", "risks_of"]

_SHELLS: Final = frozenset({"bash", "sh", "shell"})
_OTHER_SHELLS: Final = frozenset(
    {"cmd", "csh", "dash", "fish", "ksh", "nu", "nushell", "powershell", "pwsh", "tcsh", "xonsh", "zsh"}
)
"""Their grammar is not the one that commands are judged by."""


@dataclass(frozen=True)
class CodeRisks:
    """What code risks, and the commands in it, for the rules on commands."""

    risks: frozenset[Risk]
    command: str | None = None
    """What it has a shell do, a command a line; with one that no rule allows where a part shows only when it runs."""
    same_as: str | None = None
    """Commands that would do what it does by magics or from Python: rules that forbid them forbid it."""
    writes: tuple[str, ...] = ()
    """Files that it writes by magics."""
    flags: frozenset[ApprovalFlag] = frozenset()


def risks_of(code: str, language: str | None) -> CodeRisks:
    """What running this risks in a kernel of this language; None counts as Python. May take seconds."""
    name = (language or "python").lower()
    if name in _SHELLS | _OTHER_SHELLS:
        found = CodeFindings()
        # A shell that a person could type into replaces ! by what was run before.
        if name in _OTHER_SHELLS or "!" in code:
            found.unknown(code)
        else:
            found.shell(code, interpolated=False)
        return _told(found, is_shell=True)
    if not name.startswith(("python", "ipython", "xpython")):
        return CodeRisks(frozenset({"run_code"}))
    return _told(read_cell(code))


def _told(found: CodeFindings, *, is_shell: bool = False) -> CodeRisks:
    command = found.command
    risks: set[Risk] = {"run_code"}
    flags = set(found.flags)
    if command is not None or is_shell:
        risks.add("shell")
    if found.installs:
        risks.add("install")
        flags.add("installs")
    if found.unclear:
        flags.add("hidden_parts")
    return CodeRisks(frozenset(risks), command, found.same_as, tuple(found.written), frozenset(flags))
