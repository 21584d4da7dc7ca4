"""A program outside in the running server: its conversation, its questions and its calls, as pages and the audit log have them."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

from hdsp_agent.agent.external.port import ExternalClient, ExternalResult
from hdsp_agent.comm.identity import server_owner
from hdsp_agent.comm.services import Services
from hdsp_agent.messages import JsonObject
from tests._helpers.parsed_json import ParsedJson, parsed
from tests.agent.external._helpers.program import notebook_file
from tests.comm._helpers.scripted_pages import asked
from tests.comm._helpers.stored_tasks import eventually
from tests.comm.conftest import Connect, messages

ME = server_owner()
CLAUDE = ExternalClient(owner=ME, name="Claude Code", key="k1")
WRITE: JsonObject = {"path": "note.txt", "content": "once\n"}


async def call(services: Services, name: str, arguments: JsonObject) -> ExternalResult:
    """Call a tool as the program does."""

    async def tell(text: str) -> None:
        """Nobody listens."""

    return await services.agent.external.call(CLAUDE, name, arguments, tell)


async def test_a_program_is_asked_about_on_a_page_which_answers(
    services: Services, connect: Connect, jp_root_dir: Path
) -> None:
    async with connect() as panel:
        writing = asyncio.create_task(call(services, "write_to_file", WRITE))
        # It is among the open conversations by itself, and says that it needs somebody.
        await panel.until(
            lambda: any(one["needsYou"] for told in messages(panel, "openTasksUpdated") for one in told["openTasks"])
        )
        [opened] = messages(panel, "openTasksUpdated")[-1]["openTasks"]
        assert (opened["externalAgent"], opened["title"], opened["status"]) == (
            "Claude Code",
            "Claude Code",
            "interactive",
        )
        task = opened["taskId"]
        assert (await panel.ask("showTaskWithId", taskId=task))["ok"]
        await panel.until(lambda: asked(panel, "tool"))
        [question] = asked(panel, "tool")
        assert (await panel.ask("askResponse", messageTs=question["ts"], askResponse="yesButtonClicked"))["ok"]
        assert not (await writing).is_error
        assert (jp_root_dir / "note.txt").read_text() == "once\n"
        await panel.until(lambda: messages(panel, "taskProgress")[-1]["status"] == "idle")
        assert (await services.history.item(ME, task)).external_agent == "Claude Code"


async def test_a_cell_that_fails_or_is_stopped_is_no_error_of_the_conversation(
    services: Services, connect: Connect, jp_root_dir: Path
) -> None:
    await services.config.update({"clientApprovals": {"Claude Code": "everything"}})
    slow = "import pathlib, time\npathlib.Path('begun').touch()\ntime.sleep(600)"
    notebook_file(jp_root_dir / "a.ipynb", "1 / 0", slow)
    async with connect() as panel:

        def line() -> ParsedJson:
            # None is open at first.
            told = [one for told in messages(panel, "openTasksUpdated") for one in told["openTasks"]]
            return parsed(told[-1] if told else {"status": "none"})

        failed = await call(services, "run_cells", {"path": "a.ipynb", "cells": ["c1"]})
        assert "ZeroDivisionError" in str(failed.content)
        await panel.until(lambda: line()["status"] == "idle")
        assert "failed" not in line()
        running = asyncio.create_task(call(services, "run_cells", {"path": "a.ipynb", "cells": ["c2"]}))
        await eventually((jp_root_dir / "begun").exists)
        await panel.until(lambda: line()["status"] == "running")
        [agent] = services.agent.external.connected(ME)
        await (await services.agent.manager()).cancel(agent.task_id or "")  # type: ignore[arg-type]
        assert (await running).is_error
        await panel.until(lambda: line()["status"] == "idle")
        assert "failed" not in line()


async def test_a_page_is_told_that_a_program_has_left(services: Services, connect: Connect) -> None:
    await call(services, "list_kernels", {})
    [agent] = services.agent.external.connected(ME)
    async with connect() as panel:
        assert (await panel.ask("showTaskWithId", taskId=agent.task_id))["ok"]
        assert await services.agent.external.disconnect(ME, agent.key)
        await panel.until(lambda: messages(panel, "taskProgress"))
        assert messages(panel, "taskProgress")[-1]["status"] == "none"


async def test_what_is_said_on_a_page_goes_along_with_the_next_result(services: Services, connect: Connect) -> None:
    await call(services, "list_kernels", {})
    [agent] = services.agent.external.connected(ME)
    async with connect() as panel:
        assert (await panel.ask("showTaskWithId", taskId=agent.task_id))["ok"]
        assert (await panel.ask("queueMessage", taskId=agent.task_id, text="Be careful"))["ok"]
        assert "Be careful" in str((await call(services, "list_kernels", {})).content)


async def test_each_call_is_in_the_audit_log_with_the_programs_name_and_no_text(services: Services) -> None:
    writing = asyncio.create_task(call(services, "write_to_file", {**WRITE, "content": "aardvark"}))
    await eventually(lambda: any(one.activity == "waiting" for one in services.agent.external.connected(ME)))
    [agent] = services.agent.external.connected(ME)
    await (await services.agent.manager()).cancel(agent.task_id or "")  # type: ignore[arg-type]
    assert (await writing).is_error
    path = services.storage.home / "audit.jsonl"
    # It is there before its first line is written.
    await eventually(lambda: path.exists() and path.read_text().endswith("\n"))
    text = path.read_text()
    assert "aardvark" not in text
    [entry] = [json.loads(line) for line in text.splitlines()]
    assert (entry["user"], entry["action"], entry["via"]) == (ME, "change", "mcp Claude Code: write_to_file")
    assert entry["conversation"] == agent.task_id


async def test_a_page_cannot_change_the_whole_list_of_what_programs_may_do(
    services: Services, connect: Connect
) -> None:
    async with connect() as panel:
        for whole in ({"clientApprovals": {"Claude Code": "everything"}}, {"clientQuestions": {"Claude Code": True}}):
            refused = await panel.ask("updateSettings", updatedSettings=whole)
            assert refused["error"]["code"] == "invalid_input"
        assert services.config.settings.client_approvals == {}
        assert services.config.settings.client_questions == {}
        services.agent.external.connect(CLAUDE)
        assert await services.agent.external.choose_approvals(ME, "k1", "edit")
        assert services.config.settings.client_approvals == {"Claude Code": "edit"}
        for may_ask, kept in ((True, {"Claude Code": True}), (False, {})):
            assert await services.agent.external.choose_questions(ME, "k1", may_ask)
            assert services.config.settings.client_questions == kept


async def test_a_program_that_works_in_a_protected_folder_is_asked_about_it_all_the_same(
    services: Services, jp_root_dir: Path
) -> None:
    (jp_root_dir / ".git" / "hooks").mkdir(parents=True)
    (jp_root_dir / "data").mkdir()
    (jp_root_dir / "data" / "people.csv").write_text("Ada")
    (jp_root_dir / ".hdspignore").write_text("data/people.csv\n")
    sessions = services.agent.external
    sessions.connect(CLAUDE)
    assert await sessions.choose_approvals(ME, "k1", "everything")

    async def call_in(folder: str, name: str, arguments: JsonObject) -> ExternalResult:
        async def tell(text: str) -> None:
            """Nobody listens."""

        client = replace(CLAUDE, key=folder, folder=str(jp_root_dir / folder))
        return await sessions.call(client, name, arguments, tell)

    writing = asyncio.create_task(call_in(".git", "write_to_file", {"path": "hooks/pre-commit", "content": "true\n"}))
    await eventually(
        lambda: writing.done() or any(one.activity == "waiting" for one in services.agent.external.connected(ME))
    )
    assert not (jp_root_dir / ".git/hooks/pre-commit").exists()
    assert await sessions.disconnect(ME, ".git")
    assert (await writing).is_error
    read = await call_in("data", "read_file", {"path": "people.csv"})
    assert read.is_error and "hidden from you" in str(read.content)
