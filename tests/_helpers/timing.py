"""Waiting for events, and counting work: no test holds anything to a time of the clock, which others share."""

from __future__ import annotations

import asyncio
import inspect
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from _typeshed import TraceFunction

__all__ = ["PATIENCE", "bytes_moved", "lines_run", "processor_time", "until"]

PATIENCE = 60.0
"""Seconds that what must happen may take; a machine that is quick does not use them."""


async def until(holds: Callable[[], object]) -> None:
    """Wait until what ``holds`` returns, or awaits, is true."""
    deadline = time.monotonic() + PATIENCE
    while True:
        found = holds()
        if await found if inspect.isawaitable(found) else found:
            return
        assert time.monotonic() < deadline, "this did not come about"
        await asyncio.sleep(0.01)


@contextmanager
def processor_time(seconds: float) -> Iterator[None]:
    """Hold what this thread computes in a block to a time of the processor that only a quadratic step exceeds."""
    began = time.thread_time()
    yield
    took = time.thread_time() - began
    assert took < seconds, f"This computed for {took:.3f} s and may for {seconds} s."


def bytes_moved() -> tuple[int, int]:
    """How many bytes this process has read and written, from the disk or its cache."""
    try:
        told = Path("/proc/self/io").read_text(encoding="utf-8")
    except OSError:
        pytest.skip("Counts what is read and written in /proc")
    counts = {name: int(count) for name, count in (line.split(": ") for line in told.splitlines())}
    return counts["rchar"], counts["wchar"]


def lines_run(work: Callable[[], object]) -> int:
    """How many lines of Python a call runs: the same on every machine, however busy it is."""
    lines = 0

    def count(frame: FrameType, event: str, argument: object) -> TraceFunction:
        nonlocal lines
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        work()
    finally:
        sys.settrace(before)
    return lines
