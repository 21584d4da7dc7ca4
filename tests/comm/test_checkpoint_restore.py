"""Going back to a checkpoint with everything: an agent breaks a notebook, a file and a variable on the real server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jupyter_server.serverapp import ServerApp

from hdsp_agent.agent.checkpoints.checkpoint_service import SavedStep
from hdsp_agent.comm.identity import server_owner
from hdsp_agent.comm.services import Services
from hdsp_agent.messages import TaskId
from hdsp_agent.tools import ActionRequest
from tests._helpers.jupyter_fetch import Fetch
from tests._helpers.parsed_json import parsed
from tests.comm._helpers.browser_tabs import BrowserTab
from tests.comm._helpers.jupyterlab_kernels import Lab, lab
from tests.comm._helpers.scripted_pages import Turn, conversation, question, speak
from tests.comm._helpers.stored_tasks import keep
from tests.comm.channel._helpers.channel_panel import Panel
from tests.comm.conftest import Connect, messages
from tests.comm.rest.test_checkpoints import get, post, refusal
from tests.comm.test_iopub_bridge import until
from tests.comm.test_running_agent import another_server
from tests.notebooks._helpers.pages import Page, sources_in

ME = server_owner()
EVERYTHING = {"files": True, "notebooks": True, "variables": True, "conversation": True}
GOOD = "prices = {'tea': 3}"
BREAKS: Turn = (
    {
        "tool": "edit_cells",
        "arguments": {"operations": [{"op": "edit", "cell": "c1", "old": "prices", "new": "princes"}]},
        "id": "e",
    },
    {
        "tool": "run_code",
        "arguments": {"code": "prices['tea'] = None\nopen('prices.csv', 'w').write('gone')"},
        "id": "r",
    },
)
DONE: Turn = ({"tool": "attempt_completion", "arguments": {"result": "It is broken."}, "id": "d"},)
ALLOWED = {
    "autoApprovalEnabled": True,
    "alwaysAllowReadOnly": True,
    "alwaysAllowWrite": True,
    "alwaysAllowRunCells": True,
    "alwaysAllowExecute": True,
}


async def value(work: Lab, name: str, folder: Path) -> str:
    """What the kernel has under a name."""
    told = folder / "told.json"
    await work.run(
        f"__import__('pathlib').Path({str(told)!r}).write_text(repr({name}))", silent=True, store_history=False
    )
    return told.read_text()


async def broken(services: Services, panel: Panel, tmp_path: Path) -> str:
    """Let the agent do its worst; the task's id."""
    await services.config.update(ALLOWED)
    await speak(services, tmp_path, BREAKS, DONE)
    ack = await panel.ask("newTask", text="Break it", notebook={"path": "work.ipynb"})
    assert ack["ok"], ack
    await question(panel, "completion_result")
    return str(ack["result"])


def checkpoints(panel: Panel) -> list[dict[str, object]]:
    """The rows of the conversation that say where one can go back to."""
    shown = conversation(panel)
    return [shown[ts] for ts in sorted(shown) if shown[ts].get("say") == "checkpoint_saved"]


