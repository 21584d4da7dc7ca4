"""``hdsp-agent ipc``, run as a program beside a server."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import NamedTuple

import pytest

from hdsp_agent.messages import AnswerAskCommand, StartNewTaskCommand, TaskIdle, TaskToolFailed

from .._helpers.forked_python import forked_python
from ._helpers.fake_agent import PATIENCE, serving, until


class Ended(NamedTuple):
    """How a program ended."""

    code: int
    out: str
    err: str


async def begin(home: Path, *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        forked_python(), "-m", "hdsp_agent.cli", "--home", str(home), "ipc", *arguments,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip


async def run(home: Path, *arguments: str) -> Ended:
    process = await begin(home, *arguments)
    out, err = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), err.decode())


async def watching(process: asyncio.subprocess.Process) -> None:
    """Wait until it says so: whoever looks for servers connects to each for a moment."""
    assert process.stderr is not None
    assert b"Watching" in await asyncio.wait_for(process.stderr.readline(), PATIENCE)


async def test_servers_are_listed(tmp_path: Path) -> None:
    none = await run(tmp_path, "list")
    assert (none.code, none.out) == (0, "")
    assert "No server" in none.err
    async with serving(tmp_path) as (server, _):
        assert server.address in (await run(tmp_path, "list")).out
        said = json.loads((await run(tmp_path, "list", "--json")).out)
        (found,) = said["servers"]
        assert (found["path"], found["pid"]) == (server.address, os.getpid())
    assert json.loads((await run(tmp_path, "--json", "list")).out) == {"servers": []}


async def test_a_command_is_sent_and_its_answer_shown(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, access):
        started = await run(tmp_path, "send", "StartNewTask", "Plot the data")
        assert (started.code, started.out) == (0, "Started. Task: task-1\n")
        wanted = access.done[0]
        assert isinstance(wanted, StartNewTaskCommand)
        assert (wanted.data.text, wanted.data.configuration) == ("Plot the data", {})
        data = '{"text": "More", "configuration": {"mode": "ask"}}'
        assert (await run(tmp_path, "send", "StartNewTask", data)).code == 0
        assert isinstance(access.done[1], StartNewTaskCommand)
        assert access.done[1].data.configuration == {"mode": "ask"}
        modes = await run(tmp_path, "send", "GetModes", "--json", "--server", str(os.getpid()))
        assert json.loads(modes.out)["event"]["payload"] == [[{"slug": "code", "name": "Code"}]]
        assert json.loads((await run(tmp_path, "send", "--server", server.address, "GetModes")).out)


async def test_a_question_is_answered_by_its_number(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, access):
        for said, response, text in (
            ("1795276642390 yes", "yesButtonClicked", None),
            ("1795276642390  No", "noButtonClicked", None),
            ("1795276642390 the second one", "messageResponse", "the second one"),
        ):
            ended = await run(tmp_path, "send", "AnswerAsk", said, "--task", "task-7")
            assert (ended.code, ended.out) == (0, "Answered.\n")
            command = access.done[-1]
            assert isinstance(command, AnswerAskCommand)
            assert command.task_id == "task-7"
            assert (command.data.message_ts, command.data.ask_response) == (1795276642390, response)
            assert command.data.text == text
        late = await run(tmp_path, "send", "AnswerAsk", "1 yes")
        assert (late.code, late.err.count("\n")) == (1, 1)
        assert "not open" in late.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("send", "AnswerAsk", "yes"), "the question's number"),
        (("send", "AnswerAsk", '{"messageTs": 2}'), "askResponse"),
        (("send", "GetModes", "--task", "x"), "takes no --task"),
        (("send", "CancelTask", "--task", "../x"), "taskId"),
        (("send", "ResumeTask", "gone"), "No task has the id gone"),
        (("send", "ResumeTask"), "needs data"),
        (("send", "ResumeTask", "../x"), "ResumeTask"),
        (("send", "CancelTask", "x"), "takes no data"),
        (("send", "StartNewTask", "{"), "not JSON"),
        (("send", "StartNewTask", '{"text": 7}'), "text"),
        (("send", "Format"), "invalid choice"),
        (("watch", "--server", "nobody"), "No server nobody"),
        (("send", "CancelTask", "--server", "/nowhere/x.sock"), "No server listens"),
        ((), "ACTION"),
    ],
)
async def test_what_cannot_be_done_is_said_in_one_line(arguments: tuple[str, ...], says: str, tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, access):
        ended = await run(tmp_path, *arguments)
        assert ended.code == 2
        assert says in ended.err
        assert ended.err.count("\n") == 1
        assert access.done == []


async def test_which_of_several_servers_must_be_said(tmp_path: Path) -> None:
    async with serving(tmp_path) as (one, _), serving(tmp_path) as (_, other):
        ended = await run(tmp_path, "send", "GetModes")
        assert ended.code == 2
        assert "--server" in ended.err
        assert (await run(tmp_path, "send", "CloseTask", "--server", f"{Path(one.address).stem}")).code == 0
        assert other.done == []


@pytest.mark.parametrize("as_json", [True, False])
async def test_what_happens_is_watched_as_it_happens(as_json: bool, tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, access):
        process = await begin(tmp_path, "watch", *(["--json"] if as_json else []))
        assert process.stdout is not None
        await watching(process)
        for event in (TaskIdle(payload=("task-1",)), TaskToolFailed(payload=("task-1", "shell", "no\x1b[31m\nway"))):
            access.events.emit(event)
            line = (await asyncio.wait_for(process.stdout.readline(), PATIENCE)).decode()
            if as_json:
                assert json.loads(line) == event.to_wire()
            else:
                assert line.startswith("task-1")
                assert event.event_name in line
                assert "\x1b" not in line
        process.send_signal(signal.SIGINT)
        await asyncio.wait_for(process.communicate(), PATIENCE)
        assert process.returncode == 130
        await until(lambda: server.clients == 0)


async def test_a_watch_ends_with_its_server(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, _):
        process = await begin(tmp_path, "watch")
        await watching(process)
        await server.stop()
        _, err = await asyncio.wait_for(process.communicate(), PATIENCE)
        assert process.returncode == 0
        assert b"has stopped" in err
