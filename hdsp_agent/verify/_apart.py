"""Verifying a notebook without being held up by it: in a process of its own, which is gone in the end."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

from .._timeouts import wait_at_most
from ..errors import HdspAgentError, InvalidInput, NotFound, Unavailable
from ..messages import JsonObject
from ._report import NotebookReport, read_report
from ._verification import VerifyProgress
from ._workspace_copy import COPY_PREFIX, not_copied

__all__ = ["verify_apart"]

_MODULE: Final = "hdsp_agent.verify._worker"
_LONGEST_LINE: Final = 64 * 1024 * 1024
_ENDING_SECONDS: Final = 20.0
_ERRORS: Final[Mapping[str, type[HdspAgentError]]] = {
    error.code: error for error in (InvalidInput, NotFound, Unavailable)
}


async def verify_apart(
    path: Path, on_progress: Callable[[VerifyProgress], None], content: JsonObject | None = None
) -> NotebookReport:
    """The same as ``verify_notebook``. Who cancels it waits until kernel and copy are gone."""
    try:
        place = await asyncio.to_thread(mkdtemp, prefix=COPY_PREFIX)
    except OSError as error:
        raise not_copied(error) from None
    try:
        return await _verified(path, Path(place), on_progress, content)
    finally:
        # Its process may have been killed, by the system that ran out of memory too.
        await asyncio.shield(asyncio.to_thread(shutil.rmtree, place, ignore_errors=True))


async def _verified(
    path: Path, place: Path, on_progress: Callable[[VerifyProgress], None], content: JsonObject | None
) -> NotebookReport:
    told = await asyncio.to_thread(lambda: (json.dumps(content) if content is not None else "").encode() + b"\n")
    process = await asyncio.create_subprocess_exec(
        # Without the folder one is in on the path: it may be anybody's.
        *(sys.executable, "-P", "-m", _MODULE, str(path), str(place)),
        stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=_LONGEST_LINE, start_new_session=True,
    )  # fmt: skip
    try:
        assert process.stdin is not None
        process.stdin.write(told)
        with suppress(ConnectionError):
            # If it has ended, that is told by what it does not say.
            await process.stdin.drain()
        return await _told(process, on_progress)
    finally:
        await asyncio.shield(_ended(process))


async def _told(process: Process, on_progress: Callable[[VerifyProgress], None]) -> NotebookReport:
    assert process.stdout is not None
    async for line in process.stdout:
        told: dict[str, Any] = json.loads(line)
        if "progress" in told:
            on_progress(VerifyProgress(**told["progress"]))
        elif "error" in told:
            error = told["error"]
            raise _ERRORS.get(error["code"], HdspAgentError)(error["message"], **error["params"])
        else:
            return read_report(told["report"])
    raise Unavailable("The notebook could not be verified: its process ended.", why="process_ended")


async def _ended(process: Process) -> None:
    if process.returncode is None:
        assert process.stdin is not None
        process.stdin.close()
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            await wait_at_most(process.wait(), _ENDING_SECONDS)
        except TimeoutError:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
            await process.wait()
