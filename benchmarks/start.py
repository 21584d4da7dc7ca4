"""What having the extension costs a start of Jupyter, and a server that nobody uses."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from .results import Result, result
from .server import Server, jupyter_server

RUNS = 9
GOAL_MS = 150
IDLE_RUNS = 3
SETTLED_SECONDS, IDLE_SECONDS = 30, 60

# What loading the extension imports, after what Jupyter imports anyway. The rest is imported in a thread once Jupyter
# listens; whole starts, below, tell whether that costs anybody anything.
_IMPORT = """
import jupyter_server.serverapp, jupyter_server.extension.application, time
started = time.perf_counter()
import hdsp_agent.app
print((time.perf_counter() - started) * 1000)
"""


def _import_ms() -> float:
    said = subprocess.run([sys.executable, "-c", _IMPORT], capture_output=True, text=True, check=True)
    return float(said.stdout)


def _start_ms(extensions: tuple[str, ...]) -> float:
    started = time.perf_counter()
    with jupyter_server(lab=False, extensions=extensions, wait_for="/api"):
        return (time.perf_counter() - started) * 1000


def _cpu_ms(server: Server) -> float:
    """CPU that the server's process has used so far."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def _idle_ms() -> tuple[float, float]:
    """CPU that a server uses while nobody asks it anything: without the extension, and with it, at the same time."""
    with (
        jupyter_server(lab=False, extensions=(), wait_for="/api") as without,
        jupyter_server(lab=False, extensions=("hdsp_agent",), wait_for="/hdsp-agent/api/health") as with_it,
    ):
        time.sleep(SETTLED_SECONDS)
        before = _cpu_ms(without), _cpu_ms(with_it)
        time.sleep(IDLE_SECONDS)
        return _cpu_ms(without) - before[0], _cpu_ms(with_it) - before[1]


def measure() -> list[Result]:
    """Import time alone, whole starts with and without, interleaved, then both at rest."""
    imports = median(_import_ms() for _ in range(RUNS))
    with_it: list[float] = []
    without: list[float] = []
    for _ in range(RUNS):
        without.append(_start_ms(()))
        with_it.append(_start_ms(("hdsp_agent",)))
    added = median(with_it) - median(without)
    idle = [_idle_ms() for _ in range(IDLE_RUNS)]
    idle_without, idle_with = median(one for one, _ in idle), median(one for _, one in idle)
    return [
        result(
            "start.import", "imports that loading the extension adds", imports, "ms",
            goal=f"<= {GOAL_MS} ms", met=imports <= GOAL_MS, runs=RUNS,
        ),
        result(
            "start.server", f"spawn to first answer of a Jupyter Server (the extension adds {added:.0f} ms)",
            median(with_it), "ms", baseline=median(without), goal=f"adds <= {GOAL_MS} ms", met=added <= GOAL_MS, runs=RUNS,
        ),
        result(
            "start.idle", f"CPU of a server at rest in {IDLE_SECONDS} s, beside one without the extension",
            idle_with, "ms", baseline=idle_without, goal="none", met=True, runs=IDLE_RUNS,
        ),
    ]  # fmt: skip
