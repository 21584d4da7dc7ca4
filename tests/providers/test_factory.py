"""From a profile to a client: what it lacks is named, keys stay where they belong, nothing loads before its time."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest
from pydantic import SecretStr

from hdsp_agent.config import OperatorPolicy, ProviderSettings
from hdsp_agent.errors import ForbiddenByOperator, InvalidSetting, Unsupported
from hdsp_agent.providers import ModelError, list_models, model_info, open_client

from .._helpers.model_server import raw_server, refusal, sse
from ._helpers.protocol_profiles import ask_once, profile, request, user

ANSWER = sse(
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
    {"type": "message_stop"},
    named=True,
)


def settings(**values: object) -> ProviderSettings:
    return ProviderSettings.model_validate(values)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({}, "apiProvider"),
        ({"apiProvider": "anthropic", "apiKey": "k"}, "apiModelId"),
        ({"apiProvider": "anthropic", "apiModelId": "claude-x"}, "apiKey"),
        ({"apiProvider": "openai", "openAiModelId": "m"}, "openAiBaseUrl"),
        ({"apiProvider": "openrouter", "openRouterApiKey": "k"}, "openRouterModelId"),
        (
            {
                "apiProvider": "openai",
                "openAiModelId": "m",
                "openAiBaseUrl": "http://localhost:1/v1",
                "openAiHeaders": {"X-Name": "한글"},
            },
            "openAiHeaders",
        ),
    ],
)
async def test_what_a_profile_lacks_is_named(values: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidSetting) as raised:
        await open_client(settings(**values))
    assert raised.value.field == field


@pytest.mark.parametrize(
    ("values", "module", "package"),
    [
        (
            {"apiProvider": "bedrock", "apiModelId": "anthropic.claude-sonnet-4-5", "awsRegion": "us-east-1"},
            "botocore",
            "boto3",
        ),
        ({"apiProvider": "vertex", "apiModelId": "claude-sonnet-4-5"}, "google.auth", "google-auth[requests]"),
    ],
)
async def test_a_cloud_without_its_package_says_what_to_install(
    values: dict[str, object], module: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(Unsupported, match=r"pip install") as raised:
        await open_client(settings(**values))
    assert raised.value.params["package"] == package


async def test_an_operator_decides_which_providers_serve() -> None:
    with pytest.raises(ForbiddenByOperator):
        await open_client(
            profile("anthropic", "http://localhost:1"), policy=OperatorPolicy(allowed_providers=("ollama",))
        )


async def test_the_operators_key_goes_to_no_address_a_person_chose() -> None:
    policy = OperatorPolicy(provider_keys={"anthropic": SecretStr("sk-operator")})
    own = {"apiProvider": "anthropic", "apiModelId": "claude-sonnet-5-5"}
    client = await open_client(settings(**own), policy=policy)
    await client.close()
    for key in ({}, {"apiKey": "sk-operator"}):
        with pytest.raises(ForbiddenByOperator):
            await open_client(settings(**own, **key, anthropicBaseUrl="http://localhost:1"), policy=policy)
    fixed = OperatorPolicy(
        provider_keys=policy.provider_keys, fixed_settings={"anthropicBaseUrl": "http://localhost:1"}
    )
    client = await open_client(settings(**own, anthropicBaseUrl="http://localhost:1"), policy=fixed)
    await client.close()


async def test_keys_are_used_and_never_logged_or_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    refused = refusal("401 Unauthorized", {"error": {"type": "authentication_error", "message": "invalid x-api-key"}})
    async with raw_server(ANSWER, refused) as server:
        hush = profile("anthropic", server.url, apiKey="sk-ant-hush")
        await ask_once(hush, request(user("hi")))
        assert server.requests[0].headers["authorization"] == "Bearer sk-ant-hush"
        with pytest.raises(ModelError) as raised:
            await ask_once(hush, request(user("hi")))
    error = raised.value
    assert (error.kind, error.retryable) == ("authentication", False)
    for shown in (caplog.text, str(error), error.raw, repr(error.params), repr(hush)):
        assert "sk-ant-hush" not in shown


async def test_keys_in_the_environment_of_an_sdk_go_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, "theirs")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://localhost:1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1")
    done = sse({"choices": [{"delta": {}, "finish_reason": "stop"}]}, "[DONE]")
    async with raw_server(ANSWER, done) as server:
        await ask_once(profile("anthropic", server.url), request(user("hi")))
        await ask_once(profile("chat", server.url), request(user("hi")))
        assert len(server.requests) == 2
        assert "theirs" not in str([each.headers for each in server.requests])


def test_importing_the_package_imports_no_sdk() -> None:
    code = "import sys, hdsp_agent.providers; print([m for m in ('anthropic', 'openai', 'httpx2', 'genai_prices') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("values", "window", "priced"),
    [
        ({"apiProvider": "anthropic", "apiModelId": "claude-sonnet-4-5-20250929"}, 200_000, True),
        ({"apiProvider": "bedrock", "apiModelId": "us.anthropic.claude-sonnet-4-5-20250929-v1:0"}, 200_000, True),
        ({"apiProvider": "vertex", "apiModelId": "claude-sonnet-4-5@20250929"}, 200_000, True),
        (
            {"apiProvider": "anthropic", "apiModelId": "claude-sonnet-4-5", "anthropicBeta1MContext": True},
            1_000_000,
            True,
        ),
        ({"apiProvider": "anthropic", "apiModelId": "never-heard-of"}, None, False),
        ({"apiProvider": "ollama", "ollamaModelId": "x", "ollamaNumCtx": 8192}, 8192, False),
        ({"apiProvider": "ollama", "ollamaModelId": "x", "ollamaNumCtx": 8192, "modelContextWindow": 99}, 99, False),
    ],
)
def test_numbers_come_from_the_catalogue_and_the_profiles_own_go_first(
    values: dict[str, object], window: int | None, priced: bool
) -> None:
    info = model_info(settings(**values))
    assert info.context_window == window
    assert (info.input_price is not None) == priced


async def test_models_are_listed_live_page_by_page() -> None:
    def page(id: str, more: bool) -> bytes:
        entry = {"id": id, "display_name": id.title(), "max_input_tokens": 123_000, "max_tokens": 64_000}
        return refusal("200 OK", {"data": [entry], "has_more": more, "last_id": id})

    async with raw_server(page("claude-b", True), page("claude-a", False)) as server:
        models = await list_models(settings(apiProvider="anthropic", apiKey="k", anthropicBaseUrl=server.url))
        assert "after_id=claude-b" in server.requests[1].path
    assert [(model.id, model.name, model.context_window) for model in models] == [
        ("claude-a", "Claude-A", 123_000),
        ("claude-b", "Claude-B", 123_000),
    ]


async def test_a_list_tells_what_the_provider_says_of_its_models() -> None:
    entries = [
        {
            "id": "maker/model",
            "name": "Maker: Model",
            "context_length": 64_000,
            "pricing": {"prompt": "0.000002", "completion": "0.00001", "input_cache_read": "-1"},
            "architecture": {"input_modalities": ["text"]},
            "supported_parameters": ["tools"],
            "top_provider": {"max_completion_tokens": 8000},
        },
        {"id": "maker/text-embedding"},
        {"id": "other", "max_model_len": 4096},
        {"no": "id"},
        "odd",
    ]
    async with raw_server(refusal("200 OK", {"data": entries})) as server:
        models = await list_models(
            settings(apiProvider="openrouter", openRouterApiKey="k", openRouterBaseUrl=f"{server.url}/api/v1")
        )
        assert server.requests[0].path == "/api/v1/models"
    assert [model.id for model in models] == ["maker/model", "other"]
    first = models[0]
    assert (first.context_window, first.max_output, first.supports_images) == (64_000, 8000, False)
    assert (first.input_price, first.output_price, first.cache_reads_price) == (2.0, 10.0, None)
    assert models[1].context_window == 4096


async def test_without_the_provider_the_catalogue_tells() -> None:
    async with raw_server(b"") as server:
        pass
    models = await list_models(settings(apiProvider="anthropic", apiKey="k", anthropicBaseUrl=server.url))
    assert any(model.id.startswith("claude") for model in models)
    assert await list_models(settings(apiProvider="anthropic"))
    assert await list_models(settings(apiProvider="bedrock"))
    with pytest.raises(ModelError) as raised:
        await list_models(settings(apiProvider="ollama", ollamaBaseUrl=server.url))
    assert raised.value.kind == "network"


async def test_a_refused_key_is_told_when_listing() -> None:
    refused = refusal(
        "401 Unauthorized", {"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}
    )
    async with raw_server(refused) as server:
        with pytest.raises(ModelError) as raised:
            await list_models(
                settings(apiProvider="openai-native", openAiNativeApiKey="k", openAiNativeBaseUrl=server.url)
            )
    assert raised.value.kind == "authentication"
