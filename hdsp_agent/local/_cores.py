"""How many threads a model is given."""

from __future__ import annotations

import os
from contextlib import suppress
from math import floor
from pathlib import Path
from typing import Final

__all__ = ["threads_to_use"]

_MOST: Final = 8
"""More do not make a small model faster."""
_CONTROL_GROUP: Final = Path("/sys/fs/cgroup/cpu.max")


def threads_to_use() -> int:
    """As many as there are cores with nothing to do. It reads a file: call it in a thread.

    The threads of one model wait for each other at every step: with two threads on two cores that others use, a model
    was measured to be fifteen times slower than with one thread.
    """
    return max(1, min(_MOST, _usable() - _busy()))


def _usable() -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    # A container sees all cores of its machine and may use a few.
    with suppress(OSError, ValueError):
        quota, period = _CONTROL_GROUP.read_text("ascii").split()
        cores = min(cores, max(1, floor(int(quota) / int(period))))
    return cores


def _busy() -> int:
    try:
        return round(os.getloadavg()[0])
    except (AttributeError, OSError):
        return 0
