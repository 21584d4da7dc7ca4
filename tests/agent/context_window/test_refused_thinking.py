"""A provider that refuses the model's earlier thoughts gets the conversation without them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.config import GlobalSettings
from hdsp_agent.providers import (
    ModelError,
    ModelRequest,
    TextDelta,
    ThinkingDelta,
    ThinkingDone,
    call_tool,
    classify,
    refuses_thoughts,
)
from hdsp_agent.providers._scripted import Step

from .._helpers.scripted_agent import running_agent

DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")
WORDS = (
    "messages.3.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is "
    "enabled, a final `assistant` message must start with a thinking block."
)
THOUGHT: list[Step] = [
    ThinkingDelta("Let me see."),
    ThinkingDone("sig"),
    TextDelta("I look."),
    *call_tool("look", {"text": "x"}),
]


def refused() -> ModelError:
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": WORDS}}
    return classify(provider="anthropic", status=400, body=body)


def kinds(request: ModelRequest) -> set[str]:
    return {
        str(block.get("type")) for message in request.messages for block in message.content if isinstance(block, dict)
    }


@pytest.mark.parametrize("resumes", [True, False])
async def test_the_request_is_made_again_without_them(tmp_path: Path, resumes: bool) -> None:
    settings = GlobalSettings(
        auto_approval_enabled=True, always_allow_read_only=True, experiments={"autoResume": True} if resumes else {}
    )
    async with running_agent(tmp_path, [THOUGHT, [refused()], THOUGHT, DONE], settings=settings) as agent:
        task_id = await agent.start()
        if not resumes:
            # Nothing is done unasked: who tries again gets the conversation without the thoughts.
            ask = await agent.asked(task_id, "api_req_failed")
            await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        asked = await agent.asks(task_id, "api_req_failed")
        first, second, third, last = [kinds(request) for request in agent.model.requests]
    assert len(asked) == (0 if resumes else 1)
    assert "thinking" not in first and "thinking" in second and "thinking" not in third
    assert {"text", "tool_use"} <= third
    # What is thought from then on is sent again.
    assert "thinking" in last


def test_other_refusals_are_not_taken_for_this_one() -> None:
    assert refuses_thoughts(refused())
    for status, words in (
        (403, "The request signature we calculated does not match the signature you provided."),
        (400, "thinking.budget_tokens: Input should be greater than or equal to 1024"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum"),
    ):
        body = {"type": "error", "error": {"type": "invalid_request_error", "message": words}}
        assert not refuses_thoughts(classify(provider="anthropic", status=status, body=body)), words
