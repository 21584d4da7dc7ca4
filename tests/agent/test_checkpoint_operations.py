"""What a task's steps leave behind to go back to: rows in the conversation, cells and variables, pointers in notebooks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hdsp_agent.agent import TaskRequest
from hdsp_agent.agent.checkpoints.checkpoint_service import CheckpointService, SavedStep
from hdsp_agent.checkpoints import CheckpointRecord
from hdsp_agent.config import GlobalSettings
from hdsp_agent.errors import Conflict, NotFound
from hdsp_agent.events import CheckpointEvent
from hdsp_agent.messages import ClineMessage, NotebookRef, Parts, TaskId
from hdsp_agent.notebooks import Notebooks
from hdsp_agent.notebooks.kernels import CellRunSpec
from hdsp_agent.providers import call_tool
from hdsp_agent.providers._scripted import Step, Turn
from hdsp_agent.tools import ActionRequest, ToolContext, ToolRegistry, ToolResult

from ..notebooks._helpers.headless import headless_notebooks
from ..notebooks._helpers.pages import code, notebook
from ._helpers.scripted_agent import Agent, NoteArguments, Toolbox, WriteNote, running_agent, until

pytestmark = pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning")

ONE = TaskId("one")
DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")
ALLOWED = GlobalSettings(auto_approval_enabled=True, always_allow_write=True, always_allow_run_cells=True)
EVERYTHING = Parts(files=True, notebooks=True, variables=True, conversation=True)


def note(text: str) -> list[Step]:
    return call_tool("write_note", {"text": text}, id=text)


def kept_at(home: Path, settings: GlobalSettings = ALLOWED, notebooks: Notebooks | None = None) -> CheckpointService:
    return CheckpointService(home / "home", lambda: settings, notebooks)


async def rows(agent: Agent, task_id: TaskId) -> list[ClineMessage]:
    return await agent.says(task_id, "checkpoint_saved")


async def test_a_row_is_said_right_before_what_may_change_things(tmp_path: Path) -> None:
    turns = [call_tool("look", {"text": "at it"}, id="l"), note("a"), note("b"), DONE]
    async with running_agent(tmp_path, turns, settings=ALLOWED, files=kept_at(tmp_path)) as agent:
        task_id = await agent.finished()
        first, second = await rows(agent, task_id)
        kinds = [message.say or message.ask for message in await agent.ui(task_id)]
        assert kinds.count("tool") == 3 and kinds.index("checkpoint_saved") > kinds.index(
            "tool", kinds.index("tool") + 1
        )
        assert first.checkpoint is not None and second.checkpoint is not None
        assert (first.text, first.checkpoint["isFirst"]) == (first.checkpoint["to"], True)
        assert (second.checkpoint["from"], second.checkpoint["to"]) == (first.text, second.text)
        assert "isFirst" not in second.checkpoint
        checkpoint = await agent.manager.checkpoints.told_at(agent.workspace, str(first.text), task_id, first.ts)
        assert checkpoint == first.checkpoint["id"]


async def test_opening_saving_and_restoring_are_told_with_how_long_they_took(tmp_path: Path) -> None:
    files = kept_at(tmp_path)
    told: list[CheckpointEvent] = []
    async with running_agent(tmp_path, [note("a"), note("b"), DONE], settings=ALLOWED, files=files) as agent:
        agent.manager.tasks.events.on_checkpoint(told.append)
        task_id = await agent.finished()
        first, second = await rows(agent, task_id)
        assert all(isinstance((row.checkpoint or {}).get("durationMs"), int) for row in (first, second))
        async with files.at(agent.workspace) as line:
            done = await line.restore(str(first.text), Parts(files=True))
            await line.undo(done.operation.id)
    assert told[0].event == "initialize" and told[0].task_id is None
    assert [each.event for each in told[-2:]] == ["restore", "restore"]
    saved = {each.commit: each for each in told if each.event == "checkpoint"}
    assert saved[first.text].task_id == saved[second.text].task_id == task_id
    assert all(each.duration_ms >= 0 for each in told) and done.duration_ms == told[-2].duration_ms


class WriteNothing(WriteNote):
    """Asks to write, and then thinks better of it."""

    async def _run(self, arguments: NoteArguments, context: ToolContext) -> ToolResult:
        action = ActionRequest(frozenset({"write"}), self.name, path="notes.txt")
        await context.approve(action, "tool", json.dumps({"tool": "newFileCreated", "path": "notes.txt"}))
        return ToolResult("not now")


async def test_no_second_row_is_said_where_nothing_changed_until_the_first_is_taken_back(tmp_path: Path) -> None:
    tools = Toolbox()
    tools.add(WriteNothing())
    turns = [note("a"), note("b"), DONE, note("a"), DONE]
    async with running_agent(tmp_path, turns, settings=ALLOWED, tools=tools, files=kept_at(tmp_path)) as agent:
        task_id = await agent.finished()
        (first,) = await rows(agent, task_id)
        await agent.manager.messages.edit(task_id, (await agent.ui(task_id))[0].ts, "Do it again")
        await until(lambda: agent.manager.tasks.opened(task_id) is None or None)
        _, again = await rows(agent, task_id)
        assert again.text == first.text
        assert again.checkpoint is not None and again.checkpoint["isFirst"] is True


async def test_without_checkpoints_a_conversation_has_no_rows_and_a_notebook_no_pointers(tmp_path: Path) -> None:
    settings = ALLOWED.model_copy(update={"enable_checkpoints": False})
    made = notebook(code("c1", "x = 1"))
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.ipynb").write_text(json.dumps(made))
    turns = [call_tool("run_cells", {"cells": ["all"]}, id="r"), DONE]
    async with headless_notebooks(tmp_path / "work") as notebooks:
        files = kept_at(tmp_path, settings, notebooks)
        async with running_agent(
            tmp_path, turns, settings=settings, tools=ToolRegistry(), notebooks=notebooks, files=files
        ) as agent:
            task_id = await agent.manager.start(TaskRequest("Run it", notebook=NotebookRef(path="a.ipynb")))
            await agent.completed(task_id)
            assert await rows(agent, task_id) == []
    now = json.loads((tmp_path / "work" / "a.ipynb").read_text())
    assert "hdsp_agent" not in now["metadata"] and "hdsp_checkpoint" not in now["cells"][0]["metadata"]
    assert not (tmp_path / "home" / "checkpoints").exists()


async def test_who_brought_the_conversation_back_by_itself_can_still_take_back_the_rest(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [note("a"), DONE], settings=ALLOWED, files=kept_at(tmp_path)) as agent:
        task_id = await agent.finished()
        whole = len(await agent.ui(task_id))
        (row,) = await rows(agent, task_id)
        checkpoints = agent.manager.checkpoints
        checkpoint = await checkpoints.told_at(agent.workspace, str(row.text), task_id, row.ts)
        result = await checkpoints.restore(agent.workspace, checkpoint, EVERYTHING)
        assert agent.notes() == [] and "conversation" in result.operation.parts
        history = (await agent.manager.tasks.open_at_rest(task_id)).state.conversation.history
        assert len(await history.ui_page()) < whole
        await agent.manager.tasks.close(task_id)
        await agent.manager.messages.undo(task_id)
        assert agent.notes() == []
        await checkpoints.undo(agent.workspace, result.operation.id)
        assert agent.notes() == ["a"]


async def test_the_rest_can_follow_a_conversation_that_went_back_alone(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [note("a"), DONE], settings=ALLOWED, files=kept_at(tmp_path)) as agent:
        task_id = await agent.finished()
        whole = len(await agent.ui(task_id))
        (row,) = await rows(agent, task_id)
        checkpoints = agent.manager.checkpoints
        checkpoint = await checkpoints.told_at(agent.workspace, str(row.text), task_id, row.ts)
        alone = (await checkpoints.restore(agent.workspace, checkpoint, Parts(conversation=True))).operation
        assert alone.parts == ("conversation",) and agent.notes() == ["a"]
        # Opened in between, it asks whether to go on from there: nothing that there would be to go back over.
        await agent.manager.resume(task_id)
        await agent.asked(task_id, "resume_task")
        preview = await checkpoints.preview(agent.workspace, checkpoint, EVERYTHING)
        assert preview.conversation is None and not preview.conversation_gone and not preview.nothing
        done = (await checkpoints.restore(agent.workspace, checkpoint, EVERYTHING)).operation
        assert "conversation" not in done.parts and agent.notes() == []
        await checkpoints.undo(agent.workspace, done.id)
        assert agent.notes() == ["a"]
        await checkpoints.undo(agent.workspace, alone.id)
        history = (
            (await agent.manager.tasks.open_log(task_id))[1] if agent.manager.tasks.opened(task_id) is None else None
        )
        history = history or agent.task(task_id).state.conversation.history
        assert len([one for one in await history.ui_page() if one.ask != "resume_task"]) == whole


async def test_a_conversation_that_went_another_way_since_is_not_left_out_without_a_word(tmp_path: Path) -> None:
    turns = [note("a"), DONE, note("b"), DONE]
    async with running_agent(tmp_path, turns, settings=ALLOWED, files=kept_at(tmp_path)) as agent:
        task_id = await agent.finished()
        (row,) = await rows(agent, task_id)
        checkpoints = agent.manager.checkpoints
        checkpoint = await checkpoints.told_at(agent.workspace, str(row.text), task_id, row.ts)
        await agent.manager.messages.edit(task_id, (await agent.ui(task_id))[0].ts, "Do something else")
        await until(lambda: agent.manager.tasks.opened(task_id) is None or None)
        with pytest.raises(NotFound, match="was removed"):
            await checkpoints.restore(agent.workspace, checkpoint, EVERYTHING)
        assert agent.notes() == ["a", "b"]


async def test_a_conversation_that_went_on_is_set_aside_only_if_that_is_wanted(tmp_path: Path) -> None:
    turns = [note("a"), DONE, note("b"), DONE]
    async with running_agent(tmp_path, turns, settings=ALLOWED, files=kept_at(tmp_path)) as agent:
        task_id = await agent.finished()
        (row,) = await rows(agent, task_id)
        checkpoints = agent.manager.checkpoints
        checkpoint = await checkpoints.told_at(agent.workspace, str(row.text), task_id, row.ts)
        done = (await checkpoints.restore(agent.workspace, checkpoint, EVERYTHING)).operation
        await agent.manager.resume(task_id)
        ask = await agent.asked(task_id, "resume_task")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await until(lambda: agent.manager.tasks.opened(task_id) is None or None)
        assert agent.notes() == ["b"]
        with pytest.raises(Conflict, match="has continued"):
            await checkpoints.undo(agent.workspace, done.id)
        assert agent.notes() == ["b"]
        await checkpoints.undo(agent.workspace, done.id, overwrite=True)
        assert agent.notes() == ["a"]


async def test_without_its_conversation_the_rest_of_a_moment_goes_back(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [note("a"), DONE], settings=ALLOWED, files=kept_at(tmp_path)) as agent:
        task_id = await agent.finished()
        (row,) = await rows(agent, task_id)
        checkpoints = agent.manager.checkpoints
        checkpoint = await checkpoints.told_at(agent.workspace, str(row.text), task_id, row.ts)
        assert not (await checkpoints.preview(agent.workspace, checkpoint, EVERYTHING)).conversation_gone
        await agent.manager.tasks.close(task_id)
        await agent.manager.services.store.delete(task_id)
        assert await checkpoints.task_of(agent.workspace, checkpoint) is None
        preview = await checkpoints.preview(agent.workspace, checkpoint, EVERYTHING)
        assert preview.conversation_gone and preview.conversation is None and not preview.nothing
        assert not (await checkpoints.preview(agent.workspace, checkpoint, Parts(files=True))).conversation_gone
        with pytest.raises(NotFound, match="was deleted"):
            await checkpoints.restore(agent.workspace, checkpoint, Parts(conversation=True))
        done = (await checkpoints.restore(agent.workspace, checkpoint, EVERYTHING)).operation
        assert agent.notes() == [] and "conversation" not in done.parts
        await checkpoints.undo(agent.workspace, done.id)
        assert agent.notes() == ["a"]


async def test_a_restore_is_undone_without_a_conversation_that_was_deleted_since(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [note("a"), DONE], settings=ALLOWED, files=kept_at(tmp_path)) as agent:
        task_id = await agent.finished()
        (row,) = await rows(agent, task_id)
        checkpoints = agent.manager.checkpoints
        checkpoint = await checkpoints.told_at(agent.workspace, str(row.text), task_id, row.ts)
        done = (await checkpoints.restore(agent.workspace, checkpoint, EVERYTHING)).operation
        assert await checkpoints.task_gone_back(agent.workspace, done.id) == task_id
        await agent.manager.tasks.close(task_id)
        await agent.manager.services.store.delete(task_id)
        assert await checkpoints.task_gone_back(agent.workspace, done.id) is None
        await checkpoints.undo(agent.workspace, done.id)
        assert agent.notes() == ["a"]


async def test_what_is_not_kept_any_more_is_not_found(tmp_path: Path) -> None:
    async with running_agent(tmp_path, files=kept_at(tmp_path)) as agent:
        for asked in (
            agent.manager.checkpoints.restore(agent.workspace, "0" * 16, EVERYTHING),
            agent.manager.checkpoints.undo(agent.workspace, "0" * 16),
        ):
            with pytest.raises(NotFound):
                await asked


async def test_a_kernel_that_is_busy_does_not_hold_up_the_agent(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.ipynb").write_text(json.dumps(notebook(code("c1", "x = 1"))))
    async with headless_notebooks(folder) as notebooks:
        await notebooks.executor.start("a.ipynb")
        run = await notebooks.run("a.ipynb", [CellRunSpec(None, "import time; time.sleep(120)")], task_id=ONE)
        await until(lambda: run.cells[0].state == "running")
        history = kept_at(tmp_path, GlobalSettings(checkpoint_timeout=10), notebooks)
        step = SavedStep(history, folder, ONE, "run_cells", "a.ipynb")
        record = await step.approved(ActionRequest(frozenset({"run_code"}), "run_cells", path="a.ipynb"), 1)
        assert record is not None
        assert [one.path for one in record.notebooks] == ["a.ipynb"] and record.variables == ()
        assert [(one.path, one.part) for one in record.left_out] == [("a.ipynb", "variables")]
        await run.interrupt()
        step.ended()
        await history.close()


async def test_limits_of_the_settings_hold_from_now_on(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    settings = [GlobalSettings()]
    async with headless_notebooks(folder) as notebooks:
        history = CheckpointService(tmp_path / "home", lambda: settings[0], notebooks)
        async with history.at(folder) as line:
            await line.save("first")
        settings[0] = GlobalSettings(checkpoint_variables_quota_megabytes=7, checkpoint_max_variable_megabytes=5)
        async with history.at(folder) as line:
            assert [one.reason for one in await line.files.list()] == ["first"]
        (opened,) = history.opened.values()
        assert opened.limits.variables_bytes == 7_000_000
        assert opened.variables is not None and opened.variables._limits.variable_bytes == 5_000_000
        await history.close()


# ---- what ends a kernel


EVERYTHING_ALLOWED = ALLOWED.model_copy(update={"always_allow_execute": True})


async def told_to(home: Path, *turns: Turn, settings: GlobalSettings = EVERYTHING_ALLOWED) -> CheckpointRecord:
    """Let the agent do this in ``a.ipynb``, whose kernel has ``x``; the moment before it ended the kernel's variables."""
    async with headless_notebooks(home / "work") as notebooks:
        files = kept_at(home, settings, notebooks)
        async with running_agent(
            home, [*turns, DONE], settings=settings, tools=ToolRegistry(), notebooks=notebooks, files=files
        ) as agent:
            request = TaskRequest("Restart it", notebook=NotebookRef(path="a.ipynb"))
            task_id = await agent.manager.start(request)
            await agent.completed(task_id)
            async with files.at(agent.workspace) as line:
                record = next(one for one in await line.files.list() if one.reason == "before manage_kernel")
                kept = next((one.manifest for one in record.variables), None)
                if kept is not None:
                    back = await line.restore(record.id, Parts(variables=True))
                    assert back.variables[0].cold
                    report = await notebooks.executor.inspect("a.ipynb", names=["x"])
                    assert [(one.name, one.head) for one in report.variables] == [("x", "[1, 2]")]
            await until(lambda: agent.manager.tasks.opened(task_id) is None or None)
    return record


