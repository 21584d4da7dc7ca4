"""A process in a group of its own that never outlives the one that began it, with whatever it begins itself."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from ._process_reaper import GUARDIAN
from ._process_reaper_worker import VARIABLE, kill_tree, marked, send

__all__ = ["KILL", "WatchedProcess"]

KILL: Final = signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM


class WatchedProcess:
    """One process, known by a mark in its environment that all it starts inherit. What is here blocks for a moment."""

    def __init__(self, process: subprocess.Popen[bytes], mark: str) -> None:
        self.process: Final = process
        self._mark = mark

    @classmethod
    def start(
        cls,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        *,
        stdin: int = subprocess.DEVNULL,
        stderr: int = subprocess.STDOUT,
    ) -> WatchedProcess:
        """Begin it. Raises OSError if that cannot be done."""
        mark = secrets.token_hex(8)
        # Told before and after: this process may be killed in between.
        GUARDIAN.expect(mark)
        try:
            process = subprocess.Popen(  # noqa: S603 -- running what was approved is its purpose
                list(arguments),
                cwd=folder,
                env={**environment, VARIABLE: mark},
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
                start_new_session=sys.platform != "win32",
                bufsize=0,
            )
        except BaseException:
            GUARDIAN.forget(mark)
            raise
        GUARDIAN.watch(mark, process.pid)
        return cls(process, mark)

    @property
    def pid(self) -> int:
        """Its process id, and the id of the group it leads."""
        return self.process.pid

    def signal(self, number: signal.Signals) -> None:
        """Send its whole group a signal."""
        if sys.platform == "win32":
            kill_tree(self.pid)
            return
        # The group outlives its leader, and its number is not given anew while it has members.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def kill_strays(self) -> None:
        """End those that left the group, known by the mark in their environment."""
        for _ in range(3):
            strays = list(marked(self._mark))
            if not strays:
                return
            send(strays, KILL)

    def kill_now(self) -> None:
        """End all of it at once, without waiting for anything."""
        self.signal(KILL)
        self.kill_strays()

    def forget(self) -> None:
        """Nothing is left of it."""
        GUARDIAN.forget(self._mark)
