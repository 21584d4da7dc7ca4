"""Models, and a browser that does not wait for them."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING

import pytest

from hdsp_agent.comm.rest import _models
from hdsp_agent.comm.rest._rest_endpoint import RestHandler
from hdsp_agent.comm.services import Services
from tests._helpers.jupyter_fetch import Fetch

from ..._helpers.model_server import raw_server, refusal

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp


async def test_models_are_those_of_the_provider_asked_for(services: Services, jp_fetch: Fetch) -> None:
    answer = await jp_fetch("hdsp-agent", "api", "models", params={"provider": "anthropic"})
    assert any("claude" in model["id"] for model in json.loads(answer.body)["models"])


LIVE = refusal(
    "200 OK",
    {
        "data": [
            {"id": "claude-of-tomorrow", "display_name": "Claude of tomorrow", "max_input_tokens": 123_000},
            {"id": "claude-sonnet-4-5-20250929"},
        ],
        "has_more": False,
    },
)


async def models_of(jp_fetch: Fetch, **params: str) -> list[dict[str, object]]:
    answer = await jp_fetch("hdsp-agent", "api", "models", params=params)
    models: list[dict[str, object]] = json.loads(answer.body)["models"]
    return models


async def test_models_are_asked_of_the_provider_with_the_profiles_key_and_address(
    services: Services, jp_fetch: Fetch
) -> None:
    async with raw_server(LIVE) as server:
        profiles = services.config.profiles
        await services.config.use_storage("file")
        await profiles.update("default", {"apiProvider": "openrouter"})
        await profiles.create(
            "other", {"apiProvider": "anthropic", "apiKey": "sk-ant-rest", "anthropicBaseUrl": server.url}
        )
        models = await models_of(jp_fetch, provider="anthropic")
        assert server.requests[0].headers["authorization"] == "Bearer sk-ant-rest"
    assert [model["id"] for model in models] == ["claude-of-tomorrow", "claude-sonnet-4-5-20250929"]
    assert (models[0]["name"], models[0]["contextWindow"]) == ("Claude of tomorrow", 123_000)
    # What the provider does not tell is still known.
    assert models[1]["inputPrice"] == 3.0
    assert all(model["provider"] == "anthropic" for model in models)


async def test_a_provider_no_profile_uses_is_asked_at_the_current_profiles_address_for_it(
    services: Services, jp_fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-environment")
    async with raw_server(LIVE) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        await services.config.profiles.update("default", {"apiProvider": "ollama", "anthropicBaseUrl": server.url})
        models = await models_of(jp_fetch, provider="anthropic")
        assert server.requests[0].headers["authorization"] == "Bearer sk-ant-environment"
    assert models[0]["id"] == "claude-of-tomorrow"


async def test_the_current_profile_is_asked_for_when_none_is_named(services: Services, jp_fetch: Fetch) -> None:
    async with raw_server(refusal("200 OK", {"object": "list", "data": [{"id": "qwen3:8b"}]})) as server:
        settings = {"apiProvider": "ollama", "ollamaBaseUrl": server.url}
        await services.config.profiles.update("default", settings)
        assert [model["id"] for model in await models_of(jp_fetch)] == ["qwen3:8b"]


async def test_the_profile_that_is_named_is_asked_with(services: Services, jp_fetch: Fetch) -> None:
    async with raw_server(refusal("200 OK", {"object": "list", "data": [{"id": "qwen3:8b"}]})) as server:
        await services.config.profiles.update(
            "default", {"apiProvider": "openai", "openAiBaseUrl": "http://127.0.0.1:9"}
        )
        await services.config.profiles.create("other", {"apiProvider": "openai", "openAiBaseUrl": f"{server.url}/v1"})
        assert [model["id"] for model in await models_of(jp_fetch, provider="openai", profile="other")] == ["qwen3:8b"]
        assert [model["id"] for model in await models_of(jp_fetch, profile="other")] == ["qwen3:8b"]
        assert await models_of(jp_fetch, provider="openai") == []


@pytest.mark.parametrize("status", ["401 Unauthorized", "500 Internal Server Error", "200 OK"])
async def test_a_provider_that_tells_none_leaves_the_catalogue(
    services: Services, jp_fetch: Fetch, status: str
) -> None:
    async with raw_server(refusal(status, {"error": {"message": "no"}})) as server:
        await services.config.use_storage("file")
        await services.config.profiles.update(
            "default", {"apiProvider": "anthropic", "apiKey": "sk-ant-rest", "anthropicBaseUrl": server.url}
        )
        assert any("claude" in str(model["id"]) for model in await models_of(jp_fetch, provider="anthropic"))
        assert len(server.requests) == 1


async def test_a_local_program_that_does_not_run_has_no_models(services: Services, jp_fetch: Fetch) -> None:
    async with raw_server(b"") as server:
        pass
    await services.config.profiles.update("default", {"apiProvider": "ollama", "ollamaBaseUrl": server.url})
    assert await models_of(jp_fetch) == []


async def test_a_browser_that_leaves_before_its_answer_is_no_error(
    services: Services,
    http_server_client: object,
    jp_serverapp: ServerApp,
    jp_auth_header: dict[str, str],
    jp_base_url: str,
    jp_http_port: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    asked, said, left = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow_list(*_: object, **__: object) -> list[object]:
        asked.set()
        await asyncio.wait_for(left.wait(), 60)
        return []

    await services.config.profiles.update("default", {"apiProvider": "anthropic"})
    monkeypatch.setattr(_models, "list_models", slow_list)
    monkeypatch.setattr(RestHandler, "on_finish", lambda _handler: said.set())
    caplog.set_level(logging.DEBUG, logger=jp_serverapp.log.name)
    jp_serverapp.log.addHandler(caplog.handler)
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", jp_http_port)
        writer.write(
            f"GET {jp_base_url}hdsp-agent/api/models HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: {jp_auth_header['Authorization']}\r\n\r\n".encode()
        )
        await asyncio.wait_for(asked.wait(), 60)
        writer.transport.abort()
        await asyncio.sleep(0.05)
        left.set()
        await asyncio.wait_for(said.wait(), 60)
    finally:
        jp_serverapp.log.removeHandler(caplog.handler)
    assert "did not wait" in caplog.text
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
