"""What compares meanings follows the settings, and what leaves the machine is masked."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic import SecretStr

from hdsp_agent.config import ConfigChange, ContextProxy, OperatorPolicy
from hdsp_agent.config._secret_backends import BackendProblem, PlainFile
from hdsp_agent.recall import EndpointEmbedder

from ..._helpers.embeddings_server import EmbeddingsServer, embeddings_server
from .test_past_search import ME, Past, past

TWINS = {"automobile": "car", "vehicle": "car"}
TOKEN = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"


async def choose(at: Past, server: EmbeddingsServer, **more: str) -> None:
    endpoint = {"searchByMeaning": "endpoint", "searchEndpointUrl": server.url, "searchEndpointModel": "small"}
    await at.config.update({**endpoint, **more})


async def test_other_words_are_found_once_an_endpoint_is_named_and_no_longer_once_it_is_not(tmp_path: Path) -> None:
    with embeddings_server(TWINS) as server:
        async with past(tmp_path) as at:
            await at.conversation("my automobile", "lunch today")
            await at.search.feed.catch_up(ME)
            assert await at.found("car") == []
            assert server.texts == []
            await choose(at, server)
            await at.search.feed.catch_up(ME)
            assert (await at.found("car"))[0] == ("conversation", "my automobile")
            status = await at.search.embedder.status()
            assert (status.by, status.unread, status.failure) == ("endpoint", 0, None)
            await at.config.update({"searchByMeaning": "off"})
            server.texts.clear()
            assert await at.found("car") == []
            await at.conversation("a vehicle")
            await at.search.feed.catch_up(ME)
            assert server.texts == []


async def test_another_model_reads_everything_anew(tmp_path: Path) -> None:
    with embeddings_server(TWINS) as server:
        async with past(tmp_path) as at:
            await at.conversation("my automobile")
            await choose(at, server)
            await at.search.feed.catch_up(ME)
            await choose(at, server, searchEndpointModel="large")
            assert (await at.search.embedder.status()).unread == 1
            await at.search.feed.catch_up(ME)
            assert server.models == ["small", "large"]
            assert (await at.found("car"))[0] == ("conversation", "my automobile")


async def test_keys_are_masked_in_whatever_is_sent(tmp_path: Path) -> None:
    with embeddings_server() as server:
        async with past(tmp_path) as at:
            await at.conversation(f"clone it with {TOKEN} please")
            await choose(at, server)
            await at.search.feed.catch_up(ME)
            await at.search.search(ME, f"where did I use {TOKEN}?")
            assert len(server.texts) == 2
            assert TOKEN not in " ".join(server.texts)
            assert "clone it with" in server.texts[0]


async def test_an_endpoint_that_fails_is_told_once_and_words_are_searched(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with embeddings_server(TWINS) as server:
        async with past(tmp_path) as at:
            await at.conversation("my automobile")
            server.status = 401
            await choose(at, server)
            await at.search.feed.catch_up(ME)
            for _ in range(3):
                assert await at.found("automobile") == [("conversation", "my automobile")]
            assert len(server.models) == 1, "nobody who searches waits for it again"
            assert caplog.text.count("Searching by words only") == 1
            failure = (await at.search.embedder.status()).failure
            assert failure is not None and failure.code == "embeddings_unavailable"
            assert failure.params == {"url": f"{server.url}/embeddings", "reason": "HTTP 401"}
            server.status = 200
            assert (await at.search.try_meaning()).failure is None
            await at.search.feed.catch_up(ME)
            assert (await at.found("car"))[0] == ("conversation", "my automobile")


async def test_what_is_missing_is_said(tmp_path: Path) -> None:
    async with past(tmp_path) as at:
        await at.config.update({"searchByMeaning": "endpoint"})
        for missing, value in (("url", "http://127.0.0.1:9/v1"), ("model", "small")):
            failure = (await at.search.embedder.status()).failure
            assert failure is not None and failure.params == {"missing": missing}
            await at.config.update({f"searchEndpoint{missing.title()}": value})
        assert (await at.search.embedder.status()).failure is None


async def test_a_key_for_another_address_is_not_sent(tmp_path: Path) -> None:
    with embeddings_server() as first, embeddings_server() as second:
        async with past(tmp_path) as at:
            await at.config.use_storage("file")
            await choose(at, first, searchEndpointApiKey="planted-key-0123456789")
            assert (await at.search.try_meaning()).failure is None
            assert first.keys == ["Bearer planted-key-0123456789"]
            await choose(at, second)
            failure = (await at.search.try_meaning()).failure
            assert failure is not None and failure.code == "key_for_other_address"
            assert second.texts == []


async def test_neither_texts_nor_the_key_follow_a_redirect(tmp_path: Path) -> None:
    with embeddings_server() as first, embeddings_server() as second:
        async with past(tmp_path) as at:
            first.status, first.location = 307, f"{second.url}/embeddings"
            await choose(at, first)
            failure = (await at.search.try_meaning()).failure
            assert failure is not None and failure.params["reason"] == "HTTP 307"
            assert second.texts == []


async def test_an_endpoint_that_the_operator_forbids_later_is_not_used(tmp_path: Path) -> None:
    with embeddings_server() as server:
        async with past(tmp_path) as at:
            await choose(at, server)
        async with past(tmp_path, OperatorPolicy(allowed_providers=("anthropic",)), off=False) as at:
            assert at.config.settings.search_by_meaning == "endpoint"
            failure = (await at.search.try_meaning()).failure
            assert failure is not None and failure.code == "forbidden_by_operator"
        assert server.texts == []


@pytest.mark.in_short(3)
@pytest.mark.parametrize(
    "written, asked",
    [
        ("", "/v1/embeddings"),
        ("/", "/v1/embeddings"),
        ("/v1", "/v1/embeddings"),
        ("/v1/", "/v1/embeddings"),
        ("/v1/embeddings", "/v1/embeddings"),
        ("/embeddings", "/embeddings"),
        ("/embeddings/", "/embeddings/"),
        ("/openai/small?api-version=1", "/openai/small/embeddings?api-version=1"),
        ("/small/embeddings?api-version=1", "/small/embeddings?api-version=1"),
        ("?api-version=1", "/v1/embeddings?api-version=1"),
    ],
)
async def test_the_address_may_be_written_in_several_ways(tmp_path: Path, written: str, asked: str) -> None:
    with embeddings_server() as server:
        async with past(tmp_path) as at:
            await choose(at, server, searchEndpointUrl=server.url.removesuffix("/v1") + written)
            assert (await at.search.try_meaning()).failure is None
            assert server.paths == [asked]


async def test_a_key_that_cannot_be_read_is_asked_for_twice_and_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with embeddings_server(TWINS) as server:
        async with past(tmp_path) as at:
            await at.config.use_storage("file")
            await at.conversation("my automobile")
            await at.search.feed.catch_up(ME)
            await choose(at, server, searchEndpointApiKey="planted-key-0123456789")
            asked: list[str] = []

            def get(_: PlainFile, account: str) -> str | None:
                asked.append(account)
                assert len(asked) < 20, "it is asked for without end"
                raise BackendProblem("keyring_failed", "It is broken.")

            told: list[ConfigChange] = []
            hurried: list[None] = []
            at.config.subscribe(told.append)
            at.search.embedder.on_changed = lambda: hurried.append(None)
            with monkeypatch.context() as broken:
                broken.setattr(PlainFile, "get", get)
                for _ in range(5):
                    assert await at.found("automobile") == [("conversation", "my automobile")]
                failure = (await at.search.embedder.status()).failure
            assert failure is not None and failure.code == "secret_storage_unavailable"
            # The second time, because how the storage stands was different after the first.
            assert len(asked) <= 2
            assert told == [ConfigChange(secrets=True)] and hurried == []
            assert (await at.search.try_meaning()).failure is None
            assert server.keys == ["Bearer planted-key-0123456789"]


async def test_another_key_begins_a_round_and_a_key_for_something_else_does_not(tmp_path: Path) -> None:
    with embeddings_server() as server:
        async with past(tmp_path) as at:
            await at.config.use_storage("file")
            await choose(at, server)
            await at.search.embedder.apply()
            hurried: list[None] = []
            at.search.embedder.on_changed = lambda: hurried.append(None)
            await at.config.set_secret("default", "apiKey", SecretStr("sk-ant-planted-0123456789"))
            assert hurried == []
            await at.config.set_secret("settings", "searchEndpointApiKey", SecretStr("planted-key-0123456789"))
            assert hurried != []
            await at.search.try_meaning()
            assert server.keys == ["Bearer planted-key-0123456789"]


class SlowKey:
    """The key is read when the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_read = asyncio.Event()
        self.may_end = asyncio.Event()

        async def setting_key(_: ContextProxy, key: str) -> SecretStr | None:
            self.is_read.set()
            await self.may_end.wait()
            return None

        monkeypatch.setattr(ContextProxy, "setting_key", setting_key)


