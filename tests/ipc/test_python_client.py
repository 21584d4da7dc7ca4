"""The client in Python."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from hdsp_agent.errors import Conflict, HdspAgentError, NotAllowed, NotFound, Unavailable, UnknownTask
from hdsp_agent.ipc import IpcClient, IpcLimits
from hdsp_agent.messages import (
    CancelTaskCommand,
    GetCommandsCommand,
    GetModesCommand,
    ModesResponse,
    ResumeTaskCommand,
    SendMessageCommand,
    SendMessageData,
    StartNewTaskCommand,
    StartNewTaskData,
    TaskAborted,
    TaskCreated,
    TaskDelegationCompleted,
    TaskId,
    TaskIdle,
    TaskStarted,
)

from ._helpers.fake_agent import serving, until

START = StartNewTaskCommand(data=StartNewTaskData(configuration={"mode": "code"}, text="go"))


async def test_a_command_is_done_when_send_returns_and_events_are_heard(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, access), IpcClient.connect(server.address) as client:
        assert client.server_pid == os.getpid()
        assert await client.send(START) is None
        assert access.done == [START]
        assert await client.send(CancelTaskCommand()) is None
        heard = []
        async for event in client.events():
            heard.append(event)
            if isinstance(event, TaskAborted):
                break
        assert heard == [
            TaskCreated(payload=("task-1",)),
            TaskStarted(payload=("task-1",)),
            TaskAborted(payload=("task-1",)),
        ]
        answer = await client.send(GetModesCommand())
        assert isinstance(answer, ModesResponse)
        assert answer.payload[0][0].slug == "code"


async def test_a_refusal_is_raised_as_what_it_is(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, _), IpcClient.connect(server.address) as client:
        with pytest.raises(UnknownTask, match="No task has the id gone") as caught:
            await client.send(ResumeTaskCommand(data=TaskId("gone")))
        assert caught.value.params == {"task": "gone"}
        with pytest.raises(HdspAgentError, match="See the server's log"):
            await client.send(GetCommandsCommand())
        client._server.result()
        object.__setattr__(client._server.result(), "client_id", "another")
        with pytest.raises(NotAllowed):
            await client.send(START)


async def test_commands_at_once_get_each_their_own_answer(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, _), IpcClient.connect(server.address) as client:
        asked = [client.send(GetModesCommand()) if at % 2 else client.send(START) for at in range(20)]
        answers = await asyncio.gather(*asked)
        assert [answer is not None for answer in answers] == [bool(at % 2) for at in range(20)]


async def test_a_large_command_arrives(tmp_path: Path) -> None:
    image = "data:image/png;base64," + "A" * 3_000_000
    said = SendMessageCommand(data=SendMessageData(text="look", images=[image]))
    async with serving(tmp_path) as (server, access), IpcClient.connect(server.address) as client:
        await client.send(said)
        assert access.done == [said]


async def test_nobody_there_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="No server listens"):
        async with IpcClient.connect(tmp_path / "none.sock"):
            raise AssertionError("there is nobody")


async def test_a_server_that_says_nothing_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "silent.sock"
    writers: list[asyncio.StreamWriter] = []
    silent = await asyncio.start_unix_server(lambda _, writer: writers.append(writer), path)
    try:
        with pytest.raises(Unavailable, match="does not answer"):
            async with IpcClient.connect(path, timeout=0.1):
                raise AssertionError("it said nothing")
    finally:
        silent.close()
        for writer in writers:
            writer.transport.abort()


async def test_a_full_server_tells_why_it_lets_nobody_in(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=IpcLimits(clients=1)) as (server, _), IpcClient.connect(server.address):
        with pytest.raises(Unavailable, match="1 clients are already"):
            async with IpcClient.connect(server.address):
                raise AssertionError("it is full")


async def test_the_end_of_the_server_ends_events_and_commands(tmp_path: Path) -> None:
    limits = IpcLimits(stop_seconds=0.1)
    async with serving(tmp_path, limits=limits) as (server, access), IpcClient.connect(server.address) as client:
        access.gate.clear()
        waiting = asyncio.ensure_future(client.send(SendMessageCommand(data=SendMessageData(text="wait"))))
        listening = asyncio.ensure_future(_all(client))
        access.events.emit(TaskIdle(payload=("a",)))
        await asyncio.sleep(0.05)
        await server.stop()
        assert await listening == [TaskIdle(payload=("a",))]
        with pytest.raises(Unavailable, match="closed the connection"):
            await waiting
        with pytest.raises(Unavailable):
            await client.send(GetModesCommand())


async def test_events_nobody_took_are_not_lost_in_silence(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, access), IpcClient.connect(server.address, max_events=10) as client:
        for number in range(15):
            access.events.emit(TaskIdle(payload=(str(number),)))
        await client.send(GetModesCommand())
        events = client.events()
        with pytest.raises(Unavailable, match="5 events were lost"):
            await anext(events)
        async for event in client.events():
            assert event == TaskIdle(payload=("5",))
            break


async def test_the_task_a_command_was_about_is_known_afterwards(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, _), IpcClient.connect(server.address) as client:
        assert client.task_id is None
        await client.send(StartNewTaskCommand(data=StartNewTaskData(configuration={}, text="go")))
        assert client.task_id == "task-1"


async def test_one_listens_at_a_time(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, access), IpcClient.connect(server.address) as client:
        listening = asyncio.ensure_future(_all(client))
        await asyncio.sleep(0)
        with pytest.raises(Conflict):
            await anext(client.events())
        access.events.emit(TaskIdle(payload=("a",)))
        await server.stop()
        assert await listening == [TaskIdle(payload=("a",))]


async def test_a_client_that_was_dropped_hears_why(tmp_path: Path) -> None:
    limits = IpcLimits(outbox_bytes=100_000)
    async with serving(tmp_path, limits=limits) as (server, access), IpcClient.connect(server.address) as client:
        transport = client._writer.transport
        assert isinstance(transport, asyncio.Transport)
        transport.pause_reading()
        for _ in range(50):
            access.events.emit(TaskDelegationCompleted(payload=("a", "b", "x" * 20_000)))
            await asyncio.sleep(0)
        transport.resume_reading()
        with pytest.raises(Unavailable, match="read too slowly"):
            await _all(client)
        await until(lambda: server.clients == 0)


async def _all(client: IpcClient) -> list[object]:
    return [event async for event in client.events()]
