"""Outlives the process that runs commands, by as long as it takes to end them. Run as a process of its own.

Reads lines from standard input: ``+ MARK`` before a command begins, ``+ MARK PID`` once it runs and leads the group PID,
``- MARK`` when nothing of it is left. When the input ends, whoever wrote it is gone, however it went: what is still on the
list is ended, with all it started. Needs nothing of ours.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

VARIABLE = "HDSP_AGENT_COMMAND"
"""The environment variable that holds a command's mark, and that all it starts inherit."""
GRACE_SECONDS = 0.3


def marked(mark: str) -> Iterator[psutil.Process]:
    """The processes with this mark in their environment, however they left the command's group."""
    import psutil  # 20 ms, which importing this need not cost

    own = os.getpid()
    for process in psutil.process_iter():
        # Nobody can read the environment of another person's, nor of one that has ended.
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid != own and process.environ().get(VARIABLE) == mark:
                yield process


def kill_tree(pid: int) -> None:
    """End a process and all that descend from it, where there are no groups."""
    import psutil

    with contextlib.suppress(psutil.Error):
        root = psutil.Process(pid)
        for process in (root, *root.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                process.kill()


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
        for mark, pid in left.items():
            if pid is not None:
                kill_tree(pid)
            send(marked(mark), signal.SIGTERM)
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        for mark, group in left.items():
            _signal(mark, group, number)
        if number == signal.SIGTERM:
            time.sleep(GRACE_SECONDS)


def _signal(mark: str, group: int | None, number: int) -> None:
    if sys.platform == "win32":
        return
    processes = list(marked(mark))
    groups: set[int] = set()
    for process in processes:
        with contextlib.suppress(OSError):
            groups.add(os.getpgid(process.pid))
    # The number of a group may be another's by now; whoever bears the mark is certainly the command's. macOS does not
    # show the environment of its own programs.
    if group is not None and (group in groups or sys.platform == "darwin"):
        with contextlib.suppress(OSError):
            os.killpg(group, number)
    send(processes, number)


def send(processes: Iterable[psutil.Process], number: int) -> None:
    """Send them a signal, as far as they are still there."""
    import psutil

    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.send_signal(number)


def main() -> None:
    """Wait, and end what is left."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        # Whoever ends everything at once must not end the one that cleans up before there is something to clean up.
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    # Before it is needed: by then the files of this environment may be gone.
    import psutil  # noqa: F401

    left = read(sys.stdin)
    if left:
        end(left)


if __name__ == "__main__":
    main()
