"""How much memory there is for a model, and how much its process takes. None where the system does not tell."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["available_memory", "memory_of"]

_CONTROL_GROUP = Path("/sys/fs/cgroup")


def available_memory() -> int | None:
    """Bytes that a new process can take without others being ended for it. It reads files: call it in a thread."""
    machine = _machine()
    group = _group()
    return group if machine is None else machine if group is None else min(machine, group)


def memory_of(process_id: int) -> int | None:
    """Bytes of this machine's memory that the process takes. It reads a file: call it in a thread."""
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path(f"/proc/{process_id}/statm").read_text("ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return None


def _machine() -> int | None:
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return None


def _group() -> int | None:
    """What the container may still take; pages of files that it has read can be had back."""
    with suppress(OSError, ValueError):
        limit = int((_CONTROL_GROUP / "memory.max").read_text("ascii"))
        used = int((_CONTROL_GROUP / "memory.current").read_text("ascii"))
        return max(0, limit - used + _cached())
    return None


def _cached() -> int:
    with suppress(OSError, ValueError, IndexError):
        for line in (_CONTROL_GROUP / "memory.stat").read_text("ascii").splitlines():
            if line.startswith("inactive_file "):
                return int(line.split()[1])
    return 0
