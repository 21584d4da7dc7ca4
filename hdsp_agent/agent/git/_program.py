"""Running Git where a person asked for what is there: in bounds, and never a program of the folder's own. Everything here blocks."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Final

from ...tools import ToolFailed, command_environment
from ..approval import git_settings_problem

__all__ = ["Git", "NoRepository", "Output"]

_PIECE: Final = 1 << 16
_MOST_COMPLAINED: Final = 300
_OPTIONS: Final = (
    "--no-pager", "--no-optional-locks", "--literal-pathspecs",
    "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "log.showSignature=false", "-c", "i18n.logOutputEncoding=UTF-8",
    # What is larger counts as binary, so that Git does not read it into memory to compare it.
    "-c", "core.bigFileThreshold=10m",
)  # fmt: skip


class NoRepository(ToolFailed):
    """The folder is in no Git repository."""


@dataclass(frozen=True)
class Output:
    """What Git wrote, as much of it as was wanted."""

    data: bytes
    is_cut: bool = False

    @property
    def fields(self) -> list[str]:
        """What ends in NUL; of an output that was cut, without the last."""
        return os.fsdecode(self.data).split("\0")[:-1]


class Git:
    """Git for one folder, with so many seconds for all that it is asked. Raises NoRepository, or ToolFailed that says why not."""

    def __init__(self, folder: Path, *, seconds: float) -> None:
        folder = Path(os.path.realpath(folder))
        top = next((each for each in (folder, *folder.parents) if os.path.lexists(each / ".git")), None)
        if top is None:
            raise NoRepository("the workspace is in no Git repository.")
        program = shutil.which("git")
        if program is None:
            raise ToolFailed("Git is not installed where the agent runs.")
        problem = git_settings_problem(str(folder))
        if problem is not None:
            raise ToolFailed(f"Git was not asked, because {problem}.")
        self.folder: Final = folder
        self.top: Final = top
        """The folder of the whole repository."""
        self._program = program
        self._seconds = seconds
        self._until = monotonic() + seconds

    def read(self, *arguments: str, most: int) -> Output:
        """What a command of Git writes, at most so many bytes: it is ended where it writes more. Raises ToolFailed."""
        output, code, complaint = self._run(arguments, most)
        if code and not output.is_cut:
            raise ToolFailed(f"Git failed: {complaint or f'it ended with {code}'}")
        return output

    def commit(self, revision: str) -> str | None:
        """The whole hash of the commit that is meant; None if there is none."""
        output, code, complaint = self._run(("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"), 200)
        if code not in (0, 1):
            raise ToolFailed(f"Git failed: {complaint or f'it ended with {code}'}")
        return output.data.decode("ascii", "replace").strip() if code == 0 else None

    def _run(self, arguments: tuple[str, ...], most: int) -> tuple[Output, int, str]:
        left = self._until - monotonic()
        if left <= 0:
            raise self._too_slow()
        # Its messages in English, as all that the model is told.
        environment = {**command_environment(os.environ, unasked=True), "LC_ALL": "C"}
        try:
            with tempfile.TemporaryFile() as complaints:
                process = subprocess.Popen(  # noqa: S603 -- fixed words, names behind "--", and hashes
                    [self._program, *_OPTIONS, *arguments], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=complaints, bufsize=0, start_new_session=sys.platform != "win32",
                )  # fmt: skip
                output, in_time = _bounded(process, most, left)
                if not in_time:
                    raise self._too_slow()
                complaints.seek(0)
                complaint = complaints.read(_MOST_COMPLAINED).decode("utf-8", "replace").strip().partition("\n")[0]
        except OSError as error:
            raise ToolFailed(f"Git could not be run: {error.strerror or error}.") from error
        return output, process.returncode, complaint

    def _too_slow(self) -> ToolFailed:
        return ToolFailed(f"Git took longer than {self._seconds:.0f} seconds.")


def _bounded(process: subprocess.Popen[bytes], most: int, seconds: float) -> tuple[Output, bool]:
    """What it writes, and whether it ended, or wrote as much as is wanted, in time."""
    assert process.stdout is not None
    is_late = threading.Event()

    def end_late() -> None:
        is_late.set()
        _end(process)

    clock = threading.Timer(seconds, end_late)
    clock.start()
    pieces: list[bytes] = []
    left = most + 1
    try:
        while left > 0 and (piece := process.stdout.read(min(left, _PIECE))):
            pieces.append(piece)
            left -= len(piece)
        if left > 0:
            # It has closed its output, and may still be at work.
            process.wait()
    finally:
        clock.cancel()
        clock.join()
        _end(process)
        process.stdout.close()
        process.wait()
    return Output(b"".join(pieces)[:most], left <= 0), not is_late.is_set()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End it with what it began, such as a filter of the person's own. Only before it was waited for is the number its own."""
    if process.returncode is not None:
        return
    if sys.platform == "win32":
        process.kill()
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
