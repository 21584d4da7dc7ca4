"""A scripted model that can be held before its answers, and says how many are asked of it at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

from hdsp_agent.providers import ModelEvent, ModelRequest, ScriptedModel
from hdsp_agent.providers._scripted import Turn

__all__ = ["HeldModel"]


class HeldModel(ScriptedModel):
    """Holds the answers after the first ``free`` ones until ``may_answer`` is set."""

    def __init__(self, turns: Sequence[Turn], *, free: int = 0) -> None:
        super().__init__(turns)
        self.held: asyncio.Queue[ModelRequest] = asyncio.Queue()
        """The requests that had to wait."""
        self.may_answer = asyncio.Event()
        self.at_work = 0
        self.most_at_work = 0
        self._free = free

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.at_work += 1
        self.most_at_work = max(self.most_at_work, self.at_work)
        try:
            if len(self.requests) >= self._free:
                self.held.put_nowait(request)
                await self.may_answer.wait()
            async for event in super().stream(request):
                yield event
        finally:
            self.at_work -= 1
