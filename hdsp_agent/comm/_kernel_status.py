"""Telling all tabs what a kernel does, but never so often that it costs them anything."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Final, Literal

from ..messages import KernelStatusMessage

__all__ = ["KernelStatus", "KernelStatusPublisher"]

KernelStatus = Literal["unknown", "starting", "idle", "busy", "restarting", "autorestarting", "terminating", "dead"]

_APART_SECONDS: Final = 0.5
_RESTARTS: Final[frozenset[KernelStatus]] = frozenset({"restarting", "autorestarting"})


class KernelStatusPublisher:
    """Tells the state of one kernel for each of its notebooks. Of states that follow each other fast, the last.

    Restarts are told at once: a kernel that is idle again before its turn comes would seem never to have been restarted.
    """

    def __init__(self, kernel_id: str, publish: Callable[[KernelStatusMessage], None]) -> None:
        self._kernel_id = kernel_id
        self._publish = publish
        self._status: KernelStatus = "unknown"
        self._paths: Sequence[str] = ()
        self._told: dict[str, KernelStatus] = {}
        self._told_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def status(self) -> KernelStatus:
        """What the kernel does now."""
        return self._status

    def now(self, status: KernelStatus) -> None:
        """It does this now."""
        self._status = status
        if status in _RESTARTS:
            self._tell()
        else:
            self._soon()

    def runs_for(self, paths: Sequence[str]) -> None:
        """These are its notebooks now."""
        self._paths = paths
        self._told = {path: told for path, told in self._told.items() if path in paths}
        self._soon()

    def again(self) -> None:
        """Somebody is there who has not heard it."""
        self._told.clear()
        self._soon()

    def end(self, status: KernelStatus) -> None:
        """It is this from now on; told at once, since nothing follows."""
        self._status = status
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._tell()

    def _soon(self) -> None:
        if self._timer is not None or not self._news():
            return
        wait = self._told_at + _APART_SECONDS - monotonic()
        if wait <= 0:
            self._tell()
        else:
            self._timer = asyncio.get_running_loop().call_later(wait, self._later)

    def _later(self) -> None:
        self._timer = None
        self._tell()

    def _tell(self) -> None:
        for path in self._news():
            self._told[path] = self._status
            self._told_at = monotonic()
            self._publish(KernelStatusMessage(path=path, status=self._status, kernel_id=self._kernel_id))

    def _news(self) -> list[str]:
        if self._status == "unknown":
            return []
        return [path for path in self._paths if self._told.get(path) != self._status]
