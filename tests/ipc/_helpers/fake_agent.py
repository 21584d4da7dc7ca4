"""A small agent behind the socket: one current task, real events, commands that can be made to wait."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from hdsp_agent.errors import Conflict, UnknownTask
from hdsp_agent.events import Emitter
from hdsp_agent.ipc import IpcLimits, IpcServer, IpcServerInfo
from hdsp_agent.messages import (
    AnswerAskCommand,
    CancelTaskCommand,
    GetCommandsCommand,
    GetModelsCommand,
    GetModesCommand,
    ModeName,
    ModesResponse,
    ResumeTaskCommand,
    SendMessageCommand,
    StartNewTaskCommand,
    TaskAborted,
    TaskCommand,
    TaskCreated,
    TaskEvent,
    TaskStarted,
)

from ..._helpers.parsed_json import ParsedJson, parsed

__all__ = ["PATIENCE", "FakeAgent", "Wire", "command_frame", "serving", "until"]

PATIENCE = 60.0


class FakeAgent:
    """Obeys commands; remembers them in the order in which it was done with them."""

    def __init__(self) -> None:
        self.events = Emitter()
        self.done: list[TaskCommand] = []
        self.current: str | None = None
        self.gate = asyncio.Event()
        self.gate.set()
        self._tasks = 0

    def session(self) -> FakeAgent:
        return self

    @property
    def task(self) -> str | None:
        return self.current

    async def command(self, command: TaskCommand) -> TaskEvent | None:
        match command:
            case StartNewTaskCommand():
                # As long as making a task's folder takes: whoever does not wait for it finds no task to cancel.
                await asyncio.sleep(0.02)
                self._tasks += 1
                self.current = f"task-{self._tasks}"
                self.events.emit(TaskCreated(payload=(self.current,)))
                self.events.emit(TaskStarted(payload=(self.current,)))
            case CancelTaskCommand():
                if self.current is None:
                    raise UnknownTask("There is no current task.")
                self.events.emit(TaskAborted(payload=(self.current,)))
            case SendMessageCommand():
                await self.gate.wait()
            case AnswerAskCommand(data=given) if given.message_ts == 1:
                raise Conflict("This question is not open.", ask=1)
            case ResumeTaskCommand(data=task_id):
                raise UnknownTask(f"No task has the id {task_id}.", task=task_id)
            case GetModesCommand():
                self.done.append(command)
                return ModesResponse(payload=([ModeName(slug="code", name="Code")],))
            case GetModelsCommand():
                raise UnknownTask("Nobody knows.")
            case GetCommandsCommand():
                raise RuntimeError("A defect, with a secret in it.")
            case _:
                pass
        self.done.append(command)
        return None


class Wire:
    """A client that knows bytes only."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    @asynccontextmanager
    async def connect(cls, server: IpcServer | IpcServerInfo) -> AsyncIterator[Wire]:
        reader, writer = await asyncio.open_unix_connection(server.address, limit=2**24)
        try:
            yield cls(reader, writer)
        finally:
            writer.transport.abort()

    def write(self, *pieces: bytes | dict[str, object]) -> None:
        for piece in pieces:
            self.writer.write(piece if isinstance(piece, bytes) else json.dumps(piece).encode() + b"\f")

    async def hear(self) -> ParsedJson:
        """The next frame."""
        frame = await asyncio.wait_for(self.reader.readuntil(b"\f"), PATIENCE)
        heard: ParsedJson = json.loads(frame[:-1])
        return heard

    async def message(self) -> ParsedJson:
        """The next message in node-ipc's envelope."""
        frame = await self.hear()
        assert frame["type"] == "message"
        message: object = frame["data"]
        assert isinstance(message, dict)
        return parsed(message)

    async def error(self) -> ParsedJson:
        """What the next message complains of."""
        message = await self.message()
        assert message["type"] == "Error", message
        body: object = message["data"]
        assert isinstance(body, dict)
        return parsed(body)

    async def greeting(self) -> str:
        """The name this client was given."""
        ack = await self.message()
        assert [ack["type"], ack["origin"]] == ["Ack", "server"]
        client_id: object = ack["data"]["clientId"]
        assert isinstance(client_id, str)
        return client_id


def command_frame(client_id: str, name: str, data: object = None, **more: object) -> dict[str, object]:
    """A command as Roo Code's client sends it."""
    command = {"commandName": name} if data is None else {"commandName": name, "data": data}
    message = {"type": "TaskCommand", "origin": "client", "clientId": client_id, "data": command}
    return {"type": "message", "data": message, **more}


@asynccontextmanager
async def serving(
    folder: Path, access: FakeAgent | None = None, *, limits: IpcLimits | None = None
) -> AsyncIterator[tuple[IpcServer, FakeAgent]]:
    """A server, and the agent behind it."""
    access = access or FakeAgent()
    async with IpcServer(access, folder / "ipc", limits=limits) as server:
        yield server, access


async def until(ready: Callable[[], bool]) -> None:
    """Wait until it is so."""
    deadline = asyncio.get_running_loop().time() + PATIENCE
    while not ready():
        assert asyncio.get_running_loop().time() < deadline, "it did not happen"
        await asyncio.sleep(0.005)
