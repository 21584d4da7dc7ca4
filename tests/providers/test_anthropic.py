"""What only Anthropic's protocol has: cache marks, signed and hidden thoughts, ways to think."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from hdsp_agent.messages import ApiMessage, JsonObject
from hdsp_agent.providers import ModelAnswer, ThinkingDone, UsageReport

from .._helpers.model_server import raw_server, sse
from ._helpers.protocol_profiles import ask, ask_once, image, opened, profile, request, result, user

END: list[object] = [
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
]
DONE = sse(*END, named=True)


def block(index: int, start: JsonObject, *deltas: JsonObject) -> list[object]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


THOUGHT = [
    *block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "First, "},
        {"type": "thinking_delta", "thinking": "look."},
        {"type": "signature_delta", "signature": "c2ln"},
    ),
    *block(1, {"type": "redacted_thinking", "data": "b3BhcXVl"}),
    *block(
        2,
        {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {}},
        {"type": "input_json_delta", "partial_json": ""},
        {"type": "input_json_delta", "partial_json": '{"city": "Seoul"}'},
    ),
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
]


def marks(body: dict[str, Any]) -> list[str]:
    """Where the cache marks are."""
    found = [f"tools.{n}" for n, tool in enumerate(body.get("tools", [])) if "cache_control" in tool]
    found += [f"system.{n}" for n, part in enumerate(body.get("system", [])) if "cache_control" in part]
    for number, message in enumerate(body["messages"]):
        found += [f"{number}.{n}" for n, part in enumerate(message["content"]) if "cache_control" in part]
    return found


def unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: unmarked(item) for key, item in value.items() if key != "cache_control"}
    return [unmarked(item) for item in value] if isinstance(value, list) else value


async def test_thoughts_go_back_as_they_came() -> None:
    async with raw_server(sse(*THOUGHT, named=True), DONE) as server:
        settings = profile("anthropic", server.url, enableReasoningEffort=True)
        async with opened(settings) as client:
            answer, events = await ask(client, request(user("hi")))
            await ask(client, request(user("hi"), answer.message(), user(result("toolu_1", "sunny"))))
        sent = server.requests[1].body["messages"][1]["content"]
    assert [event for event in events if isinstance(event, ThinkingDone)] == [
        ThinkingDone(signature="c2ln"),
        ThinkingDone(encrypted={"type": "redacted_thinking", "data": "b3BhcXVl"}),
    ]
    assert sent == [
        {"type": "thinking", "thinking": "First, look.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "b3BhcXVl"},
        {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Seoul"}},
    ]


async def test_cache_marks_stand_at_the_ends_of_what_repeats_and_the_prefix_never_changes() -> None:
    async with raw_server(DONE) as server, opened(profile("anthropic", server.url)) as client:
        conversation = [user("one")]
        for turn in range(4):
            await ask(client, request(*conversation))
            conversation.append(ApiMessage(role="assistant", content=[{"type": "text", "text": f"answer {turn}"}]))
            conversation.extend([user(result("t", "text")), user("and then?")] if turn % 2 else [user("next")])
        bodies = [each.body for each in server.requests]
    assert [marks(body) for body in bodies] == [
        ["tools.0", "system.0", "0.0"],
        ["tools.0", "system.0", "0.0", "2.0"],
        ["tools.0", "system.0", "2.0", "5.0"],
        ["tools.0", "system.0", "5.0", "7.0"],
    ]
    for before, after in pairwise(bodies):
        # What the earlier request left in the cache is looked for exactly where it ends.
        assert marks(before)[-1] in marks(after)
        known = unmarked(before["messages"])
        assert unmarked(after["messages"])[: len(known)] == known
        assert unmarked([after["tools"], after["system"]]) == unmarked([before["tools"], before["system"]])


async def test_there_are_never_more_than_four_cache_marks() -> None:
    async with raw_server(DONE) as server:
        conversation = [user("one"), ApiMessage(role="assistant", content="yes"), user("two")]
        asked = request(*conversation, cache_breakpoints=(0, 1, 2, 77))
        await ask_once(profile("anthropic", server.url), asked)
        assert marks(server.requests[0].body) == ["tools.0", "system.0", "1.0", "2.0"]


async def test_without_the_cache_there_are_no_marks() -> None:
    async with raw_server(DONE) as server:
        await ask_once(profile("anthropic", server.url, modelSupportsPromptCache=False), request(user("hi")))
        assert marks(server.requests[0].body) == []


async def test_tokens_of_the_cache_are_reported_apart() -> None:
    start = {
        "type": "message_start",
        "message": {
            "usage": {
                "input_tokens": 10,
                "output_tokens": 1,
                "cache_read_input_tokens": 2000,
                "cache_creation_input_tokens": 300,
            }
        },
    }
    async with raw_server(sse(start, *END, named=True)) as server:
        answer, _ = await ask_once(profile("anthropic", server.url), request(user("hi")))
    assert answer.usage == UsageReport(input=10, output=9, cache_read=2000, cache_write=300)
    assert answer.usage.context == 2310


@pytest.mark.parametrize(
    ("model", "more", "thinking", "effort", "beta"),
    [
        ("claude-sonnet-5-5", {}, None, None, False),
        ("claude-sonnet-5-5", {"enableReasoningEffort": False, "reasoningEffort": "high"}, None, None, False),
        ("claude-sonnet-5-5", {"reasoningEffort": "disable"}, None, None, False),
        ("claude-sonnet-5-5", {"enableReasoningEffort": True}, "adaptive", None, False),
        ("claude-opus-5-5", {"reasoningEffort": "xhigh"}, "adaptive", "xhigh", False),
        ("claude-opus-4-6", {"reasoningEffort": "xhigh"}, "adaptive", "high", False),
        ("claude-sonnet-4-5-20250929", {"reasoningEffort": "medium"}, 10_000, None, True),
        ("claude-haiku-4-5", {"modelMaxThinkingTokens": 2000}, 2000, None, True),
        ("claude-opus-4-1", {"reasoningEffort": "xhigh", "modelMaxTokens": 8000}, 6976, None, True),
        ("glm-5", {"enableReasoningEffort": True}, 7168, None, False),
    ],
)
@pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")
async def test_each_model_is_asked_to_think_in_its_own_way(
    model: str, more: dict[str, object], thinking: str | int | None, effort: str | None, beta: bool
) -> None:
    async with raw_server(DONE) as server:
        await ask_once(profile("anthropic", server.url, apiModelId=model, **more), request(user("hi")))
        sent = server.requests[0]
    asked = sent.body.get("thinking")
    assert (asked and (asked.get("budget_tokens") or asked["type"])) == thinking
    assert sent.body.get("output_config", {}).get("effort") == effort
    assert ("interleaved-thinking-2025-05-14" in sent.headers.get("anthropic-beta", "")) == beta
    assert sent.headers["x-api-key"] == "sk-ant-test"


async def test_thinking_pauses_where_the_last_answer_called_tools_without_thoughts() -> None:
    called = ApiMessage(
        role="assistant", content=[{"type": "tool_use", "id": "a.b:1", "name": "get_weather", "input": {}}]
    )
    settings = {"apiModelId": "claude-haiku-4-5", "enableReasoningEffort": True}
    async with raw_server(DONE) as server:
        await ask_once(
            profile("anthropic", server.url, **settings), request(user("hi"), called, user(result("a.b:1", "x")))
        )
        body = server.requests[0].body
    assert "thinking" not in body
    assert body["messages"][1]["content"][0]["id"] == body["messages"][2]["content"][0]["tool_use_id"] == "a_b_1"


async def test_what_the_provider_would_refuse_is_not_sent() -> None:
    foreign = ApiMessage(
        role="assistant",
        content=[{"type": "thinking", "thinking": "unsigned"}, {"type": "text", "text": " "}, {"type": "reasoning"}],
    )
    said = user({"type": "text", "text": "hello", "ours": 1}, "", image())
    async with raw_server(DONE) as server:
        settings = profile("anthropic", server.url, modelSupportsImages=False, modelSupportsPromptCache=False)
        await ask_once(settings, request(foreign, said, system=""))
        body = server.requests[0].body
    assert "system" not in body
    assert body["messages"] == [
        {"role": "assistant", "content": [{"type": "text", "text": "(nothing)"}]},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "hello"},
                {"type": "text", "text": "[An image was left out: this model sees none.]"},
            ],
        },
    ]


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "end"),
        ("max_tokens", "max_tokens"),
        ("model_context_window_exceeded", "max_tokens"),
        ("refusal", "refusal"),
        ("pause_turn", "pause"),
        ("stop_sequence", "stop_sequence"),
        ("something_new", "end"),
    ],
)
async def test_why_it_stopped(reason: str, stop: str) -> None:
    end = sse({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {}}, named=True)
    async with raw_server(end) as server:
        answer, _ = await ask_once(profile("anthropic", server.url), request(user("hi")))
    assert answer.stop == stop


def test_an_answer_keeps_the_order_of_its_blocks() -> None:
    answer = ModelAnswer()
    answer.add(ThinkingDone(encrypted={"type": "reasoning", "encrypted_content": "x"}))
    assert answer.message().content == []
    assert answer.message().reasoning_details == [{"type": "reasoning", "encrypted_content": "x"}]
