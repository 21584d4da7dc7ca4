"""The process that runs a model, seen from the one that began it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import sys
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from .._timeouts import wait_at_most
from ..config import secret_environment
from ..errors import HdspAgentError
from ._exit_reasons import ending, refusal
from ._machine import threads_to_use

__all__ = ["ModelFile", "ModelProcess"]

SCRIPT: Final = Path(__file__).with_name("_model_server.py")
"""Not imported here: it needs the extra."""

START_SECONDS: Final = 180.0
_CACHE_MIB: Final = 256
_GOODBYE_SECONDS: Final = 1.0
_LAST_LINES: Final = 50
_LONGEST_LINE: Final = 2000


@dataclass(frozen=True)
class ModelFile:
    """What is to be run, and within which limits."""

    id: str
    name: str
    path: Path
    context: int
    output: int
    memory: int
    """Bytes it will take, or thereabouts."""
    idle_seconds: float = field(default=600.0, compare=False)
    """How long it may be of no use before it is ended."""


class ModelProcess:
    """A running process. ``start`` gives one that is ready."""

    def __init__(self, file: ModelFile, process: asyncio.subprocess.Process) -> None:
        self.file = file
        self.key = secrets.token_urlsafe(32)
        self.url = ""
        self._process = process
        self._log: deque[str] = deque(maxlen=_LAST_LINES)
        self._closing = False
        self._watching = asyncio.create_task(self._watch(), name="embedded model")

    @classmethod
    async def start(cls, file: ModelFile) -> ModelProcess:
        """Begin one and wait until the model is loaded. Raises RuntimeMissing or RuntimeFailed."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(SCRIPT),
            env={name: value for name, value in os.environ.items() if name not in secret_environment()},
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            # Ctrl+C in the server's terminal is a question to the server.
            start_new_session=sys.platform != "win32",
        )  # fmt: skip
        child = cls(file, process)
        try:
            await child._begin()
        except BaseException:
            await asyncio.shield(child.close(at_once=True))
            raise
        return child

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether it can be asked."""
        return not self._closing and self._process.returncode is None

    async def failure(self, within: float) -> HdspAgentError | None:
        """Why it ended by itself, if it did or does ``within`` seconds."""
        await asyncio.wait([self._watching], timeout=within)
        if self._closing or not self._watching.done():
            return None
        return ending(self.file.name, self._process.returncode, self._log)

    async def close(self, *, at_once: bool = False) -> None:
        """End it, and wait until its memory is free again."""
        self._closing = True
        if self._process.stdin is not None:
            self._process.stdin.close()
        if not at_once:
            await asyncio.wait([self._watching], timeout=_GOODBYE_SECONDS)
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        await asyncio.wait([self._watching])

    async def _begin(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        wanted = {
            "path": str(self.file.path),
            "name": self.file.id,
            "key": self.key,
            "context": self.file.context,
            "output": self.file.output,
            "cacheMib": _CACHE_MIB,
            "threads": await asyncio.to_thread(threads_to_use),
        }
        with contextlib.suppress(ConnectionError):
            self._process.stdin.write(json.dumps(wanted).encode() + b"\n")
            await self._process.stdin.drain()
        try:
            said = await wait_at_most(self._process.stdout.readline(), START_SECONDS)
        except TimeoutError:
            raise refusal(self.file.name, "load", f"it was not ready after {START_SECONDS:.0f} seconds", ()) from None
        answer = _parsed(said)
        if url := answer.get("url"):
            self.url = f"{url}/v1"
            return
        # Its last words may still be on their way.
        await asyncio.wait([self._watching], timeout=_GOODBYE_SECONDS)
        if failed := answer.get("failed"):
            raise refusal(self.file.name, failed, answer.get("reason", ""), self._log)
        raise ending(self.file.name, self._process.returncode, self._log)

    async def _watch(self) -> None:
        """Hear what it logs, else it would stand still when nobody does, until it has ended."""
        assert self._process.stderr is not None
        rest = b""
        while chunk := await self._process.stderr.read(65536):
            *lines, rest = (rest + chunk).split(b"\n")
            rest = rest[-_LONGEST_LINE:]
            self._log.extend(line[:_LONGEST_LINE].decode("utf-8", "replace") for line in lines)
        await self._process.wait()


def _parsed(said: bytes) -> dict[str, str]:
    try:
        answer = json.loads(said)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}
