"""Requests to models go through the service: with its key, as they are, at once, and counted."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import anthropic
import httpx2
import openai
import pytest

from .._helpers.model_server import Reply, raw_server, refusal, sse_events
from ._helpers.policy_files import KEY
from ._helpers.proxied_models import CHAT, END, MESSAGES, RESPONSES, TOLD, USAGE, piece, policies, used
from ._helpers.running import running_service


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", KEY)


async def test_the_official_sdk_of_openai_streams_through_it(tmp_path: Path) -> None:
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        stream = await running.openai().chat.completions.create(
            model="qwen3", messages=[{"role": "user", "content": "Hello"}], stream=True
        )
        said = [chunk async for chunk in stream]
        # What was asked for on its behalf stays here.
        assert [chunk.choices[0].delta.content for chunk in said] == ["Hel", "lo", None]
        [request] = server.requests
        assert request.headers["authorization"] == f"Bearer {KEY}" and request.path == "/v1/chat/completions"
        assert request.body["stream_options"] == {"include_usage": True}
        assert not [name for name, value in request.headers.items() if "ada-token" in value]
        assert await used(running) == [("qwen3", 10, 1, 7, 0, 0)]
        row = (await running.json("api/usage"))["usage"][0]
        assert row["money"] == pytest.approx((11 * 1 + 7 * 10) / 1_000_000)


async def test_who_asks_for_usage_gets_every_byte(tmp_path: Path) -> None:
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        answer = await running.chat(stream=True, stream_options={"include_usage": True})
        assert answer.content == CHAT.partition(b"\r\n\r\n")[2]
        assert json.loads(server.requests[0].content)["stream_options"] == {"include_usage": True}


async def test_the_official_sdk_of_anthropic_streams_through_it(tmp_path: Path) -> None:
    async with raw_server(MESSAGES) as server, running_service(tmp_path, policies(server)) as running:
        async with running.anthropic().messages.stream(
            model="claude-sonnet-5-5", max_tokens=100, messages=[{"role": "user", "content": "Hello"}]
        ) as stream:
            assert await stream.get_final_text() == "Hi"
        [request] = server.requests
        assert request.headers["x-api-key"] == KEY and "authorization" not in request.headers
        assert request.path == "/v1/messages" and request.headers["anthropic-version"]
        assert await used(running) == [("claude-sonnet-5-5", 20, 5, 9, 0, 0)]


async def test_responses_and_answers_that_come_whole_are_counted(tmp_path: Path) -> None:
    whole = refusal(
        "200 OK", {"id": "1", "choices": [{"message": {"role": "assistant", "content": "Hi"}}], "usage": USAGE}
    )
    embedded = refusal("200 OK", {"data": [{"embedding": [0.5]}], "usage": {"prompt_tokens": 3, "total_tokens": 3}})
    async with raw_server(RESPONSES, whole, embedded) as server, running_service(tmp_path, policies(server)) as running:
        stream = await running.openai().responses.create(model="qwen3", input="Hello", stream=True)
        assert [event.type async for event in stream] == ["response.output_text.delta", "response.completed"]
        assert await used(running) == [("qwen3", 20, 10, 4, 0, 0)]
        assert (await running.chat()).json()["choices"][0]["message"]["content"] == "Hi"
        assert await used(running) == [("qwen3", 30, 11, 11, 0, 0)]
        await running.openai().embeddings.create(model="qwen3", input="Hello", encoding_format="float")
        assert await used(running) == [("qwen3", 33, 11, 11, 0, 0)]


async def test_a_piece_is_passed_on_before_the_next_one_comes(tmp_path: Path) -> None:
    go_on = asyncio.Event()

    async def slowly(reply: Reply) -> None:
        await reply.begin()
        await reply.send(sse_events(piece("first")))
        await go_on.wait()
        await reply.send(sse_events(piece("second"), END, TOLD, "[DONE]"))
        reply.writer.close()

    async with raw_server(slowly) as server, running_service(tmp_path, policies(server)) as running:
        stream = await running.openai().chat.completions.create(
            model="qwen3", messages=[{"role": "user", "content": "Hello"}], stream=True
        )
        chunks = aiter(stream)
        assert (await anext(chunks)).choices[0].delta.content == "first"
        go_on.set()
        assert (await anext(chunks)).choices[0].delta.content == "second"
        await stream.close()


async def test_an_answer_without_usage_counts_by_its_length(tmp_path: Path) -> None:
    whole = refusal("200 OK", {"choices": [{"message": {"role": "assistant", "content": "x" * 400}}]})
    async with raw_server(whole) as server, running_service(tmp_path, policies(server)) as running:
        assert (await running.chat()).status_code == 200
        [(_, _, _, tokens_out, estimated, _)] = await used(running)
        assert isinstance(tokens_out, int) and 100 < tokens_out < 150 and estimated == 1


async def test_what_was_sent_and_never_answered_counts_as_reserved(tmp_path: Path) -> None:
    async def silent(reply: Reply) -> None:
        reply.writer.close()

    async with raw_server(silent) as server, running_service(tmp_path, policies(server)) as running:
        answer = await running.chat()
        assert answer.status_code == 502 and "did not answer" in answer.json()["error"]["message"]
        assert answer.headers["x-should-retry"] == "false"
        [(_, _, _, tokens_out, estimated, errors)] = await used(running)
        assert (tokens_out, estimated, errors) == (100, 1, 1)


async def test_errors_of_the_provider_come_as_they_are(tmp_path: Path) -> None:
    limited = {"error": {"message": "Slow down.", "type": "rate_limit_error", "code": "rate_limited"}}
    async with (
        raw_server(refusal("429 Too Many Requests", limited, "Retry-After: 7")) as server,
        running_service(tmp_path, policies(server)) as running,
    ):
        answer = await running.chat(stream=True)
        assert (answer.status_code, answer.json(), answer.headers["retry-after"]) == (429, limited, "7")
        assert await used(running) == [("qwen3", 0, 0, 0, 0, 1)]
        assert (await running.json("api/usage"))["usage"][0]["last_error"] == "rate_limited"


async def test_a_key_that_is_refused_is_the_administrators_business(tmp_path: Path) -> None:
    refused = refusal("401 Unauthorized", {"error": {"message": f"Incorrect API key provided: {KEY}"}})
    quoted = refusal("400 Bad Request", {"error": {"message": f"Not with {KEY}", "type": "odd"}})
    async with raw_server(refused, quoted) as server, running_service(tmp_path, policies(server)) as running:
        with pytest.raises(openai.InternalServerError) as caught:
            await running.openai().chat.completions.create(model="qwen3", messages=[{"role": "user", "content": "Hi"}])
        assert "does not accept the administrator's key" in str(caught.value) and KEY not in str(caught.value)
        assert caught.value.status_code == 502
        answer = await running.chat()
        assert answer.status_code == 400 and KEY not in answer.text and answer.json()["error"]["type"] == "odd"


async def test_nobody_at_the_providers_address_is_told(tmp_path: Path) -> None:
    async with raw_server(CHAT) as server:
        text = policies(server)
    async with running_service(tmp_path, text) as running:
        with pytest.raises(anthropic.InternalServerError, match=r"The provider claude could not be reached"):
            await running.anthropic().messages.create(
                model="claude-sonnet-5-5", max_tokens=5, messages=[{"role": "user", "content": "Hello"}]
            )
        assert await used(running) == [("claude-sonnet-5-5", 0, 0, 0, 0, 1)]


async def test_a_provider_that_breaks_off_breaks_the_clients_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hdsp_agent.hub.model_proxy._HIDDEN_TOKENS_PER_SECOND", 0)

    async def broken(reply: Reply) -> None:
        await reply.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        await reply.chunk(sse_events(piece("first")))
        reply.writer.close()

    async with raw_server(broken) as server, running_service(tmp_path, policies(server)) as running:
        with pytest.raises(httpx2.RemoteProtocolError):
            await running.chat(stream=True)
        [(_, _, _, tokens_out, estimated, errors)] = await used(running)
        assert (tokens_out, estimated, errors) == (2, 1, 1)
        assert (await running.json("api/usage"))["usage"][0]["last_error"] == "broken_stream"


async def test_nothing_said_is_kept(tmp_path: Path) -> None:
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        await running.chat(stream=True, messages=[{"role": "user", "content": "a word of mine"}])
        await running.settled()
    kept = b"".join(file.read_bytes() for file in (tmp_path / "data").iterdir())
    assert b"qwen3" in kept
    assert not re.search(b"a word of mine|Hel|ada-token|" + KEY.encode(), kept)


async def test_an_answer_that_the_end_of_the_service_cuts_off_is_not_taken_for_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hdsp_agent.hub.service._END_SECONDS", 0.1)

    async def endlessly(reply: Reply) -> None:
        await reply.begin()
        await reply.send(sse_events(piece("first")))
        await asyncio.Event().wait()

    async with raw_server(endlessly) as server, httpx2.AsyncClient(trust_env=False) as http:
        async with running_service(tmp_path, policies(server)) as running:
            body = {"model": "qwen3", "stream": True, "messages": []}
            login = {"Authorization": "Bearer ada-token"}
            answer = await http.send(
                http.build_request("POST", f"{running.url}openai/v1/chat/completions", headers=login, json=body),
                stream=True,
            )
            pieces = answer.aiter_raw()
            assert b"first" in await anext(pieces)
        with pytest.raises(httpx2.RemoteProtocolError):
            await anext(pieces)