@pytest.mark.in_short(1)
@pytest.mark.parametrize("opened", [False, True], ids=["closed", "open and unsaved"])
async def test_one_restore_brings_notebook_file_variable_and_conversation_back_and_an_undo_the_breakage(
    opened: bool, services: Services, connect: Connect, tmp_path: Path, jp_serverapp: ServerApp, jp_fetch: Fetch,
    jp_root_dir: Path,
) -> None:  # fmt: skip
    table, notebook = jp_root_dir / "prices.csv", jp_root_dir / "work.ipynb"
    table.write_text("tea,3\n")
    async with (
        lab(jp_serverapp, jp_fetch, "work.ipynb", [GOOD, "print(prices)", "1 + 1"]) as work,
        connect() as panel,
        connect() as watching,
    ):
        await work.run(GOOD)
        page = Page(notebook)
        tab = BrowserTab(watching, *([page] if opened else []))
        await tab.tell()
        async with tab.at_work():
            if opened:
                page.content["cells"][2]["source"] = "2 + 2"  # type: ignore[index, call-overload]
                page.dirty = True
                page.revision += 1
                await tab.tell()

            def sources() -> list[str]:
                cells = page.content["cells"] if opened else json.loads(notebook.read_text())["cells"]
                return ["".join(map(str, cell["source"])) for cell in parsed(cells)]

            mine = "2 + 2" if opened else "1 + 1"
            task = await broken(services, panel, tmp_path)
            bad = [GOOD, "print(princes)", mine]
            assert sources() == bad and table.read_text() == "gone"
            assert await value(work, "prices", tmp_path) == "{'tea': None}"

            first = checkpoints(panel)[0]
            assert first["text"] == first["checkpoint"]["to"] and first["checkpoint"]["isFirst"] is True  # type: ignore[index]
            target = str(first["checkpoint"]["id"])  # type: ignore[index]
            preview = await post(jp_fetch, "checkpoints", target, "preview", parts=EVERYTHING, task=task)
            assert [one["path"] for one in preview["files"]["changes"]] == ["prices.csv"]
            assert [(one["path"], one["open"]) for one in preview["notebooks"]] == [("work.ipynb", opened)]
            assert preview["conversation"]["toolCalls"] == 2
            assert sources() == bad and table.read_text() == "gone", "a look changes nothing"

            done = (await post(jp_fetch, "checkpoints", target, "restore", parts=EVERYTHING, task=task))["operation"]
            assert set(done["parts"]) == set(EVERYTHING)
            assert sources() == [GOOD, "print(prices)", mine] and table.read_text() == "tea,3\n"
            assert sources_in(notebook)[1] == "print(prices)"
            await question(panel, "resume_task")
            assert not [one for one in conversation(panel).values() if one.get("say") == "completion_result"]

            undone = await post(jp_fetch, "checkpoint-operations", done["id"], "undo", task=task)
            assert sources() == bad and table.read_text() == "gone"
            assert await value(work, "prices", tmp_path) == "{'tea': None}"
            await panel.until(
                lambda: [one for one in conversation(panel).values() if one.get("ask") == "completion_result"]
            )
            assert set(undone["operation"]["parts"]) == set(EVERYTHING)


async def test_variables_alone_go_back_and_say_so(
    services: Services, connect: Connect, tmp_path: Path, jp_serverapp: ServerApp, jp_fetch: Fetch
) -> None:
    async with lab(jp_serverapp, jp_fetch, "work.ipynb", [GOOD]) as work:
        await work.run(GOOD)
        checkpoint = await post(jp_fetch, "checkpoints", path="work.ipynb")
        assert (checkpoint["notebooks"], checkpoint["variables"]) == (["work.ipynb"], ["work.ipynb"])
        await work.run("prices['tea'] = None")
        parts = {"variables": True, "path": "work.ipynb"}
        preview = await post(jp_fetch, "checkpoints", checkpoint["id"], "preview", parts=parts)
        assert [(one["name"], one["action"]) for one in preview["variables"][0]["variables"]] == [("prices", "load")]
        done = await post(jp_fetch, "checkpoints", checkpoint["id"], "restore", parts=parts)
        assert await value(work, "prices", tmp_path) == "{'tea': 3}"
        await post(jp_fetch, "checkpoint-operations", done["operation"]["id"], "undo")
        assert await value(work, "prices", tmp_path) == "{'tea': None}"


async def test_without_variables_in_the_settings_none_are_kept(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch
) -> None:
    await services.config.update({"checkpointVariables": False})
    async with lab(jp_serverapp, jp_fetch, "work.ipynb", [GOOD]) as work:
        await work.run(GOOD)
        checkpoint = await post(jp_fetch, "checkpoints", path="work.ipynb")
        assert (checkpoint["notebooks"], checkpoint.get("variables", [])) == (["work.ipynb"], [])