async def test_a_choice_that_was_cut_off_is_made_the_next_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with embeddings_server() as server:
        async with past(tmp_path) as at:
            await at.conversation("my automobile")
            await at.search.feed.catch_up(ME)
            slow = SlowKey(monkeypatch)
            await choose(at, server)
            cut_off = asyncio.create_task(at.search.embedder.apply())
            await slow.is_read.wait()
            cut_off.cancel()
            await asyncio.gather(cut_off, return_exceptions=True)
            slow.may_end.set()
            assert (await at.search.embedder.status()).unread == 1


async def test_what_is_chosen_while_the_key_is_read_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with embeddings_server() as server:
        async with past(tmp_path) as at:
            await at.conversation("my automobile")
            slow = SlowKey(monkeypatch)
            await choose(at, server)
            round_under_way = asyncio.create_task(at.search.feed.catch_up(ME))
            await slow.is_read.wait()
            await at.config.update({"searchByMeaning": "off"})
            slow.may_end.set()
            await round_under_way
            assert server.texts == []


async def test_nothing_more_is_sent_once_another_choice_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with embeddings_server() as server:
        async with past(tmp_path) as at:
            await at.conversation(*(f"text {number}" for number in range(60)))
            await choose(at, server)
            loop, send = asyncio.get_running_loop(), EndpointEmbedder.embed

            def embed(self: EndpointEmbedder, texts: Sequence[str]) -> object:
                made = send(self, texts)
                asyncio.run_coroutine_threadsafe(at.config.update({"searchByMeaning": "off"}), loop).result()
                return made

            monkeypatch.setattr(EndpointEmbedder, "embed", embed)
            await at.search.feed.catch_up(ME)
            assert len(server.paths) == 1


