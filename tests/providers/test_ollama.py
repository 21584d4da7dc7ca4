"""Ollama with a window of the person's choice: that goes over its own protocol, and all else stays as it was."""

from __future__ import annotations

import json

import pytest

from hdsp_agent.messages import ApiMessage, JsonObject
from hdsp_agent.providers import ModelError, Stop, UsageReport
from hdsp_agent.providers._ollama_chat import ollama_body

from .._helpers.model_server import ModelServer, raw_server
from ._helpers.protocol_profiles import WEATHER, ask, image, opened, profile, request, result, user


def lines(*answers: object) -> bytes:
    body = b"".join(json.dumps(answer).encode() + b"\n" for answer in answers)
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


SAID = lines(
    {"message": {"role": "assistant", "content": "", "thinking": "Hm."}, "done": False},
    {"message": {"role": "assistant", "content": "Let me "}, "done": False},
    {"message": {"role": "assistant", "content": "look."}, "done": False},
    {
        "message": {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"function": {"name": "get_weather", "arguments": {"city": "Seoul"}}},
                {"function": {"name": "get_weather", "arguments": {"city": "東京"}}},
            ],
        },
        "done": False,
    },
    {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop", "prompt_eval_count": 900, "eval_count": 12},
)  # fmt: skip


async def test_the_window_of_the_profile_is_asked_for() -> None:
    async with raw_server(SAID) as server:
        settings = profile("ollama", server.url, ollamaNumCtx=32_768, modelMaxTokens=500, modelTemperature=0.2)
        async with opened(settings) as client:
            answer, events = await ask(client, request(user("hi")))
        sent = server.requests[0]
    assert sent.path == "/api/chat"
    assert sent.body["options"] == {"num_ctx": 32_768, "num_predict": 500, "temperature": 0.2}
    assert sent.body["messages"] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]
    assert [tool["function"]["name"] for tool in sent.body["tools"]] == [WEATHER.name]
    assert answer.text == "Let me look."
    assert [(call.name, json.loads(call.arguments)) for call in answer.calls] == [
        ("get_weather", {"city": "Seoul"}),
        ("get_weather", {"city": "東京"}),
    ]
    assert len({call.id for call in answer.calls}) == 2
    assert answer.usage == UsageReport(input=900, output=12)
    assert events[-1] == Stop("tool_use")


@pytest.mark.parametrize("base", ["", "/v1", "/behind/v1"])
async def test_it_is_found_beside_the_address_of_the_other_protocol(base: str) -> None:
    async with raw_server(SAID) as server:
        async with opened(profile("ollama", server.url + base, ollamaNumCtx=4_096)) as client:
            await ask(client, request(user("hi")))
        assert server.requests[0].path == base.removesuffix("/v1") + "/api/chat"


async def test_calls_results_and_pictures_go_back_in_its_form() -> None:
    called = ApiMessage(
        role="assistant",
        content=[{"type": "tool_use", "id": "a", "name": "get_weather", "input": {"city": "Seoul"}}],
    )
    async with raw_server(SAID) as server:
        async with opened(profile("ollama", server.url, ollamaNumCtx=4_096, modelSupportsImages=True)) as client:
            await ask(client, request(user("look", image()), called, user(result("a", "sunny"), "And now?")))
        messages = server.requests[0].body["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool", "user"]
    assert len(messages[1]["images"]) == 1 and "," not in messages[1]["images"][0]
    assert messages[2]["tool_calls"] == [{"function": {"name": "get_weather", "arguments": {"city": "Seoul"}}}]
    assert (messages[3]["content"], messages[3]["tool_name"]) == ("sunny", "get_weather")


async def test_an_error_in_the_middle_and_an_end_without_an_end_are_told() -> None:
    for answer, kind in (
        (lines({"message": {"content": "so"}, "done": False}, {"error": "the input length exceeds the context length"}), "overflow"),
        (lines({"message": {"content": "so"}, "done": False}), "broken_stream"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 37\r\n\r\n" + b'{"error":"model \'qwen3\' not found"}   ', "model_not_found"),
    ):  # fmt: skip
        async with raw_server(answer) as server, opened(profile("ollama", server.url, ollamaNumCtx=4_096)) as client:
            with pytest.raises(ModelError) as failed:
                await ask(client, request(user("hi")))
        assert failed.value.kind == kind


def test_a_form_for_the_answer_and_thinking_are_asked_for_in_its_words() -> None:
    schema: JsonObject = {"type": "object"}
    body = ollama_body(
        {
            "model": "qwen3",
            "messages": [],
            "response_format": {"type": "json_schema", "json_schema": {"schema": schema}},
            "reasoning_effort": "low",
        },
        8_192,
    )
    assert (body["format"], body["think"]) == (schema, True)
    assert ollama_body({"model": "gpt-oss:20b", "messages": [], "reasoning_effort": "low"}, 8_192)["think"] == "low"
    assert ollama_body({"model": "qwen3", "messages": [], "reasoning_effort": "none"}, 8_192)["think"] is False


async def test_another_implementation_of_its_protocol_understands(model_server: ModelServer) -> None:
    weather = {"toolCalls": [{"name": "get_weather", "arguments": json.dumps({"city": "Seoul"})}]}
    model_server.answer({"match": {"userMessage": "weather"}, "response": weather})
    async with opened(profile("ollama", model_server.url, ollamaNumCtx=16_384)) as client:
        answer, events = await ask(client, request(user("What is the weather?")))
    assert [(call.name, json.loads(call.arguments)) for call in answer.calls] == [("get_weather", {"city": "Seoul"})]
    assert events[-1] == Stop("tool_use")
    [entry] = model_server.journal()
    assert entry["path"] == "/api/chat"