def with_notebook(home: Path, *sources: str) -> None:
    (home / "work").mkdir()
    cells = [code(f"c{number}", source) for number, source in enumerate(sources)]
    (home / "work" / "a.ipynb").write_text(json.dumps(notebook(*cells)))


RUN = call_tool("run_cells", {"cells": ["all"]}, id="r")
RESTART = call_tool("manage_kernel", {"action": "restart"}, id="k")


async def test_all_cells_of_the_first_run_in_a_new_kernel_point_to_their_checkpoint(tmp_path: Path) -> None:
    # Twice the same source, one that IPython rewrites, and an end that it does not keep.
    sources = ("x = [1]", "%colors NoColor", "x.append(2)\n", "x.append(2)\n")
    with_notebook(tmp_path, *sources)
    async with headless_notebooks(tmp_path / "work") as notebooks:
        files = kept_at(tmp_path, ALLOWED, notebooks)
        async with running_agent(
            tmp_path, [RUN, DONE], settings=ALLOWED, tools=ToolRegistry(), notebooks=notebooks, files=files
        ) as agent:
            assert not await notebooks.executor.kernels()
            task_id = await agent.manager.start(TaskRequest("Run it", notebook=NotebookRef(path="a.ipynb")))
            await agent.completed(task_id)
            async with files.at(agent.workspace) as line:
                now = json.loads((tmp_path / "work" / "a.ipynb").read_text())
                record = next(one for one in await line.files.list() if one.reason == "after run_cells")
                assert now["metadata"]["hdsp_agent"] == {"version": 1, "head": record.id, "task_id": task_id}
                assert [cell["metadata"].get("hdsp_checkpoint", {}).get("variables") for cell in now["cells"]] == [
                    ["x"]
                ] * 4
                (opened,) = files.opened.values()
                assert opened.variables is not None
                runs = opened.variables.store.load(record.variables[0].manifest).runs
                # As they were written: whoever is asked whether to run them again reads them so.
                assert [(run.cell, run.source) for run in runs] == [
                    (f"c{number}", source.rstrip()) for number, source in enumerate(sources)
                ]


async def test_variables_are_kept_before_the_agent_restarts_the_kernel(tmp_path: Path) -> None:
    with_notebook(tmp_path, "x = [1]", "x.append(2)")
    record = await told_to(tmp_path, RUN, RESTART)
    assert [one.path for one in record.variables] == ["a.ipynb"] and not record.left_out


@pytest.mark.long
async def test_a_kernel_that_cannot_answer_is_restarted_all_the_same_and_the_moment_says_what_it_lacks(
    tmp_path: Path,
) -> None:
    with_notebook(tmp_path, "x = [1, 2]", "import time; time.sleep(300)")
    slow = call_tool("run_cells", {"cells": ["all"], "timeout": 1}, id="r")
    record = await told_to(tmp_path, slow, RESTART)
    assert record.variables == ()
    assert [(one.path, one.part) for one in record.left_out] == [("a.ipynb", "variables")]


async def test_without_variables_in_the_settings_none_are_kept_before_a_restart(tmp_path: Path) -> None:
    with_notebook(tmp_path, "x = [1, 2]")
    settings = EVERYTHING_ALLOWED.model_copy(update={"checkpoint_variables": False})
    record = await told_to(tmp_path, RUN, RESTART, settings=settings)
    assert record.variables == () and record.left_out == ()
