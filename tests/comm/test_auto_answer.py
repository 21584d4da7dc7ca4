"""The first suggested answer is taken after a while: every tab knows when, and that it is not to be."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from hdsp_agent.comm.services import Services
from tests.comm._helpers.scripted_pages import Turn, question, speak
from tests.comm.channel._helpers.channel_panel import Panel
from tests.comm.conftest import Connect, messages

ASK: Turn = (
    {
        "tool": "ask_followup_question",
        "arguments": {"question": "Which?", "follow_up": [{"text": "red"}, {"text": "blue"}]},
    },
)


def told(panel: Panel) -> dict[str, Any] | None:
    """When the question is answered by itself, as the page knows it last."""
    known: dict[str, Any] | None = None
    for frame in panel.of("msg"):
        data = frame["data"]
        if data["type"] == "taskProgress":
            known = data.get("autoAnswer")
        elif data["type"] == "state":
            known = data["state"].get("autoAnswer")
    return known


async def test_all_tabs_are_told_one_moment_and_a_reload_does_not_begin_anew(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, ASK)
    await services.config.update(
        {"autoApprovalEnabled": True, "alwaysAllowFollowupQuestions": True, "followupAutoApproveTimeoutMs": 60_000}
    )
    async with connect() as one, connect() as other:
        assert (await one.ask("newTask", text="Ask me"))["ok"]
        await question(one, "followup")
        await one.until(lambda: told(one))
        await other.until(lambda: told(other))
        first = told(one)
        assert first is not None and first == told(other)
        assert 50_000 < first["left"] <= 60_000
        await asyncio.sleep(0.05)
        async with connect() as reloaded:
            again = messages(reloaded, "state")[0]["state"]["autoAnswer"]
            assert again["at"] == first["at"]
            assert again["left"] <= first["left"] - 40
        # Whoever wants to think stops it for everybody.
        assert (await one.ask("cancelAutoApproval"))["ok"]
        assert told(one) is None
        await other.until(lambda: told(other) is None)
