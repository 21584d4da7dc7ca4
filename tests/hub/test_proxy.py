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

from hdsp_agent.hub.model_requests import read_request, reservation_of
from hdsp_agent.hub.usage_reading import AnswerReader
from hdsp_agent.providers import KnownModel

from .._helpers.model_server import RawServer, Reply, raw_server, refusal, sse, sse_events
from .._helpers.timing import until
from ._helpers.policy_files import KEY
from ._helpers.running import RunningService, running_service


def policies(openai: RawServer, anthropic: RawServer | None = None, more: str = "") -> str:
    return f"""
        ask: "Ask the course team."
        providers:
          far:
            protocol: openai
            url: {openai.url}/v1
            key_env: A_KEY
            models:
              qwen3: {{input_price: 1, output_price: 10, context_window: 32768}}
              other: {{input_price: 1, output_price: 10}}
          claude:
            protocol: anthropic
            url: {(anthropic or openai).url}
            key_env: A_KEY
            models:
              claude-sonnet-5-5:
        default:
          models: [qwen3, "claude-*"]
          {more}
    """


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", KEY)


def piece(text: str) -> dict[str, object]:
    return {"id": "1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": text}}]}


USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18, "prompt_tokens_details": {"cached_tokens": 1}}
END = {"id": "1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
TOLD = {"id": "1", "object": "chat.completion.chunk", "choices": [], "usage": USAGE}
CHAT = sse(piece("Hel"), piece("lo"), END, TOLD, "[DONE]")
MESSAGES = sse(
    {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": [],
     "model": "claude-sonnet-5-5", "usage": {"input_tokens": 20, "cache_read_input_tokens": 5, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
    named=True,
)  # fmt: skip
RESPONSES = sse(
    {"type": "response.output_text.delta", "delta": "Hi", "item_id": "i", "output_index": 0, "content_index": 0},
    {
        "type": "response.completed",
        "response": {
            "id": "r",
            "usage": {"input_tokens": 30, "output_tokens": 4, "input_tokens_details": {"cached_tokens": 10}},
        },
    },
    named=True,
)


async def used(running: RunningService, token: str = "ada-token") -> list[tuple[object, ...]]:
    await running.settled()
    usage = await running.json("api/usage", token)
    return [
        (row["model"], row["tokens_in"], row["tokens_cached"], row["tokens_out"], row["estimated"], row["errors"])
        for row in usage["usage"]
    ]


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


@pytest.mark.parametrize(
    ("kind", "opening", "counted"),
    [
        ("chat", sse_events(piece("A text of forty characters, or nearly so.")), ("qwen3", 0, 11)),
        ("messages", MESSAGES.partition(b"\r\n\r\n")[2].partition(b"event: content_block_stop")[0],
         ("claude-sonnet-5-5", 5, 1)),
    ],
)  # fmt: skip
async def test_the_provider_is_stopped_when_the_client_is_gone(
    tmp_path: Path, kind: str, opening: bytes, counted: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hdsp_agent.hub.model_proxy._HIDDEN_TOKENS_PER_SECOND", 0)

    async def endlessly(reply: Reply) -> None:
        await reply.begin()
        await reply.send(opening)
        await asyncio.Event().wait()

    async with raw_server(endlessly) as server, running_service(tmp_path, policies(server)) as running:
        address = (
            f"{running.url}openai/v1/chat/completions" if kind == "chat" else f"{running.url}anthropic/v1/messages"
        )
        model = counted[0]
        body = {"model": model, "stream": True, "max_tokens": 5000, "messages": [{"role": "user", "content": "Hello"}]}
        async with running.http.stream(
            "POST", address, headers={"Authorization": "Bearer ada-token"}, json=body
        ) as answer:
            seen = b""
            async for data in answer.aiter_raw():
                seen += data
                if len(seen) >= len(opening):
                    break
        await server.closed.wait()
        # What was streamed, not what was reserved; and the input, as it was told or by its length.
        [(told, tokens_in, cached, tokens_out, estimated, errors)] = await used(running)
        assert (told, cached, tokens_out, estimated, errors) == (*counted, 1, 0)
        assert tokens_in == 20 if kind == "messages" else isinstance(tokens_in, int) and 0 < tokens_in < 10
        assert (await running.json("api/usage"))["usage"][0]["last_error"] is None


async def leave_after(running: RunningService, seen: bytes, **more: object) -> None:
    """Ask, and close the connection when this has come."""
    body = {"model": "qwen3", "stream": True, "max_tokens": 50, "messages": [], **more}
    login, address = {"Authorization": "Bearer ada-token"}, f"{running.url}openai/v1/chat/completions"
    async with running.http.stream("POST", address, headers=login, json=body) as answer:
        told = b""
        async for data in answer.aiter_raw():
            told += data
            if seen in told:
                break


async def test_what_a_model_may_have_thought_unseen_counts_as_far_as_it_was_reserved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hdsp_agent.hub.model_proxy._PAUSE_SECONDS", 0)
    monkeypatch.setattr("hdsp_agent.hub.model_proxy._HIDDEN_TOKENS_PER_SECOND", 10**9)

    async def endlessly(reply: Reply) -> None:
        await reply.begin()
        await reply.send(sse_events(piece("Hm.")))
        await asyncio.Event().wait()

    async with raw_server(endlessly) as server, running_service(tmp_path, policies(server)) as running:
        await leave_after(running, b"Hm.", n=2)
        await server.closed.wait()
        [(_, _, _, tokens_out, estimated, errors)] = await used(running)
        assert (tokens_out, estimated, errors) == (100, 1, 0)


async def test_a_client_that_closes_at_the_end_leaves_nothing_early(tmp_path: Path) -> None:
    async def lingering(reply: Reply) -> None:
        await reply.begin()
        await reply.send(sse_events(piece("Hello"), END, TOLD, "[DONE]"))
        await asyncio.Event().wait()

    async with raw_server(lingering) as server, running_service(tmp_path, policies(server)) as running:
        await leave_after(running, b"[DONE]")
        await server.closed.wait()
        assert await used(running) == [("qwen3", 10, 1, 7, 0, 0)]


async def test_an_answer_that_would_come_whole_is_stopped_and_estimated(tmp_path: Path) -> None:
    asked = asyncio.Event()

    async def silent(reply: Reply) -> None:
        asked.set()
        await asyncio.Event().wait()

    async with raw_server(silent) as server, running_service(tmp_path, policies(server)) as running:
        leaving = asyncio.create_task(running.chat())
        await asked.wait()
        leaving.cancel()
        await asyncio.wait([leaving])
        await server.closed.wait()
        [(_, tokens_in, _, tokens_out, estimated, errors)] = await used(running)
        assert isinstance(tokens_in, int) and 0 < tokens_in < 10
        assert isinstance(tokens_out, int) and 0 <= tokens_out <= 100 and (estimated, errors) == (1, 0)


async def test_a_client_that_does_not_read_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hdsp_agent.hub.model_proxy._UNREAD_SECONDS", 0.05)
    stopped = asyncio.Event()

    async def endlessly(reply: Reply) -> None:
        await reply.begin()
        try:
            while True:
                await reply.send(sse_events(piece("x" * 100_000)))
        except ConnectionError:
            stopped.set()

    async with raw_server(endlessly) as server, running_service(tmp_path, policies(server)) as running:
        body = {"model": "qwen3", "stream": True, "messages": []}
        login = {"Authorization": "Bearer ada-token"}
        address = f"{running.url}openai/v1/chat/completions"
        async with running.http.stream("POST", address, headers=login, json=body):
            await stopped.wait()
            [(*_, estimated, errors)] = await used(running)
            assert (estimated, errors) == (1, 0)


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


@pytest.mark.parametrize(
    ("token", "status", "told"),
    [
        ("", 401, "JupyterHub does not know this token"),
        ("nobodys-token", 401, "JupyterHub does not know this token"),
        ("two words", 401, "JupyterHub does not know this token"),
        ("weak-token", 403, "may not use models"),
        ("service-token", 403, "may not use models"),
        ("eves-token", 403, "may not use models"),
    ],
)
async def test_only_people_with_the_scope_come_through(tmp_path: Path, token: str, status: int, told: str) -> None:
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        running.hub.add("weak-token", "ada", scopes=("access:servers!user=ada",))
        running.hub.add("service-token", "grader", kind="service")
        running.hub.add("eves-token", "eve", scopes=("custom:hdsp-agent:use!user=ada",))
        answer = await running.chat(token)
        assert answer.status_code == status and told in answer.json()["error"]["message"]
        assert answer.headers["x-should-retry"] == "false"
        assert server.requests == []


@pytest.mark.parametrize(("path", "told"), [("openai/v1/responses", b"401"), ("health", b"400")])
async def test_no_large_body_is_read_of_somebody_unknown(tmp_path: Path, path: str, told: bytes) -> None:
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        address = httpx2.URL(running.url)
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(f"POST {address.path}{path} HTTP/1.1\r\nHost: hub\r\nContent-Length: 60000000\r\n\r\n".encode())
        assert told in await reader.readline()
        writer.close()


async def test_large_requests_wait_for_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hdsp_agent.hub.model_proxy._MOST_BODIES", 1_000)
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        large = await running.chat(stream=True, messages=[{"role": "user", "content": "x" * 1_000}])
        assert large.status_code == 503 and large.headers["x-should-retry"] == "true"
        # What has ended takes no room.
        assert [(await running.chat(stream=True)).status_code for _ in range(20)] == [200] * 20
        # Nor does one whose client goes in the middle of its body.
        address = httpx2.URL(running.url)
        _, writer = await asyncio.open_connection(address.host, address.port)
        head = f"POST {address.path}openai/v1/responses HTTP/1.1\r\nHost: hub\r\nContent-Length: 900\r\n"
        writer.write(f"{head}Authorization: Bearer ada-token\r\n\r\n{{".encode())
        assert await becomes(900, running)
        writer.close()
        assert await becomes(0, running)


async def becomes(size: int, running: RunningService) -> bool:
    """Whether the bodies take so much room soon."""
    for _ in range(1200):
        if running.service.body_bytes == size:
            return True
        await asyncio.sleep(0.05)
    return False


async def test_a_scope_for_ones_own_server_is_enough(tmp_path: Path) -> None:
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        running.hub.add("server-token", "ada", scopes=("custom:hdsp-agent:use!server=ada/",))
        assert (await running.chat("server-token", stream=True)).status_code == 200


async def test_the_hub_is_asked_once_for_many_requests(tmp_path: Path) -> None:
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        await asyncio.gather(*(running.chat(stream=True) for _ in range(10)))
        assert running.hub.asked == ["ada-token"]


async def test_a_hub_that_does_not_answer_is_told(tmp_path: Path) -> None:
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        running.service.people._url = "http://127.0.0.1:1/hub/api/user"
        answer = await running.chat(stream=True)
        assert answer.status_code == 503 and "JupyterHub could not be asked" in answer.json()["error"]["message"]
        assert answer.headers["x-should-retry"] == "true" and server.requests == []


async def test_policies_that_change_under_way_leave_a_request_as_it_was(tmp_path: Path) -> None:
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        running.hub.delay = asyncio.Event()
        asked = asyncio.create_task(running.chat(stream=True))
        while not running.hub.asked:
            await asyncio.wait([asked], timeout=0.05)
        running.policies.write_text(running.policies.read_text().replace("qwen3", "qwen4"))
        await running.service.policies.read_again()
        running.hub.delay.set()
        assert (await asked).status_code == 403
        assert (await running.chat(model="qwen4", stream=True)).status_code == 200


async def test_other_models_are_refused_with_those_that_are_allowed(tmp_path: Path) -> None:
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        for model in ("other", "unheard-of", "claude-sonnet-5-5"):
            error = (await running.chat(model=model)).json()["error"]
            assert error["message"] == (
                f"You may not use the model {model} here. Allowed: qwen3, claude-sonnet-5-5. Ask the course team."
            )
            assert error["code"] == "model_not_allowed"
        listed = [model.id async for model in running.openai().models.list()]
        assert listed == ["qwen3"]
        assert [model.id async for model in running.anthropic().models.list()] == ["claude-sonnet-5-5"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"{", "The body is not JSON."),
        (b"[" * 100_000, "The body is not JSON."),
        (b"[]", "The body is not a JSON object."),
        (b"{}", "The field model is missing."),
        (b'{"model": "qwen3", "background": true}', "Leave out the field background."),
        (b'{"model": "qwen3", "service_tier": "priority"}', "Leave out the field service_tier."),
        (b'{"model": "qwen3", "service_tier": ["x"]}', "Leave out the field service_tier."),
        (b'{"model": "qwen3", "speed": "fast"}', "Leave out the field speed."),
        (b'{"model": "qwen3", "store": true}', "Leave out the field store."),
        (b'{"model": "qwen3", "previous_response_id": "r"}', "Leave out the field previous_response_id."),
        (b'{"model": "qwen3", "conversation": "c"}', "Leave out the field conversation."),
        (b'{"model": "qwen3", "prompt": {"id": "p"}}', "Leave out the field prompt."),
        (b'{"model": "qwen3", "Background": true}', "Write the field Background in small letters."),
        (b'{"model": "qwen3", "n": 1000}', "The field n must be a number from 1 to 128."),
        (b'{"model": "qwen3", "temperature": 1e999}', "The body is not JSON."),
    ],
)
async def test_what_cannot_be_counted_is_refused(tmp_path: Path, body: bytes, told: str) -> None:
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        answer = await running.http.post(
            f"{running.url}openai/v1/responses", headers={"Authorization": "Bearer ada-token"}, content=body
        )
        assert answer.status_code == 400 and told in answer.json()["error"]["message"]


async def test_other_addresses_and_methods_lead_nowhere(tmp_path: Path) -> None:
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        for path in (
            "openai/v1/files",
            "openai/v1/responses/resp_1",
            "anthropic/v1/messages/batches",
            "static/..%2fpages.py",
            "api/config/",
        ):
            assert (await running.get(path)).status_code == 404, path
        assert (await running.get("openai/v1/responses")).status_code == 405
        assert (await running.get("health", "")).json() == {"status": "ok"}
        assert server.requests == []


async def test_nothing_said_is_kept(tmp_path: Path) -> None:
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        await running.chat(stream=True, messages=[{"role": "user", "content": "a word of mine"}])
        await running.settled()
    kept = b"".join(file.read_bytes() for file in (tmp_path / "data").iterdir())
    assert b"qwen3" in kept
    assert not re.search(b"a word of mine|Hel|ada-token|" + KEY.encode(), kept)


async def test_a_client_that_leaves_before_anything_is_sent_costs_nothing(tmp_path: Path) -> None:
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        await running.chat(stream=True)
        await running.settled()
        # The hub takes its time with a new token, and the client does not wait.
        running.hub.add("slow-token", "ada", "students")
        running.hub.delay = asyncio.Event()
        asked = asyncio.create_task(running.chat("slow-token", stream=True))
        while "slow-token" not in running.hub.asked:
            await asyncio.wait([asked], timeout=0.05)
        asked.cancel()
        await asyncio.wait([asked])
        running.hub.delay.set()

        # Once it is recorded, its end follows.
        async def is_recorded() -> bool:
            [row] = (await running.json("api/usage"))["usage"]
            return bool(row["requests"] == 2 and row["estimated"] == 0)

        await until(is_recorded)
        assert await used(running) == [("qwen3", 10, 1, 7, 0, 0)] and len(server.requests) == 1


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


def test_events_are_told_apart_however_they_are_cut() -> None:
    call = read_request("chat", b'{"model": "qwen3", "stream": true}')
    stream = sse_events(piece("Hel"), piece("lo"), END, TOLD, "[DONE]").replace(b"\n\n", b"\r\n\r\n")
    for size in range(1, 60):
        reader = AnswerReader(call)
        passed = b"".join(reader.feed(stream[at : at + size]) for at in range(0, len(stream), size)) + reader.finish()
        assert passed == sse_events(piece("Hel"), piece("lo"), END, "[DONE]").replace(b"\n\n", b"\r\n\r\n")
        assert reader.usage is not None and (reader.usage.input, reader.usage.output) == (10, 7)


def test_what_responses_say_again_counts_once() -> None:
    call, text = read_request("responses", b'{"model": "qwen3", "stream": true}'), "x" * 400
    events = sse_events(
        {"type": "response.output_text.delta", "delta": text},
        {"type": "response.output_text.done", "text": text},
        {"type": "response.content_part.done", "part": {"type": "output_text", "text": text}},
        {"type": "response.output_item.done", "item": {"content": [{"type": "output_text", "text": text}]}},
    )
    for size in (10, len(events)):
        reader = AnswerReader(call)
        for at in range(0, len(events), size):
            reader.feed(events[at : at + size])
        assert reader.estimate.output == 100


def test_halves_of_characters_and_numbers_beyond_all_measure_do_no_harm() -> None:
    body = b'{"model": "m", "input": "\\ud83d", "max_output_tokens": 99999999999999999999999999}'
    call = read_request("responses", body)
    assert (call.body, call.max_output) == (body, 99999999999999999999999999)


@pytest.mark.parametrize(
    ("window", "most", "asked", "reserved"),
    [
        (32_768, None, 10**8, 32_768),
        (200_000, 64_000, 10**8, 64_000),
        (None, None, 10**8, 8_192),
        (32_768, None, 50, 50),
    ],
)
def test_no_more_is_reserved_than_a_model_can_give(
    window: int | None, most: int | None, asked: int, reserved: int
) -> None:
    call = read_request("chat", json.dumps({"model": "m", "max_tokens": asked, "n": 2, "messages": []}).encode())
    model = KnownModel(id="m", provider="far", context_window=window, max_output=most)
    assert reservation_of(call, model).tokens == call.input_tokens + 2 * reserved


def test_a_limit_that_another_protocol_reads_changes_nothing() -> None:
    limits = b'"max_tokens": 5, "max_completion_tokens": 70, "max_output_tokens": 600}'
    read = [read_request(kind, b'{"model": "m", ' + limits).max_output for kind in ("chat", "responses", "messages")]
    assert read == [70, 600, 5]


def test_of_a_name_that_stands_twice_the_provider_reads_what_was_read_here() -> None:
    call = read_request("messages", b'{"model": "dear", "model": "m", "max_tokens": 9, "max_tokens": 5}')
    assert (call.model, call.max_output, call.body) == ("m", 5, b'{"model": "m", "max_tokens": 5}')


def test_the_length_of_a_request_is_reckoned_without_what_is_in_files() -> None:
    picture = "data:image/png;base64," + "A" * 400_000
    parts = [{"type": "text", "text": "안녕" * 100}, {"type": "image_url", "image_url": {"url": picture}}]
    call = read_request("chat", json.dumps({"model": "m", "messages": [{"role": "user", "content": parts}]}).encode())
    assert 150 + 1_844 < call.input_tokens < 150 + 1_844 + 50


@pytest.mark.parametrize(
    "content",
    [
        "x" * 400_000,
        "data:image/png;base64," + "A" * 400_000,
        [{"type": "text", "text": "data:text/plain," + "A" * 400_000}],
        [{"type": "document", "source": {"type": "text", "data": "A" * 400_000}}],
        [{"type": "tool_use", "input": {"url": "data:image/png;base64," + "A" * 400_000}}],
    ],
)
def test_text_counts_by_its_length_whatever_it_looks_like(content: object) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": content}]}
    assert read_request("messages", json.dumps(body).encode()).input_tokens > 100_000


def test_files_count_by_their_size() -> None:
    source = {"type": "base64", "media_type": "application/pdf", "data": "A" * 400_000}
    body = {"model": "m", "messages": [{"role": "user", "content": [{"type": "document", "source": source}]}]}
    assert 10_000 < read_request("messages", json.dumps(body).encode()).input_tokens < 10_050
