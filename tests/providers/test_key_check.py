"""A key is tried at its provider: taken, refused, or nobody there to say."""

from __future__ import annotations

import asyncio

import pytest

from hdsp_agent.config import ProviderSettings
from hdsp_agent.errors import InvalidSetting
from hdsp_agent.providers import _key_check, check_key
from hdsp_agent.providers._transport import Timeouts

from .._helpers.model_server import ModelServer, Reply, raw_server, refusal

LIST = refusal("200 OK", {"object": "list", "data": [{"id": "m"}]})
WRONG = refusal(
    "401 Unauthorized", {"error": {"message": "Incorrect API key provided: sk-…", "code": "invalid_api_key"}}
)
SCOPE = refusal("403 Forbidden", {"error": {"message": "Missing scopes: api.model.read"}})
NOTHING_ASKED = refusal("400 Bad Request", {"error": {"message": "you must provide a model parameter"}})
MISSING = refusal("404 Not Found", {"detail": "Not Found"})
BROKEN = refusal("503 Service Unavailable", {"error": {"message": "down"}})


def anthropic(url: str) -> ProviderSettings:
    return ProviderSettings.model_validate({"apiProvider": "anthropic", "apiKey": "sk-1", "anthropicBaseUrl": url})


def compatible(url: str, key: str = "sk-1") -> ProviderSettings:
    return ProviderSettings.model_validate({"apiProvider": "openai", "openAiApiKey": key, "openAiBaseUrl": f"{url}/v1"})


def openrouter(url: str) -> ProviderSettings:
    return ProviderSettings.model_validate(
        {"apiProvider": "openrouter", "openRouterApiKey": "sk-1", "openRouterBaseUrl": f"{url}/v1"}
    )


async def test_a_key_that_may_list_the_models_is_taken_at_one_request() -> None:
    async with raw_server(LIST) as server:
        assert (await check_key(anthropic(server.url))).verdict == "accepted"
    assert [(request.method, request.path) for request in server.requests] == [("GET", "/v1/models")]


async def test_a_wrong_key_is_refused() -> None:
    async with raw_server(WRONG) as server:
        check = await check_key(anthropic(server.url))
    assert (check.verdict, check.kind, len(server.requests)) == ("refused", "authentication", 1)


async def test_gemini_says_it_with_400() -> None:
    said = [
        {
            "error": {
                "code": 400,
                "message": "API key not valid. Please pass a valid API key.",
                "status": "INVALID_ARGUMENT",
            }
        }
    ]
    async with raw_server(refusal("400 Bad Request", said)) as server:
        settings = {"apiProvider": "gemini", "geminiApiKey": "k", "googleGeminiBaseUrl": server.url}
        assert (await check_key(ProviderSettings.model_validate(settings))).verdict == "refused"


async def test_a_key_that_may_not_list_is_tried_with_a_request_that_asks_for_nothing() -> None:
    async with raw_server(SCOPE, NOTHING_ASKED) as server:
        assert (await check_key(compatible(server.url))).verdict == "untold"
    assert server.requests[1].path == "/v1/chat/completions"
    assert server.requests[1].body == {}


async def test_a_key_that_may_do_nothing_is_refused() -> None:
    async with raw_server(SCOPE, SCOPE) as server:
        check = await check_key(compatible(server.url))
    assert (check.verdict, check.kind) == ("refused", "permission")


async def test_a_list_for_everybody_says_nothing_of_the_key() -> None:
    async with raw_server(LIST, WRONG) as server:
        assert (await check_key(openrouter(server.url))).verdict == "refused"
    assert [request.path for request in server.requests] == ["/v1/models", "/v1/key"]
    assert server.requests[1].headers["authorization"] == "Bearer sk-1"
    async with raw_server(LIST, refusal("200 OK", {"data": {"label": "mine"}})) as server:
        assert (await check_key(openrouter(server.url))).verdict == "accepted"
    async with raw_server(LIST, NOTHING_ASKED) as server:
        assert (await check_key(compatible(server.url))).verdict == "accepted"
    async with raw_server(LIST, BROKEN) as server:
        assert (await check_key(compatible(server.url))).verdict == "untold"


@pytest.mark.parametrize("answers", [(BROKEN,), (MISSING, MISSING), (b"",)])
async def test_a_provider_that_does_not_answer_as_one_is_not_reached(answers: tuple[bytes, ...]) -> None:
    async with raw_server(*answers) as server:
        assert (await check_key(compatible(server.url))).verdict == "unreachable"


async def test_a_page_that_is_no_model_server_is_not_taken_for_one() -> None:
    page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\nConnection: close\r\n\r\n<html>"
    async with raw_server(page, MISSING) as server:
        assert (await check_key(compatible(server.url))).verdict == "unreachable"


async def test_nobody_there() -> None:
    async with raw_server(b"") as server:
        pass
    check = await check_key(compatible(server.url))
    assert (check.verdict, check.kind) == ("unreachable", "network")


async def test_nobody_waits_for_a_server_that_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(_: Reply) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(_key_check, "_TIMEOUTS", Timeouts(connect=5, first=0.3, idle=0.3))
    async with raw_server(never) as server:
        check = await check_key(compatible(server.url))
    assert (check.verdict, check.kind) == ("unreachable", "timeout")


async def test_a_key_no_header_can_carry_is_refused_unsent() -> None:
    async with raw_server(LIST) as server:
        assert (await check_key(compatible(server.url, "열쇠"))).verdict == "refused"
    assert server.requests == []


async def test_what_cannot_be_asked_says_nothing_and_what_is_lacking_is_named() -> None:
    assert (await check_key(ProviderSettings.model_validate({"apiProvider": "bedrock"}))).verdict == "untold"
    with pytest.raises(InvalidSetting) as raised:
        await check_key(ProviderSettings.model_validate({"apiProvider": "anthropic"}))
    assert raised.value.field == "apiKey"


async def test_a_provider_as_it_really_speaks(model_server: ModelServer) -> None:
    model_server.answer()
    assert (await check_key(anthropic(model_server.url))).verdict == "accepted"
    assert (await check_key(compatible(model_server.url))).verdict == "accepted"
