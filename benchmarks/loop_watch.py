"""A server extension for measurements: how long the server's loop stood still, and how much memory it needed meanwhile."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from tornado import web
from tornado.ioloop import IOLoop

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

_TICK_SECONDS: Final = 0.001


class LoopWatch:
    """Looks at the clock once a millisecond, and at how much the process has computed since: others may use the machine."""

    def __init__(self) -> None:
        self.stall_ms = 0.0
        self.busy_ms = 0.0
        self._last = time.perf_counter()
        self._last_cpu = time.process_time()
        self._memory = 0.0

    def tick(self) -> None:
        """Note how long ago the last one was, and come back."""
        now, cpu = time.perf_counter(), time.process_time()
        self.stall_ms = max(self.stall_ms, (now - self._last - _TICK_SECONDS) * 1000)
        self.busy_ms = max(self.busy_ms, (cpu - self._last_cpu) * 1000)
        self._last, self._last_cpu = now, cpu
        IOLoop.current().call_later(_TICK_SECONDS, self.tick)

    def begin(self) -> None:
        """What follows is measured."""
        if os.path.exists("/proc/self/clear_refs"):
            # From here on the peak is that of what follows.
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        self._memory = _peak_mb()
        self.stall_ms = self.busy_ms = 0.0
        self._last, self._last_cpu = time.perf_counter(), time.process_time()

    def cost(self) -> dict[str, float]:
        """What it was since ``begin``."""
        return {"stallMs": self.stall_ms, "busyMs": self.busy_ms, "memoryMb": _peak_mb() - self._memory}


_WATCH: Final = LoopWatch()


class CostHandler(APIHandler):
    """`GET hdsp-agent-bench/cost` tells the cost since `POST hdsp-agent-bench/cost`."""

    @web.authenticated
    @authorized("read", resource="hdsp_agent")
    def get(self) -> None:
        """The cost so far."""
        self.finish(_WATCH.cost())

    @web.authenticated
    @authorized("write", resource="hdsp_agent")
    def post(self) -> None:
        """Begin to measure."""
        _WATCH.begin()
        self.finish({})


def _peak_mb() -> float:
    status = Path("/proc/self/status")
    if not status.exists():
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)
    lines = status.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "benchmarks.loop_watch"}]


def _load_jupyter_server_extension(app: ServerApp) -> None:
    base = app.web_app.settings["base_url"]
    app.web_app.add_handlers(".*$", [(url_path_join(base, "hdsp-agent-bench/cost"), CostHandler)])
    app.io_loop.add_callback(_WATCH.tick)
