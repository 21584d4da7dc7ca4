"""What programs outside do with conversations, as the audit log has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..messages import TaskCommand, TaskEvent
from ..persistence import AuditAction

if TYPE_CHECKING:
    from ..agent import IpcCommandSession
    from ..events import Emitter
    from .audit import Audit
    from .running_agent import RunningAgent

__all__ = ["COMMANDS", "AuditedPrograms"]

COMMANDS: Final[dict[str, AuditAction]] = {
    "StartNewTask": "begin",
    **dict.fromkeys(
        ("AnswerAsk", "CancelTask", "CloseTask", "DeleteQueuedMessage", "ResumeTask", "SendMessage"), "change"
    ),
}
"""Of their commands those that begin or change a conversation."""


class AuditedPrograms:
    """The agent as programs outside reach it. They run under the account of the ``person`` whose server it is.

    A program hears the events of every conversation, so connecting is recorded as reading them.
    """

    def __init__(self, agent: RunningAgent, audit: Audit, person: str) -> None:
        self._agent = agent
        self._audit = audit
        self._person = person

    @property
    def events(self) -> Emitter:
        """What happens to tasks."""
        return self._agent.events

    def session(self) -> _AuditedCommands:
        """Whoever obeys one program."""
        self._audit.record(self._person, "read", "ipc connect")
        return _AuditedCommands(self._agent.session(), self._audit, self._person)


class _AuditedCommands:
    def __init__(self, commands: IpcCommandSession, audit: Audit, person: str) -> None:
        self._commands = commands
        self._audit = audit
        self._person = person

    @property
    def task(self) -> str | None:
        return self._commands.task

    async def command(self, command: TaskCommand) -> TaskEvent | None:
        answer = await self._commands.command(command)
        if (action := COMMANDS.get(command.command_name)) is not None:
            self._audit.record(self._person, action, f"ipc {command.command_name}", self.task)
        return answer
