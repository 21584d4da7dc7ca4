"""What the approval engine warns of stands on the question that the person is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar

import pytest

from hdsp_agent.config import GlobalSettings
from hdsp_agent.messages import ApprovalFlag, TaskId
from hdsp_agent.providers import call_tool
from hdsp_agent.tools import ActionRequest, SimpleTool, ToolContext, ToolResult

from ._helpers.scripted_agent import NoteArguments, Toolbox, running_agent

DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")


class Warned(SimpleTool[NoteArguments]):
    """Finds itself what to warn of, as a tool for cells does."""

    name: ClassVar[str] = "warned"
    description: ClassVar[str] = "Do something to look at twice."
    flags: ClassVar[tuple[ApprovalFlag, ...]] = ("runs_programs", "installs")

    async def _run(self, arguments: NoteArguments, context: ToolContext) -> ToolResult:
        action = ActionRequest(frozenset({"run_code"}), self.name, flags=self.flags)
        approval = await context.approve(action, "tool", json.dumps({"tool": "runCode", "cells": []}))
        return ToolResult("done" if approval.approved else "denied")


class MoreWarned(Warned):
    """The same after an upgrade that finds more."""

    flags: ClassVar[tuple[ApprovalFlag, ...]] = ("reads_secrets", "installs")


class Harmless(Warned):
    """Nothing to warn of."""

    flags: ClassVar[tuple[ApprovalFlag, ...]] = ()


def toolbox(tool: Warned) -> Toolbox:
    tools = Toolbox()
    tools.add(tool)
    return tools


async def waiting(tmp_path: Path) -> tuple[TaskId, int]:
    async with running_agent(tmp_path, [call_tool("warned", {"text": "x"})], tools=toolbox(Warned())) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "tool")
        assert set(ask.approval_flags or ()) == {"runs_programs", "installs"}
        [stored] = await agent.asks(task_id, "tool")
        assert stored.approval_flags == ask.approval_flags
        assert stored.to_wire()["approvalFlags"] == ask.approval_flags
        assert agent.heard.shown[task_id][ask.ts].approval_flags == ask.approval_flags
        return task_id, ask.ts


async def test_the_flags_are_on_the_stored_question_and_stay_there_with_the_answer(tmp_path: Path) -> None:
    task_id, ts = await waiting(tmp_path)
    async with running_agent(tmp_path, [DONE], tools=toolbox(Warned())) as agent:
        await agent.manager.answer(task_id, ts, "noButtonClicked")
        await agent.completed(task_id)
        [stored] = await agent.asks(task_id, "tool")
        assert (stored.denied, set(stored.approval_flags or ())) == (True, {"runs_programs", "installs"})


@pytest.mark.parametrize(("after", "expected"), [
    (Warned, {"runs_programs", "installs"}),
    (MoreWarned, {"reads_secrets", "installs"}),
    (Harmless, set()),
])  # fmt: skip
async def test_a_question_that_waited_over_a_restart_warns_of_what_is_found_now(
    tmp_path: Path, after: type[Warned], expected: set[ApprovalFlag]
) -> None:
    task_id, ts = await waiting(tmp_path)
    async with running_agent(tmp_path, [DONE], tools=toolbox(after())) as agent:
        await agent.manager.resume(task_id)
        ask = await agent.asked(task_id, "tool")
        assert (ask.ts, set(ask.approval_flags or ())) == (ts, expected)
        [stored] = await agent.asks(task_id, "tool")
        assert set(stored.approval_flags or ()) == expected


async def test_a_question_with_nothing_to_warn_of_has_no_flags(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [call_tool("warned", {"text": "x"})], tools=toolbox(Harmless())) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "tool")
        assert ask.approval_flags is None
        assert "approvalFlags" not in ask.to_wire()


async def test_what_is_done_unasked_is_no_question_and_has_none(tmp_path: Path) -> None:
    settings = GlobalSettings(auto_approval_enabled=True, always_allow_run_cells=True)
    turns = [call_tool("warned", {"text": "x"}), DONE]
    async with running_agent(tmp_path, turns, settings=settings, tools=toolbox(Warned())) as agent:
        task_id = await agent.finished()
        [told] = await agent.asks(task_id, "tool")
        assert (told.is_answered, told.approval_flags) == (True, None)
