"""The calls that a server is working on: their time limits, their progress, and the questions it asks meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mcp_types import ElicitRequestParams, ElicitResult

__all__ = ["ActiveCall", "ActiveCalls", "Elicit", "Progressed"]

Progressed = Callable[[float, float | None, str | None], Awaitable[None]]
"""Told how far a call has come."""
Elicit = Callable[["ElicitRequestParams"], Awaitable["ElicitResult"]]
"""Asks the person what the server wants to know."""

_MOST_QUESTIONS: Final = 10

_current: ContextVar[ActiveCall | None] = ContextVar("mcp_call", default=None)


class ActiveCall:
    """One of them."""

    def __init__(self, seconds: float, progressed: Progressed | None, elicit: Elicit | None) -> None:
        self._seconds = seconds
        self._progressed = progressed
        self._elicit = elicit
        self._limit: asyncio.Timeout | None = None
        self._asking: set[asyncio.Task[ElicitResult]] = set()
        self._questions = 0

    @asynccontextmanager
    async def limited(self) -> AsyncIterator[None]:
        """Raises TimeoutError when nothing was heard of it for too long. Its questions end with it."""
        try:
            async with asyncio.timeout(self._seconds) as self._limit:
                yield
        finally:
            for task in self._asking:
                task.cancel()

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """It is alive."""
        self._reset()
        if self._progressed is not None:
            await self._progressed(progress, total, message)

    async def ask(self, params: ElicitRequestParams) -> ElicitResult:
        """Let the person answer; that takes as long as it takes."""
        from mcp_types import ElicitResult

        self._questions += 1
        if self._elicit is None or self._questions > _MOST_QUESTIONS:
            return ElicitResult(action="decline")
        task = asyncio.ensure_future(self._elicit(params))
        self._asking.add(task)
        self._reset()
        try:
            return await task
        except asyncio.CancelledError:
            waiting = asyncio.current_task()
            if waiting is not None and waiting.cancelling():
                task.cancel()
                raise
            return ElicitResult(action="cancel")
        finally:
            self._asking.discard(task)
            self._reset()

    def _reset(self) -> None:
        """Its time begins anew, or stands still while a person is asked."""
        limit = self._limit
        if limit is None or limit.expired():
            return
        # It may have ended meanwhile.
        with suppress(RuntimeError):
            limit.reschedule(None if self._asking else asyncio.get_running_loop().time() + self._seconds)


class ActiveCalls:
    """All of one connection."""

    def __init__(self) -> None:
        self._calls: set[ActiveCall] = set()

    @asynccontextmanager
    async def running(self, call: ActiveCall) -> AsyncIterator[None]:
        """What the server asks in here is about this call."""
        token = _current.set(call)
        self._calls.add(call)
        try:
            async with call.limited():
                yield
        finally:
            self._calls.discard(call)
            _current.reset(token)

    def asking(self) -> ActiveCall | None:
        """The call that a question of the server belongs to; None where that cannot be told."""
        current = _current.get()
        if current in self._calls:
            return current
        return next(iter(self._calls)) if len(self._calls) == 1 else None
