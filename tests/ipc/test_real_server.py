"""Programs outside and a real Jupyter Server: Roo Code's client drives a whole task, and nothing it says breaks it."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from pydantic import JsonValue

from hdsp_agent.ipc import IpcClient, find_servers
from hdsp_agent.messages import GetModesCommand

from .._helpers.parsed_json import ParsedJson
from .._helpers.timing import until
from ._helpers.fake_agent import Wire, command_frame
from ._helpers.jupyter_process import jupyter_server
from .test_node_client import NodeClient

DONE: list[dict[str, JsonValue]] = [{"tool": "attempt_completion", "arguments": {"result": "All done"}, "id": "end"}]
TURNS: list[list[dict[str, JsonValue]]] = [
    [
        {"text": "I write it."},
        {"tool": "write_to_file", "arguments": {"path": "a.txt", "content": "one\n"}, "id": "w"},
        {"usage": {"input": 10, "output": 5}},
    ],
    [{"text": "Now "}, {"wait": 60}],
    [{"tool": "fetch_url", "arguments": {"url": "http://127.0.0.1:9"}, "id": "f"}],
    DONE,
]


def mode_of(path: Path | str) -> int:
    return stat.S_IMODE(os.lstat(path).st_mode)


async def test_a_whole_task_is_driven_by_roos_client(tmp_path: Path) -> None:
    async with jupyter_server(tmp_path, TURNS) as server, NodeClient.connect(server.endpoint) as client:
        async with IpcClient.connect(server.endpoint.address) as other:
            client.send("StartNewTask", {"configuration": {"mode": "code"}, "text": "Write it"})
            heard = await client.until(lambda event: _asks(event, "tool"))
            task_id = str(heard[0]["payload"][0])
            question = heard[-1]["payload"][0]["message"]
            assert not (server.workspace / "a.txt").exists()
            client.send("SendMessage", {"text": "yes"})
            heard += await client.until(lambda event: event["eventName"] == "queuedMessagesUpdated")
            assert not (server.workspace / "a.txt").exists()
            client.send("DeleteQueuedMessage", heard[-1]["payload"][1][0]["id"])
            client.send("AnswerAsk", {"messageTs": question["ts"], "askResponse": "yesButtonClicked"})
            heard += await client.until(lambda event: "Now" in json.dumps(event.get("payload")))
            assert (server.workspace / "a.txt").read_text() == "one\n"
            client.send("CancelTask")
            heard += await client.until(lambda event: event["eventName"] == "taskAborted")
            # Right after, before the server asks whether to go on.
            client.send("SendMessage", {"text": "Fetch something instead"})
            heard += await client.until(lambda event: event["eventName"] == "taskCompleted")
            assert heard[-1]["payload"][0] == task_id

            # The two heard the same, in the same order: every event, and each once.
            theirs = []
            async for event in other.events():
                theirs.append(event.to_wire())
                if event.event_name == "taskCompleted":
                    break
            assert heard == theirs
        connected = ("read", "ipc connect", None)
        # Whoever looks for servers connects for a moment too.
        await until(lambda: len([row for row in _recorded(server.audit_log) if row != connected]) >= 6)
        recorded = _recorded(server.audit_log)
        assert recorded.count(connected) >= 2
        assert [row for row in recorded if row != connected] == [
            ("begin", "ipc StartNewTask", task_id),
            ("change", "ipc SendMessage", task_id),
            ("change", "ipc DeleteQueuedMessage", task_id),
            ("change", "ipc AnswerAsk", task_id),
            ("change", "ipc CancelTask", task_id),
            ("change", "ipc SendMessage", task_id),
        ]
        names = {event["eventName"] for event in heard}
        shown = [event["payload"][0]["message"] for event in heard if event["eventName"] == "message"]
        assert any(message.get("say") == "checkpoint_saved" for message in shown)
        assert {"taskCreated", "taskStarted", "taskActive", "taskInteractive", "taskAskResponded"} <= names
        assert {"taskTokenUsageUpdated", "taskToolFailed", "taskAborted", "taskResumable", "taskUserMessage"} <= names


@pytest.mark.long
async def test_questions_are_answered_from_what_the_server_knows(tmp_path: Path) -> None:
    async with jupyter_server(tmp_path, [DONE]) as server, NodeClient.connect(server.endpoint) as client:
        client.send("GetModes")
        [modes] = (await client.event("modesResponse"))["payload"]
        assert {mode["slug"] for mode in modes} == {"architect", "code", "ask", "debug", "orchestrator"}
        client.send("GetModels")
        [models] = (await client.event("modelsResponse"))["payload"]
        assert models["scripted"]["contextWindow"] == 200_000
        client.send("GetCommands")
        [commands] = (await client.event("commandsResponse"))["payload"]
        assert {command["name"] for command in commands} >= {"clean-up", "document", "explain", "fix", "test"}


@pytest.mark.long
async def test_invalid_frames_cost_nobody_anything(tmp_path: Path) -> None:
    async with jupyter_server(tmp_path, [DONE]) as server:
        endpoint = server.endpoint
        async with (
            NodeClient.connect(endpoint) as client,
            Wire.connect(endpoint) as bad,
            Wire.connect(endpoint) as torn,
        ):
            await torn.greeting()
            name = await bad.greeting()
            huge = b'{"type":"message","data":"' + b"x" * 10_000_000 + b'"}\f'
            wrong: list[bytes | dict[str, object]] = [
                b"\x00\xff not json\f",
                b"\f",
                b"[" * 100_000 + b"\f",
                {"type": "message"},
                command_frame("somebody", "CancelTask"),
                command_frame(name, "FormatDisk"),
                command_frame(name, "StartNewTask", {"text": 7}),
                command_frame(name, "StartNewTask", {"configuration": {"apiKey": "sk-secret-1"}, "text": "go"}),
                command_frame(name, "ResumeTask", "../../etc/passwd"),
                command_frame(name, "AnswerAsk", {"messageTs": 1, "askResponse": "yesButtonClicked"}),
                huge,
            ]
            for frame in wrong:
                bad.write(frame)
                assert (await bad.error())["code"]
            # Half a frame, and it leaves.
            torn.write(json.dumps(command_frame(name, "CancelTask")).encode()[:40])
            torn.writer.close()
            bad.write(command_frame(name, "GetModes"))
            assert (await bad.message())["data"]["eventName"] == "modesResponse"
            client.send("StartNewTask", {"configuration": {}, "text": "go"})
            await client.event("taskCompleted")
            assert (await bad.message())["data"]["eventName"] == "taskCreated"
        assert "sk-secret-1" not in server.log.read_text(encoding="utf-8")
        kept = [path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file()]
        assert kept and not any(b"sk-secret-1" in content for content in kept)


async def test_the_socket_is_private_and_goes_with_its_server(tmp_path: Path) -> None:
    async with jupyter_server(tmp_path, []) as server:
        first = server.endpoint
        assert mode_of(first.address) == 0o600
        assert mode_of(Path(first.address).parent) == 0o700
        assert mode_of(server.ipc) == 0o700
        await server.kill()
        assert os.path.lexists(first.address)
        assert find_servers(server.ipc) == []
    async with jupyter_server(tmp_path, []) as server:
        assert not os.path.lexists(first.address)
        async with IpcClient.connect(server.endpoint.address) as client:
            assert await client.send(GetModesCommand()) is not None
            await server.stop()
            assert [event async for event in client.events()] == []
        assert list(server.ipc.glob("*.sock")) == []


@pytest.mark.long
async def test_a_client_that_leaves_in_the_middle_leaves_the_task_at_work(tmp_path: Path) -> None:
    turns: list[list[dict[str, JsonValue]]] = [[{"wait": 0.5}, *DONE]]
    async with jupyter_server(tmp_path, turns) as server, IpcClient.connect(server.endpoint.address) as watching:
        async with NodeClient.connect(server.endpoint) as client:
            client.send("StartNewTask", {"configuration": {}, "text": "go"})
            await client.event("taskStarted")
        async for event in watching.events():
            if event.event_name == "taskCompleted":
                break
        else:
            raise AssertionError("the server closed the connection")


def _recorded(audit_log: Path) -> list[tuple[str, str, str | None]]:
    # The newest line may be half written.
    whole, _, _ = audit_log.read_text(encoding="utf-8").rpartition("\n") if audit_log.exists() else ("", "", "")
    lines = [json.loads(line) for line in whole.splitlines()]
    return [(line["action"], line["via"], line["conversation"]) for line in lines]


def _asks(event: ParsedJson, kind: str) -> bool:
    if event["eventName"] != "message":
        return False
    message = event["payload"][0]["message"]
    return bool(message.get("ask") == kind and not message.get("partial"))
