"""What taking an input costs the process that takes it: how long its loop stood still, and how much more memory it needed."""

from __future__ import annotations

import asyncio
import resource
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Cost", "measured"]

_TICK_SECONDS = 0.001


@dataclass
class Cost:
    """The longest time the loop did nothing else, and the memory needed beyond what was needed before."""

    stall_ms: float = 0.0
    memory_mb: float = 0.0


@asynccontextmanager
async def measured() -> AsyncIterator[Cost]:
    """Watch this loop and this process while the block runs."""
    cost = Cost()

    async def tick() -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(_TICK_SECONDS)
            cost.stall_ms = max(cost.stall_ms, (time.perf_counter() - began - _TICK_SECONDS) * 1000)

    before = _begin_peak_mb()
    watch = asyncio.create_task(tick())
    await asyncio.sleep(0)
    try:
        yield cost
        # The last step counts, too.
        await asyncio.sleep(_TICK_SECONDS)
    finally:
        watch.cancel()
        cost.memory_mb = _peak_mb() - before


def _begin_peak_mb() -> float:
    if sys.platform == "linux":
        # From here on the peak is that of what follows.
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _peak_mb()


def _peak_mb() -> float:
    if sys.platform == "linux":
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024
    else:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most / (1 << 20) if sys.platform == "darwin" else most / 1024
