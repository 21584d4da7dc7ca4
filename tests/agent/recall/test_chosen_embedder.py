"""What compares meanings follows the settings, and what leaves the machine is masked."""

from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.config import OperatorPolicy

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
            assert caplog.text.count("Searching by words alone") == 1
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


@pytest.mark.parametrize("written", ["{}", "{}/", "{}/v1", "{}/v1/", "{}/v1/embeddings"])
async def test_the_address_may_be_written_in_several_ways(tmp_path: Path, written: str) -> None:
    with embeddings_server() as server:
        async with past(tmp_path) as at:
            await choose(at, server, searchEndpointUrl=written.format(server.url.removesuffix("/v1")))
            assert (await at.search.try_meaning()).failure is None
            assert server.paths == ["/v1/embeddings"]
