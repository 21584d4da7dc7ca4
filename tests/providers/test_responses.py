"""What only OpenAI's Responses protocol has: encrypted reasoning, nothing stored, the cache's key."""

from __future__ import annotations

import pytest

from hdsp_agent.messages import ApiMessage, JsonObject
from hdsp_agent.providers import ThinkingDelta, UsageReport

from .._helpers.model_server import raw_server, sse
from ._helpers.protocol_profiles import ask, ask_once, image, opened, profile, request, result, user


def item(index: int, value: JsonObject) -> list[object]:
    return [
        {"type": "response.output_item.added", "output_index": index, "item": {**value, "encrypted_content": None}},
        {"type": "response.output_item.done", "output_index": index, "item": value},
    ]


def reasoning(number: int) -> JsonObject:
    return {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": f"opaque {number}"}


def message(text: str) -> JsonObject:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


CALL: JsonObject = {
    "type": "function_call",
    "call_id": "call_1",
    "name": "get_weather",
    "arguments": '{"city": "Seoul"}',
}
USAGE: JsonObject = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
    "output_tokens": 20,
    "output_tokens_details": {"reasoning_tokens": 15},
}
END: JsonObject = {"type": "response.completed", "response": {"status": "completed", "usage": USAGE}}
DONE = sse(END)


async def test_reasoning_goes_back_encrypted_and_where_it_stood() -> None:
    stream = [
        *item(0, reasoning(0)),
        *item(1, message("I look.")),
        *item(2, reasoning(2)),
        *item(3, CALL),
        END,
    ]
    async with (
        raw_server(sse(*stream), DONE) as server,
        opened(profile("responses", server.url)) as client,
    ):
        answer, _ = await ask(client, request(user("hi")))
        await ask(client, request(user("hi"), answer.message(), user(result("call_1", "sunny"))))
        body = server.requests[1].body
    assert answer.usage == UsageReport(10, 20, cache_read=60, cache_write=30, reasoning=15)
    assert body["input"][1:] == [
        reasoning(0),
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
        },
        reasoning(2),
        CALL,
        {"type": "function_call_output", "call_id": "call_1", "output": "sunny"},
    ]


async def test_nothing_is_stored_and_the_conversation_names_its_cache() -> None:
    async with raw_server(DONE) as server:
        settings = profile("responses", server.url, reasoningEffort="high", verbosity="low", modelTemperature=0.5)
        asked = request(user("hi"), cache_key="task-1", parallel_tools=False, max_output=500)
        await ask_once(settings, asked)
        body = server.requests[0].body
    assert body["store"] is False
    assert body["include"] == ["reasoning.encrypted_content"]
    assert body["reasoning"] == {"effort": "high", "summary": "auto"}
    assert body["prompt_cache_key"] == "task-1"
    assert body["parallel_tool_calls"] is False
    assert body["max_output_tokens"] == 500
    assert body["text"] == {"verbosity": "low"}
    assert "temperature" not in body
    assert server.requests[0].path == "/v1/responses"


async def test_a_model_that_does_not_reason_is_not_asked_to() -> None:
    async with raw_server(DONE) as server:
        await ask_once(
            profile("responses", server.url, apiModelId="gpt-4.1", modelTemperature=0.5), request(user("hi"))
        )
        body = server.requests[0].body
    assert "reasoning" not in body
    assert "include" not in body
    assert body["temperature"] == 0.5


async def test_reasoning_that_cannot_be_taken_up_again_is_left_out() -> None:
    said = ApiMessage(
        role="assistant",
        content="Yes.",
        reasoning_details=[{"type": "reasoning", "id": "rs_1", "summary": []}, {"type": "reasoning.text", "text": "x"}],
    )
    alone = ApiMessage(role="assistant", content=[], reasoning_details=[reasoning(1)])
    async with raw_server(DONE) as server:
        await ask_once(profile("responses", server.url), request(user("hi"), said, user("and"), alone, user("so")))
        kinds = [each.get("type", each.get("role")) for each in server.requests[0].body["input"]]
    assert kinds == ["user", "message", "user", "message", "user"]


async def test_pictures_in_results_are_sent_in_them() -> None:
    called = ApiMessage(role="assistant", content=[{"type": "tool_use", "id": "c", "name": "get_weather", "input": {}}])
    shown = user(result("c", [{"type": "text", "text": "a plot"}, image()]), image())
    async with raw_server(DONE) as server:
        await ask_once(profile("responses", server.url), request(user("hi"), called, shown))
        sent = server.requests[0].body["input"]
    assert [part["type"] for part in sent[2]["output"]] == ["input_text", "input_image"]
    assert sent[3]["content"][0]["image_url"].startswith("data:image/png;base64,")


async def test_parts_of_a_summary_are_paragraphs() -> None:
    stream: list[object] = []
    for part in ("One.", "Two."):
        stream.append({"type": "response.reasoning_summary_part.added", "output_index": 0})
        stream.append({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": part})
    async with raw_server(sse(*stream, END)) as server:
        _, events = await ask_once(profile("responses", server.url), request(user("hi")))
    assert "".join(event.text for event in events if isinstance(event, ThinkingDelta)) == "One.\n\nTwo."


@pytest.mark.parametrize(
    ("why", "stop"), [("max_output_tokens", "max_tokens"), ("content_filter", "refusal"), ("else", "max_tokens")]
)
async def test_an_incomplete_answer_says_why(why: str, stop: str) -> None:
    end = {"type": "response.incomplete", "response": {"status": "incomplete", "incomplete_details": {"reason": why}}}
    async with raw_server(sse(end)) as server:
        answer, _ = await ask_once(profile("responses", server.url), request(user("hi")))
    assert answer.stop == stop
