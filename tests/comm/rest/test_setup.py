"""The first run: keys in the environment and servers on this machine are found, and become a profile in one step."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from tornado.httpclient import HTTPClientError

from hdsp_agent.comm import setup_candidates
from hdsp_agent.comm.services import Services
from hdsp_agent.comm.setup_candidates import LOCAL_SERVERS as EVERY_SERVER
from hdsp_agent.comm.setup_candidates import LocalServer, find_candidates, is_ready, use_candidate
from hdsp_agent.config import ContextProxy, OperatorPolicy, SecretStore, providers
from hdsp_agent.config._provider_settings import secret_environment
from hdsp_agent.errors import NotFound
from tests._helpers.jupyter_fetch import Fetch

from ..._helpers.model_server import raw_server, refusal

API = ("hdsp-agent", "api", "setup")


@pytest.fixture(autouse=True)
def nothing_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """No keys and no servers but those of the test."""
    for variable in secret_environment():
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(setup_candidates, "LOCAL_SERVERS", ())
    # They are of this process, which may be busy.
    monkeypatch.setattr(setup_candidates, "_CONNECT_SECONDS", 60.0)
    monkeypatch.setattr(setup_candidates, "_ANSWER_SECONDS", 60.0)


async def candidates(jp_fetch: Fetch) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads((await jp_fetch(*API, "candidates")).body)
    return answer


async def use(jp_fetch: Fetch, **body: str) -> tuple[int, dict[str, Any]]:
    try:
        answer = await jp_fetch(*API, "use", method="POST", body=json.dumps(body))
    except HTTPClientError as error:
        assert error.response is not None
        return error.code, json.loads(error.response.body)
    return answer.code, json.loads(answer.body)


def models(*ids: str, owner: str = "library") -> bytes:
    return refusal("200 OK", {"object": "list", "data": [{"id": id, "owned_by": owner} for id in ids]})


async def test_nothing_is_there(services: Services, jp_fetch: Fetch) -> None:
    assert await candidates(jp_fetch) == {"ready": False, "candidates": [], "refused": []}
    assert (await use(jp_fetch, id="environment:anthropic"))[0] == 404


async def test_a_key_in_the_environment_is_named_never_told_and_used_as_it_is(
    services: Services, jp_fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-treasure")
    monkeypatch.setenv("GEMINI_API_KEY", "  ")
    raw = (await jp_fetch(*API, "candidates")).body.decode()
    assert "treasure" not in raw
    assert json.loads(raw) == {
        "ready": False,
        "candidates": [
            {
                "id": "environment:anthropic",
                "kind": "environment",
                "provider": "anthropic",
                "name": "Anthropic",
                "variable": "ANTHROPIC_API_KEY",
                "models": [],
                "inUse": False,
            }
        ],
        "refused": [],
    }
    assert await use(jp_fetch, id="environment:anthropic") == (
        400,
        {
            "code": "invalid_input",
            "message": "Choose a model from Anthropic.",
            "params": {},
            "field": "model",
        },
    )
    code, profile = await use(jp_fetch, id="environment:anthropic", model="claude-sonnet-4-5")
    assert (code, profile["current"], profile["name"]) == (201, True, "default")
    assert profile["settings"] == {"apiProvider": "anthropic", "apiModelId": "claude-sonnet-4-5"}
    found = await candidates(jp_fetch)
    assert (found["ready"], found["candidates"][0]["inUse"]) == (True, True)
    key = (await services.config.with_keys(profile["id"])).api_key
    assert key is not None
    assert key.get_secret_value() == "sk-ant-treasure"


async def test_servers_on_this_machine_are_found_with_their_models(
    services: Services, jp_fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    await services.config.profiles.update("default", {"apiProvider": "openrouter"})
    async with (
        raw_server(models("qwen3:8b", "llama3")) as ollama,
        raw_server(models("big", owner="vllm")) as vllm,
        raw_server(models("other", owner="me")) as unknown,
        raw_server(refusal("200 OK", {"data": "no list"})) as odd,
        raw_server(refusal("404 Not Found", {})) as none,
    ):
        monkeypatch.setattr(
            setup_candidates,
            "LOCAL_SERVERS",
            (
                LocalServer("ollama", "Ollama", "ollama", ollama.url),
                LocalServer("vllm", "vLLM", "openai", vllm.url, "/v1", "vllm"),
                LocalServer("llamacpp", "llama.cpp", "openai", unknown.url, "/v1", "llamacpp"),
                LocalServer("lmstudio", "LM Studio", "lmstudio", odd.url),
                LocalServer("litellm", "LiteLLM", "litellm", none.url),
                LocalServer("gone", "Gone", "litellm", "http://127.0.0.1:9"),
            ),
        )
        found = (await candidates(jp_fetch))["candidates"]
        assert [(one["id"], one["name"], one["models"], one["suggestedModel"]) for one in found] == [
            ("local:ollama", "Ollama", ["qwen3:8b", "llama3"], "qwen3:8b"),
            ("local:vllm", "vLLM", ["big"], "big"),
            ("local:llamacpp", "OpenAI compatible", ["other"], "other"),
        ]
        assert [one["inUse"] for one in found] == [False, False, False]
        code, profile = await use(jp_fetch, id="local:ollama", model="llama3")
        assert (code, profile["name"], profile["current"]) == (201, "Ollama", True)
        assert profile["settings"] == {
            "apiProvider": "ollama",
            "ollamaModelId": "llama3",
            "ollamaBaseUrl": ollama.url,
        }
        again = (await use(jp_fetch, id="local:ollama", model="llama3"))[1]
        assert again["id"] == profile["id"]
        other = (await use(jp_fetch, id="local:ollama"))[1]
        assert (other["name"], other["settings"]["ollamaModelId"]) == ("Ollama 2", "qwen3:8b")
        named = (await use(jp_fetch, id="local:vllm", name="The big one"))[1]
        assert named["name"] == "The big one"
        assert named["settings"]["openAiBaseUrl"] == f"{vllm.url}/v1"
        found = await candidates(jp_fetch)
        assert found["ready"] is True
        assert [one["inUse"] for one in found["candidates"]] == [True, True, False]


async def test_a_server_that_does_not_answer_keeps_nobody_waiting(
    services: Services, jp_fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def silent(reply: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(setup_candidates, "_ANSWER_SECONDS", 0.3)
    async with raw_server(silent) as server:
        places = tuple(LocalServer(str(number), "Slow", "ollama", server.url) for number in range(5))
        monkeypatch.setattr(setup_candidates, "LOCAL_SERVERS", places)
        assert (await candidates(jp_fetch))["candidates"] == []


async def test_the_operators_limits_hold_and_the_operators_keys_can_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-treasure")
    policy = OperatorPolicy(allowed_providers=("groq",), provider_keys={"groq": SecretStr("gsk-operator")})
    config = ContextProxy(tmp_path, policy, SecretStore(tmp_path, policy))
    await config.start()
    try:
        found = await find_candidates(config)
        assert [(one.id, one.kind) for one in found.offered] == [("operator:groq", "operator")]
        assert found.refused == ("OpenAI",)
        with pytest.raises(NotFound):
            await use_candidate(config, "environment:openai-native", "gpt-5", None)
        assert not await is_ready(config)
        await use_candidate(config, "operator:groq", "llama", None)
        assert config.profiles.current.api_provider == "groq"
        assert await is_ready(config)
    finally:
        await config.stop()


def test_every_server_looked_for_is_on_this_machine_and_has_a_provider_and_a_setting() -> None:
    known = {str(info.id): info for info in providers()}
    for server in EVERY_SERVER:
        assert server.address.startswith("http://127.0.0.1:")
        assert known[server.provider].base_url_field is not None


async def check(jp_fetch: Fetch, **body: object) -> tuple[int, dict[str, Any]]:
    try:
        answer = await jp_fetch(*API, "check", method="POST", body=json.dumps(body), request_timeout=60)
    except HTTPClientError as error:
        assert error.response is not None
        return error.code, json.loads(error.response.body)
    return answer.code, json.loads(answer.body)


WRONG_KEY = refusal("401 Unauthorized", {"error": {"type": "authentication_error", "message": "invalid x-api-key"}})


async def test_a_key_is_tried_before_it_is_kept_and_nothing_of_it_stays(services: Services, jp_fetch: Fetch) -> None:
    config = services.config
    await config.use_storage("file")
    async with raw_server(WRONG_KEY) as server:
        await config.profiles.update("default", {"anthropicBaseUrl": server.url})
        tried = await check(jp_fetch, provider="anthropic", profile="default", key=" sk-typed ")
        assert tried == (200, {"verdict": "refused", "kind": "authentication"})
        assert server.requests[0].headers["x-api-key"] == "sk-typed"
    assert await config.secrets.get(config.profiles.get("default").id, "apiKey") is None
    assert config.profiles.current.api_provider is None


async def test_an_address_is_tried_as_it_is_typed(services: Services, jp_fetch: Fetch) -> None:
    async with raw_server(models("qwen3")) as server:
        at_it = {"provider": "openai", "baseUrl": f"{server.url}/v1"}
        assert (await check(jp_fetch, **at_it))[1]["verdict"] == "accepted"
    assert (await check(jp_fetch, **at_it))[1] == {"verdict": "unreachable", "kind": "network"}
    assert services.config.profiles.settings("default").open_ai_base_url is None


async def test_the_key_that_is_there_is_tried_when_none_is_typed(
    services: Services, jp_fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-environment")
    async with raw_server(WRONG_KEY) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"{server.url}/v1")
        await services.config.profiles.update("default", {"anthropicBaseUrl": server.url})
        assert (await check(jp_fetch, provider="anthropic"))[1]["verdict"] == "refused"
        assert server.requests[0].headers["x-api-key"] == "sk-ant-environment"


async def test_what_cannot_be_tried_is_named(services: Services, jp_fetch: Fetch) -> None:
    status, body = await check(jp_fetch, provider="nobody")
    assert (status, body["field"]) == (400, "provider")
    status, body = await check(jp_fetch, provider="openai", baseUrl="nowhere")
    assert (status, body["code"]) == (400, "invalid_setting")
    status, body = await check(jp_fetch, provider="anthropic")
    assert (status, body["field"]) == (400, "apiKey")


async def test_the_operators_rules_hold_for_a_key_that_is_tried(
    services: Services, jp_fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services.config, "_policy", OperatorPolicy(allowed_providers=("ollama",)))
    status, body = await check(jp_fetch, provider="anthropic", key="sk-1")
    assert (status, body["code"]) == (403, "forbidden_by_operator")
