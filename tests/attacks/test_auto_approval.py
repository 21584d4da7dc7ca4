"""What is done without asking: it holds for what the person meant, and for nothing that comes in its place."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from hdsp_agent.agent import TaskRequest
from hdsp_agent.comm.services import Services
from hdsp_agent.config import GlobalSettings, OperatorPolicy
from hdsp_agent.messages import ClineMessage, NotebookRef, TaskId
from hdsp_agent.persistence.exchange._export import export_task
from hdsp_agent.persistence.exchange._import import import_tasks
from hdsp_agent.providers import ModelRequest, call_tool
from hdsp_agent.providers._scripted import Step
from hdsp_agent.tools import ToolRegistry, built_in_tools
from tests._helpers import timing
from tests._helpers.jupyter_fetch import Fetch
from tests.agent._helpers.scripted_agent import Agent, running_agent, until
from tests.agent.test_notebook_tasks import notebook_agent, start

pytestmark = pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning")

DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")
NOTE = call_tool("write_note", {"text": "one"}, id="n")
NONE = GlobalSettings()


# ---- what was chosen for one notebook


async def test_what_holds_for_a_notebook_holds_for_none_of_that_name_in_another_folder(tmp_path: Path) -> None:
    edit = [call_tool("edit_cells", {"operations": [{"op": "insert", "source": "2 + 2"}]}, id="e"), DONE]
    here, other = tmp_path / "here", tmp_path / "other"
    settings = GlobalSettings(notebook_approvals={str(here / "work" / "a.ipynb"): "edit"})
    for home in (here, other):
        await asyncio.to_thread(home.mkdir)
    async with notebook_agent(here, edit, "1", settings=settings) as agent:
        task_id = await start(agent)
        await agent.completed(task_id)
        assert "2 + 2" in (agent.workspace / "a.ipynb").read_text()
    async with notebook_agent(other, edit, "1", settings=settings) as agent:
        assert (await agent.asked(await start(agent), "tool")).is_answered is None


async def test_what_holds_for_a_notebook_goes_with_it_and_ends_with_it(
    services: Services, jp_root_dir: Path, jp_fetch: Fetch
) -> None:
    def file(name: str) -> str:
        return (jp_root_dir / name).as_posix()

    async def made(name: str) -> None:
        body = {"type": "notebook", "content": {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}}
        await jp_fetch("api", "contents", name, method="PUT", body=json.dumps(body))

    async def holds(expected: dict[str, str]) -> None:
        async def now() -> bool:
            return services.config.settings.notebook_approvals == expected

        await timing.until(now)

    await made("a.ipynb")
    chosen = {file("a.ipynb"): "everything", file("b.ipynb"): "edit", "/elsewhere/a.ipynb": "edit"}
    await services.config.update({"notebookApprovals": {**chosen}})
    await jp_fetch("api", "contents", "a.ipynb", method="PATCH", body=json.dumps({"path": "c.ipynb"}))
    await holds({file("c.ipynb"): "everything", file("b.ipynb"): "edit", "/elsewhere/a.ipynb": "edit"})
    await made("a.ipynb")
    await jp_fetch("api", "contents", "c.ipynb", method="DELETE")
    await holds({file("b.ipynb"): "edit", "/elsewhere/a.ipynb": "edit"})


async def test_what_holds_for_a_notebook_ends_where_its_file_is_found_missing(tmp_path: Path) -> None:
    run = call_tool("run_cells", {"cells": ["c1"]}, id="r1")
    ended: list[str] = []
    file = tmp_path / "work" / "a.ipynb"

    def deleted(request: ModelRequest) -> list[Step]:
        file.unlink()
        return call_tool("edit_cells", {"operations": [{"op": "insert", "source": "2 + 2"}]}, id="e")

    settings = GlobalSettings(notebook_approvals={str(file): "everything"})
    async with notebook_agent(tmp_path, [LOOK, run, deleted, DONE], "1", settings=settings) as agent:
        notebooks = agent.manager.services.notebooks
        assert notebooks is not None

        async def missing(path: str) -> None:
            ended.append(path)

        notebooks.access.on_missing(missing)
        await agent.completed(await start(agent))
        assert ended and set(ended) == {"a.ipynb"}


# ---- conversations of others, and subtasks


async def test_a_conversation_from_a_file_brings_no_approvals(tmp_path: Path) -> None:
    async with running_agent(tmp_path / "theirs", [DONE]) as theirs:
        file = await export_task(await theirs.store.view(await theirs.finished()), "json", tmp_path)
    allowed = {
        **GlobalSettings(auto_approval_enabled=True, always_allow_write=True).to_wire(),
        "allowedCommands": ["*"],
    }
    document = json.loads(file.read_text(encoding="utf-8"))
    document["metadata"]["config"] |= {"settings": allowed, "forkedAt": 2**53}
    document["historyItem"] |= {"approvalPreset": "everything"}
    document["state"]["history_item"] = document["historyItem"]
    await asyncio.to_thread(file.write_text, json.dumps(document), encoding="utf-8")
    async with running_agent(tmp_path / "mine", [NOTE, DONE]) as agent:
        [task] = (await import_tasks(file, agent.store, None, masker=None)).tasks
        await agent.manager.resume(task.task_id)
        asked = await agent.asked(task.task_id, "resume_completed_task")
        await agent.manager.answer(task.task_id, asked.ts, "messageResponse", "And now?")
        assert (await agent.asked(task.task_id, "tool")).is_answered is None
        assert agent.task(task.task_id).state.counted_from == 0
        assert not (agent.task(task.task_id).state.folder / "notes.txt").exists()


async def exported(tmp_path: Path, workspace: str) -> Path:
    """A conversation in a file that says that it works in this folder."""
    theirs_done = call_tool("attempt_completion", {"result": "Done there"}, id="theirs")
    async with running_agent(tmp_path / "theirs", [theirs_done]) as theirs:
        file = await export_task(await theirs.store.view(await theirs.finished()), "json", tmp_path)
    document = json.loads(file.read_text(encoding="utf-8"))
    document["metadata"]["workspace"] = document["historyItem"]["workspace"] = workspace
    document["state"]["history_item"] = document["historyItem"]
    await asyncio.to_thread(file.write_text, json.dumps(document), encoding="utf-8")
    return file


@pytest.mark.parametrize("named", ["/", "far", "work/../far", "link", "work\0", "..", "work"])
async def test_a_conversation_from_a_file_does_not_choose_its_folder(tmp_path: Path, named: str) -> None:
    mine = tmp_path / "mine" / "work"
    for folder in (mine, tmp_path / "mine" / "far"):
        await asyncio.to_thread(folder.mkdir, parents=True)
    (tmp_path / "mine" / "far" / "secret.txt").write_text("needle")
    (mine / "link").symlink_to(tmp_path / "mine" / "far")
    said = named if named == ".." else str((mine if named == "link" else mine.parent) / named)
    file = await exported(tmp_path, said)

    def in_workspace(folder: Path) -> bool:
        return mine.resolve() in (folder, *folder.parents)

    reads = call_tool("read_file", {"path": "secret.txt"}, id="r")
    tools = ToolRegistry(built_in_tools())
    async with running_agent(tmp_path / "mine", [reads, DONE], settings=READS, tools=tools) as agent:
        report = await import_tasks(file, agent.store, None, masker=None, may_work_in=in_workspace)
        [task] = report.tasks
        assert task.left_folder == (None if named == "work" else said)
        await agent.manager.resume(task.task_id)
        asked = await agent.asked(task.task_id, "resume_completed_task")
        assert agent.task(task.task_id).state.folder.resolve() == mine.resolve()
        await agent.manager.answer(task.task_id, asked.ts, "messageResponse", "And now?")
        await agent.completed(task.task_id)
        assert "needle" not in (await agent.results(task.task_id))["r"]


async def test_a_conversation_from_a_file_takes_nothing_from_the_notebook_it_names(tmp_path: Path) -> None:
    file = await exported(tmp_path, str(tmp_path))
    document = json.loads(file.read_text(encoding="utf-8"))
    document["historyItem"]["notebook"] = {"path": "a.ipynb"}
    document["state"]["history_item"] = document["historyItem"]
    await asyncio.to_thread(file.write_text, json.dumps(document), encoding="utf-8")
    settings = GlobalSettings(notebook_approvals={"a.ipynb": "everything"})
    async with running_agent(tmp_path / "mine", [NOTE, DONE], settings=settings) as agent:
        [task] = (await import_tasks(file, agent.store, None, masker=None)).tasks
        await agent.manager.resume(task.task_id)
        asked = await agent.asked(task.task_id, "resume_completed_task")
        await agent.manager.answer(task.task_id, asked.ts, "messageResponse", "And now?")
        assert (await agent.asked(task.task_id, "tool")).is_answered is None
        assert not (agent.task(task.task_id).state.folder / "notes.txt").exists()


async def test_a_subtask_is_about_the_notebook_by_its_name_of_now(tmp_path: Path) -> None:
    child = call_tool("new_task", {"mode": "code", "message": "Write it"}, id="c")
    settings = GlobalSettings(
        notebook_approvals={"old.ipynb": "everything"}, auto_approval_enabled=True, always_allow_subtasks=True
    )
    async with running_agent(tmp_path, [child, NOTE, DONE, DONE], settings=settings) as agent:
        request = TaskRequest("Write", notebook=NotebookRef(path="old.ipynb"), approvals="ask")
        parent = await agent.manager.start(request)
        asked = await agent.asked(parent, "tool")
        # Renamed meanwhile: another notebook may have its name by now.
        state = agent.task(parent).state
        await state.note_item(notebook=NotebookRef(path="new.ipynb"), approval_preset=None, memory_off=True)
        await agent.manager.answer(parent, asked.ts, "yesButtonClicked")
        await until(lambda: any(task != parent for task in agent.manager.tasks.open))
        [of_child] = [agent.task(task).state for task in agent.manager.tasks.open if task != parent]
        assert of_child.notebook == NotebookRef(path="new.ipynb")
        assert not of_child.settings.memory_enabled
        assert (await agent.asked(of_child.task_id, "tool")).is_answered is None
        assert agent.notes() == []


@pytest.mark.parametrize("words", ["@/far.txt", "Yes. Look at @/far.txt first"])
async def test_an_answer_that_the_model_suggested_reads_nothing(tmp_path: Path, work: Path, words: str) -> None:
    (work / "far.txt").write_text("what nobody showed it")
    asks = call_tool("ask_followup_question", {"question": "Go on?", "follow_up": [{"text": words}]}, id="q")
    unanswered = GlobalSettings(
        auto_approval_enabled=True, always_allow_followup_questions=True, followup_auto_approve_timeout_ms=1000
    )
    tools = ToolRegistry(built_in_tools())
    async with running_agent(tmp_path, [asks, DONE], settings=unanswered, tools=tools) as agent:
        task_id = await agent.finished()
        assert "nobody showed" not in str(agent.model.requests[-1].messages)
        assert words in (await agent.results(task_id))["q"]


async def test_what_the_person_names_in_an_answer_is_read(tmp_path: Path, work: Path) -> None:
    (work / "far.txt").write_text("what they showed it")
    asks = call_tool("ask_followup_question", {"question": "Go on?", "follow_up": [{"text": "Yes"}]}, id="q")
    async with running_agent(tmp_path, [asks, DONE], tools=ToolRegistry(built_in_tools())) as agent:
        task_id = await agent.start()
        asked = await agent.asked(task_id, "followup")
        await agent.manager.answer(task_id, asked.ts, "messageResponse", "Yes, see @/far.txt")
        await agent.completed(task_id)
        assert "what they showed it" in str(agent.model.requests[-1].messages)


# ---- what is read in a folder that is trusted


async def read(home: Path, path: str, *, settings: GlobalSettings = NONE, policy: OperatorPolicy | None = None) -> bool:
    """Have the model read this in a trusted folder; whether it did so unasked."""
    turns = [call_tool("read_file", {"path": path}, id="r"), DONE]
    tools = ToolRegistry(built_in_tools())
    async with running_agent(home, turns, settings=settings, policy=policy, tools=tools, trusted=True) as agent:
        task_id = await agent.start()
        await until(lambda: agent.manager.tasks.opened(task_id) is None or agent.task(task_id).state.dialogue.asks.open)
        if agent.manager.tasks.opened(task_id) is None:
            assert "1 | " in (await agent.results(task_id))["r"]
            return True
        asked = await agent.asked(task_id, "tool")
        await agent.manager.answer(task_id, asked.ts, "noButtonClicked")
        await agent.completed(task_id)
        return False


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


async def test_a_trusted_folder_is_read_unasked(tmp_path: Path, work: Path) -> None:
    (work / "data.csv").write_text("1")
    assert await read(tmp_path, "data.csv")
    assert not await read(tmp_path, "data.csv", settings=GlobalSettings(ask_before_reading=True))
    assert not await read(tmp_path, "data.csv", policy=OperatorPolicy(allow_auto_approval=False))


@pytest.mark.parametrize(
    "name",
    [".env", "prod.env", "server.pem", "tls.key", "credentials.json", "conf/credentials", ".streamlit/secrets.toml", "kaggle.json",
     "service-account.json", ".python_history", ".git-credentials", "backup.kdbx", "cert.p12", ".envrc"],
)  # fmt: skip
async def test_what_commonly_holds_keys_is_asked_about_in_a_trusted_folder_too(
    tmp_path: Path, work: Path, name: str
) -> None:
    (work / name).parent.mkdir(exist_ok=True)
    (work / name).write_text("a key")
    assert not await read(tmp_path, name)


async def test_a_link_in_a_trusted_folder_is_what_it_leads_to(tmp_path: Path, work: Path) -> None:
    (tmp_path / "outside.txt").write_text("far")
    (work / ".env").write_text("a key")
    (work / "folder").symlink_to(tmp_path)
    (work / "notes.txt").symlink_to(tmp_path / "outside.txt")
    (work / "values.txt").symlink_to(".env")
    for path in (
        "notes.txt",
        "values.txt",
        "folder/outside.txt",
        "folder/../" + tmp_path.name + "/outside.txt",
        str(tmp_path / "outside.txt"),
    ):
        assert not await read(tmp_path, path), path


async def test_a_search_leaves_out_what_reading_would_ask_about(tmp_path: Path, work: Path) -> None:
    for name in ("data.csv", "conf/server.pem", "credentials/of-ada.txt", ".env"):
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).write_text("needle")
    turns = [call_tool("search_files", {"path": ".", "regex": "needle"}, id="s"), DONE]
    async with running_agent(tmp_path, turns, tools=ToolRegistry(built_in_tools()), trusted=True) as agent:
        task_id = await agent.finished()
        found = (await agent.results(task_id))["s"]
        assert "1 matching lines in 1 files" in found and "data.csv" in found


# ---- what was approved together with a change

EDIT = call_tool("edit_cells", {"operations": [{"op": "replace", "cell": "c1", "source": "print('it ran')"}]}, id="e")
LOOK = call_tool("read_notebook", {"view": "cells"}, id="look")
RUN = call_tool("run_cells", {"cells": ["c1"]}, id="run")
AGAIN = call_tool("run_cells", {"cells": ["c1"]}, id="again")
QUESTION = call_tool("ask_followup_question", {"question": "Shall I?", "follow_up": [{"text": "Yes"}]}, id="q")
READS = GlobalSettings(auto_approval_enabled=True, always_allow_read_only=True)


async def applied_and_run(agent: Agent) -> TaskId:
    """Approve the change and one run."""
    task_id = await start(agent)
    asked = await agent.asked(task_id, "tool")
    assert json.loads(asked.text or "")["tool"] == "editCells"
    await agent.manager.answer(task_id, asked.ts, "yesButtonClicked", run=True)
    return task_id


async def asked_to_run(agent: Agent, task_id: TaskId) -> ClineMessage:
    asked = await agent.asked(task_id, "tool")
    assert json.loads(asked.text or "")["tool"] == "runCells"
    return asked


async def test_one_run_goes_with_the_change_and_no_second(tmp_path: Path) -> None:
    async with notebook_agent(tmp_path, [LOOK, EDIT, RUN, AGAIN, DONE], "1", settings=READS) as agent:
        task_id = await applied_and_run(agent)
        await asked_to_run(agent, task_id)
        assert "it ran" in (await agent.results(task_id))["run"]


async def test_the_run_is_asked_about_once_the_person_has_spoken(tmp_path: Path) -> None:
    async with notebook_agent(tmp_path, [LOOK, EDIT, QUESTION, RUN, DONE], "1", settings=READS) as agent:
        task_id = await applied_and_run(agent)
        asked = await agent.asked(task_id, "followup")
        await agent.manager.answer(task_id, asked.ts, "messageResponse", "No, do not run it")
        await asked_to_run(agent, task_id)


async def test_the_run_is_asked_about_once_the_work_was_stopped(tmp_path: Path) -> None:
    async with notebook_agent(tmp_path, [LOOK, EDIT, QUESTION, RUN, DONE], "1", settings=READS) as agent:
        task_id = await applied_and_run(agent)
        await agent.asked(task_id, "followup")
        await agent.manager.cancel(task_id)
        asked = await agent.asked(task_id, "resume_task")
        await agent.manager.answer(task_id, asked.ts, "yesButtonClicked")
        await asked_to_run(agent, task_id)


async def test_a_run_of_other_cells_beside_it_is_asked_about(tmp_path: Path) -> None:
    both = call_tool("run_cells", {"cells": ["all"]}, id="run")
    async with notebook_agent(tmp_path, [LOOK, EDIT, both, DONE], "1", "2", settings=READS) as agent:
        await asked_to_run(agent, await applied_and_run(agent))


async def test_a_cell_that_was_changed_since_is_asked_about(tmp_path: Path) -> None:
    def changed_and_run(request: ModelRequest) -> list[Step]:
        file = tmp_path / "work" / "a.ipynb"
        file.write_text(file.read_text().replace("it ran", "it did"))
        return RUN

    async with notebook_agent(tmp_path, [LOOK, EDIT, changed_and_run, DONE], "1", settings=READS) as agent:
        asked = await asked_to_run(agent, await applied_and_run(agent))
        assert "it did" in (asked.text or "")


@pytest.mark.parametrize("source", ["!touch x", "%%bash\ntouch x", "get_ipython().system('touch x')", "%pip install x"])
async def test_what_needs_leave_of_its_own_is_asked_about_all_the_same(tmp_path: Path, source: str) -> None:
    edit = call_tool("edit_cells", {"operations": [{"op": "replace", "cell": "c1", "source": source}]}, id="e")
    async with notebook_agent(tmp_path, [LOOK, edit, RUN, DONE], "1", settings=READS) as agent:
        await asked_to_run(agent, await applied_and_run(agent))


# ---- a folder that becomes a link while the question waits


@pytest.mark.parametrize(
    "call",
    [("search_files", {"path": "data", "regex": "needle"}), ("list_files", {"path": "data"}), ("read_file", {"path": "data/x"}),
     ("execute_command", {"command": "ls", "cwd": "data"})],
)  # fmt: skip
async def test_a_folder_that_became_a_link_meanwhile_is_not_read(
    tmp_path: Path, work: Path, call: tuple[str, dict[str, str]]
) -> None:
    (tmp_path / "far").mkdir()
    for folder in (work / "data", tmp_path / "far"):
        folder.mkdir(exist_ok=True)
        (folder / "x").write_text("ordinary")
    (tmp_path / "far" / "ab-far").write_text("needle")
    tools = ToolRegistry(built_in_tools())
    async with running_agent(tmp_path, [call_tool(*call, id="r"), DONE], tools=tools) as agent:
        task_id = await agent.start()
        asked = await agent.asked(task_id, "command" if call[0] == "execute_command" else "tool")
        await asyncio.to_thread((work / "data").rename, work / "was")
        await asyncio.to_thread((work / "data").symlink_to, tmp_path / "far")
        await agent.manager.answer(task_id, asked.ts, "yesButtonClicked")
        await agent.completed(task_id)
        result = (await agent.results(task_id))["r"]
        assert "ab-far" not in result and "needle" not in result, result
        assert "Try again" in result or "became something else" in result


async def test_a_link_whose_name_is_of_keys_is_read_once_approved(tmp_path: Path, work: Path) -> None:
    (work / "data").mkdir()
    (work / "data" / "x").write_text("needle")
    (work / ".config").symlink_to("data")
    turns = [call_tool("list_files", {"path": ".config"}, id="r"), DONE]
    async with running_agent(tmp_path, turns, tools=ToolRegistry(built_in_tools())) as agent:
        task_id = await agent.start()
        asked = await agent.asked(task_id, "tool")
        await agent.manager.answer(task_id, asked.ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert "became something else" not in (await agent.results(task_id))["r"]
