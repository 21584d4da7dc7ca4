"""The tools that steer a task."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from hdsp_agent.config import GlobalSettings
from hdsp_agent.messages import TodoItem
from hdsp_agent.tools import Approval, Completion, ToolFailed, format_todos, parse_todos

from ._helpers.recording_context import RecordingContext, Reply


async def test_a_question_goes_out_with_suggestions_and_the_answer_comes_back(task: RecordingContext) -> None:
    task.reply = Reply(text="the second", images=("data:image/png;base64,AAAA",))
    result = await task.call(
        "ask_followup_question", question="Which?", follow_up=[{"text": "A"}, {"text": "B", "mode": "ask"}]
    )
    kind, text = task.asked[0]
    assert kind == "followup"
    assert json.loads(text or "") == {
        "question": "Which?",
        "suggest": [{"answer": "A"}, {"answer": "B", "mode": "ask"}],
    }
    assert isinstance(result.content, list)
    assert result.content[0] == {"type": "text", "text": "<user_message>\nthe second\n</user_message>"}
    assert result.content[1]["type"] == "image"


async def test_a_plan_is_kept_and_the_persons_changes_are_told(task: RecordingContext) -> None:
    assert await task.text("update_todo_list", todos="- [x] a\n[-] b\n[ ] c") == "The plan was updated."
    assert [(item.content, item.status) for item in task.flow.plan] == [
        ("a", "completed"),
        ("b", "in_progress"),
        ("c", "pending"),
    ]
    assert task.approvals[0].shown == {"tool": "updateTodoList", "content": "[x] a\n[-] b\n[ ] c"}
    task.flow.edit_plan = lambda plan: plan[:1]
    assert "It is now:\n[ ] a" in await task.text("update_todo_list", todos="[ ] a\n[ ] b")


@pytest.mark.parametrize("todos", ["a", "[y] a", "[ ]a", "[ ] a\nb"])
def test_a_line_that_is_no_item_is_named(todos: str) -> None:
    with pytest.raises(ToolFailed, match=r"Line \d of the checklist"):
        parse_todos(todos)


def test_a_plan_survives_being_written_out() -> None:
    todos = parse_todos("[ ] a\n[~] b\n\n[X] c")
    assert parse_todos(format_todos(todos)) == todos


async def test_a_mode_is_switched_if_there_is_one_and_it_is_approved(task: RecordingContext) -> None:
    assert await task.text("switch_mode", mode_slug="ask", reason="to explain") == "Switched from code to ask."
    assert task.flow.switched == [("ask", "to explain")]
    assert task.approvals[0].action.risks == {"mode_switch"}
    assert "The modes are: code, ask, architect" in await task.failure("switch_mode", mode_slug="nowhere")
    assert "already" in await task.failure("switch_mode", mode_slug="code")
    assert "operator" in await task.failure("switch_mode", mode_slug="architect")
    task.decide = lambda _: Approval(approved=False)
    await task.failure("switch_mode", mode_slug="ask")
    assert len(task.flow.switched) == 1


async def test_a_subtask_gets_its_message_and_plan(task: RecordingContext) -> None:
    assert await task.text("new_task", mode="ask", message="do it", todos="[ ] a") == "The subtask has begun."
    ((mode, message, todos),) = task.flow.subtasks
    assert (mode, message, [item.content for item in todos]) == ("ask", "do it", ["a"])
    assert task.approvals[0].action.risks == {"subtask"}


async def test_finishing_is_accepted_or_sent_back(task: RecordingContext) -> None:
    assert await task.text("attempt_completion", result="done") == "The result was accepted."
    task.flow.completion = Completion(accepted=False, feedback="one more thing")
    assert "one more thing" in await task.text("attempt_completion", result="done")


async def test_open_items_keep_the_task_from_finishing_where_settings_want_it(workspace: Path) -> None:
    task = await asyncio.to_thread(RecordingContext, workspace, GlobalSettings(prevent_completion_with_open_todos=True))
    task.flow.plan = [
        TodoItem(id="1", content="a", status="pending"),
        TodoItem(id="2", content="b", status="completed"),
    ]
    assert "1 open items" in await task.failure("attempt_completion", result="done")
    task.flow.plan = task.flow.plan[1:]
    await task.text("attempt_completion", result="done")


@pytest.mark.parametrize(
    ("given", "suggested"),
    [
        ({"text": "Use polars", "scope": "notebook"}, ("Use polars", "notebook")),
        ("Use polars", ("Use polars", "person")),
        ({"text": "Use polars", "scope": None}, ("Use polars", "person")),
        (" ", None),
        (None, None),
        ("None", None),
        ("n/a", None),
        ({}, None),
        ([], None),
        ({"text": ""}, None),
        ({"text": "x" * 2_001}, None),
        ({"text": "Use polars", "scope": "everywhere"}, None),
    ],
)
async def test_a_note_goes_with_the_result_however_the_model_gives_it(
    task: RecordingContext, given: object, suggested: tuple[str, str] | None
) -> None:
    await task.call("attempt_completion", result="Done.", worth_remembering=given)
    [told] = task.flow.suggested
    assert (None if told is None else (told.text, told.scope)) == suggested
