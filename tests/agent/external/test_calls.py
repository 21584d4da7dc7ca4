"""Calls of a program outside: done by the same tools, approvals and logs as the agent's own."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from hdsp_agent.config import GlobalSettings

from ..._helpers import timing
from ..._helpers.parsed_json import parsed
from .._helpers.scripted_agent import until
from ._helpers.program import program, text_of

pytestmark = pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning")

FREE = GlobalSettings(client_approvals={"Claude Code": "everything"})


async def test_a_program_reads_edits_and_runs_a_notebook(tmp_path: Path) -> None:
    async with program(tmp_path, "total = 6 * 7", "print('it is', totl)", settings=FREE) as claude:
        read = await claude.structured("read_notebook", path="a.ipynb", view="cells")
        assert [cell["source"] for cell in read["cells"]] == ["total = 6 * 7", "print('it is', totl)"]
        edit = {"op": "edit", "cell": "c2", "old": "totl", "new": "total"}
        changed = await claude.structured("edit_cells", path="a.ipynb", operations=[edit])
        assert changed["changed"] == ["c2"] and changed["inserted"] == []
        ran = await claude.structured("run_cells", path="a.ipynb", cells=["all"])
        assert bool(ran["done"])
        assert [cell["state"] for cell in ran["cells"]] == ["ok", "ok"]
        assert ran["cells"][1]["output"] == "it is 42"
        saved = json.loads((claude.agent.workspace / "a.ipynb").read_text())
        assert saved["cells"][1]["outputs"][0]["text"] == ["it is 42\n"]


async def test_its_conversation_is_in_the_history_under_its_name(tmp_path: Path) -> None:
    async with program(tmp_path, "x = 1", settings=FREE) as claude:
        await claude.call("read_notebook", path="a.ipynb")
        item = claude.agent.history.items[claude.task_id]
        assert (item.task, item.external_agent) == ("Claude Code", "Claude Code")
        assert item.notebook is not None and item.notebook.path == "a.ipynb"
        [asked] = await claude.agent.asks(claude.task_id, "tool")
        assert json.loads(asked.text or "")["tool"] == "readNotebook" and asked.is_answered
        reader = await claude.agent.store.view(claude.task_id)
        roles = [record.role async for record in reader.api.iterate()]
        assert roles == ["user", "assistant", "user"]
        assert len(await claude.agent.results(claude.task_id)) == 1
        assert claude.agent.model.requests == []


async def test_without_a_word_of_the_person_a_program_is_asked_about_everything(tmp_path: Path) -> None:
    own = GlobalSettings(auto_approval_enabled=True, always_allow_read_only=True, always_allow_run_cells=True)
    async with program(tmp_path, "x = 1", settings=own) as claude:
        call = claude.begin("run_cells", path="a.ipynb", cells=["c1"])
        question = await claude.asked()
        assert json.loads(question.text or "")["tool"] == "runCells"
        [listed] = claude.sessions.connected(None)
        assert (listed.activity, listed.doing) == ("waiting", "Waiting for your approval in JupyterLab.")
        await claude.answer(question, "yesButtonClicked", "but only once")
        result = await call
        assert not result.is_error and "but only once" in text_of(result)
        assert result.structured is not None and "but only once" in str(result.structured["from_person"])
        assert claude.told[0] == "Waiting for your approval in JupyterLab."


async def test_a_denied_call_says_so_and_the_next_is_asked_about_anew(tmp_path: Path) -> None:
    async with program(tmp_path, "x = 1") as claude:
        call = claude.begin("run_cells", path="a.ipynb", cells=["c1"])
        question = await claude.asked()
        await claude.answer(question, "noButtonClicked", "not this cell")
        denied = await call
        assert denied.is_error and "not this cell" in text_of(denied)
        assert parsed(denied.structured)["error"]["code"] == "denied"
        again = await claude.approved("run_cells", path="a.ipynb", cells=["c1"])
        assert not again.is_error


async def test_a_denial_is_nothing_to_a_call_that_waits_beside_it(tmp_path: Path) -> None:
    async with program(tmp_path, "x = 1") as claude:
        first = claude.begin("read_notebook", path="a.ipynb")
        second = claude.begin("list_files", path=".")
        question = await claude.asked()
        await claude.answer(question, "noButtonClicked")
        other = await claude.asked(after=question.ts)
        await claude.answer(other, "yesButtonClicked")
        results = await asyncio.gather(first, second)
        assert sorted(result.is_error for result in results) == [False, True]


async def test_words_of_the_person_go_along_with_the_next_result(tmp_path: Path) -> None:
    async with program(tmp_path, "x = 1", settings=FREE) as claude:
        await claude.call("list_kernels")
        await claude.agent.manager.queue(claude.task_id, "Please keep to @/secret.txt")
        told = await claude.call("list_kernels")
        assert "Please keep to @/secret.txt" in text_of(told)
        assert told.structured is not None and "Please keep to" in str(told.structured["from_person"])
        [row] = await claude.agent.says(claude.task_id, "user_feedback")
        assert row.text == "Please keep to @/secret.txt"
        assert "Please keep to" not in text_of(await claude.call("list_kernels"))


async def test_a_stop_ends_the_call_its_cell_and_what_waits_behind_it(tmp_path: Path) -> None:
    slow = "import time\nprint('begun', flush=True)\ntime.sleep(600)"
    async with program(tmp_path, slow, settings=FREE) as claude:
        running = claude.begin("run_cells", path="a.ipynb", cells=["c1"])
        behind = claude.begin("create_notebook", path="b.ipynb")

        async def begun() -> bool:
            rows = await claude.agent.says(claude.task_id, "command_output") if claude.told else []
            return any(row.text == "begun" for row in rows)

        await timing.until(begun)
        await claude.agent.manager.cancel(claude.task_id)
        for call in (running, behind):
            result = await call
            assert result.is_error and "stopped this call" in text_of(result)
        assert not (claude.agent.workspace / "b.ipynb").exists()
        notebooks = claude.agent.manager.services.notebooks
        assert notebooks is not None
        await until(lambda: not notebooks.executor.runs())
        assert not (await claude.call("list_kernels")).is_error
        assert "resume_task" not in [message.ask for message in await claude.agent.ui(claude.task_id)]


async def test_a_program_and_its_person_hear_that_an_administrator_stopped_it(tmp_path: Path) -> None:
    async with program(tmp_path, "x = 1") as claude:
        call = claude.begin("run_cells", path="a.ipynb", cells=["c1"])
        await claude.asked()
        await claude.agent.manager.cancel(claude.task_id, "administrator")
        assert "An administrator stopped this call" in text_of(await call)

        async def told() -> bool:
            rows = await claude.agent.says(claude.task_id, "error")
            return [row.text for row in rows] == ["An administrator stopped this task."]

        await timing.until(told)


async def test_a_call_that_is_given_up_leaves_no_question_and_no_running_cell(tmp_path: Path) -> None:
    async with program(tmp_path, "x = 1") as claude:
        call = claude.begin("run_cells", path="a.ipynb", cells=["c1"])
        question = await claude.asked()
        call.cancel()
        await asyncio.wait({call})
        [asked] = await claude.agent.asks(claude.task_id, "tool")
        assert (asked.ts, asked.is_answered, asked.partial) == (question.ts, False, False)
        assert claude.agent.task(claude.task_id).state.dialogue.asks.open == []
        [result] = (await claude.agent.results(claude.task_id)).values()
        assert "gave this call up" in result
        assert claude.agent.task(claude.task_id).state.status == "idle"


async def test_cells_that_are_unknown_or_changed_are_told_as_they_are(tmp_path: Path) -> None:
    async with program(tmp_path, "x = 1", "y = 2", settings=FREE) as claude:
        unknown = await claude.failure("edit_cells", path="a.ipynb", operations=[{"op": "delete", "cell": "nope"}])
        assert unknown["code"] == "cell_unknown"
        assert [cell["id"] for cell in unknown["cells"]] == ["c1", "c2"]
        unread = await claude.failure("edit_cells", path="a.ipynb", operations=[{"op": "delete", "cell": "c1"}])
        assert unread["code"] == "cells_unread"
        assert unread["cells"][0]["source"] == "x = 1"
        file = claude.agent.workspace / "a.ipynb"
        file.write_text(file.read_text().replace("y = 2", "y = 3"))
        await claude.call("read_notebook", path="a.ipynb", view="cells", cells=["c2"])
        file.write_text(file.read_text().replace("y = 3", "y = 4"))
        edit = {"op": "replace", "cell": "c2", "source": "y = 5"}
        changed = await claude.failure("edit_cells", path="a.ipynb", operations=[edit])
        assert changed["code"] == "cells_changed"
        assert changed["cells"][0]["source"] == "y = 4"


async def test_a_notebook_must_be_named(tmp_path: Path) -> None:
    async with program(tmp_path, "x = 1", settings=FREE) as claude:
        await claude.call("read_notebook", path="a.ipynb")
        assert "say which one" in str((await claude.failure("read_notebook"))["message"])


async def test_a_run_goes_on_under_its_handle(tmp_path: Path) -> None:
    waits = "import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(0.01)\nprint('gone')"
    async with program(tmp_path, waits, settings=FREE) as claude:
        ran = await claude.structured("run_cells", path="a.ipynb", cells=["c1"], timeout=0)
        assert not ran["done"]
        waiting = claude.begin("wait_run", run=ran["run"], seconds=60)
        # Others do not wait for it.
        await claude.structured("edit_cells", path="a.ipynb", operations=[{"op": "insert", "source": "z = 1"}])
        (claude.agent.workspace / "go").write_text("")
        done = parsed((await waiting).structured)
        assert bool(done["done"])
        assert done["cells"][0]["output"] == "gone"


async def test_a_program_that_does_not_listen_holds_nothing_up(tmp_path: Path) -> None:
    async with program(tmp_path, "x = 1") as claude:

        async def gone(text: str) -> None:
            raise ConnectionResetError(text)

        call = asyncio.create_task(
            claude.sessions.call(claude.client, "run_cells", {"path": "a.ipynb", "cells": ["c1"]}, gone)
        )
        await claude.answer(await claude.asked(), "yesButtonClicked")
        assert not (await call).is_error


async def test_a_long_result_is_told_in_its_shape(tmp_path: Path) -> None:
    async with program(tmp_path, *(f"x{number} = '{'long ' * 400}'" for number in range(40)), settings=FREE) as claude:
        read = await claude.structured("read_notebook", path="a.ipynb", view="cells")
        assert len(read["cells"]) == 40


async def test_a_key_is_masked_in_all_that_a_program_is_told(tmp_path: Path) -> None:
    key = "sk-ant-api03-" + "a1B2" * 20
    async with program(tmp_path, f"key = '{key}'\nprint(key)", settings=FREE) as claude:
        for view in ("outline", "cells", "outputs"):
            result = await claude.call("read_notebook", path="a.ipynb", view=view)
            assert key not in str(result)
        assert key not in str(await claude.call("run_cells", path="a.ipynb", cells=["c1"]))
        assert key not in str(await claude.call("inspect_variables", path="a.ipynb"))


async def test_what_changes_something_is_done_in_the_order_in_which_it_came(tmp_path: Path) -> None:
    async with program(tmp_path, "x = 0", settings=FREE) as claude:
        edits = [
            claude.begin("edit_cells", path="a.ipynb", operations=[{"op": "insert", "source": f"x = {number}"}])
            for number in range(1, 6)
        ]
        results = await asyncio.gather(*edits)
        assert not any(result.is_error for result in results)
        read = await claude.structured("read_notebook", path="a.ipynb", view="cells")
        assert [cell["source"] for cell in read["cells"]] == [f"x = {number}" for number in range(6)]
