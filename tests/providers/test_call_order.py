"""Results stand in the order of their calls, whichever tool was done first."""

from __future__ import annotations

import json
import re

import pytest

from hdsp_agent.messages import ApiMessage, JsonObject
from hdsp_agent.providers import ModelError

from .._helpers.model_server import raw_server, refusal
from ._helpers.protocol_profiles import PROTOCOLS, ask_once, profile, request, result, user


def calls(*ids: str) -> ApiMessage:
    """An answer that calls tools."""
    blocks: list[JsonObject] = [{"type": "tool_use", "id": id, "name": "get_weather", "input": {}} for id in ids]
    return ApiMessage(role="assistant", content=blocks)


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_results_are_sent_in_the_order_of_their_calls(protocol: str) -> None:
    conversation = [
        user("hi"),
        calls("one", "two"),
        user(result("two", "second result"), result("one", "first result"), "and what I say"),
        calls("three", "four"),
        user(result("three", "third result"), result("four", "fourth result")),
    ]
    async with raw_server(refusal("400 Bad Request", {"error": {"message": "no"}})) as server:
        with pytest.raises(ModelError):
            await ask_once(profile(protocol, server.url), request(*conversation))
        body = server.requests[0].body
    sent = json.dumps(body["input"] if protocol == "responses" else body["messages"])
    found = re.findall(r"(\w+) result\b|what I say", sent)
    assert found == ["first", "second", "", "third", "fourth"]
