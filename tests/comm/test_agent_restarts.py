"""A real Jupyter server is killed, or stopped, while its agent is in the middle of everything at once; and started again."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests._helpers.stored_tasks import said_in
from tests.comm._helpers.jupyter_process import JupyterProcess
from tests.comm._helpers.scripted_model_server import Body, Model, Part, Refusal, call, model_of, silence
from tests.comm._helpers.scripted_pages import asked, conversation, question, said
from tests.comm.channel._helpers.channel_panel import Panel
from tests.comm.conftest import messages

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")]

DONE = call("attempt_completion", {"result": "All is done."})
WORDS = [f"word{number} " for number in range(20)]
TICKING = "echo $$ > {0}.pid; echo {0} >> {0}.txt; while sleep 0.05; do echo tick; done"


def read_output(body: Body) -> Sequence[Part]:
    """Ask for the output of the command whose id is in the conversation."""
    found = re.search(r"cmd-[0-9a-f]+", json.dumps(body["messages"]))
    assert found is not None
    return call("read_command_output", {"artifact_id": found[0]})


SCENARIOS: dict[str, list[Any]] = {
    "approval": [call("execute_command", {"command": "echo approval >> approval.txt"}), DONE],
    "tool": [call("execute_command", {"command": TICKING.format("tool")}), DONE],
    "background": [
        call("execute_command", {"command": TICKING.format("background"), "timeout": 0}),
        [{"content": "I wait. "}, silence],
        read_output,
        DONE,
    ],
    "arguments": [
        [*call("write_to_file", {"path": "arguments.txt", "content": "half of it"})[:1], silence],
        DONE,
    ],
    "countdown": [[Refusal("429 Too Many Requests", ("Retry-After: 100",))], DONE],
    "followup": [
        call("ask_followup_question", {"question": "Which?", "follow_up": [{"text": "red"}, {"text": "blue"}]}),
        DONE,
    ],
    "completed": [DONE],
    "parent": [call("new_task", {"mode": "code", "message": "Play scenario child"}), DONE],
    "child": [[{"content": "The child works. "}, silence], call("attempt_completion", {"result": "It is 42"})],
    "text": [[*({"content": word} for word in WORDS), silence], DONE],
}  # fmt: skip


@asynccontextmanager
async def server_and_model(folder: Path) -> AsyncIterator[tuple[JupyterProcess, Model]]:
    server = JupyterProcess(folder)
    async with model_of(SCENARIOS) as model:
        try:
            await server.start()
            profile = {"apiProvider": "lmstudio", "lmStudioModelId": "m", "lmStudioBaseUrl": model.url}
            await server.call("PATCH", "profiles/default", {"settings": profile})
            yield server, model
        finally:
            server.kill()


async def until(condition: Callable[[], object], seconds: float = 60) -> None:
    deadline = asyncio.get_running_loop().time() + seconds
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, "it did not happen in time"
        await asyncio.sleep(0.02)


def lines(folder: Path, name: str) -> list[str]:
    path = folder / name
    return path.read_text("utf-8").splitlines() if path.exists() else []


def running(folder: Path, name: str) -> bool:
    """Whether the command that wrote its process id there still runs."""
    try:
        os.kill(int((folder / name).read_text("utf-8")), 0)
    except ProcessLookupError:
        return False
    return True


async def reply(page: Panel, ts: int, response: str = "yesButtonClicked", **fields: object) -> None:
    ack = await page.ask("askResponse", messageTs=ts, askResponse=response, **fields)
    assert ack["ok"], ack


async def begin_all(server: JupyterProcess, model: Model, page: Panel) -> dict[str, str]:
    """Bring one task into each of the moments; the last one stays on screen."""
    tasks: dict[str, str] = {}
    for scenario in (scenario for scenario in SCENARIOS if scenario != "child"):
        ack = await page.ask("newTask", request_id=f"begin-{scenario}", text=f"Play scenario {scenario}")
        assert ack["ok"], ack
        tasks[scenario] = ack["result"]
        await MOMENTS[scenario](server, model, page)
    return tasks


async def approval_waits(server: JupyterProcess, model: Model, page: Panel) -> None:
    await question(page, "command")


async def tool_runs(server: JupyterProcess, model: Model, page: Panel) -> None:
    await reply(page, await question(page, "command"))
    await page.until(lambda: any("tick" in text for text in said(page, "command_output")))


async def background_runs(server: JupyterProcess, model: Model, page: Panel) -> None:
    await reply(page, await question(page, "command"))
    await page.until(lambda: "I wait. " in said(page, "text"))
    await page.until(lambda: any("tick" in text for text in said(page, "command_output")))


async def arguments_stream(server: JupyterProcess, model: Model, page: Panel) -> None:
    await until(lambda: model.asked["arguments"] == 1)
    await asyncio.sleep(0.3)


async def retry_counts_down(server: JupyterProcess, model: Model, page: Panel) -> None:
    await page.until(lambda: any("<retry_timer>" in text for text in said(page, "api_req_retry_delayed")))


async def question_is_open(server: JupyterProcess, model: Model, page: Panel) -> None:
    await question(page, "followup")


async def result_is_there(server: JupyterProcess, model: Model, page: Panel) -> None:
    await page.until(lambda: said(page, "completion_result"))


async def subtask_works(server: JupyterProcess, model: Model, page: Panel) -> None:
    await reply(page, await question(page, "tool"))
    await page.until(lambda: "The child works. " in said(page, "text"))


async def text_streams(server: JupyterProcess, model: Model, page: Panel) -> None:
    await page.until(lambda: "".join(WORDS) in said(page, "text"))
    # It is on the disk a second later.
    await until(lambda: WORDS[-1] in said_in(server.home, "ui"))


MOMENTS = {
    "approval": approval_waits,
    "tool": tool_runs,
    "background": background_runs,
    "arguments": arguments_stream,
    "countdown": retry_counts_down,
    "followup": question_is_open,
    "completed": result_is_there,
    "parent": subtask_works,
    "text": text_streams,
}


def shown_task(page: Panel) -> str | None:
    task: str | None = messages(page, "state")[-1]["state"].get("currentTaskId")
    return task


async def show(page: Panel, task: str) -> None:
    assert (await page.ask("showTaskWithId", taskId=task))["ok"]


async def finish(page: Panel) -> None:
    """Let the conversation on screen go on to its end."""
    await page.until(lambda: said(page, "completion_result")[-1:] == ["All is done."])
    await question(page, "completion_result")


async def go_on(page: Panel, task: str) -> None:
    """Show it, let it resume, and wait for its end."""
    await show(page, task)
    await reply(page, await question(page, "resume_task"))
    await finish(page)


def told(model: Model, scenario: str, role: str) -> list[str]:
    """What the model was last sent in this role."""
    return [json.dumps(message["content"]) for message in model.heard[scenario]["messages"] if message["role"] == role]


@pytest.mark.in_short(1)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "stopped"])
async def test_a_server_that_ends_in_the_middle_of_everything_goes_on_with_all_of_it(
    tmp_path: Path, number: signal.Signals
) -> None:
    async with server_and_model(tmp_path) as (server, model):
        async with server.page("tab") as page:
            tasks = await begin_all(server, model, page)
            before = conversation(page)
            await server.end(number)
        await until(lambda: not running(server.root, "tool.pid") and not running(server.root, "background.pid"))
        await server.start()
        asked_before = model.asked.copy()
        async with server.page("tab") as page:
            await the_screen_is_as_it_was(page, tasks["text"], before)
            await nothing_begins_twice(server, page, tasks)
            assert model.asked == asked_before, "the model was asked without anybody's wish"
            await all_go_on(server, model, page, tasks)
        assert lines(server.root, "approval.txt") == ["approval"]
        assert lines(server.root, "tool.txt") == ["tool"]
        assert lines(server.root, "background.txt") == ["background"]
        assert {scenario: len(turns) for scenario, turns in SCENARIOS.items()} == dict(model.asked)


async def the_screen_is_as_it_was(page: Panel, task: str, before: dict[int, dict[str, object]]) -> None:
    """The first state already shows the same conversation with every word of it, and a row that says it can go on."""
    assert messages(page, "state")[0]["state"]["currentTaskId"] == task
    await question(page, "resume_task")
    assert "".join(WORDS) in said(page, "text")
    now = conversation(page)
    assert [now[ts].get("text") for ts in before if before[ts].get("say") == "text"] == [
        message.get("text") for message in before.values() if message.get("say") == "text"
    ]
    assert not any(message.get("partial") for message in now.values())


async def nothing_begins_twice(server: JupyterProcess, page: Panel, tasks: dict[str, str]) -> None:
    """The page sends again what it got no answer to; a server that knows nothing of the first time begins nothing new."""
    again = await page.ask("newTask", request_id="begin-approval", text="Play scenario approval")
    assert again["result"] == tasks["approval"] == shown_task(page)
    history = await server.call("GET", "history?limit=100")
    assert len(history["taskHistory"]) == len(SCENARIOS)


async def all_go_on(server: JupyterProcess, model: Model, page: Panel, tasks: dict[str, str]) -> None:
    ts = await question(page, "command")
    assert asked(page, "resume_task") == []
    assert lines(server.root, "approval.txt") == []
    await reply(page, ts)
    await finish(page)

    await go_on(page, tasks["text"])
    assert "".join(WORDS) in told(model, "text", "assistant")[-1]

    await go_on(page, tasks["tool"])
    assert "interrupted" in told(model, "tool", "tool")[-1]

    await go_on(page, tasks["background"])
    output = told(model, "background", "tool")[-1]
    assert "stopped" in output and "tick" in output

    await go_on(page, tasks["arguments"])
    assert asked(page, "tool") == [] and not (server.root / "arguments.txt").exists()

    await go_on(page, tasks["countdown"])
    assert not any("<retry_timer>" in text for text in said(page, "api_req_retry_delayed"))

    await show(page, tasks["followup"])
    await reply(page, await question(page, "followup"), "messageResponse", text="blue")
    await finish(page)

    await show(page, tasks["completed"])
    await question(page, "completion_result")
    assert said(page, "completion_result") == ["All is done."]

    await show(page, tasks["parent"])
    child = (await server.call("GET", f"history/{tasks['parent']}"))["awaitingChildId"]
    await show(page, child)
    await reply(page, await question(page, "resume_task"))
    await reply(page, await question(page, "tool"))
    await page.until(lambda: shown_task(page) == tasks["parent"])
    await finish(page)
    assert said(page, "subtask_result") == ["It is 42"]
