"""A long task with every tool there is, heard as a client of Roo Code's types hears it: it can read all of it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from pydantic import JsonValue

from hdsp_agent.agent import IpcCommandSession
from hdsp_agent.config import GlobalSettings
from hdsp_agent.messages import (
    AnswerAskCommand,
    AnswerAskData,
    CancelTaskCommand,
    ClineMessage,
    IpcTaskCommand,
    IpcTaskEvent,
    SendMessageCommand,
    SendMessageData,
    StartNewTaskCommand,
    StartNewTaskData,
    TaskCommand,
    TaskCompleted,
    TaskEvent,
    TaskId,
    TaskToolFailed,
)
from hdsp_agent.providers import ModelError, Stop, TextDelta, ThinkingDelta, ThinkingDone, call_tool, say
from hdsp_agent.providers._scripted import Step, Turn
from hdsp_agent.tools import ToolRegistry
from tests.agent._helpers.scripted_agent import Agent, running_agent, until
from tests.notebooks._helpers.headless import headless_notebooks

from ._helpers.vocabulary_samples import node
from .test_roo_compatibility import EVENTS_ROO_FORGOT, OUR_IPC_COMMANDS, OUR_SAYS

ROOT = Path(__file__).parents[2]
AUTO = GlobalSettings(
    auto_approval_enabled=True, always_allow_read_only=True, always_allow_write=True, always_allow_subtasks=True,
    always_allow_mode_switch=True, always_allow_run_cells=True, always_allow_install_packages=True,
)  # fmt: skip
DIFF = "<<<<<<< SEARCH\nprint(1)\n=======\nprint(2)\n>>>>>>> REPLACE"
CALLS: list[tuple[str, dict[str, JsonValue]]] = [
    ("update_todo_list", {"todos": "[-] one\n[ ] two"}),
    ("write_to_file", {"path": "a.py", "content": "print(1)\n"}),
    ("read_file", {"path": "a.py"}),
    ("list_files", {"path": "."}),
    ("search_files", {"path": ".", "regex": "print"}),
    ("apply_diff", {"path": "a.py", "diff": DIFF}),
    ("search_replace", {"path": "a.py", "search": "print(2)", "replace": "print(3)"}),
    ("read_command_output", {"artifact_id": "none"}),
    ("read_file", {"path": "missing.txt"}),
    ("fetch_url", {"url": "http://127.0.0.1:9/"}),
    ("create_notebook", {"path": "a.ipynb", "cells": [{"source": "x = 1"}, {"source": "print(x)\n1 / 0"}]}),
    ("read_notebook", {"path": "a.ipynb", "view": "cells"}),
    ("edit_cells", {"path": "a.ipynb", "operations": [{"op": "edit", "cell": 1, "old": "1", "new": "2"}]}),
    ("run_cells", {"path": "a.ipynb", "cells": ["all"]}),
    ("wait_run", {"run": "run-1"}),
    ("run_code", {"path": "a.ipynb", "code": "x"}),
    ("inspect_variables", {"path": "a.ipynb"}),
    ("list_kernels", {}),
    ("manage_kernel", {"path": "a.ipynb", "action": "restart"}),
    ("install_packages", {"path": "a.ipynb", "packages": ["pip"]}),
    ("remember", {"text": "Always use polars"}),
    ("search_memory", {"query": "polars"}),
    ("read_memory", {"path": "MEMORY.md"}),
    ("forget", {"ids": ["nothing"]}),
    ("search_tasks", {"query": "polars"}),
    ("add_cell", {"code": "y = 2\ny"}),
    ("add_text", {"kind": "text", "text": "# Twos", "place": "top"}),
    ("edit_cell", {"cell": 3, "code": "y + 1"}),
    ("rename_variable", {"old": "y", "new": "two"}),
    ("run_cell", {"cell": 2}),
    ("delete_cell", {"cell": 1}),
    ("run_cells_of_nobody", {"cell": "a tool there is not"}),
    ("mcp--files--read", {}),
    ("use_mcp_tool", {"server_name": "files", "tool_name": "read"}),
    ("search_mcp_tools", {"query": "read"}),
    ("list_mcp_resources", {}),
    ("access_mcp_resource", {"server_name": "files", "uri": "file:///x"}),
]


def turns() -> list[Turn]:
    thinking: list[Step] = [ThinkingDelta("Let me see. "), ThinkingDone("sig"), TextDelta("I begin. ")]
    played: list[list[Step]] = [call_tool(name, given, id=f"c{at}") for at, (name, given) in enumerate(CALLS)]
    return [
        [*thinking, *played[0]],
        *played[1:],
        [ModelError("Busy.", kind="rate_limit")],
        [*say("Only words")[:-1], Stop("max_tokens")],
        [*say("More words")[:-1], Stop("max_tokens")],
        call_tool("execute_command", {"command": "echo hello"}, id="x"),
        call_tool("ask_followup_question", {"question": "Which?", "follow_up": [{"text": "This"}]}, id="g"),
        call_tool("switch_mode", {"mode_slug": "debug", "reason": "why not"}, id="h"),
        [TextDelta("Long "), 60.0],
        call_tool("new_task", {"mode": "ask", "message": "Look it up"}, id="i"),
        call_tool("attempt_completion", {"result": "Found"}, id="j"),
        call_tool("attempt_completion", {"result": "All done"}, id="k"),
    ]


async def play(agent: Agent) -> list[TaskCommand]:
    """Go through the whole task as a program outside does; what it said."""
    program, sent = IpcCommandSession.of(agent.manager), list[TaskCommand]()

    async def command(said: TaskCommand) -> None:
        sent.append(said)
        await program.command(said)

    async def answer(task_id: TaskId, kind: str, response: str, text: str | None = None) -> None:
        message = None
        while message is None:
            message = agent.task(task_id).state.dialogue.asks.newest()
            await until(lambda: agent.task(task_id).state.dialogue.asks.open or None)
            if message is not None and message.ask != kind:
                # To restart the kernel is asked about in any case, and a model that errs on purpose makes the agent ask.
                assert message.ask in ("tool", "mistake_limit_reached")
                data = (
                    AnswerAskData(message_ts=message.ts, ask_response="yesButtonClicked")
                    if message.ask == "tool"
                    else AnswerAskData(message_ts=message.ts, ask_response="messageResponse", text="go on")
                )
                await command(AnswerAskCommand(data=data))
                message = None
        data = AnswerAskData.model_validate({"message_ts": message.ts, "ask_response": response, "text": text})
        await command(AnswerAskCommand(data=data))

    await command(StartNewTaskCommand(data=StartNewTaskData(configuration={"mode": "code"}, text="Do a lot")))
    task_id = program.task
    assert task_id is not None
    await answer(task_id, "command", "yesButtonClicked", "go ahead")
    await answer(task_id, "followup", "messageResponse", "This")
    await until(lambda: agent.model.requests and len(agent.model.requests) == len(agent.model.turns) - 3)
    await command(SendMessageCommand(data=SendMessageData(text="by the way")))
    await command(CancelTaskCommand())
    await answer(task_id, "resume_task", "yesButtonClicked")
    await until(lambda: len(agent.model.requests) == len(agent.model.turns) and not agent.manager.tasks.open)
    return sent


@pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning")
async def test_roo_reads_a_task_with_every_tool(tmp_path: Path) -> None:
    assert {name for name, _ in CALLS} | {
        "execute_command", "ask_followup_question", "switch_mode", "new_task", "attempt_completion", "answer"
    } >= set(ToolRegistry().names)  # fmt: skip
    (tmp_path / "work").mkdir()
    async with (
        headless_notebooks(tmp_path / "work") as notebooks,
        running_agent(tmp_path, turns(), settings=AUTO, tools=ToolRegistry(), notebooks=notebooks) as agent,
    ):
        sent = await play(agent)
        samples = _samples(agent, sent)
        events = agent.events
    refused = [(sample, verdict) for sample, verdict in _verdicts(samples) if not verdict["accepted"]]
    # What we added to the kinds of messages does not arrive at such a client, and nothing else is lost.
    assert [sample for sample, _ in refused if not _is_about_ours(sample)] == []
    # One comes only with a conversation that a notebook carried.
    in_tasks = OUR_SAYS - {"notebook_conversation"}
    assert {say for sample, _ in refused for say in OUR_SAYS if f'"say": "{say}"' in json.dumps(sample)} == in_tasks
    _names_of_tools_are_not_lost(events)


def _is_about_ours(sample: dict[str, JsonValue]) -> bool:
    text = json.dumps(sample)
    return any(f'"say": "{say}"' in text for say in OUR_SAYS)


def _samples(agent: Agent, sent: list[TaskCommand]) -> list[dict[str, JsonValue]]:
    told = [message for _, _, message in agent.heard.log if isinstance(message, ClineMessage)]
    events = [event for event in agent.events if event.event_name not in EVENTS_ROO_FORGOT]
    commands = [command for command in sent if command.command_name not in OUR_IPC_COMMANDS]
    frames = [IpcTaskEvent(data=event) for event in events]
    asked = [IpcTaskCommand(client_id="a1b2", data=command) for command in commands]
    assert len(told) > 40 and len(events) > 60 and len(agent.history.items) == 2
    by_schema = {
        "clineMessageSchema": told,
        "historyItemSchema": agent.history.items.values(),
        "taskEventSchema": events,
        "taskCommandSchema": commands,
        "ipcMessageSchema": [*frames, *asked],
    }
    return [
        {"schema": schema, "value": record.to_wire()} for schema, records in by_schema.items() for record in records
    ]


def _verdicts(samples: list[dict[str, JsonValue]]) -> list[tuple[dict[str, JsonValue], dict[str, JsonValue]]]:
    done = subprocess.run(
        [node(), str(ROOT / "tests/messages/_helpers/roo_compat.mjs")],
        input=json.dumps(samples), capture_output=True, encoding="utf-8", check=True, cwd=ROOT, timeout=60,
    )  # fmt: skip
    return list(zip(samples, json.loads(done.stdout)["verdicts"], strict=True))


def _names_of_tools_are_not_lost(events: list[TaskEvent]) -> None:
    failed = [(event.payload[1], event.tool) for event in events if isinstance(event, TaskToolFailed)]
    assert ("read_file", None) in failed
    assert {("custom_tool", name) for name in ("fetch_url", "run_cells_of_nobody", "mcp--files--read")} <= set(failed)
    [whole] = [event for event in events if isinstance(event, TaskCompleted) and not event.payload[3].is_subtask]
    assert whole.payload[2]["custom_tool"].attempts == 26
    assert whole.tools is not None and whole.tools["fetch_url"].failures == 1
