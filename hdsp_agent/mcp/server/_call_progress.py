"""Tells a program what its call is doing, often enough that it keeps waiting."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, Protocol

from ..._timeouts import wait_at_most

__all__ = ["HEARTBEAT_SECONDS", "CallClock", "CallProgress", "SystemClock"]

HEARTBEAT_SECONDS: Final = 15.0
"""Programs give up a call that says nothing for a minute or five; proxies close what is silent for less."""
_APART_SECONDS: Final = 0.5
_BEGINNING: Final = "Working on it"


class CallClock(Protocol):
    """What progress needs of the time."""

    def now(self) -> float:
        """Seconds that never go back."""

    async def wait(self, event: asyncio.Event, seconds: float) -> None:
        """Until it is set, but no longer than this."""


class SystemClock:
    """The machine's."""

    def now(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    async def wait(self, event: asyncio.Event, seconds: float) -> None:
        """Until it is set, but no longer than this."""
        with suppress(TimeoutError):
            await wait_at_most(event.wait(), seconds)


class CallProgress:
    """One call's. News goes out at once, though not twice in half a second; without news, the newest is said again."""

    def __init__(self, send: Callable[[float, str], Awaitable[None]], clock: CallClock) -> None:
        self._send = send
        self._clock = clock
        self._news = asyncio.Event()
        self._text = _BEGINNING

    async def tell(self, text: str) -> None:
        """Take news; whoever tells them never waits for the program to read."""
        if text != self._text:
            self._text = text
            self._news.set()

    async def run(self) -> None:
        """Report until cancelled."""
        count, silence = 0, HEARTBEAT_SECONDS
        while True:
            await self._clock.wait(self._news, silence)
            self._news.clear()
            count += 1
            # The protocol wants a number that grows; how much is left nobody knows.
            await self._send(float(count), self._text)
            await self._clock.wait(asyncio.Event(), _APART_SECONDS)
            silence = HEARTBEAT_SECONDS - _APART_SECONDS
