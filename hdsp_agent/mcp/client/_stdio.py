"""A server as a process that is talked to over its standard input and output.

The SDK's own transport keeps a line of any length, logs whatever is no message, and knows processes by their group alone.
Pipes are read and written by threads: Jupyter's loop on Windows has no processes of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Final

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from ..._daemon_calls import Unresponsive, call_in_daemon
from ...tools import KILL, WatchedProcess, command_environment
from ._bounded_messages import LARGEST_MESSAGE
from ._server_log import ServerLog
from ._variables import FilledEntry

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp_types import JSONRPCMessage

__all__ = ["StdioTransport"]

_CHUNK: Final = 1 << 16
_MOST_GARBAGE: Final = 4_000_000
"""Bytes on standard output that are no messages: a few lines at the start are common, a flood is a broken server."""
_MOST_UNREAD: Final = 32_000_000
_LONGEST_LOG_LINE: Final = 4_000
_BURST: Final = 200
_BURST_SECONDS: Final = 0.1
"""At most so many messages are taken in so much time: what more a server sends waits in its pipe."""
_MOST_LOG_LINES_A_SECOND: Final = 100
_GRACE_SECONDS: Final = 1.0
_LAST_WORDS_SECONDS: Final = 1.0
"""How long a server that ended may take until its log is read: its last line mostly says why."""
_LAST_SECONDS: Final = 10.0


class StdioTransport:
    """The streams of one process, as the SDK's client takes them. ``ended`` is set when there is nobody to talk to any more."""

    def __init__(self, entry: FilledEntry, folder: Path, log: ServerLog) -> None:
        self._entry = entry
        self._folder = folder
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._unwritten = 0
        self._watched: WatchedProcess | None = None
        self._pump: asyncio.Task[None] | None = None
        self._to_client: MemoryObjectSendStream[SessionMessage | Exception] | None = None
        self._from_server: MemoryObjectReceiveStream[SessionMessage | Exception] | None = None
        self._log_was_read = threading.Event()
        self.ended: Final = asyncio.Event()
        self.reason: str | None = None
        """Why it ended, where that is known."""

    async def __aenter__(
        self,
    ) -> tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]:
        """Start the process. Raises OSError or ValueError if it cannot be."""
        starting = asyncio.ensure_future(asyncio.to_thread(self._start))
        try:
            self._watched = await asyncio.shield(starting)
        except asyncio.CancelledError:
            # It may be starting all the same, and nobody reads or closes its pipes.
            self._watched = await starting
            for name in ("stdin", "stdout", "stderr"):
                self._pipe(name).close()
            await self._close()
            raise
        to_client, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_server, from_client = anyio.create_memory_object_stream[SessionMessage](0)
        self._to_client, self._from_server = to_client, from_server
        self._pump = asyncio.create_task(self._send_on(from_client), name="MCP server's input")
        for work in (self._read, self._write, self._read_log, self._wait):
            # Daemons: a server that does not end must not hold up the end of ours.
            threading.Thread(target=work, name=f"hdsp-mcp-{self._watched.pid}", daemon=True).start()
        return from_server, to_server

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the process and all it started, whatever happens meanwhile."""
        closing = asyncio.ensure_future(self._close())
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            await closing
            raise

    # ---- on the loop

    async def _send_on(self, from_client: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with from_client:
            async for message in from_client:
                line = message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
                self._unwritten += len(line)
                if self._unwritten > _MOST_UNREAD:
                    self._end("It does not read what it is sent.")
                    return
                self._queue.put(line)

    async def _deliver(self, message: JSONRPCMessage) -> bool:
        assert self._to_client is not None
        try:
            await self._to_client.send(SessionMessage(message))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return False
        return True

    def _end(self, reason: str | None) -> None:
        self.reason = self.reason or reason
        if self._to_client is not None:
            self._to_client.close()
        self.ended.set()

    async def _close(self) -> None:
        self._end(None)
        if self._from_server is not None:
            # Whoever waits for it to be read would wait for ever.
            self._from_server.close()
        if self._pump is not None:
            self._pump.cancel()
            await asyncio.wait([self._pump])
        watched = self._watched
        if watched is None:
            return
        self._queue.put(None)
        try:
            await call_in_daemon(lambda: _stopped(watched), _LAST_SECONDS)
        except Unresponsive:
            self._log.agent(f"The process {watched.pid} does not end.")

    # ---- in threads

    def _start(self) -> WatchedProcess:
        entry = self._entry
        environment = {**command_environment(os.environ, unasked=True), **entry.env}
        folder = self._folder / Path(entry.cwd).expanduser() if entry.cwd else self._folder
        command = (
            str(Path(entry.command or "").expanduser()) if (entry.command or "").startswith("~") else entry.command
        )
        if sys.platform == "win32":
            # Windows finds programs that are scripts, such as npx, by their whole name alone.
            command = shutil.which(command or "", path=environment.get("PATH")) or command
        return WatchedProcess.start(
            [command or "", *entry.args], folder, environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def _read(self) -> None:
        garbage, burst, since = 0, 0, time.monotonic()
        try:
            for line in _lines(self._pipe("stdout"), LARGEST_MESSAGE):
                message = _parsed(line)
                if message is None:
                    garbage += len(line) + 1
                    self._log.agent(f"It wrote this to its standard output, which is for messages: {_glimpse(line)}")
                    if garbage > _MOST_GARBAGE:
                        self._tell_end("It floods its standard output with what is no message.")
                        return
                    continue
                if not self._handed_over(message):
                    return
                burst += 1
                if burst >= _BURST:
                    time.sleep(max(0.0, _BURST_SECONDS - (time.monotonic() - since)))
                    burst, since = 0, time.monotonic()
        except _TooLong:
            self._tell_end(f"It sent a message of more than {LARGEST_MESSAGE:,} bytes.")
        else:
            self._log_was_read.wait(_LAST_WORDS_SECONDS)
            self._tell_end("It closed its standard output.")

    def _handed_over(self, message: JSONRPCMessage) -> bool:
        if self.ended.is_set():
            return False
        delivery = self._deliver(message)
        try:
            return asyncio.run_coroutine_threadsafe(delivery, self._loop).result()
        except (RuntimeError, CancelledError):
            # The loop is gone, and with it whoever would listen.
            delivery.close()
            return False

    def _write(self) -> None:
        pipe = self._pipe("stdin")
        with contextlib.suppress(OSError, ValueError):
            while (data := self._queue.get()) is not None:
                left = memoryview(data)
                while left:
                    left = left[pipe.write(left) or 0 :]
                self._unwritten -= len(data)
        with contextlib.suppress(OSError):
            pipe.close()

    def _read_log(self) -> None:
        second, lines, skipped = 0, 0, 0
        with contextlib.suppress(_TooLong):
            for line in _lines(self._pipe("stderr"), None):
                now = int(time.monotonic())
                if now != second:
                    if skipped:
                        self._log.agent(f"{skipped:,} more lines came within a second. They were not kept.")
                    second, lines, skipped = now, 0, 0
                lines += 1
                if lines > _MOST_LOG_LINES_A_SECOND:
                    skipped += 1
                else:
                    self._log.server(line.decode("utf-8", "replace"))
        self._log_was_read.set()

    def _wait(self) -> None:
        assert self._watched is not None
        code = self._watched.process.wait()
        self._log_was_read.wait(_LAST_WORDS_SECONDS)
        how = f"by the signal {-code}" if code < 0 else f"with the exit code {code}"
        self._tell_end(f"Its process ended {how}.")

    def _tell_end(self, reason: str) -> None:
        # The loop may be gone: then nobody is left to be told.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._end, reason)

    def _pipe(self, name: str) -> IO[bytes]:
        assert self._watched is not None
        pipe: IO[bytes] = getattr(self._watched.process, name)
        return pipe


class _TooLong(Exception):
    """A line has more bytes than a message may have."""


def _lines(pipe: IO[bytes], most: int | None) -> Iterator[bytes]:
    """The lines of a pipe until its end. Longer ones than ``most`` raise _TooLong; without it they are cut."""
    kept = bytearray()
    try:
        while chunk := os.read(pipe.fileno(), _CHUNK):
            first, *rest = chunk.split(b"\n")
            _keep(kept, first, most)
            for piece in rest:
                yield bytes(kept)
                kept.clear()
                _keep(kept, piece, most)
    except (OSError, ValueError):
        # Closed under our hands.
        pass
    finally:
        with contextlib.suppress(OSError):
            pipe.close()
    if kept:
        yield bytes(kept)


def _keep(kept: bytearray, piece: bytes, most: int | None) -> None:
    if most is None:
        kept += piece[: max(0, _LONGEST_LOG_LINE - len(kept))]
        return
    kept += piece
    if len(kept) > most:
        raise _TooLong


def _parsed(line: bytes) -> JSONRPCMessage | None:
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return None


def _glimpse(line: bytes) -> str:
    return line[:200].decode("utf-8", "replace")


def _stopped(watched: WatchedProcess) -> None:
    """See a process end whose input was closed: it may end by itself, is asked to, and is forced to."""
    for number in (None, signal.SIGTERM, KILL):
        if number is not None:
            watched.signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            watched.process.wait(_GRACE_SECONDS)
            break
    # What it started may have outlived it.
    watched.kill_now()
    with contextlib.suppress(subprocess.TimeoutExpired):
        watched.process.wait(_GRACE_SECONDS)
    watched.forget()
