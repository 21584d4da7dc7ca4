"""What a model thought goes back to it as it came, under whatever name and seal its protocol has for thoughts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from .._helpers.model_gateway import gateway
from .._helpers.model_server import ModelServer
from ._helpers.provider_agent import agent_behind, call, completion, conversation_of, sent_by, turn

SIGNATURE = "EqQBCgIYAhIkc2lnbmVkIGJ5IG5vYm9keQ=="
THOUGHTS = "First I look, then I say that it is done."
LOOK = call("list_files", "call_look", path=".")


def said_after(bodies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the second request has that the first had not."""
    before, after = (conversation_of(body) for body in bodies)
    return after[len(before) :]


@pytest.mark.parametrize("protocol", ["anthropic", "bedrock", "vertex"])
async def test_signed_thoughts_go_back_verbatim(model_server: ModelServer, tmp_path: Path, protocol: str) -> None:
    model_server.answer(
        turn(
            None, LOOK, content="I look.", reasoning=THOUGHTS, reasoningSignature=SIGNATURE,
            redactedThinking=["aGlkZGVu"], chunkSize=7,
        ),
        completion("call_look"),
    )  # fmt: skip
    thinking: dict[str, JsonValue] = {"enableReasoningEffort": True, "modelMaxThinkingTokens": 2048}
    async with agent_behind(gateway(model_server), home=tmp_path, protocol=protocol, profile=thinking) as (
        server,
        agent,
    ):
        task_id = await agent.finished()
        assert [said.text for said in await agent.says(task_id, "reasoning")] == [THOUGHTS]
    bodies = sent_by(server.requests)
    assert [body["thinking"] for body in bodies] == [{"type": "enabled", "budget_tokens": 2048}] * 2
    interleaved = "interleaved-thinking-2025-05-14"
    if protocol == "bedrock":
        assert bodies[0]["anthropic_beta"] == [interleaved]
    else:
        assert server.requests[-1].headers["anthropic-beta"] == interleaved
    answer, _ = said_after(bodies)
    assert [block["type"] for block in answer["content"]] == ["redacted_thinking", "thinking", "text", "tool_use"]
    assert answer["content"][0] == {"type": "redacted_thinking", "data": "aGlkZGVu"}
    assert answer["content"][1] == {"type": "thinking", "thinking": THOUGHTS, "signature": SIGNATURE}


async def test_encrypted_reasoning_goes_back_where_it_stood(model_server: ModelServer, tmp_path: Path) -> None:
    model_server.answer(turn(None, LOOK, content="I look.", reasoning=THOUGHTS), completion("call_look"))
    async with agent_behind(gateway(model_server), home=tmp_path, protocol="responses") as (server, agent):
        task_id = await agent.finished()
        assert [said.text for said in await agent.says(task_id, "reasoning")] == [THOUGHTS]
    bodies = sent_by(server.requests)
    assert [body["include"] for body in bodies] == [["reasoning.encrypted_content"]] * 2
    added = said_after(bodies)
    assert [item["type"] for item in added] == ["reasoning", "message", "function_call", "function_call_output"]
    assert added[0]["encrypted_content"] and added[0]["id"]
    assert added[0]["summary"] == [{"type": "summary_text", "text": THOUGHTS}]
    assert "status" not in added[0] and "position" not in added[0]


async def test_thoughts_of_deepseek_go_back_with_their_calls_in_later_turns_too(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.answer(
        turn(None, LOOK, reasoning=THOUGHTS),
        turn("call_look", call("attempt_completion", "call_end", result="All done"), reasoning="Now I say so."),
        {"match": {"userMessage": "And more"}, "response": {"toolCalls": [
            call("attempt_completion", "call_last", result="That too")
        ]}},
    )  # fmt: skip
    async with agent_behind(gateway(model_server), home=tmp_path, protocol="deepseek") as (server, agent):
        task_id = await agent.finished()
        await agent.manager.send(task_id, "And more")
        await agent.ended(task_id)
    first, second, third = sent_by(server.requests)
    answer, result = said_after([first, second])
    assert (answer["role"], answer["reasoning_content"]) == ("assistant", THOUGHTS)
    assert (result["role"], result["tool_call_id"]) == ("tool", "call_look")
    said = [message["reasoning_content"] for message in third["messages"] if message["role"] == "assistant"]
    assert said == [THOUGHTS, "Now I say so."]
    assert third["messages"][: len(second["messages"])] == second["messages"]
