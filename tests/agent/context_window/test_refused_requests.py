"""Every sample of a refusal, over a real socket and an official SDK: a successful turn or one clear question, never a loop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from ..._helpers.long_tests import rounds
from ..._helpers.model_gateway import gateway
from ..._helpers.model_server import ModelServer, refusal
from .._helpers.provider_agent import agent_behind, completion, sent_by
from .._helpers.scripted_agent import until


def _kind_of(sample: dict[str, Any]) -> tuple[str, int | None]:
    return sample["expect"]["cls"], sample["status"]


SAMPLES: Final[list[dict[str, Any]]] = json.loads(
    (Path(__file__).parents[2] / "providers" / "data" / "provider_errors.json").read_text("utf-8")
)
# How each of them is understood is tested without an agent; every day one is sent of each kind and status.
COMING_ONCE: Final = SAMPLES if rounds(0, 1) else list({_kind_of(sample): sample for sample in SAMPLES}.values())
_REASONS: Final = {400: "Bad Request", 413: "Payload Too Large", 429: "Too Many Requests"}


def refused(sample: dict[str, Any]) -> bytes:
    """The sample as an answer of a server of the Chat Completions protocol."""
    status = sample["status"] or 400
    error = {"message": sample["message"], "type": sample["type"], "code": sample["code"]}
    return refusal(f"{status} {_REASONS.get(status, 'Refused')}", {"error": error})


@pytest.mark.parametrize("sample", COMING_ONCE, ids=[sample["id"] for sample in COMING_ONCE])
async def test_a_refusal_that_comes_once_ends_in_a_successful_turn_or_one_question(
    model_server: ModelServer, tmp_path: Path, sample: dict[str, Any]
) -> None:
    model_server.answer(completion(None))
    async with agent_behind(refused(sample), gateway(model_server), home=tmp_path, protocol="chat") as (server, agent):
        task_id = await agent.start()

        def over() -> bool:
            task = agent.manager.tasks.opened(task_id)
            return task is None or task.state.dialogue.asks.newest("api_req_failed") is not None

        await until(over)
        asked = [message for message in await agent.ui(task_id) if message.ask == "api_req_failed"]
        done = agent.manager.tasks.opened(task_id) is None
    assert done != bool(asked) and len(asked) <= 1
    if asked:
        assert asked[0].text
    # What is told is told in lines, and each time in another.
    assert len(sent_by(server.requests)) <= 3


@pytest.mark.parametrize("kind", sorted({sample["expect"]["cls"] for sample in SAMPLES}))
async def test_a_refusal_that_never_ends_ends_in_one_question(tmp_path: Path, kind: str) -> None:
    sample = next(sample for sample in SAMPLES if sample["expect"]["cls"] == kind)
    async with agent_behind(refused(sample), home=tmp_path, protocol="chat", maxAutoRetries=2) as (server, agent):
        task_id = await agent.start()
        ask = await agent.asked(task_id, "api_req_failed")
        rows = await agent.ui(task_id)
    assert ask.text and len([row for row in rows if row.ask == "api_req_failed"]) == 1
    assert not [row for row in rows if row.partial and row.ts != ask.ts]
    assert len(sent_by(server.requests)) <= 10
