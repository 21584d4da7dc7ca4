"""What learning costs whoever works meanwhile: how long the loop stands still while a long conversation is learned from."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Final

from tests.memory._helpers.memory_home import ME, extraction_answer, memory_home, writes_memory

from .results import Result, result

_RUNS: Final = 5
_PARTS: Final = 200
_PART: Final = "Row after row of churn.csv was read, and ages are in months. " * 100
_TICK_SECONDS: Final = 0.001


def measure() -> list[Result]:
    """Learn from a conversation of a megabyte, and make one memory of it."""
    stalls, seconds = zip(*(asyncio.run(_round()) for _ in range(_RUNS)), strict=True)
    return [
        result(
            "memory.stall", "longest stand-still of the loop while 1.2 MB are learned from and consolidated, median",
            median(stalls), "ms", goal="<= 10 ms", met=median(stalls) <= 10, runs=_RUNS,
        ),
        result(
            "memory.round", "the same from the claim to the files, with a model that answers at once, median",
            median(seconds) * 1000, "ms", goal="none", met=True, runs=_RUNS,
        ),
    ]  # fmt: skip


async def _round() -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        async with memory_home(Path(folder), [extraction_answer(), *writes_memory()]) as at:
            await at.conversation(said=_PART * _PARTS)
            at.later(7)
            began = time.perf_counter()
            async with _longest_stall() as stall:
                report = await at.pipeline.round(ME)
            assert (report.saved, report.consolidation) == (1, "done")
            return stall[0] * 1000, time.perf_counter() - began


@asynccontextmanager
async def _longest_stall() -> AsyncIterator[list[float]]:
    longest = [0.0]

    async def tick() -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            now = time.perf_counter()
            longest[0] = max(longest[0], now - last - _TICK_SECONDS)
            last = now

    ticking = asyncio.create_task(tick())
    try:
        yield longest
    finally:
        ticking.cancel()
        await asyncio.gather(ticking, return_exceptions=True)
