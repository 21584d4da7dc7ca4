"""Condensing through the official SDKs: the request for the summary is the conversation's own, with a wish behind it.

Byte for byte, because that is what a provider's cache goes by: keys in their order, and numbers and texts as they were.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from ..._helpers.model_gateway import gateway
from ..._helpers.model_server import ModelServer
from .._helpers.provider_agent import (
    ProviderAgent,
    agent_behind,
    call,
    completion,
    conversation_of,
    sent_by,
    turn,
    unmarked,
)
from ._helpers.responses_server import COMPACT, WORDS

SUMMARY = "## Work Completed\nThe long file was read."
PROTOCOLS = ("anthropic", "responses", "chat")
PROFILE: dict[str, JsonValue] = {"modelContextWindow": 30_000, "modelMaxTokens": 4_000}
"""Two long steps are over the limit, and yet fit."""
COUNTED = {"prompt_tokens": 16_500, "completion_tokens": 10_700, "input_tokens": 16_500, "output_tokens": 10_700}


def in_bytes(body: dict[str, Any]) -> list[bytes]:
    """The messages of a request, each as it is sent; where a cache is to begin is marked anew each time."""
    return [json.dumps(unmarked(message), ensure_ascii=False).encode() for message in conversation_of(body)]


def beside(body: dict[str, Any]) -> bytes:
    """What stands before the messages in the cache: the system prompt and the tools."""
    names = ("model", "system", "instructions", "tools", "tool_choice", "parallel_tool_calls", "prompt_cache_key")
    return json.dumps({name: unmarked(body[name]) for name in names if name in body}).encode()


def asks_for_summary(body: dict[str, Any]) -> bool:
    return "CONTEXT CHECKPOINT" in json.dumps(conversation_of(body)[-1])


async def bodies_of(model_server: ModelServer, home: Path, protocol: str) -> list[dict[str, Any]]:
    """The requests of a task that is condensed after two long steps and goes on for two more."""
    model_server.answer(
        {"match": {"userMessage": "CONTEXT CHECKPOINT"}, "response": {"content": SUMMARY}},
        {"match": {"toolCallId": "call_four"}, "response": completion(None)["response"]},
        turn("call_three", call("list_files", "call_four", path="../work")),
        {
            "match": {"userMessage": "The long file was read."},
            "response": {"toolCalls": [call("list_files", "call_three", path="./.")]},
        },
        turn(None, call("list_files", "call_one", path="."), content=WORDS, chunkSize=5_000),
        turn("call_one", call("list_files", "call_two", path="./"), content=WORDS, chunkSize=5_000, usage=COUNTED),
        completion("call_two"),
    )
    async with agent_behind(gateway(model_server), home=home, protocol=protocol, profile=PROFILE) as (server, agent):
        await done(agent)
    return sent_by([request for request in server.requests if request.path != COMPACT])


async def done(agent: ProviderAgent) -> None:
    task_id = await agent.finished()
    [row] = await agent.says(task_id, "condense_context")
    assert row.context_condense is not None and row.context_condense.way == "local"


@pytest.mark.in_short(1)
@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_the_request_for_the_summary_is_the_conversation_s_own_up_to_the_wish(
    model_server: ModelServer, tmp_path: Path, protocol: str
) -> None:
    bodies = await bodies_of(model_server, tmp_path, protocol)
    [asked] = [body for body in bodies if asks_for_summary(body)]
    before = bodies[bodies.index(asked) - 1]
    assert beside(asked) == beside(before)
    known, wanted = in_bytes(before), in_bytes(asked)
    assert wanted[: len(known)] == known
    # Behind that only what came since, and the wish at its very end.
    *since, _ = conversation_of(asked)[len(known) :] if len(wanted) > len(known) else [None]
    assert "CONTEXT CHECKPOINT" not in json.dumps(since)
    # Afterwards the model has the summary, and what was asked for in the person's own words.
    after = json.dumps(conversation_of(bodies[bodies.index(asked) + 1]))
    assert "The long file was read." in after and "Do it" in after and after.count("Word after word.") < 5_100


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_requests_extend_one_another_before_and_after_it(
    model_server: ModelServer, tmp_path: Path, protocol: str
) -> None:
    bodies = await bodies_of(model_server, tmp_path, protocol)
    [wish] = [index for index, body in enumerate(bodies) if asks_for_summary(body)]
    spans = [bodies[:wish], bodies[wish + 1 :]]
    assert [len(span) for span in spans] == [2, 3]
    for span in spans:
        for one, next_one in pairwise(span):
            assert beside(one) == beside(next_one)
            known, longer = in_bytes(one), in_bytes(next_one)
            assert longer[: len(known)] == known and len(longer) > len(known)
    # What stands before the messages is the same throughout, so that much of the cache is never lost.
    assert len({beside(body) for body in bodies}) == 1
