"""Over REST too a key goes only to the address it was given for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tornado.httpclient import HTTPClientError

from hdsp_agent.comm.services import Services
from tests._helpers.jupyter_fetch import Fetch

from ..._helpers.model_server import RawServer, raw_server, refusal

API = ("hdsp-agent", "api")
KEY = "planted-key-0123456789"
LISTED = refusal("200 OK", {"object": "list", "data": [{"id": "m-of-today"}]})


async def sent(
    jp_fetch: Fetch, method: str, *path: str, body: object = None, **query: str
) -> tuple[int, dict[str, Any]]:
    try:
        text = None if body is None else json.dumps(body)
        answer = await jp_fetch(*API, *path, method=method, body=text, params=query)
    except HTTPClientError as error:
        assert error.response is not None
        return error.code, json.loads(error.response.body)
    return answer.code, json.loads(answer.body)


def heard(server: RawServer) -> str:
    return json.dumps([[request.path, request.headers, request.content.decode()] for request in server.requests])


async def test_the_second_address_never_gets_the_key_of_the_first(services: Services, jp_fetch: Fetch) -> None:
    async with raw_server(LISTED) as first, raw_server(LISTED) as second:
        await sent(jp_fetch, "PUT", "secrets", "storage", body={"kind": "file"})
        settings = {"apiProvider": "openai", "openAiBaseUrl": f"{first.url}/v1", "openAiModelId": "m"}
        await sent(jp_fetch, "PATCH", "profiles", "default", body={"settings": settings})
        assert (await sent(jp_fetch, "PUT", "secrets", "default", "openAiApiKey", body={"value": KEY}))[0] == 200
        status, _ = await sent(jp_fetch, "POST", "setup", "check", body={"provider": "openai", "profile": "default"})
        assert status == 200
        assert KEY in heard(first)
        # Another address is tried, then kept, then asked for its models; then a file brings it.
        elsewhere = {"provider": "openai", "profile": "default", "baseUrl": f"{second.url}/v1"}
        status, error = await sent(jp_fetch, "POST", "setup", "check", body=elsewhere)
        assert (status, error["code"], error["params"]["given_for"]) == (409, "key_for_other_address", first.url)
        change = {"settings": {"openAiBaseUrl": f"{second.url}/v1"}}
        assert (await sent(jp_fetch, "PATCH", "profiles", "default", body=change))[0] == 200
        status, error = await sent(
            jp_fetch, "POST", "setup", "check", body={"provider": "openai", "profile": "default"}
        )
        assert (status, error["code"]) == (409, "key_for_other_address")
        await sent(jp_fetch, "GET", "models", provider="openai")
        gift = {"apiProvider": "openai", "openAiBaseUrl": f"{second.url}/v1", "openAiModelId": "m"}
        document = {"providerProfiles": {"currentApiConfigName": "default", "apiConfigs": {"default": gift}}}
        assert (await sent(jp_fetch, "POST", "settings", "import", body=document))[0] == 200
        await sent(jp_fetch, "GET", "models", provider="openai")
        assert KEY not in heard(second)
        _, secrets = await sent(jp_fetch, "GET", "secrets")
        [shown] = [each for each in secrets["secrets"] if each["key"] == "openAiApiKey"]
        assert (shown["present"], shown["givenFor"]) == (True, first.url)
        # Typed again, it goes there.
        await sent(jp_fetch, "PUT", "secrets", "default", "openAiApiKey", body={"value": KEY})
        await sent(jp_fetch, "GET", "models", provider="openai")
        assert KEY in heard(second)


async def test_a_key_of_the_environment_is_tried_nowhere_else(
    services: Services, jp_fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(variable, KEY)
    async with raw_server(LISTED) as other:
        for provider in ("anthropic", "openai-native", "gemini"):
            body = {"provider": provider, "baseUrl": other.url}
            status, error = await sent(jp_fetch, "POST", "setup", "check", body=body)
            assert (status, error["code"]) == (409, "key_for_other_address"), provider
        assert other.requests == []
        # One that is typed for this address is tried there.
        body = {"provider": "anthropic", "baseUrl": other.url, "key": "typed-0123456789"}
        assert (await sent(jp_fetch, "POST", "setup", "check", body=body))[0] == 200
        assert "typed-0123456789" in heard(other)
        assert KEY not in heard(other)
