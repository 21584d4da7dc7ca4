"""What people do with conversations over the channel and REST, as the audit log has it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from pydantic import JsonValue

from .._background_tasks import BackgroundTasks
from ..errors import HdspAgentError
from ..messages import WebviewMessage
from ..persistence import AuditAction, AuditEntry, AuditLog
from ._owner import Owner

if TYPE_CHECKING:
    from ._bad_input_log import Log

__all__ = ["ACTIONS", "Audit"]

ACTIONS: Final[dict[str, AuditAction]] = {
    **dict.fromkeys(
        (
            "showTaskWithId",
            "loadMessages",
            "getTaskWithAggregatedCosts",
            "previewConversation",
            "checkpointDiff",
            "requestProposal",
            "suggestRules",
        ),
        "read",
    ),
    "exportTaskWithId": "export",
    **dict.fromkeys(("newTask", "fixCell", "editCell", "openEmbeddedConversation"), "begin"),
    **dict.fromkeys(
        (
            "askResponse",
            "cancelTask",
            "cancelAutoApproval",
            "checkpointRestore",
            "closeConversation",
            "condenseTaskContextRequest",
            "decideNoteSuggestion",
            "deleteMessage",
            "deleteMessageConfirm",
            "editMessageConfirm",
            "editQueuedMessage",
            "favoriteTask",
            "forkTask",
            "queueMessage",
            "rateMessage",
            "redoConversation",
            "rememberTask",
            "removeQueuedMessage",
            "renameTask",
            "retryAnswer",
            "rewindTask",
            "setTaskApprovals",
            "submitEditedMessage",
            "terminalOperation",
            "undoConversation",
            "updateTodoList",
        ),
        "change",
    ),
    **dict.fromkeys(("deleteTaskWithId", "deleteMultipleTasksWithIds"), "delete"),
}
"""Of the page's messages those that read or change a conversation."""

_MOST_WAITING: Final = 10_000


class Audit:
    """Writes in the background, without holding up a request. ``on_entry`` is told of each access.

    What cannot be written is kept and tried again with the next one, and said once in the server's log.
    """

    def __init__(self, file: AuditLog | None, *, log: Log | None = None) -> None:
        self._file = file
        self._log = log or logging.getLogger(__name__)
        self._waiting: list[AuditEntry] = []
        self._writing = False
        self._failing = False
        self._held = BackgroundTasks()
        self.on_entry: Callable[[AuditEntry], None] = lambda entry: None

    def request(self, owner: Owner, message: WebviewMessage, result: JsonValue, on_screen: str | None) -> None:
        """A message of a page was acted on; one that names no conversation is about the one on screen."""
        action = ACTIONS.get(message.type)
        if action is None:
            return
        via = f"channel {message.type}"
        for conversation in _conversations(message, action, result, on_screen):
            self.record(owner, action, via, conversation)

    def record(self, owner: str, action: AuditAction, via: str, conversation: str | None = None) -> None:
        """Somebody did this."""
        if self._file is None:
            return
        entry = AuditEntry.now(owner, action, via, conversation)
        self.on_entry(entry)
        self._waiting.append(entry)
        del self._waiting[:-_MOST_WAITING]
        if not self._writing:
            self._writing = True
            self._held.begin(self._write_all(self._file))

    async def stop(self) -> None:
        """Write what is left."""
        await self._held.drain()

    async def _write_all(self, file: AuditLog) -> None:
        try:
            while entries := self._waiting:
                self._waiting = []
                try:
                    await asyncio.to_thread(file.append, entries)
                except HdspAgentError as error:
                    self._waiting = [*entries, *self._waiting]
                    if not self._failing:
                        self._log.error("Access to conversations is currently not recorded: %s", error)
                    self._failing = True
                    return
                self._failing = False
        finally:
            self._writing = False


def _conversations(
    message: WebviewMessage, action: AuditAction, result: JsonValue, on_screen: str | None
) -> list[str | None]:
    match action:
        case "begin":
            return [result if isinstance(result, str) else None]
        case "delete":
            # What goes with it is named in the answer.
            return [str(task_id) for task_id in result] if isinstance(result, list) else [message.task_id]
        case _:
            return [message.task_id or on_screen]
