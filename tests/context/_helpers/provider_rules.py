"""What providers refuse: a request's body held against the rules of each protocol."""

from __future__ import annotations

from collections.abc import Sequence

from hdsp_agent.messages import ApiMessage
from hdsp_agent.providers import ModelRequest
from hdsp_agent.providers._anthropic_request import AnthropicOptions, messages_body
from hdsp_agent.providers._chat_request import ChatOptions, chat_body
from hdsp_agent.providers._quirks import Quirks
from hdsp_agent.providers._responses_request import ResponsesOptions, responses_body

from .conversations import TOOL

__all__ = ["assert_all_take", "assert_anthropic_takes", "assert_chat_takes", "assert_responses_take"]


def assert_all_take(messages: Sequence[ApiMessage], *, images: bool = True) -> None:
    """Each provider would take this conversation."""
    request = ModelRequest("You help.", messages, [TOOL])
    assert_anthropic_takes(request, images)
    for quirks in (Quirks(), Quirks(alternate=True, text_after_tools="assistant"), Quirks(text_after_tools="tool")):
        assert_chat_takes(request, quirks, images)
    assert_responses_take(request, images)


def assert_anthropic_takes(request: ModelRequest, images: bool = True) -> None:
    """The first message is the user's; results are right behind their calls, all of them, before all else."""
    body = messages_body(request, AnthropicOptions("claude", 1_000, images=images, cache=False))
    messages: list[dict] = body["messages"]  # type: ignore[assignment,type-arg]  # a body as it is sent
    assert messages[0]["role"] == "user"
    seen: set[str] = set()
    for number, message in enumerate(messages):
        assert message["content"]
        calls = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
        assert len(set(calls)) == len(calls)
        assert not seen.intersection(calls)
        seen.update(calls)
        behind = messages[number + 1]["content"] if number + 1 < len(messages) else []
        assert [block["type"] == "tool_result" for block in behind] == sorted(
            (block["type"] == "tool_result" for block in behind), reverse=True
        )
        results = [block["tool_use_id"] for block in behind if block["type"] == "tool_result"]
        assert results == calls
    assert all(block["type"] != "tool_result" for block in messages[0]["content"])


def assert_chat_takes(request: ModelRequest, quirks: Quirks, images: bool = True) -> None:
    """Behind an answer with calls come their results, one each, and nowhere else is any."""
    body = chat_body(request, ChatOptions("gpt", quirks, images))
    messages: list[dict] = body["messages"]  # type: ignore[assignment,type-arg]  # a body as it is sent
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting
            waiting.remove(message["tool_call_id"])
            continue
        assert not waiting
        waiting = [each["id"] for each in message.get("tool_calls", [])]
        assert message["content"] or waiting
    assert not waiting


def assert_responses_take(request: ModelRequest, images: bool = True) -> None:
    """Every call has one output, after it, and every output a call."""
    body = responses_body(request, ResponsesOptions("gpt", images))
    items: list[dict] = body["input"]  # type: ignore[assignment,type-arg]  # a body as it is sent
    called: set[str] = set()
    answered: set[str] = set()
    for item in items:
        if item.get("type") == "function_call":
            assert item["call_id"] not in called
            called.add(item["call_id"])
        elif item.get("type") == "function_call_output":
            assert item["call_id"] in called
            assert item["call_id"] not in answered
            answered.add(item["call_id"])
    assert called == answered
