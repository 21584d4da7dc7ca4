"""A server that was killed while files were brought back: the next one asks what becomes of them."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path

import pytest

from hdsp_agent.agent import TaskRequest
from hdsp_agent.agent.checkpoints.checkpoint_service import CheckpointService
from hdsp_agent.agent.checkpoints.file_rollback import WorkspaceRollback
from hdsp_agent.config import GlobalSettings
from hdsp_agent.errors import Conflict
from hdsp_agent.messages import ClineMessage, TaskId
from hdsp_agent.notebooks import Notebooks
from hdsp_agent.providers import call_tool

from .._helpers.forked_python import forked_python
from ..notebooks._helpers.headless import headless_notebooks
from ..notebooks._helpers.pages import sources_in
from ._helpers.killed_restore import NAMES, NOTEBOOK, TASK
from ._helpers.scripted_agent import Agent, running_agent

ROOT = Path(__file__).parents[2]
NOTE = call_tool("write_note", {"text": "a line"}, id="n")
DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")


async def half_restored(home: Path, *, notebooks: Notebooks | None = None) -> CheckpointService:
    """Leave half a restore behind in a process that is killed; the files' history as the next server has it."""
    what = "files" if notebooks is None else "notebook"
    process = await asyncio.create_subprocess_exec(
        forked_python(), "-m", "tests.agent._helpers.killed_restore", str(home), what, cwd=ROOT
    )
    assert await asyncio.wait_for(process.wait(), 60) == -signal.SIGKILL
    assert sorted(there(home)) == ["before\n", "the agent's\n"]
    settings = GlobalSettings()
    return CheckpointService(home / "home", lambda: settings, notebooks)


def there(home: Path) -> list[str]:
    return [(home / "work" / name).read_text() for name in NAMES]


async def decide(agent: Agent, task_id: TaskId, which: int) -> ClineMessage:
    """Give one of the answers that the question about the files suggests; the question."""
    ask = await agent.asked(task_id, "followup")
    answer = json.loads(ask.text or "")["suggest"][which]["answer"]
    await agent.manager.answer(task_id, ask.ts, "messageResponse", answer)
    return ask


async def test_files_are_put_back_before_the_agent_goes_on_in_a_new_conversation(tmp_path: Path) -> None:
    files = await half_restored(tmp_path)
    async with running_agent(tmp_path, [DONE], files=files) as agent:
        task_id = await agent.start("The task")
        await agent.asked(task_id, "followup")
        assert agent.model.requests == []
        await decide(agent, task_id, 0)
        await agent.completed(task_id)
        assert there(tmp_path) == ["the agent's\n"] * 2
        assert await (await files.timeline(agent.workspace)).interrupted() is None
        assert await WorkspaceRollback(files).go_back(agent.workspace, [TASK], 1) is not None
        assert there(tmp_path) == ["before\n"] * 2


async def test_files_can_be_kept_as_they_are(tmp_path: Path) -> None:
    files = await half_restored(tmp_path)
    as_they_are = there(tmp_path)
    async with running_agent(tmp_path, [DONE], files=files) as agent:
        task_id = await agent.start("The task")
        await decide(agent, task_id, 1)
        await agent.completed(task_id)
        assert there(tmp_path) == as_they_are
        assert await (await files.timeline(agent.workspace)).interrupted() is None


@pytest.mark.parametrize("which", [0, 1], ids=["put back", "keep"])
async def test_a_half_restore_of_notebooks_too_is_asked_about_as_a_whole(tmp_path: Path, which: int) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    async with headless_notebooks(folder) as notebooks:
        files = await half_restored(tmp_path, notebooks=notebooks)
        as_they_are = there(tmp_path)
        async with running_agent(tmp_path, [DONE], files=files) as agent:
            task_id = await agent.start("The task")
            ask = await decide(agent, task_id, which)
            assert "files, cells and variables" in json.loads(ask.text or "")["question"]
            await agent.completed(task_id)
            assert there(tmp_path) == (as_they_are if which else ["the agent's\n"] * 2)
            assert sources_in(folder / NOTEBOOK) == ["the agent's"]
            assert await (await files.timeline(agent.workspace)).interrupted() is None
            assert await WorkspaceRollback(files).go_back(agent.workspace, [TASK], 1) is not None
            assert (there(tmp_path), sources_in(folder / NOTEBOOK)) == (["before\n"] * 2, ["before"])


async def test_a_conversation_that_is_opened_again_asks_the_same_question_once_and_then_its_own(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [NOTE]) as agent:
        task_id = await agent.start("The task")
        waiting = await agent.asked(task_id, "tool")
    files = await half_restored(tmp_path)
    async with running_agent(tmp_path, files=files) as agent:
        await agent.manager.resume(task_id)
        first = await agent.asked(task_id, "followup")
    settings = GlobalSettings()
    files = CheckpointService(tmp_path / "home", lambda: settings, None)
    async with running_agent(tmp_path, [DONE], files=files) as agent:
        await agent.manager.resume(task_id)
        assert (await decide(agent, task_id, 0)).ts == first.ts
        again = await agent.asked(task_id, "tool")
        assert again.text == waiting.text
        await agent.manager.answer(task_id, again.ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert len(await agent.asks(task_id, "followup")) == 1
        assert there(tmp_path) == ["the agent's\n"] * 2
        # What the person chose is no word to the model.
        assert "Roll back the files" not in str(agent.model.requests)


async def test_a_question_that_was_answered_in_another_conversation_is_not_asked_any_more(tmp_path: Path) -> None:
    files = await half_restored(tmp_path)
    async with running_agent(tmp_path, files=files) as agent:
        task_id = await agent.start("The task")
        await agent.asked(task_id, "followup")
        await agent.manager.tasks.close(task_id)
        await files.recover(agent.workspace, "keep")
        await agent.manager.resume(task_id)
        await agent.asked(task_id, "resume_task")
        [question] = await agent.asks(task_id, "followup")
        assert question.is_answered is False


async def test_other_words_decide_nothing_and_nothing_is_brought_back_until_then(tmp_path: Path) -> None:
    files = await half_restored(tmp_path)
    as_they_are = there(tmp_path)
    async with running_agent(tmp_path, [NOTE, DONE], files=files) as agent:
        task_id = await agent.start("The task")
        ask = await agent.asked(task_id, "followup")
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "Just go on")
        tool = await agent.asked(task_id, "tool")
        assert "Just go on" in str(agent.model.requests)
        with pytest.raises(Conflict, match="Decide in the timeline"):
            await agent.manager.messages.delete(task_id, tool.ts, files=True)
        # It was refused before the task was disturbed.
        assert agent.task(task_id).state.dialogue.asks.is_open(tool.ts)
        assert there(tmp_path) == as_they_are


@pytest.mark.parametrize("folder", ["work", "nothing"])
async def test_nothing_is_asked_and_no_store_made_where_nothing_was_cut_short(tmp_path: Path, folder: str) -> None:
    settings = GlobalSettings()
    files = CheckpointService(tmp_path / "home", lambda: settings, None)
    async with running_agent(tmp_path, [DONE], files=files) as agent:
        task_id = await agent.manager.start(TaskRequest("The task", workspace=str(tmp_path / folder)))
        await agent.completed(task_id)
        assert await agent.asks(task_id, "followup") == []
    assert not (tmp_path / "home" / "checkpoints").exists()
