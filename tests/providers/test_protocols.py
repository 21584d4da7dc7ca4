"""Each protocol through its official SDK, against a server that speaks it."""

from __future__ import annotations

import asyncio
import json

import pytest

from hdsp_agent.providers import (
    Stop,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallDone,
    ToolCallStart,
    UsageReport,
)

from .._helpers.model_server import ModelServer
from ._helpers.protocol_profiles import PROTOCOLS, ask, ask_once, image, opened, profile, request, result, user

TWO_CALLS = {
    "match": {"userMessage": "weather", "hasToolResult": False},
    "response": {
        "content": "I look it up.",
        "reasoning": "Two cities.",
        "toolCalls": [
            {"id": "call_seoul", "name": "get_weather", "arguments": {"city": "서울"}},
            {"id": "call_tokyo", "name": "get_weather", "arguments": {"city": "東京"}},
        ],
        "usage": {
            "input_tokens": 120,
            "output_tokens": 30,
            "prompt_tokens": 120,
            "completion_tokens": 30,
            "total_tokens": 150,
        },
    },
}
AFTERWARDS = {"match": {"userMessage": "weather", "hasToolResult": True}, "response": {"content": "Sunny in both."}}


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_conversation_with_parallel_calls_goes_on_with_their_results(
    model_server: ModelServer, protocol: str
) -> None:
    model_server.answer(TWO_CALLS, AFTERWARDS)
    async with opened(profile(protocol, model_server.url, enableReasoningEffort=True)) as client:
        first = user("What is the weather?")
        answer, events = await ask(client, request(first))

        assert answer.stop == "tool_use"
        assert answer.text == "I look it up."
        assert "".join(event.text for event in events if isinstance(event, ThinkingDelta)) == "Two cities."
        assert [(call.id, call.name, json.loads(call.arguments)) for call in answer.calls] == [
            ("call_seoul", "get_weather", {"city": "서울"}),
            ("call_tokyo", "get_weather", {"city": "東京"}),
        ]
        assert isinstance(events[-1], Stop)
        for call in answer.calls:
            pieces = [event.json for event in events if isinstance(event, ToolCallDelta) and event.index == call.index]
            assert "".join(pieces) == call.arguments
            start = next(event for event in events if isinstance(event, ToolCallStart) and event.index == call.index)
            assert (start.id, start.name) == (call.id, call.name)

        results = user(result("call_seoul", "sunny"), result("call_tokyo", [{"type": "text", "text": "sunny"}]))
        last, _ = await ask(client, request(first, answer.message(), results))
        assert (last.text, last.stop) == ("Sunny in both.", "end")
        sent = model_server.journal()[-1]["body"]["messages"]
        calls = [call["id"] for message in sent for call in message.get("tool_calls", [])]
        results_sent = [message["tool_call_id"] for message in sent if message["role"] == "tool"]
        assert calls == results_sent == ["call_seoul", "call_tokyo"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_usage_is_reported(model_server: ModelServer, protocol: str) -> None:
    model_server.answer(TWO_CALLS)
    _, events = await ask_once(profile(protocol, model_server.url), request(user("weather")))
    last = [event for event in events if isinstance(event, UsageReport)][-1]
    assert (last.input, last.output) == (120, 30)


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_pictures_reach_a_model_that_sees(model_server: ModelServer, protocol: str) -> None:
    model_server.answer({"match": {"userMessage": "picture"}, "response": {"content": "A pixel."}})
    answer, _ = await ask_once(profile(protocol, model_server.url), request(user("What is in the picture?", image())))
    assert answer.text == "A pixel."


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_forced_call_is_asked_for(model_server: ModelServer, protocol: str) -> None:
    model_server.answer(
        {"match": {"userMessage": "weather"}, "response": {"toolCalls": [{"name": "get_weather", "arguments": {}}]}}
    )
    answer, events = await ask_once(
        profile(protocol, model_server.url), request(user("weather"), tool_choice="get_weather", max_output=99)
    )
    assert answer.stop == "tool_use"
    assert [event.arguments for event in events if isinstance(event, ToolCallDone)] == ["{}"]
    assert answer.calls[0].id


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_the_prefix_of_a_later_request_is_the_earlier_request(model_server: ModelServer, protocol: str) -> None:
    model_server.answer(TWO_CALLS, AFTERWARDS)
    async with opened(profile(protocol, model_server.url)) as client:
        conversation = [user("weather")]
        for answers in range(2):
            answer, _ = await ask(client, request(*conversation))
            conversation.append(answer.message())
            if answers == 0:
                conversation.append(user(*(result(call.id, "sunny") for call in answer.calls)))
        before, after = (entry["body"] for entry in model_server.journal())
        assert after["messages"][: len(before["messages"])] == before["messages"]
        assert after["tools"] == before["tools"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_several_conversations_stream_at_once(model_server: ModelServer, protocol: str) -> None:
    model_server.answer(
        *(
            {"match": {"userMessage": f"number {number}."}, "response": {"content": f"I am {number} " * 20}}
            for number in range(8)
        )
    )
    async with opened(profile(protocol, model_server.url)) as client:
        answers = await asyncio.gather(*(ask(client, request(user(f"number {number}."))) for number in range(8)))
        assert [answer.text.split()[2] for answer, _ in answers] == [str(number) for number in range(8)]
