"""What clients send: whole, in pieces, and wrong in every way."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdsp_agent.ipc import IpcLimits
from hdsp_agent.ipc._ipc_frames import FrameSplitter
from hdsp_agent.messages import StartNewTaskCommand

from ._helpers.fake_agent import Wire, command_frame, serving, until

START = {"configuration": {}, "text": "Plot the data\f\n한국어"}


@given(st.lists(st.binary(max_size=30).map(lambda raw: raw.replace(b"\f", b"")), max_size=8), st.integers(1, 7))
def test_frames_are_found_however_the_stream_is_cut(frames: list[bytes], size: int) -> None:
    stream = b"".join(frame + b"\f" for frame in frames)
    splitter = FrameSplitter(1000)
    found = [frame for at in range(0, len(stream), size) for frame in splitter.feed(stream[at : at + size])]
    assert found == frames
    assert splitter.pending == 0


def test_a_frame_that_is_too_large_is_skipped_and_not_kept() -> None:
    splitter = FrameSplitter(10)
    for _ in range(1000):
        assert list(splitter.feed(b"x" * 1000)) == []
        assert len(splitter._begun) <= 10
    large, small = splitter.feed(b"\fok\f")
    assert not isinstance(large, bytes)
    assert large.params == {"size": 1_000_000, "limit": 10}
    assert small == b"ok"


async def test_commands_are_obeyed_in_pieces_and_together(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, access), Wire.connect(server) as wire:
        client_id = await wire.greeting()
        start = json.dumps(command_frame(client_id, "StartNewTask", START), ensure_ascii=False).encode() + b"\f"
        for at in range(0, len(start), 7):
            wire.write(start[at : at + 7])
            await wire.writer.drain()
        assert (await wire.message())["data"]["eventName"] == "taskCreated"
        wire.write(start + start, command_frame(client_id, "CancelTask"))
        await until(lambda: len(access.done) == 4)
        names = [(await wire.message())["data"]["eventName"] for _ in range(6)]
        assert names == ["taskStarted", "taskCreated", "taskStarted", "taskCreated", "taskStarted", "taskAborted"]
        assert isinstance(access.done[0], StartNewTaskCommand)
        assert access.done[0].data.text == START["text"]


WRONG: dict[str, tuple[bytes, str]] = {
    "garbage": (b"hello", "malformed_frame"),
    "nothing": (b"", "malformed_frame"),
    "binary": (bytes(range(32)).replace(b"\f", b""), "malformed_frame"),
    "invalid UTF-8": (b'{"type":"message","data":"\xff\xfe"}', "malformed_frame"),
    "half a frame": (b'{"type":"message","data":{', "malformed_frame"),
    "a list": (b"[1]", "malformed_frame"),
    "a number": (b"7", "malformed_frame"),
    "no number": (b'{"type":NaN}', "malformed_frame"),
    "very deep": (b"[" * 100_000, "malformed_frame"),
    "another event of node-ipc's": (b'{"type":"connect","data":{}}', "unknown_type"),
    "no type": (b'{"data":{}}', "unknown_type"),
    "no data": (b'{"type":"message"}', "malformed_frame"),
    "data that is text": (b'{"type":"message","data":"TaskCommand"}', "malformed_frame"),
    "a type that is none": (b'{"type":"message","data":{"type":"Nonsense"}}', "unknown_type"),
    "a type that is no text": (b'{"type":"message","data":{"type":[]}}', "unknown_type"),
    "what only servers say": (
        b'{"type":"message","data":{"type":"TaskEvent","origin":"server","data":{"eventName":"taskCreated","payload":["x"]}}}',
        "unknown_type",
    ),
    "an origin that is a server": (
        b'{"type":"message","data":{"type":"TaskCommand","origin":"server","clientId":"ID","data":{"commandName":"CancelTask"}}}',
        "invalid_input",
    ),
    "no client id": (
        b'{"type":"message","data":{"type":"TaskCommand","origin":"client","data":{"commandName":"CancelTask"}}}',
        "invalid_input",
    ),
    "another's client id": (
        b'{"type":"message","data":{"type":"TaskCommand","origin":"client","clientId":"000000000000","data":{"commandName":"CancelTask"}}}',
        "not_allowed",
    ),
    "an unknown command": (
        b'{"type":"message","data":{"type":"TaskCommand","origin":"client","clientId":"ID","data":{"commandName":"Format"}}}',
        "invalid_input",
    ),
    "a command without its data": (
        b'{"type":"message","data":{"type":"TaskCommand","origin":"client","clientId":"ID","data":{"commandName":"ResumeTask"}}}',
        "invalid_input",
    ),
    "a task id that is a path": (
        b'{"type":"message","data":{"type":"TaskCommand","origin":"client","clientId":"ID","data":{"commandName":"ResumeTask","data":"../x"}}}',
        "invalid_input",
    ),
    "too large": (b'{"x":"' + b"x" * 200_000 + b'"}', "frame_too_large"),
}


@pytest.mark.parametrize("kind", WRONG)
async def test_a_wrong_frame_is_answered_and_breaks_nothing(
    kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    raw, code = WRONG[kind]
    limits = IpcLimits(max_frame_bytes=150_000)
    async with serving(tmp_path, limits=limits) as (server, access), Wire.connect(server) as wire:
        client_id = await wire.greeting()
        with caplog.at_level(logging.WARNING):
            wire.write(raw.replace(b'"ID"', json.dumps(client_id).encode()) + b"\f")
            message = await wire.message()
        assert [message["type"], message["relayClientId"]] == ["Error", client_id]
        error = message["data"]
        assert error["code"] == code
        assert len(error["message"]) > 15
        assert client_id in caplog.text
        assert "\n" not in caplog.records[-1].getMessage()
        assert access.done == []
        wire.write(command_frame(client_id, "GetModes"))
        answer = await wire.message()
        assert answer["data"] == {"eventName": "modesResponse", "payload": [[{"slug": "code", "name": "Code"}]]}
        assert answer["relayClientId"] == client_id


async def test_what_is_wrong_is_named_without_repeating_what_was_said(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, _), Wire.connect(server) as wire:
        client_id = await wire.greeting()
        wire.write(command_frame(client_id, "StartNewTask", {"configuration": {"apiKey": "sk-secret"}, "text": 7}))
        error = await wire.error()
        assert "text" in error["field"]
        assert "sk-secret" not in json.dumps(error)


async def test_many_wrong_frames_fill_neither_the_log_nor_the_memory(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(tmp_path) as (server, _):
        async with Wire.connect(server) as wire:
            await wire.greeting()
            wire.write(b"x\f" * 2000)
            for _ in range(2000):
                assert (await wire.error())["code"] == "malformed_frame"
        await until(lambda: server.clients == 0)
    assert len(caplog.records) < 10
    assert "1995 more" in caplog.text


async def test_who_gives_a_request_a_number_hears_when_it_is_done(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, _), Wire.connect(server) as wire:
        client_id = await wire.greeting()
        wire.write(command_frame(client_id, "CloseTask", requestId=1))
        assert await wire.hear() == {"type": "done", "data": {}, "requestId": 1}
        wire.write(command_frame(client_id, "GetModes", requestId="b"))
        answer = await wire.hear()
        assert [answer["data"]["data"]["eventName"], answer["requestId"]] == ["modesResponse", "b"]
        wire.write(command_frame(client_id, "ResumeTask", "gone", requestId=3))
        refused = await wire.hear()
        assert [refused["data"]["data"]["code"], refused["requestId"]] == ["unknown_task", 3]
        wire.write(command_frame("somebody", "CloseTask", requestId=4))
        refused = await wire.hear()
        assert [refused["data"]["data"]["code"], refused["requestId"]] == ["not_allowed", 4]


async def test_who_waits_for_a_list_gets_an_empty_one_after_the_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(tmp_path) as (server, _), Wire.connect(server) as wire:
        client_id = await wire.greeting()
        wire.write(command_frame(client_id, "GetModels"))
        assert (await wire.error())["code"] == "unknown_task"
        assert (await wire.message())["data"] == {"eventName": "modelsResponse", "payload": [{}]}
        wire.write(command_frame(client_id, "GetCommands"))
        error = await wire.error()
        assert error["code"] == "internal"
        assert "secret" not in str(error["message"])
        assert "A defect" in caplog.text
        assert (await wire.message())["data"] == {"eventName": "commandsResponse", "payload": [[]]}
