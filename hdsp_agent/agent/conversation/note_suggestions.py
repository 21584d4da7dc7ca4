"""What becomes of a note that the agent suggested with its result, when the person decides."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from ...errors import Conflict, NotFound
from ...messages import NoteSuggestion, TaskId
from .recorded_messages import message_shown, task_to_change

if TYPE_CHECKING:
    from ...memory import TaskMemory
    from ..task.subtasks import Subtasks
    from ..task.task import Task
    from ..task.task_pool import TaskPool

__all__ = ["NoteSuggestions"]

_ANSWERED_BEFORE = "This note was already kept or dismissed."


class NoteSuggestions:
    """What the person decides."""

    def __init__(self, tasks: TaskPool, subtasks: Subtasks) -> None:
        self._tasks = tasks
        self._subtasks = subtasks
        self._lock = asyncio.Lock()

    async def keep(self, task_id: TaskId, ts: int, text: str | None = None) -> None:
        """Remember what the message ``ts`` suggests, in the words of ``text`` if there are any.

        Raises NotFound, Conflict if it was decided before, and what keeps the note from being kept.
        """
        await self._decide(task_id, ts, "kept", text)

    async def dismiss(self, task_id: TaskId, ts: int) -> None:
        """Keep nothing. Raises NotFound, Conflict."""
        await self._decide(task_id, ts, "dismissed", None)

    async def _decide(self, task_id: TaskId, ts: int, decision: Literal["kept", "dismissed"], text: str | None) -> None:
        # Two tabs may decide at once: the second finds it decided.
        async with self._lock, task_to_change(self._tasks, self._subtasks, task_id) as task:
            await _decide_in(task, ts, decision, text)


async def _decide_in(task: Task, ts: int, decision: Literal["kept", "dismissed"], text: str | None) -> None:
    state = task.state
    message = await message_shown(state, ts)
    suggestion = message.note_suggestion
    if suggestion is None:
        raise NotFound("This message does not suggest a note.", ts=ts)
    if suggestion.decision is not None:
        if suggestion.decision == decision:
            return
        raise Conflict(_ANSWERED_BEFORE, ts=ts)
    kept = suggestion.text
    if decision == "kept":
        if state.memory is None or not state.settings.memory_enabled:
            raise Conflict("Memory is turned off. Turn it on in the settings first.")
        kept = await _remembered(state.memory, text or suggestion.text, suggestion, task.task_id)
    decided = suggestion.model_copy(update={"text": kept, "decision": decision})
    await state.conversation.update(message.model_copy(update={"note_suggestion": decided}), durable=True)


async def _remembered(memory: TaskMemory, text: str, suggestion: NoteSuggestion, task_id: TaskId) -> str:
    today = datetime.now().astimezone().date()
    note = await asyncio.to_thread(lambda: memory.remember(text, suggestion.scope, day=today, task=str(task_id)))
    return note.text
