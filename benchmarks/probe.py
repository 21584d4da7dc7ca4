"""How another Jupyter endpoint fares meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from .server import Server

__all__ = ["Probe"]


class Probe:
    """Asks another Jupyter endpoint at a steady pace and remembers how long each answer took."""

    def __init__(self, server: Server, *, per_second: float = 20) -> None:
        self._server = server
        self._pause = 1 / per_second
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._ask)
        self.milliseconds: list[float] = []
        self.memory_mb: list[float] = []

    @contextmanager
    def running(self) -> Iterator[None]:
        """Ask while the block runs."""
        self._thread.start()
        try:
            yield
        finally:
            self._stop.set()
            self._thread.join()

    def _ask(self) -> None:
        while not self._stop.wait(self._pause):
            started = time.perf_counter()
            self._server.get("/api/status")
            self.milliseconds.append((time.perf_counter() - started) * 1000)
            self.memory_mb.append(self._server.memory_mb())
