"""Whether a process still runs, and is still the same one."""

from __future__ import annotations

import sys
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

__all__ = ["is_gone", "process_started"]

_SAME_SECONDS: Final = 1.5
"""On macOS, ``ps`` says whole ones."""
_MOST_PROCESSES: Final = 1 << 31
_BEFORE_1970: Final = 11_644_473_600
"""Seconds that Windows counts from 1601."""


def process_started(process_id: int) -> str | None:
    """When the process began, as a text only it has; None if there is no such process or nobody can tell."""
    if sys.platform == "linux":
        # psutil counts from the time of day, which may be set anew; this is since the machine started.
        return _linux_start(process_id)
    else:
        began = _began(process_id)
        return None if began is None else f"{began:.6f}"


def is_gone(process_id: int, started: str | None) -> bool:
    """Whether a process of this machine has ended, even if another has its id by now."""
    import psutil

    if (now := process_started(process_id)) is not None:
        return started is not None and now != started and not _is_same_time(now, started)
    try:
        # It may have ended and wait to be reaped, or be another person's and hidden from us.
        return psutil.Process(process_id).status() == psutil.STATUS_ZOMBIE
    except psutil.ZombieProcess:
        return True
    except psutil.NoSuchProcess:
        return process_id < _MOST_PROCESSES and not psutil.pid_exists(process_id)
    except (psutil.Error, OverflowError):
        return False


def _linux_start(process_id: int) -> str | None:
    with suppress(OSError, IndexError):
        stat = Path(f"/proc/{process_id}/stat").read_text("utf-8", "replace")
        fields = stat[stat.rindex(")") + 2 :].split()
        if fields[0] in "ZX":
            return None
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot}:{fields[19]}"
    return None


def _began(process_id: int) -> float | None:
    import psutil

    with suppress(psutil.Error, OSError):
        process = psutil.Process(process_id)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    return None


def _is_same_time(now: str, started: str) -> bool:
    """Whether the two differ only in form: version 0.1.0 wrote what ``ps`` says on macOS, and on Windows two numbers."""
    try:
        if sys.platform == "win32":
            high, low = map(int, started.split(":"))
            then = ((high << 32) + low) / 1e7 - _BEFORE_1970
        else:
            then = datetime.strptime(started, "%a %b %d %H:%M:%S %Y").timestamp()
        return abs(float(now) - then) < _SAME_SECONDS
    except ValueError:
        return False
