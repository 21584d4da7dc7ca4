"""Something done in the background for as long as the server runs: some time after the start, then again and again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._timeouts import wait_at_most
from ..errors import HdspAgentError

if TYPE_CHECKING:
    from ._bad_input_log import Log

__all__ = ["Rounds", "Times"]


@dataclass(frozen=True)
class Times:
    """When the rounds are."""

    first_after_seconds: float
    """A server that starts has better things to do."""
    every_seconds: float
    after_failure_seconds: float | None = None
    """Where it is tried again sooner than that."""


class Rounds:
    """Calls ``look`` from ``start`` to ``stop``. What fails is told with ``failure`` before it, and tried again."""

    def __init__(self, name: str, look: Callable[[], Awaitable[None]], times: Times, *, failure: str, log: Log) -> None:
        self._name = name
        self._look = look
        self._times = times
        self._failure = failure
        self._log = log
        self._task: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()

    def start(self) -> None:
        """Begin the rounds."""
        self._task = asyncio.create_task(self._go_round(), name=f"hdsp-agent {self._name}")

    def hurry(self) -> None:
        """Let the next round begin once this one is over; the first waits all the same."""
        self._hurry.set()

    async def stop(self) -> None:
        """End the rounds; one that is under way is cancelled."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _go_round(self) -> None:
        times = self._times
        await asyncio.sleep(times.first_after_seconds)
        while True:
            self._hurry.clear()
            try:
                await self._look()
                wait = times.every_seconds
            except Exception as error:  # noqa: BLE001 -- held in a task nobody awaits, all later rounds would end unseen
                if isinstance(error, HdspAgentError):
                    self._log.warning("%s; trying again later: %s", self._failure, error)
                else:
                    self._log.exception("%s; trying again later", self._failure)
                wait = times.after_failure_seconds or times.every_seconds
            with suppress(TimeoutError):
                await wait_at_most(self._hurry.wait(), wait)
