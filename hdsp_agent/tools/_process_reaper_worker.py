"""Outlives the process that runs commands, by as long as it takes to end them. Run as a process of its own.

Reads lines from standard input: ``+ MARK`` before a command begins, ``+ MARK PID`` once it runs and leads the group PID,
``- MARK`` when nothing of it is left. When the input ends, whoever wrote it is gone, however it went: what is still on the
list is ended, with all it started. Needs nothing but the standard library.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator

VARIABLE = "HDSP_AGENT_COMMAND"
"""The environment variable that holds a command's mark, and that all it starts inherit."""
GRACE_SECONDS = 0.3


def marked(mark: str) -> Iterator[int]:
    """The processes with this mark in their environment, however they left the command's group. Linux only."""
    wanted, own = f"{VARIABLE}={mark}".encode(), os.getpid()
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() or int(entry.name) == own:
            continue
        with contextlib.suppress(OSError), open(f"/proc/{entry.name}/environ", "rb") as file:
            if wanted in file.read(1 << 20).split(b"\0"):
                yield int(entry.name)


def read(lines: Iterable[str]) -> dict[str, int | None]:
    """The commands that are left when the input ends: their marks, and the group of each that is known to run."""
    left: dict[str, int | None] = {}
    for line in lines:
        match line.split():
            case ["+", mark]:
                left.setdefault(mark, None)
            case ["+", mark, pid]:
                left[mark] = int(pid)
            case ["-", mark]:
                left.pop(mark, None)
            case _:
                pass
    return left


def end(left: dict[str, int | None]) -> None:
    """Ask all of them to end, and a moment later force them."""
    if sys.platform == "win32":
        for pid in left.values():
            if pid is not None:
                subprocess.run(["taskkill", "/T", "/F", "/PID", str(pid)], capture_output=True, check=False)  # noqa: S603, S607 -- a part of Windows, and a number of ours
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        for mark, group in left.items():
            _signal(mark, group, number)
        if number == signal.SIGTERM:
            time.sleep(GRACE_SECONDS)


def _signal(mark: str, group: int | None, number: int) -> None:
    if sys.platform == "win32":
        return
    if sys.platform != "linux":
        if group is not None:
            with contextlib.suppress(OSError):
                os.killpg(group, number)
        return
    # The number of a group may be another's by now; whoever bears the mark is certainly the command's.
    pids = list(marked(mark))
    groups: set[int] = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            groups.add(os.getpgid(pid))
    if group in groups:
        with contextlib.suppress(OSError):
            os.killpg(group, number)
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def main() -> None:
    """Wait, and end what is left."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        # Whoever ends everything at once must not end the one that cleans up before there is something to clean up.
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    left = read(sys.stdin)
    if left:
        end(left)


if __name__ == "__main__":
    main()
