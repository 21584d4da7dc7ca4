"""Many clients at a time: in order, fast, slow, and those that never read."""

from __future__ import annotations

import asyncio
import json
import logging
import resource
import socket
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from hdsp_agent.ipc import IpcLimits
from hdsp_agent.messages import TaskDelegationCompleted, TaskIdle, TaskToolFailed

from ._helpers.fake_agent import Wire, command_frame, serving, until


async def test_twenty_clients_hear_everything_in_order(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, access), AsyncExitStack() as stack:
        wires = [await stack.enter_async_context(Wire.connect(server)) for _ in range(20)]
        names = [await wire.greeting() for wire in wires]
        assert len(set(names)) == 20
        assert server.clients == 20
        for number in range(200):
            access.events.emit(TaskIdle(payload=(f"task-{number}",)))
        for wire in wires:
            heard = [(await wire.message())["data"]["payload"][0] for _ in range(200)]
            assert heard == [f"task-{number}" for number in range(200)]
        for wire, name in zip(wires, names, strict=True):
            wire.write(command_frame(name, "GetModes"))
        for wire, name in zip(wires, names, strict=True):
            # Its own answer and nobody else's.
            assert (await wire.message())["relayClientId"] == name
        access.events.emit(TaskIdle(payload=("last",)))
        for wire in wires:
            assert (await wire.message())["data"]["payload"] == ["last"]
    assert server.clients == 0


async def test_a_client_that_never_reads_is_dropped_and_delays_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    limits = IpcLimits(outbox_bytes=1_000_000)
    text = "x" * 20_000
    async with serving(tmp_path, limits=limits) as (server, access), Wire.connect(server) as good:
        await good.greeting()
        lazy = socket.socket(socket.AF_UNIX)
        lazy.connect(server.address)
        await until(lambda: server.clients == 2)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with caplog.at_level(logging.WARNING):
            for number in range(3000):
                access.events.emit(TaskToolFailed(payload=("task", str(number), text)))
                message = await good.message()
                assert message["data"]["payload"][1] == str(number)
                assert server.waiting <= 1_100_000
        await until(lambda: server.clients == 1)
        assert "wait for it unread" in caplog.text
        # 60 MB were said; of what one client did not read no more was kept than the limit.
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000
        lazy.close()


async def test_a_slow_client_that_wakes_up_reads_why_it_was_dropped(tmp_path: Path) -> None:
    limits = IpcLimits(outbox_bytes=100_000, farewell_seconds=10)
    async with serving(tmp_path, limits=limits) as (server, access), Wire.connect(server) as wire:
        await wire.greeting()
        transport = wire.writer.transport
        assert isinstance(transport, asyncio.Transport)
        transport.pause_reading()
        for _ in range(100):
            access.events.emit(TaskDelegationCompleted(payload=("parent", "child", "x" * 20_000)))
            await asyncio.sleep(0)
        transport.resume_reading()
        frames = (await asyncio.wait_for(wire.reader.read(-1), 60)).split(b"\f")
        assert frames.pop() == b""
        last = json.loads(frames[-1])["data"]
        assert (last["type"], last["data"]["code"]) == ("Error", "unavailable")
        assert last["data"]["params"]["reason"] == "slow_reader"
        assert all(json.loads(frame)["data"]["type"] == "TaskEvent" for frame in frames[:-1])


async def test_one_client_too_many_is_told_so(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=IpcLimits(clients=2)) as (server, _), Wire.connect(server) as one:
        await one.greeting()
        async with Wire.connect(server) as two:
            await two.greeting()
            async with Wire.connect(server) as three:
                error = await three.error()
                assert [error["code"], error["params"]["reason"]] == ["unavailable", "too_many_clients"]
                assert await three.reader.read() == b""
        await until(lambda: server.clients == 1)
        async with Wire.connect(server) as again:
            await again.greeting()


async def test_cancel_waits_for_the_start_before_it_and_for_nothing_else(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, access), Wire.connect(server) as wire:
        client_id = await wire.greeting()
        access.gate.clear()
        start = command_frame(client_id, "StartNewTask", {"configuration": {}, "text": "go"})
        wire.write(start, command_frame(client_id, "SendMessage", {"text": "wait"}))
        wire.write(command_frame(client_id, "CancelTask"), command_frame(client_id, "GetModes"))
        names = [(await wire.message())["data"]["eventName"] for _ in range(3)]
        assert names == ["taskCreated", "taskStarted", "taskAborted"]
        assert [command.command_name for command in access.done] == ["StartNewTask", "CancelTask"]
        access.gate.set()
        assert (await wire.message())["data"]["eventName"] == "modesResponse"


async def test_what_a_client_began_is_finished_without_it(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, access):
        async with Wire.connect(server) as wire:
            client_id = await wire.greeting()
            wire.write(command_frame(client_id, "StartNewTask", {"configuration": {}, "text": "go"}))
            await wire.writer.drain()
            await asyncio.sleep(0.005)
        await until(lambda: len(access.done) == 1)
        await until(lambda: server.clients == 0)


async def test_a_client_that_only_stops_writing_hears_the_rest(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, _), Wire.connect(server) as wire:
        client_id = await wire.greeting()
        wire.write(command_frame(client_id, "StartNewTask", {"configuration": {}, "text": "go"}))
        wire.write(command_frame(client_id, "GetModes"))
        wire.writer.write_eof()
        names = [
            json.loads(frame)["data"]["data"]["eventName"] for frame in (await wire.reader.read()).split(b"\f")[:-1]
        ]
        assert names == ["taskCreated", "taskStarted", "modesResponse"]


async def test_more_commands_than_may_run_wait_in_the_socket(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=IpcLimits(running=4)) as (server, access), Wire.connect(server) as wire:
        client_id = await wire.greeting()
        access.gate.clear()
        for _ in range(50):
            wire.write(command_frame(client_id, "SendMessage", {"text": "x"}))
        await until(lambda: len(server._commands._tasks) == 4)
        await asyncio.sleep(0.05)
        assert len(server._commands._tasks) == 4
        access.gate.set()
        await until(lambda: len(access.done) == 50)


async def test_a_server_that_stops_lets_commands_end_and_waits_for_nobody(tmp_path: Path) -> None:
    limits = IpcLimits(stop_seconds=0.3, farewell_seconds=3600)
    async with serving(tmp_path, limits=limits) as (server, access), Wire.connect(server) as wire:
        client_id = await wire.greeting()
        lazy = socket.socket(socket.AF_UNIX)
        lazy.connect(server.address)
        await until(lambda: server.clients == 2)
        access.events.emit(TaskToolFailed(payload=("task", "tool", "x" * 5_000_000)))
        access.gate.clear()
        wire.write(command_frame(client_id, "StartNewTask", {"configuration": {}, "text": "go"}))
        wire.write(command_frame(client_id, "SendMessage", {"text": "never ends"}))
        await until(lambda: len(server._commands._tasks) + len(access.done) >= 2)
        await server.stop()
        assert [command.command_name for command in access.done] == ["StartNewTask"]
        assert server.clients == 0
        lazy.close()
        access.events.emit(TaskIdle(payload=("nobody hears it",)))


async def test_text_that_is_no_unicode_arrives_all_the_same(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, access), Wire.connect(server) as wire:
        await wire.greeting()
        access.events.emit(TaskToolFailed(payload=("task", "tool", "half a pair \ud83d and \f a feed")))
        assert (await wire.message())["data"]["payload"][2] == "half a pair \ud83d and \f a feed"
