"""Seeing to it that no command outlives the process that began it, not even one that is killed without warning."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final

from . import _process_reaper_worker

__all__ = ["GUARDIAN", "ProcessReaper"]

logger = logging.getLogger(__name__)

_LAST_SECONDS: Final = 2.0
_MOST_LIVES: Final = 10
"""How often one that dies by itself is begun again; a command begins it anew in any case."""


class ProcessReaper:
    """A small process beside this one, begun with the first command. It notices our end, whatever brought it about.

    Everything here blocks for a moment: call it in a thread.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._watched: dict[str, int | None] = {}
        self._lives = 0

    @property
    def pid(self) -> int | None:
        """The process id of the one that watches."""
        return None if self._process is None else self._process.pid

    def expect(self, mark: str) -> None:
        """A command with this mark is about to begin."""
        self._set(mark, None)

    def watch(self, mark: str, pid: int) -> None:
        """It runs, and leads the group of this number."""
        self._set(mark, pid)

    def forget(self, mark: str) -> None:
        """Nothing is left of it."""
        with self._lock:
            if mark in self._watched:
                del self._watched[mark]
                self._write([f"- {mark}\n"])

    def close(self) -> None:
        """This process ends: what is still watched ends with it."""
        with self._lock:
            process, self._process = self._process, None
            if process is None:
                return
            assert process.stdin is not None
            with contextlib.suppress(OSError):
                process.stdin.close()
            # One that takes longer goes on by itself.
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_LAST_SECONDS)

    def _set(self, mark: str, pid: int | None) -> None:
        with self._lock:
            self._watched[mark] = pid
            self._write([_line(mark, pid)])

    def _write(self, lines: list[str]) -> None:
        for _ in range(2):
            process = self._process
            if process is None or process.poll() is not None:
                if process is not None and process.stdin is not None:
                    with contextlib.suppress(OSError):
                        process.stdin.close()
                try:
                    self._process = process = self._begin()
                except OSError as error:
                    # Commands work without it; only if this process is killed they may go on.
                    logger.warning("Nothing sees to commands if the server is killed: %s", error)
                    return
                # A new one knows of nothing yet.
                lines = [_line(mark, pid) for mark, pid in self._watched.items()]
            assert process.stdin is not None
            try:
                process.stdin.write("".join(lines))
                process.stdin.flush()
                return
            except OSError:
                process.kill()
                process.wait()

    def _begin(self) -> subprocess.Popen[str]:
        process = _started()
        self._lives += 1
        threading.Thread(target=self._replace, args=(process,), name="hdsp-guardian", daemon=True).start()
        return process

    def _replace(self, process: subprocess.Popen[str]) -> None:
        """Begin another if this one dies: what was written to it last may not have been read."""
        process.wait()
        with self._lock:
            if self._process is process and self._watched and self._lives < _MOST_LIVES:
                self._write([])


def _line(mark: str, pid: int | None) -> str:
    return f"+ {mark}\n" if pid is None else f"+ {mark} {pid}\n"


def _started() -> subprocess.Popen[str]:
    keep = {"SYSTEMROOT"} if sys.platform == "win32" else set()
    return subprocess.Popen(  # noqa: S603 -- our own worker
        [sys.executable, "-I", str(Path(_process_reaper_worker.__file__))],
        env={name: value for name, value in os.environ.items() if name in keep},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        # Not reached by what ends this process's group.
        start_new_session=sys.platform != "win32",
    )


GUARDIAN: Final = ProcessReaper()
"""The one of this process."""
atexit.register(GUARDIAN.close)
