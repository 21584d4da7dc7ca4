"""Whatever a connection does, a turn ends in an answer or in an error that says what happened, and never hangs."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from hdsp_agent.providers import ModelAnswer, ModelError, TextDelta, Timeouts

from .._helpers.model_server import RawServer, Reply, raw_server, refusal, sse, sse_events
from ._helpers.protocol_profiles import PATIENT, PROTOCOLS, ask, ask_once, opened, profile, request, user

HELLO: dict[str, list[object]] = {
    "anthropic": [
        {"type": "message_start", "message": {"usage": {"input_tokens": 5, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}},
    ],
    "responses": [
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "content": []}},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "Hello"},
    ],
    "chat": [{"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hello"}}]}],
}
CALL: dict[str, list[object]] = {
    "anthropic": [
        {"type": "content_block_stop", "index": 0},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {}},
        },
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"ci'}},
    ],
    "responses": [
        {
            "type": "response.output_item.added",
            "output_index": 1,
            "item": {"type": "function_call", "call_id": "t1", "name": "get_weather", "arguments": ""},
        },
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"ci'},
    ],
    "chat": [
        {
            "choices": [
                {
                    "index": 0,
                    "delta": {
                        "tool_calls": [
                            {"index": 0, "id": "t1", "function": {"name": "get_weather", "arguments": '{"ci'}}
                        ]
                    },
                }
            ]
        }
    ],
}
END: dict[str, list[object]] = {
    "anthropic": [
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ],
    "responses": [
        {"type": "response.output_item.done", "output_index": 0, "item": {"type": "message", "content": []}},
        {
            "type": "response.completed",
            "response": {"status": "completed", "usage": {"input_tokens": 5, "output_tokens": 2}},
        },
    ],
    "chat": [
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}},
        "[DONE]",
    ],
}


def events(protocol: str, *parts: dict[str, list[object]]) -> list[object]:
    return [event for part in parts for event in part[protocol]]


async def fails(server: RawServer, protocol: str, timeouts: Timeouts = PATIENT) -> tuple[ModelError, ModelAnswer]:
    answer = ModelAnswer()
    async with opened(profile(protocol, server.url), timeouts) as client:
        try:
            async for event in client.stream(request(user("hi"))):
                answer.add(event)
        except ModelError as error:
            return error, answer
    pytest.fail(f"it did not fail: {answer.content}")


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_stream_that_ends_without_a_reason_is_an_error_and_its_call_is_not_complete(protocol: str) -> None:
    async with raw_server(sse(*events(protocol, HELLO, CALL), named=protocol == "anthropic")) as server:
        error, answer = await fails(server, protocol)
    assert (error.kind, error.retryable) == ("broken_stream", True)
    assert answer.text == "Hello"
    assert answer.calls == []
    assert answer.stop is None


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_connection_dropped_in_the_middle_is_an_error_and_the_next_request_works(protocol: str) -> None:
    named = protocol == "anthropic"

    async def drop(reply: Reply) -> None:
        await reply.begin(headers=["Transfer-Encoding: chunked"])
        data = sse_events(*events(protocol, HELLO, CALL), named=named)
        await reply.send(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        await asyncio.sleep(0.05)
        reply.reset()

    whole = sse(*events(protocol, HELLO, END), named=named)
    async with raw_server(drop, whole) as server, opened(profile(protocol, server.url), PATIENT) as client:
        with pytest.raises(ModelError) as raised:
            await ask(client, request(user("hi")))
        assert raised.value.kind == "broken_stream"
        answer, _ = await ask(client, request(user("hi")))
    assert (answer.text, answer.stop) == ("Hello", "end")
    assert answer.usage is not None
    assert (answer.usage.input, answer.usage.output) == (5, 2)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("garbage", ["{not json", "[1, 2]", '"text"', "\x00\x01"])
async def test_an_event_that_is_no_object_is_an_error(protocol: str, garbage: str) -> None:
    body = sse_events(*events(protocol, HELLO), named=protocol == "anthropic")
    body += f"event: x\ndata: {garbage}\n\n".encode()

    async def answer_garbage(reply: Reply) -> None:
        await reply.begin()
        await reply.send(body)

    async with raw_server(answer_garbage) as server:
        error, _ = await fails(server, protocol)
    assert error.kind == "broken_stream"


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "odd", [{}, {"type": "never.heard.of"}, {"choices": None}, {"type": 5}, {"choices": [None], "usage": "many"}]
)
async def test_events_nobody_knows_are_passed_over(protocol: str, odd: dict[str, object]) -> None:
    named = protocol == "anthropic"
    odd = {"type": "odd", **odd} if named else odd
    stream = sse(odd, *events(protocol, HELLO), odd, *events(protocol, END), named=named)
    async with raw_server(stream) as server:
        answer, _ = await ask_once(profile(protocol, server.url), request(user("hi")))
    assert answer.text == "Hello"


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_too_many_requests_say_when_to_come_back_and_nothing_is_retried_here(protocol: str) -> None:
    busy = refusal(
        "429 Too Many Requests",
        {"type": "error", "error": {"type": "rate_limit_error", "message": "Too many requests"}},
        "Retry-After: 7",
    )
    async with raw_server(busy) as server:
        error, _ = await fails(server, protocol)
        assert len(server.requests) == 1
    assert (error.kind, error.retry_after, error.http_status) == ("rate_limit", 7, 429)


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_an_overloaded_provider_may_be_asked_again(protocol: str) -> None:
    full = refusal("529 Overloaded", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    async with raw_server(full) as server:
        error, _ = await fails(server, protocol)
        assert len(server.requests) == 1
    assert (error.kind, error.retryable) == ("overloaded", True)


@pytest.mark.parametrize(
    ("protocol", "event"),
    [
        ("anthropic", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        ("anthropic", {"type": "error", "error": {"type": "api_error", "message": "Something went wrong here"}}),
        ("responses", {"type": "error", "code": "server_error", "message": "The server is overloaded."}),
        (
            "responses",
            {
                "type": "response.failed",
                "response": {
                    "error": {"code": "server_is_overloaded", "message": "We are overloaded, try again later."}
                },
            },
        ),
        ("chat", {"error": {"message": "The server is overloaded.", "type": "overloaded_error", "code": 503}}),
        (
            "chat",
            {"choices": [{"delta": {}, "finish_reason": "error", "error": {"code": 503, "message": "Overloaded"}}]},
        ),
    ],
)
async def test_an_error_within_the_stream_is_classified(protocol: str, event: dict[str, object]) -> None:
    stream = sse(*events(protocol, HELLO), event, named=protocol == "anthropic")
    async with raw_server(stream) as server:
        error, answer = await fails(server, protocol)
    assert error.kind == "overloaded"
    assert answer.text == "Hello"


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_an_overflow_tells_its_numbers(protocol: str) -> None:
    words = {
        "anthropic": "prompt is too long: 215000 tokens > 200000 maximum",
        "responses": "This model's maximum context length is 200000 tokens. However, your messages resulted in 215000 tokens.",
        "chat": "This model's maximum context length is 200000 tokens. However, your messages resulted in 215000 tokens.",
    }
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": words[protocol]}}
    async with raw_server(refusal("400 Bad Request", body)) as server:
        error, _ = await fails(server, protocol)
    assert (error.kind, error.current, error.limit) == ("overflow", 215_000, 200_000)


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_slow_stream_is_waited_for_and_a_silent_one_is_given_up(protocol: str) -> None:
    named = protocol == "anthropic"

    async def slow(reply: Reply) -> None:
        await reply.begin()
        for event in events(protocol, HELLO, END):
            await asyncio.sleep(0.3)
            await reply.send(sse_events(event, named=named))

    async def silent(reply: Reply) -> None:
        await reply.begin()
        await reply.send(sse_events(*events(protocol, HELLO), named=named))
        await asyncio.Event().wait()

    # All together takes longer than what is waited for each.
    patience = Timeouts(connect=30, first=30, idle=1)
    async with raw_server(slow, silent) as server, opened(profile(protocol, server.url), patience) as client:
        answer, _ = await ask(client, request(user("hi")))
        assert answer.text == "Hello"
        with pytest.raises(ModelError) as raised:
            await ask(client, request(user("hi")))
        assert raised.value.kind == "timeout"


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_server_that_never_begins_is_given_up(protocol: str) -> None:
    async def mute(_: Reply) -> None:
        await asyncio.Event().wait()

    async with raw_server(mute) as server:
        error, _ = await fails(server, protocol, Timeouts(connect=30, first=0.3, idle=0.3))
    assert error.kind == "timeout"


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_nobody_at_the_address_is_a_network_error(protocol: str) -> None:
    async with raw_server(b"") as server:
        pass
    error, _ = await fails(server, protocol)
    assert (error.kind, error.retryable) == ("network", True)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("begun", [True, False], ids=["streaming", "waiting"])
async def test_cancelling_closes_the_connection(protocol: str, begun: bool) -> None:
    async def endless(reply: Reply) -> None:
        if not begun:
            await asyncio.Event().wait()
        await reply.begin()
        await reply.send(sse_events(*events(protocol, HELLO), named=protocol == "anthropic"))
        await asyncio.Event().wait()

    async with raw_server(endless) as server, opened(profile(protocol, server.url)) as client:
        said = asyncio.Event()

        async def consume() -> None:
            async for event in client.stream(request(user("hi"))):
                if isinstance(event, TextDelta):
                    said.set()

        task = asyncio.ensure_future(consume())
        if begun:
            await asyncio.wait_for(said.wait(), 30)
        else:
            await asyncio.wait_for(server.asked.wait(), 30)
        task.cancel()
        await asyncio.wait({task}, timeout=30)
        assert task.cancelled()
        await asyncio.wait_for(server.closed.wait(), 30)


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_leaving_the_stream_closes_the_connection(protocol: str) -> None:
    async def endless(reply: Reply) -> None:
        await reply.begin()
        await reply.send(sse_events(*events(protocol, HELLO), named=protocol == "anthropic"))
        await asyncio.Event().wait()

    async with raw_server(endless) as server, opened(profile(protocol, server.url)) as client:
        async with aclosing(client.stream(request(user("hi")))) as stream:  # type: ignore[type-var]  # it has aclose
            async for event in stream:
                if isinstance(event, TextDelta):
                    break
        await asyncio.wait_for(server.closed.wait(), 30)


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_the_end_is_told_though_the_server_forgets_to_close(protocol: str) -> None:
    async def forgetful(reply: Reply) -> None:
        await reply.begin()
        last = [event for event in END[protocol] if event != "[DONE]"]
        await reply.send(sse_events(*HELLO[protocol], *last, named=protocol == "anthropic"))
        await asyncio.Event().wait()

    async with raw_server(forgetful) as server:
        answer, _ = await ask_once(profile(protocol, server.url), request(user("hi")))
    assert answer.stop == "end"
