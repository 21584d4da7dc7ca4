"""What a person thinks of an answer: kept with the conversation on this machine, and told to others without a word."""

from __future__ import annotations

import json
from typing import Any

from jupyter_server.serverapp import ServerApp

from hdsp_agent.comm.services import Services
from hdsp_agent.events import FEEDBACK_SCHEMA, FeedbackEvent
from hdsp_agent.persistence import embedded_conversation
from tests._helpers.jupyter_fetch import Fetch
from tests.comm._helpers.scripted_model_server import call
from tests.comm._helpers.scripted_pages import question
from tests.comm.channel._helpers.channel_panel import Panel
from tests.comm.conftest import Connect

from .test_memory import DONE, speaking
from .test_note_suggestions import result, suggested

REASON = "it ignored the units"


async def rate(panel: Panel, task: str, ts: int, **more: object) -> dict[str, Any]:
    return await panel.ask("rateMessage", taskId=task, messageTs=ts, **more)


async def exported(jp_fetch: Fetch, task: str, form: str) -> str:
    answer = await jp_fetch("hdsp-agent", "api", "tasks", task, "export", params={"format": form})
    return answer.body.decode()


async def test_a_rating_is_kept_with_the_conversation_and_can_be_changed_and_taken_back(
    services: Services, connect: Connect, jp_fetch: Fetch
) -> None:
    async with speaking(services, {"a": [DONE], "b": [DONE]}) as model, connect() as panel:
        task, shown = await suggested(services, panel)
        assert "feedback" not in shown
        assert (await rate(panel, task, shown["ts"], rating="down", reason=f"  {REASON}\n"))["ok"]
        await panel.until(lambda: result(panel).get("feedback") == {"rating": "down", "reason": REASON})
        kept = await services.history.messages(services.history.person, task)
        [answer] = [message for message in kept.messages if message.ts == shown["ts"]]
        assert answer.feedback is not None and answer.feedback.reason == REASON, "it is in the log, not in memory alone"
        assert (await services.history.item(services.history.person, task)).status == "completed"
        assert REASON in await exported(jp_fetch, task, "json")

        assert (await rate(panel, task, shown["ts"], rating="up"))["ok"]
        await panel.until(lambda: result(panel).get("feedback") == {"rating": "up"})
        assert (await rate(panel, task, shown["ts"]))["ok"]
        await panel.until(lambda: "feedback" not in result(panel))

        await rate(panel, task, shown["ts"], rating="down", reason=REASON)
        await panel.ask("askResponse", taskId=task, askResponse="messageResponse", text="go on")
        await panel.ask("queueMessage", taskId=task, text="scenario b: and now")
        assert all(REASON not in json.dumps(body) for body in model.heard.values()), "no model is told"


async def test_a_reason_stays_out_of_the_notebook_and_of_jupyters_events(
    services: Services, connect: Connect, jp_serverapp: ServerApp
) -> None:
    events: list[FeedbackEvent] = []
    told: list[dict[str, Any]] = []
    services.agent.events.on_feedback(events.append)
    assert jp_serverapp.event_logger is not None

    async def heard(logger: object, schema_id: str, data: dict[str, Any]) -> None:
        told.append(data)

    jp_serverapp.event_logger.add_listener(schema_id=FEEDBACK_SCHEMA, listener=heard)
    async with speaking(services, {"a": [DONE]}), connect() as panel:
        task, shown = await suggested(services, panel)
        await rate(panel, task, shown["ts"], rating="down", reason=REASON)
        await rate(panel, task, shown["ts"], rating="down", reason=REASON)
        await rate(panel, task, shown["ts"])
        assert events == [FeedbackEvent(task, "down", has_reason=True), FeedbackEvent(task, "none", has_reason=False)]
        await rate(panel, task, shown["ts"], rating="down", reason=REASON)
        await jp_serverapp.event_logger.gather_listeners()
        assert told[0].items() >= {"task_id": task, "rating": "down", "has_reason": True}.items()
        assert REASON not in json.dumps(told)
        reader = await services.history.task(services.history.person, task)
        carried = await embedded_conversation(reader, 100_000)
        assert carried is not None and REASON not in str(carried)


async def test_only_answers_are_rated(services: Services, connect: Connect) -> None:
    asks = call("ask_followup_question", {"question": "Which?", "follow_up": [{"text": "This"}]})
    async with speaking(services, {"a": [asks]}), connect() as panel:
        task = (await panel.ask("newTask", text="scenario a: plot"))["result"]
        asked = await question(panel, "followup")
        for ts, code in ((asked, "invalid_input"), (1, "not_found")):
            assert (await rate(panel, task, ts, rating="up"))["error"]["code"] == code
        too_long = await rate(panel, task, asked, rating="up", reason="x" * 1_001)
        assert too_long["error"]["code"] == "invalid_input"
