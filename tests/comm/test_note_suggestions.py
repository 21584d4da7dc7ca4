"""A note that the agent suggests with its result: shown until the person decides, kept only if they agree."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from hdsp_agent.comm.identity import server_owner
from hdsp_agent.comm.services import Services
from hdsp_agent.messages import TaskId
from tests._helpers.jupyter_fetch import Fetch
from tests.comm._helpers.scripted_model_server import Body, Turn, call
from tests.comm._helpers.scripted_pages import conversation, question
from tests.comm.channel._helpers.channel_panel import Panel
from tests.comm.conftest import Connect

from .test_memory import DONE, ended, rest, speaking, user_texts

ME = server_owner()
POLARS = "항상 polars를 쓴다"
SUGGESTS = call("attempt_completion", {"result": "Done.", "worth_remembering": {"text": POLARS}})


def result(panel: Panel) -> dict[str, Any]:
    """The message with the newest result."""
    return [dict(one) for one in conversation(panel).values() if one.get("say") == "completion_result"][-1]


async def suggested(services: Services, panel: Panel, text: str = "scenario a: plot") -> tuple[str, dict[str, Any]]:
    """A finished conversation, and its result."""
    task = (await panel.ask("newTask", text=text))["result"]
    await question(panel, "completion_result")
    await ended(services, task)
    return task, result(panel)


def completion_schema(body: Body) -> dict[str, Any]:
    [schema] = [each["function"] for each in body["tools"] if each["function"]["name"] == "attempt_completion"]
    return dict(schema["parameters"]["properties"])


async def test_a_suggested_note_is_kept_when_the_person_agrees_and_told_from_then_on(
    services: Services, connect: Connect, jp_fetch: Fetch
) -> None:
    scenarios: dict[str, Sequence[Turn]] = {"a": [SUGGESTS], "b": [DONE], "c": [SUGGESTS]}
    async with speaking(services, scenarios) as model, connect() as panel:
        task, shown = await suggested(services, panel)
        assert shown["noteSuggestion"] == {"text": POLARS, "scope": "person"}
        assert (await rest(jp_fetch))["memory"]["notes"] == [], "nothing is kept unasked"
        assert (await panel.ask("decideNoteSuggestion", taskId=task, messageTs=shown["ts"], keep=True))["ok"]
        await panel.until(lambda: result(panel)["noteSuggestion"].get("decision") == "kept")
        [note] = (await rest(jp_fetch))["memory"]["notes"]
        assert (note["text"], note["scope"], note["task"]) == (POLARS, "person", task)
        again = await panel.ask("decideNoteSuggestion", taskId=task, messageTs=shown["ts"], keep=True)
        assert again["ok"] and len((await rest(jp_fetch))["memory"]["notes"]) == 1
        late = await panel.ask("decideNoteSuggestion", taskId=task, messageTs=shown["ts"], keep=False)
        assert late["error"]["code"] == "conflict"
        await panel.ask("clearTask")
        await suggested(services, panel, "scenario b: plot")
        assert POLARS in user_texts(model.heard["b"])
        await panel.ask("clearTask")
        _, known = await suggested(services, panel, "scenario c: plot")
        assert "noteSuggestion" not in known, "what is remembered is not suggested again"
        await panel.ask("showTaskWithId", text=task)
        assert (await services.history.item(ME, task)).status == "completed"


async def test_a_suggested_note_is_edited_before_it_is_kept(
    services: Services, connect: Connect, jp_fetch: Fetch
) -> None:
    async with speaking(services, {"a": [SUGGESTS]}), connect() as panel:
        task, shown = await suggested(services, panel)
        ask = {"taskId": task, "messageTs": shown["ts"], "keep": True}
        too_long = await panel.ask("decideNoteSuggestion", **ask, text="x" * 2_001)
        assert too_long["error"]["code"] == "invalid_input"
        assert (await panel.ask("decideNoteSuggestion", **ask, text="polars 1.x"))["ok"]
        await panel.until(lambda: result(panel)["noteSuggestion"].get("decision") == "kept")
        assert result(panel)["noteSuggestion"]["text"] == "polars 1.x"
        assert [note["text"] for note in (await rest(jp_fetch))["memory"]["notes"]] == ["polars 1.x"]


async def test_a_dismissed_note_leaves_nothing_behind(services: Services, connect: Connect, jp_fetch: Fetch) -> None:
    async with speaking(services, {"a": [SUGGESTS]}), connect() as panel:
        task, shown = await suggested(services, panel)
        for ts, code in ((shown["ts"] + 1, "not_found"), (shown["ts"], None)):
            answer = await panel.ask("decideNoteSuggestion", taskId=task, messageTs=ts, keep=False)
            assert answer.get("error", {}).get("code") == code
        await panel.until(lambda: result(panel)["noteSuggestion"].get("decision") == "dismissed")
        assert (await rest(jp_fetch))["memory"]["notes"] == []


async def test_of_two_tabs_that_decide_at_once_one_is_told_that_it_was_decided(
    services: Services, connect: Connect, jp_fetch: Fetch
) -> None:
    async with speaking(services, {"a": [SUGGESTS]}), connect() as panel:
        task, shown = await suggested(services, panel)
        answers = await asyncio.gather(
            *(
                panel.ask("decideNoteSuggestion", taskId=task, messageTs=shown["ts"], keep=keep)
                for keep in (True, False)
            )
        )
        assert sorted(answer["ok"] for answer in answers) == [False, True]
        decision = result(panel)["noteSuggestion"]["decision"]
        assert len((await rest(jp_fetch))["memory"]["notes"]) == (1 if decision == "kept" else 0)


@pytest.mark.parametrize("setting", ["memoryEnabled", "noteSuggestionsEnabled"])
async def test_nothing_is_suggested_where_that_is_turned_off(
    services: Services, connect: Connect, setting: str
) -> None:
    async with speaking(services, {"a": [SUGGESTS], "b": [DONE]}) as model, connect() as panel:
        await services.config.update({setting: False})
        _, shown = await suggested(services, panel)
        assert "noteSuggestion" not in shown
        assert set(completion_schema(model.heard["a"])) == {"result"}
        await services.config.update({setting: True})
        await panel.ask("clearTask")
        await suggested(services, panel, "scenario b: plot")
        assert set(completion_schema(model.heard["b"])) == {"result", "worth_remembering"}


async def test_memory_turned_off_after_a_suggestion_keeps_nothing(
    services: Services, connect: Connect, jp_fetch: Fetch
) -> None:
    async with speaking(services, {"a": [SUGGESTS]}), connect() as panel:
        task, shown = await suggested(services, panel)
        await services.config.update({"memoryEnabled": False})
        answer = await panel.ask("decideNoteSuggestion", taskId=task, messageTs=shown["ts"], keep=True)
        assert answer["error"]["code"] == "conflict"
        assert "decision" not in result(panel)["noteSuggestion"]


async def test_nothing_is_suggested_for_a_folder_that_is_not_trusted(services: Services, connect: Connect) -> None:
    worth = {"text": "Data is in raw/", "scope": "workspace"}
    turn = call("attempt_completion", {"result": "Done.", "worth_remembering": worth})
    async with speaking(services, {"a": [turn]}), connect() as panel:
        _, shown = await suggested(services, panel)
        assert "noteSuggestion" not in shown


async def test_what_strangers_wrote_is_not_suggested(services: Services, connect: Connect) -> None:
    ask = call("ask_followup_question", {"question": "Which?", "follow_up": [{"text": "This"}]})
    async with speaking(services, {"a": [ask, SUGGESTS]}), connect() as panel:
        task = (await panel.ask("newTask", text="scenario a: plot"))["result"]
        ts = await question(panel, "followup")
        working = services.agent._manager.tasks.get(TaskId(task))
        working.state.conversation.log.update_state(has_external_content=True)
        await panel.ask("askResponse", messageTs=ts, askResponse="messageResponse", text="This")
        await question(panel, "completion_result")
        assert "noteSuggestion" not in result(panel)


async def test_a_key_in_a_suggested_note_is_masked(services: Services, connect: Connect, jp_fetch: Fetch) -> None:
    key = "sk-proj-" + "a1B2c3D4" * 6
    turn = call("attempt_completion", {"result": "Done.", "worth_remembering": {"text": f"The key is {key}"}})
    async with speaking(services, {"a": [turn]}), connect() as panel:
        task, shown = await suggested(services, panel)
        assert key not in json.dumps(shown)
        await panel.ask("decideNoteSuggestion", taskId=task, messageTs=shown["ts"], keep=True)
        assert key not in json.dumps(await rest(jp_fetch))
