"""What a person thinks of the model's answers: kept in the conversation's own log, and told to nobody in words."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, Literal

from ...errors import InvalidInput
from ...events import FeedbackEvent
from ...messages import MessageFeedback, TaskId
from .recorded_messages import message_shown, task_to_change

if TYPE_CHECKING:
    from ..task.subtasks import Subtasks
    from ..task.task_pool import TaskPool

__all__ = ["AnswerFeedback"]

_ANSWERS: Final = frozenset({"text", "completion_result"})


class AnswerFeedback:
    """Ratings of answers, which the person may change or take back."""

    def __init__(self, tasks: TaskPool, subtasks: Subtasks) -> None:
        self._tasks = tasks
        self._subtasks = subtasks
        self._lock = asyncio.Lock()

    async def rate(
        self, task_id: TaskId, ts: int, rating: Literal["up", "down"] | None, reason: str | None = None
    ) -> None:
        """Keep what the person thinks of the answer ``ts``; no rating takes it back. Raises NotFound, InvalidInput."""
        async with self._lock, task_to_change(self._tasks, self._subtasks, task_id) as task:
            conversation = task.state.conversation
            message = await message_shown(task.state, ts)
            if message.say not in _ANSWERS:
                raise InvalidInput("Only an answer from the model can be rated.", field="messageTs", ts=ts)
            feedback = None
            if rating is not None:
                words = " ".join((reason or "").split())
                feedback = MessageFeedback(rating=rating, reason=await conversation.mask(words) if words else None)
            if message.feedback == feedback:
                return
            await conversation.update(message.model_copy(update={"feedback": feedback}), durable=True)
            has_reason = feedback is not None and feedback.reason is not None
            self._tasks.events.emit_feedback(FeedbackEvent(task_id, rating or "none", has_reason))
