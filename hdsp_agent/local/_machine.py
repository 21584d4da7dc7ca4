"""What this machine has for a model: memory, cores with nothing to do, and a processor that can run it."""

from __future__ import annotations

import os
from contextlib import suppress
from math import floor
from pathlib import Path
from typing import Final

from ._exit_reasons import cpu_too_old

__all__ = ["NEEDED", "available_memory", "check_processor", "memory_of", "threads_to_use"]

NEEDED: Final = ("avx", "avx2", "f16c", "fma", "bmi2")
"""What the runtime's x86 wheel was built with. One that lacks any of it ends at the first step."""
_MOST_THREADS: Final = 8
"""More do not make a small model faster."""
_CONTROL_GROUP: Final = Path("/sys/fs/cgroup")
_PROCESSORS: Final = Path("/proc/cpuinfo")


def available_memory() -> int:
    """Bytes that a new process can take without others being ended for it. It reads files: call it in a thread."""
    import psutil

    machine: int = psutil.virtual_memory().available
    with suppress(OSError, ValueError):
        limit, used = int(_of_group("memory.max")), int(_of_group("memory.current"))
        # Pages of files that the container has read can be had back.
        fields = dict(line.split() for line in _of_group("memory.stat").splitlines())
        return min(machine, max(0, limit - used + int(fields.get("inactive_file", 0))))
    return machine


def memory_of(process_id: int) -> int | None:
    """Bytes of this machine's memory that the process takes; None if it has ended. Call it in a thread."""
    import psutil

    with suppress(psutil.Error):
        taken: int = psutil.Process(process_id).memory_info().rss
        return taken
    return None


def threads_to_use() -> int:
    """As many as there are cores with nothing to do. It reads a file: call it in a thread.

    The threads of one model wait for each other at every step: with two threads on two cores that others use, a model
    was measured to be fifteen times slower than with one thread.
    """
    busy = 0
    with suppress(AttributeError, OSError):
        busy = round(os.getloadavg()[0])
    return max(1, min(_MOST_THREADS, _usable_cores() - busy))


def check_processor(name: str) -> None:
    """Raise CpuTooOld where the system tells that it cannot run a model. It reads a file: call it in a thread."""
    with suppress(OSError, ValueError):
        for line in _PROCESSORS.read_text("ascii", errors="replace").splitlines():
            # Only x86 has this line.
            key, _, flags = line.partition(":")
            if key.strip() == "flags":
                if lacking := [flag for flag in NEEDED if flag not in flags.split()]:
                    raise cpu_too_old(name, lacking)
                return


def _usable_cores() -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    # A container sees all cores of its machine and may use a few.
    with suppress(OSError, ValueError):
        quota, period = _of_group("cpu.max").split()
        cores = min(cores, max(1, floor(int(quota) / int(period))))
    return cores


def _of_group(file: str) -> str:
    return (_CONTROL_GROUP / file).read_text("ascii")
