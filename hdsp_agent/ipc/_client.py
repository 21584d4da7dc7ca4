"""A program outside, in Python: sends commands to a server, and hears what happens to its tasks."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final, assert_never

from .. import errors
from .._timeouts import wait_at_most
from ..errors import Conflict, FrameTooLarge, HdspAgentError, NotFound, Unavailable
from ..messages import IpcAck, IpcAckData, IpcError, IpcTaskCommand, IpcTaskEvent
from ._ipc_frames import (
    FrameSplitter,
    RefusedRequest,
    RequestDone,
    ServerFrame,
    message_frame,
    parse_server_frame,
    warm_up_frames,
)
from ._socket_endpoint import open_streams

if TYPE_CHECKING:
    from ..messages import ErrorBody, TaskCommand, TaskEvent

__all__ = ["IpcClient"]

_PIECE: Final = 256 * 1024
_LARGEST_FRAME: Final = 256 * 1024 * 1024


class IpcClient:
    """A connection to a server of HDSP Agent. Make it with ``async with IpcClient.connect(path) as client``."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, max_events: int) -> None:
        self._reader = reader
        self._writer = writer
        self._max_events = max_events
        self._server: asyncio.Future[IpcAckData] = asyncio.get_running_loop().create_future()
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[TaskEvent | None]] = {}
        self._events: deque[TaskEvent] = deque()
        self._lost = 0
        self._task_id: str | None = None
        self._changed = asyncio.Event()
        self._listening = False
        self._end: HdspAgentError | None = None
        self._farewell: HdspAgentError | None = None

    @classmethod
    @asynccontextmanager
    async def connect(
        cls, path: str | Path, *, timeout: float = 10.0, max_events: int = 10_000
    ) -> AsyncIterator[IpcClient]:
        """Connect to the server at this socket, or pipe. Events are kept from then on, the newest ``max_events``.

        Raises NotFound if nobody listens there, Unavailable if the server lets nobody in.
        """
        await asyncio.to_thread(warm_up_frames)
        try:
            reader, writer = await wait_at_most(open_streams(str(path)), timeout)
        except (TimeoutError, OSError) as error:
            raise _not_there(path, error) from None
        client = cls(reader, writer, max_events)
        reading = asyncio.ensure_future(client._read())
        try:
            await client._greeted(timeout)
            yield client
        finally:
            writer.transport.abort()
            with suppress(OSError):
                await writer.wait_closed()
            await asyncio.gather(reading, return_exceptions=True)

    @property
    def client_id(self) -> str:
        """The name the server gave this client."""
        return self._server.result().client_id

    @property
    def server_pid(self) -> int:
        """The server's process."""
        return self._server.result().pid

    @property
    def task_id(self) -> str | None:
        """The task this client began or meant last, as the server said with the last command it obeyed."""
        return self._task_id

    async def send(self, command: TaskCommand) -> TaskEvent | None:
        """Have a command obeyed, and wait until it is; the event that answers it, if it asks for something.

        Raises what the server refused it with, as the error of that code.
        """
        if self._end is not None:
            raise self._end
        number = next(self._numbers)
        answer: asyncio.Future[TaskEvent | None] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            self._writer.write(message_frame(IpcTaskCommand(client_id=self.client_id, data=command), number))
            # A server that has gone shows in the answer, with the reason if it gave one.
            with suppress(OSError):
                await self._writer.drain()
            return await answer
        finally:
            self._waiting.pop(number, None)

    async def events(self) -> AsyncIterator[TaskEvent]:
        """What happens to all tasks, beginning with what is kept, until the server closes the connection.

        Raises Unavailable if events were lost because nobody listened, or if the server dropped this client.
        """
        if self._listening:
            raise Conflict("This client's events are already being read. Open another connection to read them twice.")
        self._listening = True
        try:
            while True:
                if self._lost:
                    lost, self._lost = self._lost, 0
                    raise Unavailable(
                        f"{lost} events were lost because this program did not read them in time. Listen again to continue.",
                        reason="events_lost",
                        lost=lost,
                    )
                if self._events:
                    yield self._events.popleft()
                    continue
                if self._end is not None:
                    if self._farewell is not None:
                        raise self._farewell
                    return
                self._changed.clear()
                await self._changed.wait()
        finally:
            self._listening = False

    async def _greeted(self, timeout: float) -> None:
        try:
            await wait_at_most(asyncio.shield(self._server), timeout)
        except TimeoutError:
            raise Unavailable("The server accepted the connection but does not answer. Try again later.") from None

    async def _read(self) -> None:
        splitter = FrameSplitter(_LARGEST_FRAME)
        try:
            while data := await self._reader.read(_PIECE):
                for raw in splitter.feed(data):
                    self._hear(raw)
        except OSError:
            pass
        finally:
            self._finish()

    def _hear(self, raw: bytes | FrameTooLarge) -> None:
        if isinstance(raw, FrameTooLarge):
            return
        try:
            frame = parse_server_frame(raw)
        except RefusedRequest as refused:
            # A newer server may say what this version does not know; only who waits for it must hear.
            self._settle(refused.request_id, _fails(refused.error))
            return
        if frame is not None:
            self._take(frame)

    def _take(self, frame: ServerFrame) -> None:
        said = frame.said
        match said:
            case IpcAck():
                if not self._server.done():
                    self._server.set_result(said.data)
            case IpcTaskEvent():
                event = said.data
                if frame.request_id is None:
                    self._keep(event)
                else:
                    self._settle(frame.request_id, lambda answer: answer.set_result(event))
            case IpcError():
                error = _error_of(said.data)
                if frame.request_id is None:
                    self._farewell = error
                else:
                    self._settle(frame.request_id, _fails(error))
            case RequestDone(task_id=task_id):
                self._task_id = task_id
                self._settle(frame.request_id, lambda answer: answer.set_result(None))
            case _:
                assert_never(said)

    def _settle(self, request_id: str | int | None, settle: Callable[[asyncio.Future[TaskEvent | None]], None]) -> None:
        answer = self._waiting.get(request_id) if isinstance(request_id, int) else None
        if answer is not None and not answer.done():
            settle(answer)

    def _keep(self, event: TaskEvent) -> None:
        if len(self._events) >= self._max_events:
            self._events.popleft()
            self._lost += 1
        self._events.append(event)
        self._changed.set()

    def _finish(self) -> None:
        self._end = self._farewell or Unavailable("The server closed the connection.", reason="closed")
        unanswered: list[asyncio.Future[IpcAckData] | asyncio.Future[TaskEvent | None]]
        unanswered = [self._server, *self._waiting.values()]
        for answer in unanswered:
            if not answer.done():
                answer.set_exception(self._end)
                # Nobody may be left to hear it.
                answer.exception()
        self._changed.set()


def _fails(error: HdspAgentError) -> Callable[[asyncio.Future[TaskEvent | None]], None]:
    return lambda answer: answer.set_exception(error)


def _error_of(body: ErrorBody) -> HdspAgentError:
    """The error as it was raised in the server; the base of all for a code this version does not know."""
    error = _errors_by_code().get(body.code, HdspAgentError)(body.message, field=body.field)
    error.params = dict(body.params)
    return error


@cache
def _errors_by_code() -> dict[str, type[HdspAgentError]]:
    def all_of(kind: type[HdspAgentError]) -> Iterator[type[HdspAgentError]]:
        yield kind
        for child in kind.__subclasses__():
            # Those of other modules may take more to make.
            if child.__module__ == errors.__name__:
                yield from all_of(child)

    return {kind.code: kind for kind in all_of(HdspAgentError)}


def _not_there(path: str | Path, error: Exception) -> HdspAgentError:
    if isinstance(error, (FileNotFoundError, ConnectionRefusedError)):
        return NotFound(f"No server listens at {path}. To list servers, run hdsp-agent ipc list.", path=str(path))
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return Unavailable(f"Could not connect to {path}: {reason}.", path=str(path), reason=reason)
