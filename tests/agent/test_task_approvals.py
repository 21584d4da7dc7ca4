"""What one conversation, or one notebook, may do without asking, whatever the settings say."""

from __future__ import annotations

from pathlib import Path

from hdsp_agent.agent import TaskRequest
from hdsp_agent.config import GlobalSettings
from hdsp_agent.messages import NewTaskRequest, NotebookRef
from hdsp_agent.providers import call_tool

from ._helpers.scripted_agent import Agent, running_agent, until

NOTE = call_tool("write_note", {"text": "one"}, id="n")
DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")


async def approved_unasked(agent: Agent, request: TaskRequest | NewTaskRequest) -> None:
    task_id = await agent.manager.start(request)
    await agent.completed(task_id)
    assert agent.notes() == ["one"]


async def test_a_conversation_may_do_more_than_the_settings_say(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [NOTE, DONE]) as agent:
        await approved_unasked(agent, NewTaskRequest(request_id="1", text="Write", approval_preset="edit"))


async def test_a_conversation_may_do_less_than_the_settings_say(tmp_path: Path) -> None:
    settings = GlobalSettings(auto_approval_enabled=True, always_allow_write=True)
    async with running_agent(tmp_path, [NOTE, DONE], settings=settings) as agent:
        task_id = await agent.manager.start(TaskRequest("Write", approvals="ask"))
        assert (await agent.asked(task_id, "tool")).is_answered is None


async def test_a_notebook_has_a_choice_of_its_own_below_that_of_a_conversation(tmp_path: Path) -> None:
    settings = GlobalSettings(notebook_approvals={"a.ipynb": "edit"})
    async with running_agent(tmp_path / "here", [NOTE, DONE], settings=settings) as agent:
        await approved_unasked(agent, TaskRequest("Write", notebook=NotebookRef(path="a.ipynb")))
    async with running_agent(tmp_path / "elsewhere", [NOTE, DONE], settings=settings) as agent:
        task_id = await agent.manager.start(TaskRequest("Write", notebook=NotebookRef(path="b.ipynb")))
        await agent.asked(task_id, "tool")
    async with running_agent(tmp_path / "own", [NOTE, DONE], settings=settings) as agent:
        request = TaskRequest("Write", notebook=NotebookRef(path="a.ipynb"), approvals="ask")
        await agent.asked(await agent.manager.start(request), "tool")


async def test_the_choice_holds_from_the_next_action_on_and_after_a_restart(tmp_path: Path) -> None:
    more = call_tool("write_note", {"text": "two"}, id="m")
    async with running_agent(tmp_path, [NOTE, more, DONE]) as agent:
        task_id = await agent.manager.start(TaskRequest("Write"))
        asked = await agent.asked(task_id, "tool")
        await agent.task(task_id).state.note_item(approval_preset="edit")
        await agent.manager.answer(task_id, asked.ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert agent.notes() == ["one", "two"]
        item = (await (await agent.store.view(task_id)).read_state()).history_item
        assert item is not None and item.approval_preset == "edit"


async def test_a_subtask_may_do_what_its_parent_may(tmp_path: Path) -> None:
    child = call_tool("new_task", {"mode": "code", "message": "Write it"}, id="c")
    async with running_agent(tmp_path, [child, NOTE, DONE, DONE]) as agent:
        await agent.manager.start(TaskRequest("Write", approvals="everything"))
        await until(lambda: agent.notes() == ["one"])
