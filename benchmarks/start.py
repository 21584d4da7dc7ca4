"""What having the extension costs a start of Jupyter."""

from __future__ import annotations

import subprocess
import sys
import time
from statistics import median

from .results import Result, result
from .server import jupyter_server

RUNS = 9
GOAL_MS = 150

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


def measure() -> list[Result]:
    """Import time alone, then whole starts with and without, interleaved."""
    imports = median(_import_ms() for _ in range(RUNS))
    with_it: list[float] = []
    without: list[float] = []
    for _ in range(RUNS):
        without.append(_start_ms(()))
        with_it.append(_start_ms(("hdsp_agent",)))
    added = median(with_it) - median(without)
    return [
        result(
            "start.import", "imports that loading the extension adds", imports, "ms",
            goal=f"<= {GOAL_MS} ms", met=imports <= GOAL_MS, runs=RUNS,
        ),
        result(
            "start.server", f"spawn to first answer of a Jupyter Server (the extension adds {added:.0f} ms)",
            median(with_it), "ms", baseline=median(without), goal=f"adds <= {GOAL_MS} ms", met=added <= GOAL_MS, runs=RUNS,
        ),
    ]  # fmt: skip
