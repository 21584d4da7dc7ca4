"""One client of the server: what it sends, what runs for it, what it is told."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from ..errors import HdspAgentError, Unavailable
from ..messages import (
    CancelTaskCommand,
    CloseTaskCommand,
    CommandsResponse,
    GetCommandsCommand,
    GetModelsCommand,
    GetModesCommand,
    IpcAck,
    IpcAckData,
    IpcError,
    IpcTaskEvent,
    ModelsResponse,
    ModesResponse,
    ResumeTaskCommand,
    StartNewTaskCommand,
    TaskCommand,
    TaskEvent,
    error_body,
)
from ._client_outbox import ClientOutbox, OutboxFull
from ._ipc_frames import FrameSplitter, IpcRequest, RefusedRequest, done_frame, message_frame, parse_request

if TYPE_CHECKING:
    from .._background_tasks import BackgroundTasks
    from ._ipc_frames import RequestId
    from ._ipc_limits import IpcLimits

__all__ = ["ClientConnection", "Commands", "Log"]

Log: TypeAlias = "logging.Logger | logging.LoggerAdapter[logging.Logger]"

_PIECE: Final = 64 * 1024
_LARGE: Final = 256 * 1024
"""Parsing more than this would hold the loop up for milliseconds."""
_IN_A_ROW: Final = 32
_COMPLAINTS: Final = 5

_CHOOSES_THE_CURRENT_TASK: Final = (StartNewTaskCommand, ResumeTaskCommand, CloseTaskCommand)


class Commands(Protocol):
    """Whoever obeys one client's commands."""

    @property
    def task(self) -> str | None:
        """The task it began or meant last: a command that names none is about this one."""

    async def command(self, command: TaskCommand) -> TaskEvent | None:
        """Do what is asked; the event that answers the asking client alone, if there is one."""


