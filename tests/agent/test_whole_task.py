"""A long task, looked at as a whole: what clients can read of it, and what it costs the event loop."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx
from pydantic import JsonValue

from hdsp_agent.agent import TaskRequest
from hdsp_agent.config import GlobalSettings
from hdsp_agent.errors import StorageUnavailable
from hdsp_agent.messages import ClineMessage
from hdsp_agent.persistence import ApiDraft
from hdsp_agent.providers import ModelError, Stop, TextDelta, ThinkingDelta, ThinkingDone, call_tool, say
from hdsp_agent.providers._scripted import Step, Turn
from hdsp_agent.tools import ToolRegistry
from tests.messages._helpers.vocabulary_samples import node

from ._helpers.scripted_agent import Agent, running_agent, until

ROOT = Path(__file__).parents[2]
AUTO = GlobalSettings(auto_approval_enabled=True, always_allow_read_only=True, always_allow_write=True, always_allow_subtasks=True, always_allow_mode_switch=True)  # fmt: skip
PICTURE = "data:image/png;base64,iVBORw0KGgo="
# Roo Code's own union forgot it, so its clients drop it.
FORGOTTEN = {"taskUserMessage"}


def long_task() -> list[Turn]:
    first: list[Step] = [ThinkingDelta("Let me see. "), ThinkingDone("sig"), TextDelta("I begin. ")]
    return [
        [*first, *call_tool("update_todo_list", {"todos": "[-] one\n[ ] two"}, id="a")],
        call_tool("write_to_file", {"path": "a.py", "content": "print(1)\n"}, id="b"),
        [
            *call_tool("read_file", {"path": "a.py"}, id="c", stop=False),
            *call_tool("list_files", {"path": "."}, id="d", index=1),
        ],
        [ModelError("Busy.", kind="rate_limit")],
        call_tool("read_file", {"path": "missing.txt"}, id="e"),
        [*say("Only words")[:-1], Stop("max_tokens")],
        [*say("More words")[:-1], Stop("max_tokens")],
        call_tool("execute_command", {"command": "echo hello"}, id="f"),
        call_tool("ask_followup_question", {"question": "Which?", "follow_up": [{"text": "This"}]}, id="g"),
        call_tool("switch_mode", {"mode_slug": "debug", "reason": "why not"}, id="h"),
        call_tool("new_task", {"mode": "ask", "message": "Look it up"}, id="i"),
        call_tool("attempt_completion", {"result": "Found"}, id="j"),
        call_tool("attempt_completion", {"result": "All done"}, id="k"),
    ]


async def play(agent: Agent) -> None:
    """Go through the whole task as a person would."""
    task_id = await agent.manager.start(TaskRequest("Do a lot", images=(PICTURE,)))
    command = await agent.asked(task_id, "command")
    await agent.manager.answer(task_id, command.ts, "yesButtonClicked", "go ahead")
    question = await agent.asked(task_id, "followup")
    await agent.manager.queue(task_id, "by the way")
    await agent.manager.answer(task_id, question.ts, "messageResponse", "This", (PICTURE,))
    await agent.completed(task_id)
    while agent.manager.tasks.open or len(agent.model.requests) < len(agent.model.turns):
        await agent.completed(agent.manager.tasks.open[0] if agent.manager.tasks.open else task_id)


async def test_clients_of_the_published_types_can_read_all_of_it(tmp_path: Path) -> None:
    async with running_agent(tmp_path, long_task(), settings=AUTO, tools=ToolRegistry()) as agent:
        await play(agent)
        samples: list[dict[str, JsonValue]] = [
            {"schema": "clineMessageSchema", "value": message.to_wire()}
            for _, _, message in agent.heard.log
            if isinstance(message, ClineMessage)
        ]
        samples += [{"schema": "historyItemSchema", "value": item.to_wire()} for item in agent.history.items.values()]
        events = [event for event in agent.events if event.event_name not in FORGOTTEN]
        samples += [{"schema": "taskEventSchema", "value": event.to_wire()} for event in events]
    done = subprocess.run(
        [node(), str(ROOT / "tests/messages/_helpers/roo_compat.mjs")],
        input=json.dumps(samples), capture_output=True, encoding="utf-8", check=True, cwd=ROOT, timeout=60,
    )  # fmt: skip
    verdicts = json.loads(done.stdout)["verdicts"]
    refused = [(sample, verdict) for sample, verdict in zip(samples, verdicts, strict=True) if not verdict["accepted"]]
    assert refused == []
    assert len(samples) > 60


async def test_the_event_loop_is_never_blocked(tmp_path: Path) -> None:
    async with running_agent(tmp_path, long_task(), settings=AUTO, tools=ToolRegistry()) as agent:
        with blockbuster_ctx(scanned_modules=["hdsp_agent"]):
            await play(agent)


async def test_what_is_told_is_what_is_recorded(tmp_path: Path) -> None:
    async with running_agent(tmp_path, long_task(), settings=AUTO, tools=ToolRegistry()) as agent:
        await play(agent)
        for task_id in await agent.store.tasks():
            recorded = {message.ts: message for message in await agent.ui(task_id)}
            assert agent.heard.shown[task_id] == recorded
            reader = await agent.store.view(task_id)
            calls, results = set(), set()
            async for record in reader.api.iterate():
                for block in record.content if isinstance(record.content, list) else ():
                    if block["type"] == "tool_use":
                        calls.add(block["id"])
                    elif block["type"] == "tool_result":
                        results.add(block["tool_use_id"])
            assert calls == results


async def test_a_picture_of_the_person_reaches_the_model(tmp_path: Path) -> None:
    async with running_agent(tmp_path, long_task(), settings=AUTO, tools=ToolRegistry()) as agent:
        await play(agent)
        content = agent.model.requests[0].messages[0].content
        assert isinstance(content, list)
        source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
        assert {"type": "image", "source": source} in content


async def test_a_storage_that_fails_for_a_moment_stops_the_task_with_a_word(tmp_path: Path) -> None:
    done = call_tool("attempt_completion", {"result": "All done"}, id="end")
    async with running_agent(tmp_path, [[1.0, *call_tool("look", {"text": "x"})], done, done]) as agent:
        task_id = await agent.start()
        log = agent.task(task_id).state.conversation.log
        append = log.append_api

        async def refuse(draft: ApiDraft, *, durable: bool = False) -> None:
            log.append_api = append  # type: ignore[method-assign]  # once
            raise StorageUnavailable("The disk is full.")

        log.append_api = refuse  # type: ignore[method-assign, assignment]  # a fault
        ask = await agent.asked(task_id, "resume_task")
        assert "The disk is full." in str((await agent.says(task_id, "error"))[-1].text)
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert "Do it" in str(agent.model.requests[-1].messages)


@pytest.mark.each_backend
async def test_a_storage_that_fails_when_a_task_is_put_with_the_completed_ones_keeps_nobody_from_it(
    tmp_path: Path,
) -> None:
    done = call_tool("attempt_completion", {"result": "All done"}, id="end")
    async with running_agent(tmp_path, [[0.05, *done], done]) as agent:
        task_id = await agent.start()
        log = agent.task(task_id).state.conversation.log

        async def refuse(*args: object, **more: object) -> None:
            raise StorageUnavailable("The disk is full.")

        log.finish = refuse  # type: ignore[method-assign]  # a fault
        await until(lambda: agent.model.requests and not agent.manager.tasks.open)
        [ask] = await agent.asks(task_id, "completion_result")
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "And now?")
        await until(lambda: len(agent.model.requests) == 2)


async def test_a_storage_that_fails_for_good_puts_the_task_aside(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [[1.0, *call_tool("look", {"text": "x"})]]) as agent:
        task_id = await agent.start()
        log = agent.task(task_id).state.conversation.log

        async def refuse(*args: object, **more: object) -> None:
            raise StorageUnavailable("The disk is full.")

        log.append_api = refuse  # type: ignore[method-assign, assignment]  # a fault
        log.put_ui = refuse  # type: ignore[method-assign]  # a fault
        log.append_ui = refuse  # type: ignore[method-assign, assignment]  # a fault
        await until(lambda: not agent.manager.tasks.open)
        assert agent.manager.tasks.status(task_id) == "none"
