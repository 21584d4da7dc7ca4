"""How another Jupyter endpoint fares meanwhile.

Beside a flood, three busy processes share this machine's cores, and the thread that asks is itself kept waiting for one:
for 20 to 80 ms now and then, which says nothing about the server. Linux counts that wait; it is taken off.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
            waited, started = _waited_for_a_core(), time.perf_counter()
            self._server.get("/api/status")
            took = time.perf_counter() - started
            self.milliseconds.append((took - (_waited_for_a_core() - waited)) * 1000)
            self.memory_mb.append(self._server.memory_mb())


def _waited_for_a_core() -> float:
    """Seconds for which this thread could have run and did not; 0 where the system does not say."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    except OSError:
        return 0.0