class ClientConnection:
    """A client from its Ack to its end. ``held`` are the server's: a command begun is finished without its client."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        commands: Commands,
        held: BackgroundTasks,
        limits: IpcLimits,
        log: Log,
    ) -> None:
        # As long as Roo Code's, so that whoever keeps them has room.
        self.client_id: Final = secrets.token_hex(6)
        self._reader = reader
        self._writer = writer
        self._commands = commands
        self._held = held
        self._limits = limits
        self._logger = log
        self._outbox = ClientOutbox(writer, limits.outbox_bytes)
        self._running: dict[asyncio.Task[None], TaskCommand] = {}
        self._dropped = asyncio.Event()
        self._complaints = 0
        self._tell(message_frame(IpcAck(data=IpcAckData(client_id=self.client_id, pid=os.getpid(), ppid=os.getppid()))))

    @property
    def waiting(self) -> int:
        """Bytes this client has not taken."""
        return self._outbox.waiting

    def tell(self, frame: bytes) -> None:
        """Send a frame; a client with too many unread ones is dropped instead."""
        if not self._dropped.is_set():
            self._tell(frame)

    def drop(self, reason: HdspAgentError | None = None) -> None:
        """End the connection, with a last word if there is a reason."""
        self._outbox.end(None if reason is None else self._error_frame(reason, None))
        self._dropped.set()

    async def run(self) -> None:
        """Serve the client until it leaves or is dropped."""
        reading = asyncio.ensure_future(self._read())
        writing = asyncio.ensure_future(self._outbox.write())
        dropped = asyncio.ensure_future(self._dropped.wait())
        try:
            await asyncio.wait({reading, writing, dropped}, return_when=asyncio.FIRST_COMPLETED)
            if reading.done() and not self._dropped.is_set():
                await self._finish_commands(writing, dropped)
            self._outbox.end()
            await asyncio.wait({writing}, timeout=self._limits.farewell_seconds)
        finally:
            for task in (reading, writing, dropped):
                task.cancel()
            ends = await asyncio.gather(reading, writing, return_exceptions=True)
            self._report(ends)
            self._writer.transport.abort()
            with suppress(OSError):
                await self._writer.wait_closed()

    async def _finish_commands(self, *others: asyncio.Task[object]) -> None:
        """A client that only stops writing still hears how its commands end."""
        while self._running and not any(task.done() for task in others):
            await asyncio.wait({*self._running, *others}, return_when=asyncio.FIRST_COMPLETED)

    async def _read(self) -> None:
        splitter = FrameSplitter(self._limits.max_frame_bytes)
        while data := await self._reader.read(_PIECE):
            for number, frame in enumerate(splitter.feed(data), 1):
                if isinstance(frame, bytes):
                    await self._take(frame)
                else:
                    self._refuse(RefusedRequest(frame))
                if number % _IN_A_ROW == 0:
                    await asyncio.sleep(0)
        if splitter.pending:
            self._logger.warning(
                "IPC client %s disconnected in the middle of a frame (%d bytes)", self.client_id, splitter.pending
            )

    async def _take(self, frame: bytes) -> None:
        try:
            if len(frame) > _LARGE:
                request = await asyncio.to_thread(parse_request, frame, self.client_id)
            else:
                request = parse_request(frame, self.client_id)
        except RefusedRequest as refused:
            self._refuse(refused)
            return
        while len(self._running) >= self._limits.running:
            await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
        self._begin(request)

    def _begin(self, request: IpcRequest) -> None:
        """Run the commands of a client one after the other, but cancel without waiting for what may take long."""
        urgent = isinstance(request.command, CancelTaskCommand)
        before = {
            task
            for task, command in self._running.items()
            if not urgent or isinstance(command, _CHOOSES_THE_CURRENT_TASK)
        }
        task = self._held.begin(self._obey(request, before))
        self._running[task] = request.command
        task.add_done_callback(lambda _: self._running.pop(task, None))

    async def _obey(self, request: IpcRequest, before: set[asyncio.Task[None]]) -> None:
        if before:
            await asyncio.wait(before)
        name = request.command.command_name
        try:
            event = await self._commands.command(request.command)
        except HdspAgentError as error:
            self._failed(request, error)
        except Exception:
            self._logger.exception("The command %s of IPC client %s failed", name, self.client_id)
            self._failed(request, HdspAgentError(f"{name} failed inside HDSP Agent. See the server's log."))
        else:
            if event is not None:
                self._answer(event, request.id)
            elif request.id is not None:
                self.tell(done_frame(request.id, self._commands.task))

    def _failed(self, request: IpcRequest, error: HdspAgentError) -> None:
        # Nothing is wrong with the client or here: what it asked for cannot be done just now.
        name = request.command.command_name
        self._logger.info("IPC client %s was refused %s: %s, %r", self.client_id, name, error.code, error.message)
        self.tell(self._error_frame(error, request.id))
        if request.id is None and (empty := _empty_answer(request.command)) is not None:
            # Roo Code's clients wait for the list; it is empty when something went wrong.
            self._answer(empty, None)

    def _answer(self, event: TaskEvent, request_id: RequestId) -> None:
        self.tell(message_frame(IpcTaskEvent(data=event, relay_client_id=self.client_id), request_id))

    def _refuse(self, refused: RefusedRequest) -> None:
        self._complaints += 1
        if self._complaints <= _COMPLAINTS:
            # %r: what a client sends must not forge lines of the log.
            error = refused.error
            self._logger.warning("Refused a frame of IPC client %s: %s, %r", self.client_id, error.code, error.message)
        self.tell(self._error_frame(refused.error, refused.request_id))

    def _error_frame(self, error: HdspAgentError, request_id: RequestId) -> bytes:
        return message_frame(IpcError(relay_client_id=self.client_id, data=error_body(error)), request_id)

    def _tell(self, frame: bytes) -> None:
        try:
            self._outbox.put(frame)
        except OutboxFull:
            waiting = self._outbox.waiting
            self._logger.warning("Dropped IPC client %s: %d bytes wait for it unread", self.client_id, waiting)
            self.drop(
                Unavailable(
                    f"This client read too slowly: {waiting} bytes were waiting for it. What it had not read is lost; "
                    "connect again.",
                    reason="slow_reader",
                    waiting=waiting,
                )
            )

    def _report(self, ends: Sequence[object]) -> None:
        if self._complaints > _COMPLAINTS:
            self._logger.warning(
                "Refused %d more frames of IPC client %s", self._complaints - _COMPLAINTS, self.client_id
            )
        for end in ends:
            if isinstance(end, Exception) and not isinstance(end, OSError):
                self._logger.error("IPC client %s was disconnected by an internal error", self.client_id, exc_info=end)


def _empty_answer(command: TaskCommand) -> TaskEvent | None:
    match command:
        case GetCommandsCommand():
            return CommandsResponse(payload=([],))
        case GetModesCommand():
            return ModesResponse(payload=([],))
        case GetModelsCommand():
            return ModelsResponse(payload=({},))
        case _:
            return None