async def test_saving_starts_no_kernel(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    (jp_root_dir / "work.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    await post(jp_fetch, "checkpoints", path="work.ipynb")
    assert list(jp_serverapp.kernel_manager.list_kernel_ids()) == []


async def test_the_channel_compares_and_goes_back_and_pages_hear_of_it(
    services: Services, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    note = jp_root_dir / "note.txt"
    note.write_text("before\n")
    await services.config.update(ALLOWED)
    once: Turn = ({"tool": "write_to_file", "arguments": {"path": "note.txt", "content": "once\n"}, "id": "w"},)
    twice: Turn = ({"tool": "write_to_file", "arguments": {"path": "note.txt", "content": "twice\n"}, "id": "v"},)
    await speak(services, tmp_path, once, twice, DONE)
    async with connect() as panel, connect() as other:
        task = (await panel.ask("newTask", text="Write"))["result"]
        await question(panel, "completion_result")
        rows = checkpoints(panel)
        assert [row["checkpoint"].get("isFirst") for row in rows] == [True, None]  # type: ignore[attr-defined]
        assert rows[1]["checkpoint"]["from"] == rows[0]["text"]  # type: ignore[index]
        counted = [row["checkpoint"].get("changed") for row in rows]  # type: ignore[attr-defined]
        assert counted == [None, {"files": 1, "cells": 0, "variables": 0}]

        async def lines(**payload: object) -> list[str]:
            ack = await panel.ask("checkpointDiff", payload=payload)
            assert ack["ok"], ack
            return [
                line
                for file in ack["result"]["files"]
                if file["path"] == "note.txt"
                for hunk in file["hunks"]
                for line in hunk["lines"]
            ]

        commit = rows[1]["text"]
        assert await lines(mode="checkpoint", commitHash=commit) == ["-before", "+once"]
        assert await lines(mode="checkpoint", commitHash=commit, previousCommitHash=rows[0]["text"]) == [
            "-before",
            "+once",
        ]
        assert await lines(mode="from-init", commitHash=commit) == ["-before", "+once"]
        assert await lines(mode="to-current", commitHash=commit) == ["-once", "+twice"]
        assert await lines(mode="full", commitHash=commit) == ["-before", "+twice"]

        told = messages(other, "currentCheckpointUpdated")
        assert told and all(message["taskId"] == task for message in told)
        payload = {"ts": rows[1]["ts"], "commitHash": commit, "mode": "preview"}
        ack = await panel.ask("checkpointRestore", payload=payload)
        assert [one["path"] for one in ack["result"]["files"]["changes"]] == ["note.txt"]
        assert note.read_text() == "twice\n"
        ack = await panel.ask("checkpointRestore", payload=payload | {"mode": "restore"})
        assert ack["ok"], ack
        assert note.read_text() == "once\n"
        await question(panel, "resume_task")
        assert len(messages(other, "currentCheckpointUpdated")) > len(told)
        # The row before the call that is taken back stands, that call's own does not.
        assert [row["text"] for row in checkpoints(panel)] == [rows[0]["text"]]
        unknown = await panel.ask("checkpointRestore", payload=payload | {"commitHash": "0" * 40})
        assert unknown["error"]["code"] == "not_found"


async def test_where_one_is_is_known_after_a_restart_of_the_server_and_wherever_else_one_looks(
    services: Services, connect: Connect, tmp_path: Path, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    await services.config.update(ALLOWED)
    once: Turn = ({"tool": "write_to_file", "arguments": {"path": "note.txt", "content": "once\n"}, "id": "w"},)
    await speak(services, tmp_path, once, DONE)
    async with connect() as page:
        task = str((await page.ask("newTask", text="Write"))["result"])
        await question(page, "completion_result")
        (row,) = checkpoints(page)

    async def here(page: Panel) -> str:
        def told() -> str | None:
            state: str | None = messages(page, "state")[-1]["state"].get("currentCheckpoint")
            updates = messages(page, "currentCheckpointUpdated")
            return str(updates[-1]["text"]) if updates else state

        await page.until(told)
        return str(told())

    async with another_server(jp_serverapp), connect() as page:
        gone_on = await here(page)
        assert gone_on != row["text"], "the file is written"
        done = await post(jp_fetch, "checkpoints", str(row["text"]), "restore", parts={"files": True}, task=task)
        assert not (jp_root_dir / "note.txt").exists()
    async with another_server(jp_serverapp), connect() as page:
        assert await here(page) == row["text"]
        await post(jp_fetch, "checkpoint-operations", done["operation"]["id"], "undo", task=task)
    async with another_server(jp_serverapp), connect() as page:
        assert await here(page) == gone_on
        assert (await page.ask("clearTask"))["ok"]
        # Something else is done there, and then the conversation is looked at again.
        (jp_root_dir / "other.txt").write_text("by the person")
        newest = await post(jp_fetch, "checkpoints")
        assert (await page.ask("showTaskWithId", taskId=task))["ok"]
        await page.until(
            lambda: any(
                (one["text"], one.get("taskId")) == (newest["commit"], task)
                for one in messages(page, "currentCheckpointUpdated")
            )
        )


async def test_looking_at_a_conversation_makes_no_store_of_checkpoints(
    services: Services, connect: Connect, tmp_path: Path, jp_serverapp: ServerApp, storage_dir: Path
) -> None:
    await speak(services, tmp_path, DONE)
    async with connect() as page:
        await page.ask("newTask", text="Say it")
        await question(page, "completion_result")
    async with another_server(jp_serverapp) as again, connect() as page:
        await services_at_rest(again)
        assert not list(storage_dir.glob("checkpoints/*"))


async def services_at_rest(services: Services) -> None:
    """Wait for what was begun and nobody waits for."""
    await services.checkpoints.stop()


async def test_a_task_that_works_is_stopped_before_its_conversation_goes_back(
    services: Services, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    await services.config.update(ALLOWED)
    write: Turn = ({"tool": "write_to_file", "arguments": {"path": "note.txt", "content": "once\n"}, "id": "w"},)
    ask: Turn = (
        {
            "tool": "ask_followup_question",
            "arguments": {"question": "Which?", "follow_up": [{"text": "This"}]},
            "id": "q",
        },
    )
    await speak(services, tmp_path, write, ask)
    async with connect() as panel:
        task = TaskId(str((await panel.ask("newTask", text="Write"))["result"]))
        await question(panel, "followup")
        (row,) = checkpoints(panel)
        payload = {"ts": row["ts"], "commitHash": row["text"], "mode": "restore"}
        assert (await panel.ask("checkpointRestore", payload=payload))["ok"]
        await question(panel, "resume_task")
        assert not (jp_root_dir / "note.txt").exists()
        await until(lambda: services.history.details(task) is not None)


async def test_a_notebook_that_is_open_goes_back_with_the_conversation(
    services: Services, connect: Connect, tmp_path: Path, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    notebook = jp_root_dir / "work.ipynb"
    async with (
        lab(jp_serverapp, jp_fetch, "work.ipynb", [GOOD, "print(prices)"]),
        connect() as panel,
        connect() as watching,
    ):
        page = Page(notebook)
        tab = BrowserTab(watching, page)
        await tab.tell()
        async with tab.at_work():
            await services.config.update(ALLOWED)
            await speak(services, tmp_path, BREAKS[:1], DONE)
            await panel.ask("newTask", text="Break it", notebook={"path": "work.ipynb"})
            await question(panel, "completion_result")
            assert sources_in(notebook)[1] == "print(princes)"
            (call,) = [ts for ts, one in conversation(panel).items() if one.get("ask") == "tool"]
            change = {"operation": "delete", "messageTs": call}
            assert (await panel.ask("previewConversation", change=change, restoreFiles=True))["ok"]
            files = messages(panel, "conversationPreview")[-1]["preview"]["files"]
            assert files["changes"] == [{"path": "work.ipynb", "action": "overwrite"}]
            assert (files["openNotebooks"], files["kept"]) == ([], [])
            assert (await panel.ask("deleteMessageConfirm", messageTs=call, restoreCheckpoint=True))["ok"]
            assert sources_in(notebook)[1] == "print(prices)"
            assert "".join(map(str, parsed(page.content)["cells"][1]["source"])) == "print(prices)"
            assert (await panel.ask("undoConversation"))["ok"]
            assert sources_in(notebook)[1] == "print(princes)"


async def test_a_notebook_points_to_the_checkpoint_its_cells_ran_in(
    services: Services, connect: Connect, tmp_path: Path, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    notebook = jp_root_dir / "work.ipynb"
    runs: Turn = ({"tool": "run_cells", "arguments": {"cells": ["all"]}, "id": "r"},)
    async with lab(jp_serverapp, jp_fetch, "work.ipynb", [GOOD, "print(prices)"]), connect() as panel:
        await services.config.update(ALLOWED)
        await speak(services, tmp_path, runs, DONE)
        task = (await panel.ask("newTask", text="Run it", notebook={"path": "work.ipynb"}))["result"]
        await question(panel, "completion_result")

        def pointers() -> dict[str, object]:
            try:
                return dict(json.loads(notebook.read_text())["metadata"].get("hdsp_agent", {}))
            except json.JSONDecodeError:
                # Jupyter is just saving it, which is not done at once.
                return {}

        await until(pointers)
        cells = json.loads(notebook.read_text())["cells"]
        assert all({"ts", "state_hash", "variables"} <= set(cell["metadata"]["hdsp_checkpoint"]) for cell in cells)
        assert cells[0]["metadata"]["hdsp_checkpoint"]["variables"] == ["prices"]
        line = await get(jp_fetch, "checkpoints")
        assert pointers()["head"] in [one["checkpoint"]["id"] for one in line["operations"]]
        assert task in json.dumps(pointers()) and "Run it" not in notebook.read_text()
        assert pointers()["head"] == line["here"]["id"]
        assert "pointers" not in [one["checkpoint"]["reason"] for one in line["operations"]]
        # What the pointers changed is the agent's: going back to before it finds nothing of the person's.
        row = checkpoints(panel)[0]
        preview = await post(
            jp_fetch, "checkpoints", str(row["text"]), "preview", parts={"files": True, "notebooks": True}
        )
        assert preview.get("files") is None or preview["files"]["kept"] == []


async def test_after_a_whole_restore_a_page_that_reloads_is_told_the_checkpoints_commit(
    services: Services, connect: Connect, tmp_path: Path, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    notebook = jp_root_dir / "work.ipynb"
    async with lab(jp_serverapp, jp_fetch, "work.ipynb", [GOOD, "print(prices)"]), connect() as panel:
        # Other bytes than those with which Jupyter saves the same cells.
        notebook.write_text(json.dumps(json.loads(notebook.read_text())))
        task = await broken(services, panel, tmp_path)
        first = checkpoints(panel)[0]
        target = str(first["checkpoint"]["id"])  # type: ignore[index]
        parts = {"files": True, "notebooks": True}
        done = await post(jp_fetch, "checkpoints", target, "restore", parts=parts, task=task)
        assert done["operation"]["checkpoint"]["commit"] != first["text"]
        assert services.history.checkpoint_of(task) == first["text"]
        parts = {"notebooks": True}
        await post(jp_fetch, "checkpoint-operations", done["operation"]["id"], "undo", task=task)
        await post(jp_fetch, "checkpoints", target, "restore", parts=parts, task=task)
        assert services.history.checkpoint_of(task) != first["text"], "files stayed"


async def test_a_moment_of_a_deleted_conversation_goes_back_without_it(
    services: Services, connect: Connect, tmp_path: Path, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    note = jp_root_dir / "note.txt"
    note.write_text("before\n")
    await services.config.update(ALLOWED)
    once: Turn = ({"tool": "write_to_file", "arguments": {"path": "note.txt", "content": "once\n"}, "id": "w"},)
    await speak(services, tmp_path, once, DONE)
    async with connect() as panel:
        task = str((await panel.ask("newTask", text="Write"))["result"])
        await question(panel, "completion_result")
        (row,) = checkpoints(panel)
        target = str(row["checkpoint"]["id"])  # type: ignore[index]
        # Right after its end the task is still being put aside.
        while not (await panel.ask("deleteTaskWithId", taskId=task))["ok"]:
            pass
    preview = await post(jp_fetch, "checkpoints", target, "preview", parts=EVERYTHING)
    assert preview["conversationGone"] is True and "conversation" not in preview
    done = await post(jp_fetch, "checkpoints", target, "restore", parts=EVERYTHING)
    assert note.read_text() == "before\n" and "conversation" not in done["operation"]["parts"]
    await post(jp_fetch, "checkpoint-operations", done["operation"]["id"], "undo")
    assert note.read_text() == "once\n"


async def test_anothers_conversation_does_not_go_back_with_a_moment_of_a_shared_folder(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    note = jp_root_dir / "note.txt"
    note.write_text("before\n")
    theirs = TaskId(await keep(services, "private", user="somebody-else"))
    history = (await services.agent.manager()).services.checkpoints
    assert history is not None
    step = SavedStep(history, jp_root_dir, theirs, "write_to_file")
    record = await step.approved(ActionRequest(frozenset({"write"}), "write_to_file", path="note.txt"), 5)
    assert record is not None
    note.write_text("theirs\n")
    step.ended()
    line = await get(jp_fetch, "checkpoints")
    assert record.id in [one["checkpoint"]["id"] for one in line["operations"]]
    for what in ("preview", "restore"):
        asked = post(jp_fetch, "checkpoints", record.id, what, parts=EVERYTHING)
        assert await refusal(asked) == (404, "unknown_task")
    assert note.read_text() == "theirs\n"
    await post(jp_fetch, "checkpoints", record.id, "restore", parts={"files": True})
    assert note.read_text() == "before\n"
