"""A server that sends requests on to another address gets no key there."""

from __future__ import annotations

from contextlib import suppress

import pytest
from pydantic import SecretStr

from hdsp_agent.config import ProviderSettings
from hdsp_agent.providers import ModelError, ModelRequest, check_key, list_models, open_client

from .._helpers.model_server import RawServer, raw_server, refusal

KEY = "planted-key-0123456789"
LISTED = refusal("200 OK", {"object": "list", "data": [{"id": "m-of-today"}]})


def settings_at(server: RawServer, provider: str) -> ProviderSettings:
    fields: dict[str, dict[str, object]] = {
        "anthropic": {"api_key": SecretStr(KEY), "anthropic_base_url": server.url, "api_model_id": "m"},
        "openai-native": {
            "open_ai_native_api_key": SecretStr(KEY),
            "open_ai_native_base_url": f"{server.url}/v1",
            "api_model_id": "m",
        },
        "openai": {
            "open_ai_api_key": SecretStr(KEY),
            "open_ai_base_url": f"{server.url}/v1",
            "open_ai_model_id": "m",
            "open_ai_secret_headers": SecretStr(f"X-Gate: {KEY}"),
        },
        "azure": {
            "open_ai_api_key": SecretStr(KEY),
            "open_ai_base_url": f"{server.url}/openai",
            "open_ai_model_id": "m",
            "open_ai_use_azure": True,
        },
    }
    return ProviderSettings.model_validate(
        {"api_provider": "openai" if provider == "azure" else provider, **fields[provider]}
    )


def onward(status: str, target: str) -> bytes:
    return f"HTTP/1.1 {status}\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n".encode()


@pytest.mark.parametrize("provider", ["anthropic", "openai-native", "openai", "azure"])
@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"])
async def test_no_request_goes_on_to_another_address(provider: str, status: str) -> None:
    async with raw_server(LISTED) as other, raw_server(onward(status, f"{other.url}/v1/models")) as first:
        settings = settings_at(first, provider)
        # Of some providers a catalogue knows models too.
        with suppress(ModelError):
            await list_models(settings)
        assert (await check_key(settings)).verdict != "accepted"
        client = await open_client(settings)
        with pytest.raises(ModelError, match="redirects to another address"):
            async for _ in client.stream(ModelRequest(system="", messages=(), tools=())):
                pass
        await client.close()
        assert other.requests == []
        assert len(first.requests) >= 3


async def test_a_redirect_within_the_address_is_followed() -> None:
    async with raw_server(onward("307 Temporary Redirect", "/v1/models/"), LISTED) as server:
        assert [model.id for model in await list_models(settings_at(server, "openai"))] == ["m-of-today"]
        assert [request.path for request in server.requests] == ["/v1/models", "/v1/models/"]
