"""A client as Roo Code's own is one connects unchanged: Node, node-ipc 12's frames, Roo's schemas."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import TypeAdapter

from hdsp_agent.agent import IpcCommandSession, TaskManager
from hdsp_agent.events import Emitter
from hdsp_agent.ipc import IpcServer, IpcServerInfo
from hdsp_agent.messages import IpcTaskEvent, StartNewTaskCommand, TaskEvent
from hdsp_agent.providers import call_tool
from tests._helpers.parsed_json import ParsedJson
from tests.agent._helpers.scripted_agent import running_agent
from tests.messages._helpers.vocabulary_samples import arms, both, node
from tests.messages.test_roo_compatibility import EVENTS_ROO_FORGOT

from ._helpers.fake_agent import PATIENCE, Wire, serving, until

CLIENT = Path(__file__).parent / "_helpers" / "node_client.mjs"


class NodeClient:
    """The client's process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    @asynccontextmanager
    async def connect(cls, server: IpcServer | IpcServerInfo) -> AsyncIterator[NodeClient]:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            node(), str(CLIENT), server.address, stdin=pipe, stdout=pipe, limit=2**24
        )
        try:
            yield cls(process)
        finally:
            # It ends with its input. Node may run below a launcher, so to kill what was started would leave it behind.
            assert process.stdin is not None
            process.stdin.close()
            await asyncio.wait_for(process.communicate(), PATIENCE)

    def send(self, name: str, data: object = None) -> None:
        """A command; before the greeting it waits for it, as Roo's client does."""
        assert self._process.stdin is not None
        command = {"commandName": name} if data is None else {"commandName": name, "data": data}
        self._process.stdin.write(json.dumps(command).encode() + b"\n")

    async def hear(self) -> tuple[ParsedJson, bool]:
        """The next message, and whether Roo's schema takes it."""
        assert self._process.stdout is not None
        line = await asyncio.wait_for(self._process.stdout.readline(), PATIENCE)
        heard = json.loads(line)
        return heard["message"], heard["accepted"]

    async def event(self, name: str) -> ParsedJson:
        """The next event of this name."""
        while True:
            message, accepted = await self.hear()
            if message["type"] == "TaskEvent" and message["data"]["eventName"] == name:
                assert accepted
                return message["data"]

    async def until(self, last: Callable[[ParsedJson], bool]) -> list[ParsedJson]:
        """All events up to one. Roo's schema takes each, but for those its union forgot."""
        events: list[ParsedJson] = []
        while not events or not last(events[-1]):
            message, accepted = await self.hear()
            if message["type"] == "TaskEvent":
                event = message["data"]
                assert accepted is (event["eventName"] not in EVENTS_ROO_FORGOT), event
                events.append(event)
            else:
                assert message["type"] == "Ack", message
        return events

    async def ended(self) -> int:
        """The process's exit code, once the server has closed the connection."""
        return await asyncio.wait_for(self._process.wait(), PATIENCE)


async def test_it_is_greeted_starts_a_task_and_cancels_it(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, access), NodeClient.connect(server) as client:
        client.send("StartNewTask", {"configuration": {"mode": "code"}, "text": "Plot \f 한국어 🎉", "newTab": True})
        client.send("CancelTask")
        (ack, accepted), *events = [await client.hear() for _ in range(4)]
        assert accepted
        assert [ack["type"], ack["origin"]] == ["Ack", "server"]
        assert [event["data"]["eventName"] for event, _ in events] == ["taskCreated", "taskStarted", "taskAborted"]
        assert all(accepted for _, accepted in events)
        assert isinstance(access.done[0], StartNewTaskCommand)
        assert access.done[0].data.text == "Plot \f 한국어 🎉"
        client.send("GetModes")
        assert (await client.event("modesResponse"))["payload"] == [[{"slug": "code", "name": "Code"}]]
        await server.stop()
        assert await client.ended() == 0


async def test_it_receives_every_event_there_is(tmp_path: Path) -> None:
    # What Roo's schema makes of every field is for the tests of the vocabulary: here events are as short as can be.
    samples = [dict(both(kind))["minimal"] for kind in arms(TaskEvent)]
    for sample in samples:
        if sample["eventName"] == "taskToolFailed":
            sample["payload"] = ["task", "read_file", "no such file"]
    events = TypeAdapter(list[TaskEvent]).validate_python(samples)
    async with serving(tmp_path) as (server, access), NodeClient.connect(server) as client:
        assert (await client.hear())[0]["type"] == "Ack"
        for event in events:
            access.events.emit(event)
        for event in events:
            message, accepted = await client.hear()
            assert message == IpcTaskEvent(data=event).to_wire()
            assert accepted is (event.event_name not in EVENTS_ROO_FORGOT), event.event_name


async def test_what_it_says_wrong_costs_nobody_anything(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, _), NodeClient.connect(server) as client, Wire.connect(server) as other:
        client.send("NoSuchCommand")
        (ack, _), (refusal, accepted) = [await client.hear() for _ in range(2)]
        assert [refusal["type"], refusal["data"]["code"]] == ["Error", "invalid_input"]
        # Roo's client drops what its schema does not know, and goes on.
        assert not accepted
        client.send("StartNewTask", {"configuration": {}, "text": "go"})
        assert (await client.event("taskCreated"))["payload"] == ["task-1"]
        assert await other.greeting() != ack["data"]["clientId"]
        assert (await other.message())["data"]["eventName"] == "taskCreated"


class Programs:
    """A task manager, as programs outside reach it."""

    def __init__(self, manager: TaskManager) -> None:
        self._manager = manager

    @property
    def events(self) -> Emitter:
        return self._manager.tasks.events

    def session(self) -> IpcCommandSession:
        return IpcCommandSession.of(self._manager)


async def test_it_drives_the_real_agent(tmp_path: Path) -> None:
    turns = [
        call_tool("slow", {"text": "x"}),
        call_tool("attempt_completion", {"result": "All done"}, id="end"),
    ]
    settings = {"autoApprovalEnabled": True, "alwaysAllowWrite": True}
    async with (
        running_agent(tmp_path / "home", turns) as agent,
        IpcServer(Programs(agent.manager), tmp_path / "ipc") as server,
        NodeClient.connect(server) as client,
    ):
        client.send("StartNewTask", {"configuration": settings, "text": "Take long"})
        task_id = (await client.event("taskCreated"))["payload"][0]
        await until((agent.workspace / "slow.txt").exists)
        client.send("CancelTask")
        assert (await client.event("taskAborted"))["payload"] == [task_id]
        await client.event("taskResumable")
        client.send("SendMessage", {"text": "Go on and finish"})
        assert (await client.event("taskCompleted"))["payload"][0] == task_id