async def test_without_numpy_the_status_says_so_and_words_are_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    with embeddings_server() as server:
        async with past(tmp_path) as at:
            await at.conversation("my automobile")
            await choose(at, server)
            await at.search.feed.catch_up(ME)
            assert await at.found("automobile") == [("conversation", "my automobile")]
            failure = (await at.search.try_meaning()).failure
            assert failure is not None and failure.params == {"missing": "numpy"}
            assert "pip install numpy" in failure.message
            assert server.texts == []


async def test_what_is_unread_is_read_soon_after_a_try_a_search_and_a_look_at_the_status(tmp_path: Path) -> None:
    with embeddings_server() as server:
        async with past(tmp_path) as at:
            server.status = 500
            await at.conversation("my automobile")
            await choose(at, server)
            await at.search.feed.catch_up(ME)
            hurried: list[None] = []
            at.search.embedder.on_changed = lambda: hurried.append(None)
            await at.search.meaning()
            await at.search.try_meaning()
            assert hurried == [], "it would fail again"
            server.status = 200
            await at.search.try_meaning()
            assert len(hurried) == 1
            await at.search.feed.catch_up(ME)
            await at.search.try_meaning()
            await at.search.meaning()
            await at.found("automobile")
            assert len(hurried) == 1, "everything has been read"
            for _ in range(3):
                at.search.feed.touched(await at.conversation("another one"))
                await at.found("another one")
                await at.search.meaning()
            assert len(hurried) == 2, "once in a while"
