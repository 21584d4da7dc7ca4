"""Clients that leave before an answer has ended: the provider is stopped, and what was used counts."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from .._helpers.model_server import Reply, raw_server, sse_events
from .._helpers.timing import until
from ._helpers.policy_files import KEY
from ._helpers.proxied_models import CHAT, END, MESSAGES, TOLD, piece, policies, used
from ._helpers.running import RunningService, running_service


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", KEY)


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
