"""The buttons at a cell: fixing a failed one, and what the person keeps or takes back of the agent's changes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from jupyter_server.serverapp import ServerApp

from hdsp_agent.agent import TaskRequest
from hdsp_agent.comm.identity import server_owner
from hdsp_agent.comm.services import Services
from hdsp_agent.messages import CellId, ReplaceSource, TaskId
from hdsp_agent.notebooks._snapshot import snapshot_of
from hdsp_agent.persistence import HistoryQuery
from tests._helpers.jupyter_fetch import Fetch
from tests.comm._helpers.jupyterlab_kernels import lab
from tests.comm._helpers.scripted_model_server import Model, call, model_of
from tests.comm._helpers.scripted_pages import Turn, along, question, said, speak
from tests.comm.channel._helpers.channel_panel import Panel
from tests.comm.conftest import Connect, messages
from tests.comm.rest.test_checkpoints import post
from tests.comm.test_checkpoint_restore import checkpoints
from tests.comm.test_iopub_bridge import placed, until
from tests.comm.test_running_agent import WRITE
from tests.notebooks._helpers.pages import code, notebook, sources_in

ASK: Turn = (
    {"tool": "ask_followup_question", "arguments": {"question": "Which?", "follow_up": [{"text": "This"}]}, "id": "q"},
)
DONE: Turn = ({"tool": "attempt_completion", "arguments": {"result": "It works."}, "id": "d"},)
FAILED = {
    "path": "work.ipynb",
    "cellId": "abc",
    "source": "prices['tea']",
    "traceback": "\x1b[31mKeyError\x1b[0m: 'tea'",
}
ME = server_owner()


@asynccontextmanager
async def model_that_asks(services: Services, scenario: str) -> AsyncIterator[Model]:
    """The model all tasks use: it asks whether something is good, and is done when it hears."""
    turns = [
        call("ask_followup_question", {"question": "Good?", "follow_up": [{"text": "Yes"}]}),
        call("attempt_completion", {"result": "I see."}),
    ]
    async with model_of({scenario: turns}) as model:
        book = services.config.profiles
        profile = {"apiProvider": "lmstudio", "lmStudioModelId": "m", "lmStudioBaseUrl": model.url}
        await book.update(book.current.id, profile)
        yield model


async def test_a_failed_cell_begins_a_task_about_it_on_all_tabs(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, DONE)
    async with connect() as panel, connect() as other:
        ack = await panel.ask("fixCell", **FAILED)
        assert ack["ok"], ack
        await question(other, "completion_result")
        assert said(other, "text") == ["Fix this cell: KeyError: 'tea'"]
        (wish,) = along(other, "text")
        inside = str(wish.pop("content"))
        assert wish == {
            "kind": "error", "path": "work.ipynb", "cellId": "abc", "label": "Fix this cell: KeyError: 'tea'"
        }  # fmt: skip
        assert inside.startswith("Cell abc of work.ipynb failed. Fix it.\n\n```\nprices['tea']\n```")
        assert "```\nKeyError: 'tea'\n```" in inside and inside.endswith("what was wrong.")
        assert messages(other, "state")[-1]["state"]["currentTaskId"] == ack["result"]
        item = await services.history.item(ME, str(ack["result"]))
        assert item.notebook is not None
        assert (item.notebook.path, item.notebook.cell_id) == ("work.ipynb", "abc")


async def test_a_second_click_shows_the_task_that_is_at_it_and_after_its_end_begins_another(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, ASK, DONE, DONE, DONE)
    async with connect() as panel, connect() as other:
        first = (await panel.ask("fixCell", **FAILED))["result"]
        ts = await question(panel, "followup")
        assert (await panel.ask("clearTask"))["ok"]
        assert (await panel.ask("showTaskWithId", taskId=first))["ok"]
        await panel.until(lambda: messages(panel, "state")[-1]["state"].get("currentTaskId") == first)
        elsewhere = (await panel.ask("fixCell", **FAILED | {"cellId": "other"}))["result"]
        assert elsewhere != first
        assert (await other.ask("fixCell", **FAILED))["result"] == first
        await panel.until(lambda: messages(panel, "state")[-1]["state"].get("currentTaskId") == first)
        ts = await question(panel, "followup")
        assert (await panel.ask("askResponse", messageTs=ts, askResponse="messageResponse", text="This"))["ok"]
        await question(panel, "completion_result")
        assert (await panel.ask("fixCell", **FAILED))["result"] not in (first, elsewhere)


async def test_two_tabs_that_click_at_once_begin_one_task(services: Services, connect: Connect, tmp_path: Path) -> None:
    await speak(services, tmp_path, ASK)
    async with connect() as panel, connect() as other:
        answers = await asyncio.gather(panel.ask("fixCell", **FAILED), other.ask("fixCell", **FAILED))
        assert answers[0]["result"] == answers[1]["result"]


AT_CELL = {"path": "work.ipynb", "cellId": "c0"}
EDIT: Turn = (
    {
        "tool": "edit_cells",
        "arguments": {"operations": [{"op": "replace", "cell": "c0", "source": "a = 2"}]},
        "id": "e",
    },
)
ELSEWHERE: Turn = (
    {
        "tool": "edit_cells",
        "arguments": {"operations": [{"op": "replace", "cell": "c1", "source": "b = 3"}]},
        "id": "x",
    },
)
READ: Turn = ({"tool": "read_notebook", "arguments": {"view": "cells"}, "id": "r"},)


async def test_a_cell_is_changed_as_was_said_at_it_without_another_question(
    services: Services, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    await speak(services, tmp_path, READ, EDIT, DONE)
    (jp_root_dir / "work.ipynb").write_text(json.dumps(notebook(code("c0", "a = 1"), code("c1", "b = 2"))))
    ask = {"path": "work.ipynb", "cellId": "c0"}
    async with connect() as panel:
        task = (await panel.ask("editCell", text="/edit twice as much", **ask))["result"]
        assert (await panel.ask("showTaskWithId", taskId=task))["ok"]
        await question(panel, "completion_result")
        assert '"a = 2"' in (jp_root_dir / "work.ipynb").read_text()
        assert said(panel, "text") == ["/edit twice as much"]
        # The same conversation goes on. Of other cells it asks as always.
        await speak(services, tmp_path, READ, ELSEWHERE)
        again = await panel.ask("editCell", text="/edit and the other one", taskId=task, **ask)
        assert again["result"] == task
        await question(panel, "tool")
        assert '"b = 2"' in (jp_root_dir / "work.ipynb").read_text()


async def test_the_checkpoint_before_a_change_at_a_cell_brings_back_what_it_was(
    services: Services, connect: Connect, tmp_path: Path, jp_root_dir: Path, jp_fetch: Fetch
) -> None:
    await speak(services, tmp_path, READ, EDIT, DONE)
    file = jp_root_dir / "work.ipynb"
    file.write_text(json.dumps(notebook(code("c0", "a = 1"), code("c1", "b = 2"))))
    async with connect() as panel:
        task = (await panel.ask("editCell", text="/edit twice as much", **AT_CELL))["result"]
        assert (await panel.ask("showTaskWithId", taskId=task))["ok"]
        await question(panel, "completion_result")
        (row,) = checkpoints(panel)
        assert sources_in(file) == ["a = 2", "b = 2"]
        await post(jp_fetch, "checkpoints", str(row["text"]), "restore", parts={"notebooks": True}, task=task)
        assert sources_in(file) == ["a = 1", "b = 2"]


async def test_what_is_said_at_a_cell_after_a_model_failed_goes_on_in_the_same_conversation(
    services: Services, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    await speak(services, tmp_path, ({"error": "quota"},))
    (jp_root_dir / "work.ipynb").write_text(json.dumps(notebook(code("c0", "a = 1"))))
    ask = {"path": "work.ipynb", "cellId": "c0"}
    async with connect() as panel:
        task = (await panel.ask("editCell", text="/edit twice as much", **ask))["result"]
        assert (await panel.ask("showTaskWithId", taskId=task))["ok"]
        await question(panel, "api_req_failed")
        await speak(services, tmp_path, READ, EDIT, DONE)
        again = await panel.ask("editCell", text="/edit try again", taskId=task, **ask)
        assert again["result"] == task
        await question(panel, "completion_result")
        assert '"a = 2"' in (jp_root_dir / "work.ipynb").read_text()


WAIT: Turn = ({"text": "I look. "}, {"wait": 600})
DELEGATE: Turn = ({"tool": "new_task", "arguments": {"mode": "code", "message": "Do the part"}, "id": "n"},)


def strip(panel: Panel) -> list[dict[str, object]]:
    """The open conversations, as the page heard last."""
    told = messages(panel, "openTasksUpdated")
    return [dict(one) for one in told[-1]["openTasks"]] if told else []


def statuses(panel: Panel) -> list[tuple[object, object]]:
    """Which they are, and what each of them does."""
    return [(one["taskId"], one["status"]) for one in strip(panel)]


async def conversations(services: Services) -> int:
    """How many the person has begun."""
    return len((await services.history.page(ME, HistoryQuery())).hits)


async def test_what_is_said_at_a_cell_reaches_the_subtask_that_works_for_its_conversation(
    services: Services, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    await services.config.update({"alwaysAllowSubtasks": True, "alwaysAllowWrite": False, "autoApprovalEnabled": True})
    await speak(services, tmp_path, DELEGATE, ({"error": "quota"},))
    (jp_root_dir / "work.ipynb").write_text(json.dumps(notebook(code("c0", "a = 1"))))
    async with connect() as panel:
        task = (await panel.ask("editCell", text="/edit twice as much", **AT_CELL))["result"]
        await panel.until(lambda: any(one.get("rootTaskId") == task and one.get("failed") for one in strip(panel)))
        await speak(services, tmp_path, READ, EDIT, DONE, DONE)
        assert (await panel.ask("editCell", text="/edit try again", taskId=task, **AT_CELL))["result"] == task
        await panel.until(lambda: statuses(panel) == [(task, "idle")])
        assert '"a = 2"' in (jp_root_dir / "work.ipynb").read_text()


async def test_what_is_said_at_a_cell_opens_a_conversation_that_was_closed_and_stopped(
    services: Services, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    await speak(services, tmp_path, WAIT)
    (jp_root_dir / "work.ipynb").write_text(json.dumps(notebook(code("c0", "a = 1"))))
    async with connect() as panel:
        task = (await panel.ask("editCell", text="/edit twice as much", **AT_CELL))["result"]
        await panel.until(lambda: statuses(panel) == [(task, "running")])
        assert (await panel.ask("closeConversation", taskId=task, stop=True))["ok"]
        await panel.until(lambda: strip(panel) == [])
        await speak(services, tmp_path, READ, EDIT, DONE)
        assert (await panel.ask("editCell", text="/edit go on", taskId=task, **AT_CELL))["result"] == task
        await panel.until(lambda: statuses(panel) == [(task, "idle")])
        assert '"a = 2"' in (jp_root_dir / "work.ipynb").read_text()
        assert await conversations(services) == 1


async def test_what_is_said_at_a_cell_is_heard_next_by_an_agent_that_works_on_in_a_closed_conversation(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, WAIT)
    async with connect() as panel:
        task = (await panel.ask("editCell", text="/edit twice as much", **AT_CELL))["result"]
        await panel.until(lambda: statuses(panel) == [(task, "running")])
        assert (await panel.ask("closeConversation", taskId=task))["ok"]
        await panel.until(lambda: strip(panel) == [])
        assert (await panel.ask("editCell", text="/edit go on", taskId=task, **AT_CELL))["result"] == task
        await panel.until(lambda: statuses(panel) == [(task, "running")])
        queue = (await services.agent.manager()).tasks.get(TaskId(str(task))).state.queue
        assert [one.text for one in queue.messages] == ["/edit go on"]
        assert await conversations(services) == 1


async def test_what_is_said_at_a_cell_while_an_approval_waits_may_change_it_once_that_is_decided(
    services: Services, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    await speak(services, tmp_path, WRITE, READ, EDIT, DONE)
    (jp_root_dir / "work.ipynb").write_text(json.dumps(notebook(code("c0", "a = 1"))))
    async with connect() as panel:
        task = (await panel.ask("editCell", text="/edit it, and take a note", **AT_CELL))["result"]
        await panel.until(lambda: statuses(panel) == [(task, "interactive")])
        assert (await panel.ask("closeConversation", taskId=task))["ok"]
        await panel.until(lambda: strip(panel) == [])
        assert (await panel.ask("editCell", text="/edit no note", taskId=task, **AT_CELL))["result"] == task
        assert (await panel.ask("showTaskWithId", taskId=task))["ok"]
        ts = await question(panel, "tool")
        assert (await panel.ask("askResponse", messageTs=ts, askResponse="noButtonClicked"))["ok"]
        await question(panel, "completion_result")
        assert said(panel, "user_feedback") == ["/edit no note"]
        assert '"a = 2"' in (jp_root_dir / "work.ipynb").read_text()


async def test_other_words_end_what_was_allowed_at_a_cell(
    services: Services, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    await speak(services, tmp_path, READ, DONE)
    (jp_root_dir / "work.ipynb").write_text(json.dumps(notebook(code("c0", "a = 1"), code("c1", "b = 2"))))
    async with connect() as panel:
        task = (await panel.ask("editCell", path="work.ipynb", cellId="c0", text="/edit it"))["result"]
        assert (await panel.ask("showTaskWithId", taskId=task))["ok"]
        ts = await question(panel, "completion_result")
        await speak(services, tmp_path, READ, EDIT)
        await panel.ask("askResponse", messageTs=ts, askResponse="messageResponse", text="Change it again")
        await question(panel, "tool")
        assert '"a = 1"' in (jp_root_dir / "work.ipynb").read_text()


async def test_a_cell_is_changed_in_a_mode_that_edits(services: Services, connect: Connect, tmp_path: Path) -> None:
    await speak(services, tmp_path, DONE, DONE, DONE)
    async with connect() as panel:
        for chosen, mode in (("ask", "code"), ("architect", "code"), ("debug", "debug")):
            await panel.ask("mode", text=chosen)
            task = (await panel.ask("editCell", path="work.ipynb", cellId="c0", text="/edit it"))["result"]
            assert (await services.history.item(ME, str(task))).mode == mode


async def test_the_panel_stays_where_it_is_while_a_cell_is_changed(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, DONE, DONE)
    async with connect() as panel:
        shown = (await panel.ask("newTask", text="Hello"))["result"]
        await question(panel, "completion_result")
        task = (await panel.ask("editCell", path="work.ipynb", cellId="c0", text="/edit it"))["result"]
        await panel.until(
            lambda: any(
                one["taskId"] == task and one["status"] == "idle"
                for message in messages(panel, "openTasksUpdated")
                for one in message["openTasks"]
            )
        )
        assert messages(panel, "state")[-1]["state"]["currentTaskId"] == shown


async def test_a_change_is_told_while_it_is_written_whatever_is_on_screen(
    services: Services, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    source = "a = 2\n" + "# why\n" * 30
    cell = {"op": "replace", "cell": "c0", "source": source}
    write: Turn = ({"tool": "edit_cells", "arguments": {"operations": [cell]}, "id": "w"},)
    await speak(services, tmp_path, READ, write, DONE)
    (jp_root_dir / "work.ipynb").write_text(json.dumps(notebook(code("c0", "a = 1"))))
    async with connect() as panel:
        task = (await panel.ask("editCell", path="work.ipynb", cellId="c0", text="/edit it"))["result"]
        await panel.until(lambda: messages(panel, "cellEditPreview"))
        told = messages(panel, "cellEditPreview")[0]
        (edit,) = told["cellEdits"]
        assert (told["taskId"], told["path"], edit["cellId"]) == (task, "work.ipynb", "c0")
        assert edit["diff"].startswith("+a = 2\n") and len(edit["diff"]) < len(source)
        await panel.until(lambda: messages(panel, "cellEditPreview")[-1]["cellEdits"] == [])
        await panel.until(lambda: "# why" in (jp_root_dir / "work.ipynb").read_text())


async def test_a_small_model_changes_just_the_cell_and_its_change_is_told_while_it_is_written(
    services: Services, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    write: Turn = ({"tool": "edit_cell", "arguments": {"cell": 1, "code": "a = 2\n" + "# why\n" * 30}, "id": "w"},)
    await speak(services, tmp_path, write)
    book = services.config.profiles
    await book.update(book.current.id, {"toolSet": "compound"})
    (jp_root_dir / "work.ipynb").write_text(json.dumps(notebook(code("c0", "a = 1"))))
    async with connect() as panel:
        task = (await panel.ask("editCell", text="/edit it", **AT_CELL))["result"]
        await panel.until(lambda: statuses(panel) == [(task, "idle")])
        told = messages(panel, "cellEditPreview")
        assert told[0]["cellEdits"][0]["cellId"] == "c0" and told[0]["cellEdits"][0]["diff"].startswith("+a = 2\n")
        assert told[-1]["cellEdits"] == []
        assert "# why" in (jp_root_dir / "work.ipynb").read_text()


async def test_a_click_without_a_traceback_uses_what_was_seen_of_the_run(
    services: Services, connect: Connect, tmp_path: Path, jp_serverapp: ServerApp, jp_fetch: Fetch
) -> None:
    await speak(services, tmp_path, DONE)
    async with connect() as panel, lab(jp_serverapp, jp_fetch, "work.ipynb", ["prices = {}", "prices['tea']"]) as work:
        await work.run("prices = {}", "prices['tea']")
        await until(lambda: placed(services) == [("c0", True), ("c1", False)])
        await panel.ask("fixCell", path="work.ipynb", cellId="c1", source="prices['tea']")
        await question(panel, "completion_result")
        assert said(panel, "text") == ["Fix this cell: KeyError: 'tea'"]
        wish = str(along(panel, "text")[0]["content"])
        assert wish.startswith("Cell c1 (In [2]) of work.ipynb failed.")
        assert "----> 1 prices['tea']" in wish and "KeyError: 'tea'" in wish


async def test_a_cell_is_called_what_the_page_calls_it(services: Services, connect: Connect, tmp_path: Path) -> None:
    await speak(services, tmp_path, DONE)
    async with connect() as panel:
        label = 'Fix cell 5: Oops: "<b>"\n&'
        await panel.ask("fixCell", **FAILED | {"label": label})
        await question(panel, "completion_result")
        assert said(panel, "text") == ['Fix cell 5: Oops: "<b>" &']
        assert [wish["label"] for wish in along(panel, "text")] == ['Fix cell 5: Oops: "<b>" &']


async def test_long_sources_and_tracebacks_are_cut_where_it_hurts_least(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, DONE)
    async with connect() as panel:
        source, traceback = "first = 1\n" + "x" * 50_000, "y" * 50_000 + "\nKeyError: ``` in it"
        await panel.ask("fixCell", path="work.ipynb", cellId="abc", source=source, traceback=traceback)
        await question(panel, "completion_result")
        wish = str(along(panel, "text")[0]["content"])
        assert len(wish) < 20_000
        assert "````\n[" in wish and "KeyError: ``` in it\n````" in wish and "```\nfirst = 1\n" in wish


async def test_what_is_no_notebook_is_refused(services: Services, connect: Connect) -> None:
    async with connect() as panel:
        for path in ("notes.txt", "../other.ipynb"):
            assert (await panel.ask("fixCell", **FAILED | {"path": path}))["error"]["code"] == "invalid_input"


async def test_a_change_that_was_taken_back_is_told_to_the_task_that_made_it(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    async with model_that_asks(services, "review") as model, connect() as panel:
        task = (await panel.ask("newTask", text="scenario review"))["result"]
        ts = await question(panel, "followup")
        review = {"path": "work.ipynb", "cellId": "abc", "taskId": task}
        assert (await panel.ask("cellReview", accepted=True, **review | {"cellId": "kept"}))["ok"]
        assert (await panel.ask("cellReview", accepted=False, **review))["ok"]
        assert (await panel.ask("cellReview", accepted=False, part="hunk", **review | {"cellId": "def"}))["ok"]
        assert (await panel.ask("askResponse", messageTs=ts, askResponse="messageResponse", text="No"))["ok"]
        await question(panel, "completion_result")
        told = str(model.heard["review"]["messages"])
        assert "took back your change of cell abc in work.ipynb" in told
        assert "took back part of your change of cell def" in told
        assert "kept" not in told
        manager = await services.agent.manager()
        await manager.tasks.close(TaskId(str(task)))
        assert (await panel.ask("cellReview", accepted=False, **review))["ok"], "a closed task is let be"
        assert (await panel.ask("cellReview", accepted=False, path="work.ipynb", cellId="abc"))["ok"]


async def test_what_a_person_decides_in_parts_is_kept(services: Services, connect: Connect) -> None:
    unreviewed = services.notebooks.notebooks.unreviewed
    cells = notebook(code("one", "a\nb"), code("two", "a"))
    before = snapshot_of(cells, path="work.ipynb", revision="r", source="disk")
    changes = [ReplaceSource(cell_id=CellId(one), source="A\nB") for one in ("one", "two")]
    unreviewed.note("work.ipynb", before, changes, None)
    part = {"path": "work.ipynb", "part": "hunk"}
    async with connect() as panel:
        assert (await panel.ask("cellReview", accepted=True, cellId="one", before="A\nb", **part))["ok"]
        assert (await panel.ask("cellReview", accepted=False, cellId="one", **part))["ok"]
        assert (await panel.ask("cellReview", accepted=False, cellId="two", isLast=True, **part))["ok"]
    assert [(one.cell_id, one.before) for one in unreviewed.of("work.ipynb")] == [("one", "A\nb")]


async def test_the_task_of_another_person_is_told_nothing(services: Services, connect: Connect) -> None:
    async with model_that_asks(services, "theirs"), connect() as panel:
        manager = await services.agent.manager()
        theirs = await manager.start(TaskRequest("scenario theirs", owner="somebody else"))
        await until(lambda: manager.tasks.get(theirs).state.status == "interactive")
        review = {"path": "work.ipynb", "cellId": "abc", "taskId": theirs}
        answer = await panel.ask("cellReview", accepted=False, **review)
        assert answer["error"]["code"] == "unknown_task"
        assert not manager.tasks.get(theirs).user_input._untold
