"""What a page that opens late still sees of a running command, and what would spare the person a question."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from jupyter_server.serverapp import ServerApp

from hdsp_agent.comm.services import Services
from tests.comm._helpers.scripted_pages import Turn, conversation, question, said, speak
from tests.comm.conftest import Connect, messages
from tests.comm.test_running_agent import DONE, WRITE, another_server

LOUD: Turn = (
    {
        "tool": "execute_command",
        "arguments": {"command": "echo so far; while [ ! -e stop ]; do sleep 0.05; done; echo at the end"},
        "id": "c",
    },
)
PLAIN: Turn = ({"tool": "execute_command", "arguments": {"command": "pytest -q"}, "id": "c"},)


@pytest.mark.skipif(os.name != "posix", reason="a shell of this kind")
async def test_a_page_that_opens_late_sees_which_command_runs_and_what_it_has_written(
    services: Services, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    await speak(services, tmp_path, LOUD, DONE)
    async with connect() as panel:
        await panel.ask("newTask", text="Be loud")
        ts = await question(panel, "command")
        assert (await panel.ask("askResponse", messageTs=ts, askResponse="yesButtonClicked"))["ok"]
        await panel.until(lambda: any("so far" in text for text in said(panel, "command_output")))
        async with connect() as late:
            state = messages(late, "state")[0]["state"]
            (running,) = state["runningCommands"]
            assert running["status"] == "started"
            assert running["command"].startswith("echo so far")
            assert running["pid"] > 0
            told = messages(panel, "commandExecutionStatus")
            assert running["executionId"] in told[0]["text"]
            assert [text.strip() for text in said(late, "command_output")] == ["so far"]
            (jp_root_dir / "stop").touch()
            await late.until(lambda: any("at the end" in text for text in said(late, "command_output")))
            await question(late, "completion_result")
            await panel.ask("showTaskWithId", taskId=state["currentTaskId"])
            await panel.until(lambda: not messages(panel, "state")[-1]["state"].get("runningCommands"))


async def test_rules_are_offered_for_the_question_that_waits_and_to_the_tab_that_asks(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, PLAIN, WRITE, DONE)
    await services.config.update({"autoApprovalEnabled": True})
    async with connect() as panel, connect() as other:
        task = (await panel.ask("newTask", text="Test it"))["result"]
        ts = await question(panel, "command")
        assert (await panel.ask("suggestRules", messageTs=ts, request_id="r1"))["ok"]
        (told,) = messages(panel, "ruleSuggestions")
        assert (told["requestId"], told["taskId"], told["messageTs"]) == ("r1", task, ts)
        assert [(rule["kind"], rule["value"]) for rule in told["rules"]] == [
            ("command", "pytest -q"),
            ("command", "pytest"),
            ("class", "alwaysAllowExecute"),
        ]
        assert told["rules"][0]["command"] == "pytest -q"
        assert (await panel.ask("askResponse", messageTs=ts, askResponse="noButtonClicked"))["ok"]
        gone = await panel.ask("suggestRules", messageTs=ts)
        assert gone["error"]["code"] == "conflict"
        ts = await question(panel, "tool")
        assert (await panel.ask("suggestRules", messageTs=ts))["ok"]
        assert messages(panel, "ruleSuggestions")[-1]["rules"] == [
            {"kind": "class", "value": "alwaysAllowWrite", "label": "Editing"}
        ]
        assert messages(other, "ruleSuggestions") == []


@pytest.mark.skipif(os.name != "posix", reason="a shell of this kind")
async def test_what_the_engine_warns_of_is_told_to_every_page_and_after_a_restart(
    services: Services, jp_serverapp: ServerApp, connect: Connect, tmp_path: Path
) -> None:
    command = "rm -r data && pip install polars"
    await speak(services, tmp_path, ({"tool": "execute_command", "arguments": {"command": command}, "id": "c"},))
    async with connect() as panel:
        task = (await panel.ask("newTask", text="Tidy up"))["result"]
        ts = await question(panel, "command")
        told = conversation(panel)[ts]["approvalFlags"]
        assert {"deletes_recursively", "installs"} <= set(told)  # type: ignore[call-overload]  # a list on the wire
        async with connect() as late:
            assert await question(late, "command") == ts
            assert conversation(late)[ts]["approvalFlags"] == told
    async with another_server(jp_serverapp), connect() as panel:
        assert (await panel.ask("showTaskWithId", taskId=task))["ok"]
        assert await question(panel, "command") == ts
        assert conversation(panel)[ts]["approvalFlags"] == told


async def test_a_task_that_is_not_on_screen_is_named_when_it_needs_somebody(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, ({"wait": 0.3}, *WRITE), DONE)
    async with connect() as panel:
        assert (await panel.ask("newTask", text="Write a note"))["ok"]
        assert (await panel.ask("newConversation"))["ok"]
        await panel.until(
            lambda: any(
                task["needsYou"] for told in messages(panel, "openTasksUpdated")[-1:] for task in told["openTasks"]
            )
        )


@pytest.mark.skipif(os.name != "posix", reason="a shell of this kind")
async def test_a_proposal_is_told_to_the_tab_that_asks_and_approved_as_it_was_edited(
    services: Services, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    await speak(
        services, tmp_path, ({"tool": "execute_command", "arguments": {"command": "touch a"}, "id": "c"},), DONE
    )
    async with connect() as panel, connect() as other:
        task = (await panel.ask("newTask", text="Touch it"))["result"]
        ts = await question(panel, "command")
        assert (await panel.ask("requestProposal", messageTs=ts, request_id="p1"))["ok"]
        (told,) = messages(panel, "proposal")
        assert (told["requestId"], told["taskId"], told["messageTs"]) == ("p1", task, ts)
        assert told["texts"] == [{"name": "command", "text": "touch a"}]
        assert messages(other, "proposal") == []
        wrong = await panel.ask("askResponse", messageTs=ts, askResponse="yesButtonClicked", edited=[])
        assert wrong["error"]["code"] == "invalid_input"
        assert (await panel.ask("askResponse", messageTs=ts, askResponse="yesButtonClicked", edited=["touch b"]))["ok"]
        await question(panel, "completion_result")
        assert (jp_root_dir / "b").exists() and not (jp_root_dir / "a").exists()
        assert len(said(panel, "user_feedback_diff")) == 1
        assert not (await panel.ask("requestProposal", messageTs=ts))["ok"]
