"""Taking the first suggested answer to a question after a while, for those who set that."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from pydantic import ValidationError

from ...messages import ClineAsk, FollowUpData
from .asks import AskNotOpen, GivenAnswer

if TYPE_CHECKING:
    from ..task.task_state import TaskState

__all__ = ["AutoAnswer", "suggested_answers"]


class AutoAnswer:
    """Answers one task's follow-up questions when nobody else does in time. Never answers anything else."""

    def __init__(self, state: TaskState, answer: Callable[[int, GivenAnswer], Awaitable[object]]) -> None:
        self._state = state
        self._answer = answer
        self._timer: asyncio.Task[None] | None = None
        self._at: int | None = None

    @property
    def at(self) -> int | None:
        """When the question on screen is answered, in milliseconds since 1970; None if it is not."""
        return self._at if self._state.status == "interactive" else None

    def cancel(self) -> None:
        """The person answers themselves, in their own time."""
        if self._timer is not None:
            self._timer.cancel()
        self._at = None

    @asynccontextmanager
    async def watching(self, ask: ClineAsk, text: str | None) -> AsyncIterator[None]:
        """While this question is asked, the time runs, if the person wants that and an answer is suggested."""
        settings = self._state.settings
        wanted = settings.auto_approval_enabled and settings.always_allow_followup_questions
        suggestion = next(iter(suggested_answers(text)), None) if wanted and ask == "followup" else None
        seconds = settings.followup_auto_approve_timeout_ms / 1000
        if suggestion is None or seconds <= 0:
            yield
            return
        self._at = int((time.time() + seconds) * 1000)
        timer = self._timer = asyncio.create_task(self._answer_after(seconds, suggestion))
        try:
            yield
        finally:
            self._timer = self._at = None
            timer.cancel()
            await asyncio.wait({timer})

    async def _answer_after(self, seconds: float, suggestion: str) -> None:
        await self._state.services.sleep(seconds)
        asks = self._state.dialogue.asks
        await asks.any_open(1.0)
        question = asks.newest("followup")
        if question is None:
            return
        try:
            await self._answer(question.ts, GivenAnswer("messageResponse", suggestion))
        except AskNotOpen:
            # The person was quicker.
            return


def suggested_answers(question: str | None) -> list[str]:
    """The answers that the model suggests to a follow-up question, the likeliest first."""
    try:
        data = FollowUpData.model_validate_json(question or "")
    except ValidationError:
        return []
    return [one.answer for one in data.suggest or ()]
