"""How much memory there is for a model, and how much its process takes."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

__all__ = ["available_memory", "memory_of"]

_CONTROL_GROUP = Path("/sys/fs/cgroup")


def available_memory() -> int:
    """Bytes that a new process can take without others being ended for it. It reads files: call it in a thread."""
    import psutil

    machine = psutil.virtual_memory().available
    group = _group()
    return machine if group is None else min(machine, group)


def memory_of(process_id: int) -> int | None:
    """Bytes of this machine's memory that the process takes; None if it has ended. Call it in a thread."""
    import psutil

    with suppress(psutil.Error):
        return psutil.Process(process_id).memory_info().rss
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
