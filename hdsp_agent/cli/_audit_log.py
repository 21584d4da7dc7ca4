"""What is done with conversations on the command line, as the audit log has it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import HdspAgentError
from ._home import operator_traits

if TYPE_CHECKING:
    from ..persistence import AuditAction
    from ._terminal import Terminal

__all__ = ["record_access"]

_USUAL = "audit.jsonl"


def record_access(terminal: Terminal, action: AuditAction, command: str, conversation: str | None = None) -> None:
    """Whoever runs the command does this. What cannot be recorded is warned of."""
    name = dict(operator_traits()).get("audit_log", _USUAL)
    if not isinstance(name, str) or not name:
        return
    from .._person import running_person
    from ..persistence import AuditEntry, AuditLog

    try:
        log = AuditLog(terminal.home / Path(name).expanduser())
        log.append([AuditEntry.now(running_person(), action, f"cli {command}", conversation)])
    except HdspAgentError as error:
        terminal.warn(f"This access was not recorded: {error.message}")
