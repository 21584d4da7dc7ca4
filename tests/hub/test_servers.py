"""A person's server behind the service: its settings, its limits and its models come from there, with its own token as key."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from pydantic import JsonValue, SecretStr

from hdsp_agent._operator import _fetch_with
from hdsp_agent.config import (
    ContextProxy,
    GroupLimits,
    OperatorPolicy,
    SecretStore,
    UserConfigSource,
    behind_hub_service,
    hub_config_url,
    narrowed,
)
from hdsp_agent.errors import ForbiddenByOperator, InvalidSetting
from hdsp_agent.messages import ApiMessage
from hdsp_agent.providers import ModelError, ModelRequest, TextDelta, list_models, open_client

from .._helpers.model_server import Reply, raw_server, sse_events
from ._helpers.policy_files import KEY
from ._helpers.proxied_models import CHAT, MESSAGES, RESPONSES, piece, policies
from ._helpers.running import RunningService, running_service

REQUEST = ModelRequest(system="", messages=(ApiMessage(role="user", content="Hello"),), tools=())
TOKEN = "ada-token"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", KEY)


@asynccontextmanager
async def server_of(
    running: RunningService,
    home: Path,
    person: str = "ada",
    environ: Mapping[str, str] | None = None,
    refresh_seconds: float | None = None,
) -> AsyncIterator[ContextProxy]:
    """What a person's server has configured, once the service has answered."""
    token = f"{person}-token"
    policy = behind_hub_service(
        OperatorPolicy(keyring_timeout_seconds=30), running.url, {"JUPYTERHUB_API_TOKEN": token}
    )
    source = UserConfigSource(
        hub_config_url(running.url), person, 30, _fetch_with(token), refresh_seconds=refresh_seconds
    )
    proxy = ContextProxy(home, policy, SecretStore(home, policy, environ=environ or {}), user_config=source)
    answered = asyncio.Event()
    proxy.subscribe(lambda change: answered.set() if proxy._user_config.provider else None)
    await proxy.start()
    try:
        await (proxy._held.drain() if refresh_seconds is None else answered.wait())
        yield proxy
    finally:
        await proxy.stop()


async def said(proxy: ContextProxy) -> str:
    """What the profile's model answers."""
    client = await open_client(await proxy.with_keys("default"), policy=proxy.policy)
    try:
        return "".join([event.text async for event in client.stream(REQUEST) if isinstance(event, TextDelta)])
    finally:
        await client.close()


@pytest.mark.parametrize(
    ("model", "answer", "provider", "text"),
    [("qwen3", CHAT, "openai", "Hello"), ("claude-sonnet-5-5", MESSAGES, "anthropic", "Hi")],
)
async def test_new_people_can_start_at_once(
    tmp_path: Path, model: str, answer: bytes, provider: str, text: str
) -> None:
    async with (
        raw_server(answer) as server,
        running_service(tmp_path, policies(server, more=f"default_model: {model}")) as running,
        server_of(running, tmp_path / "home") as proxy,
    ):
        settings = proxy.profiles.settings("default")
        assert settings.api_provider == provider and not proxy.notices
        assert await said(proxy) == text
        [request] = server.requests
        assert KEY in request.headers.get("authorization", "") + request.headers.get("x-api-key", "")
        # Neither the server's token nor the service's key is anywhere that a person could read.
        told = f"{proxy.secrets.status.to_json()} {json.dumps(settings.to_wire())} {settings!r}"
        assert TOKEN not in told and KEY not in told


@pytest.mark.parametrize(
    ("model", "answer", "provider"),
    [
        ("qwen3", CHAT, "openai"),
        ("qwen3", RESPONSES, "openai-native"),
        ("claude-sonnet-5-5", MESSAGES, "anthropic"),
    ],
)
async def test_keys_of_the_environment_stay_where_they_are(
    tmp_path: Path, model: str, answer: bytes, provider: str
) -> None:
    names = ("OPENAI_API_KEY", "OPENAI_COMPATIBLE_API_KEY", "ANTHROPIC_API_KEY")
    async with (
        raw_server(answer) as server,
        running_service(tmp_path, policies(server)) as running,
        server_of(running, tmp_path / "home", environ=dict.fromkeys(names, "sk-of-the-image")) as proxy,
    ):
        await proxy.profiles.update("default", {"apiProvider": provider, "apiModelId": model})
        assert await said(proxy) in ("Hello", "Hi")
        assert set(running.hub.asked) == {TOKEN}
        sources = [secret.source for secret in proxy.secrets.status.secrets if secret.present]
        assert set(sources) == {"operator"}


async def test_openais_own_models_are_asked_in_its_newer_protocol(tmp_path: Path) -> None:
    async with (
        raw_server(RESPONSES) as server,
        running_service(tmp_path, policies(server)) as running,
        server_of(running, tmp_path / "home") as proxy,
    ):
        await proxy.profiles.update("default", {"apiProvider": "openai-native", "apiModelId": "qwen3"})
        assert await said(proxy) == "Hi"
        assert server.requests[0].path == "/v1/responses"


async def test_the_window_and_prices_are_known(tmp_path: Path) -> None:
    async with (
        raw_server(CHAT) as server,
        running_service(tmp_path, policies(server)) as running,
        server_of(running, tmp_path / "home") as proxy,
    ):
        settings = await proxy.with_keys("default")
        assert settings.model_context_window == 32768
        [model] = await list_models(settings, policy=proxy.policy)
        assert (model.id, model.context_window, model.input_price, model.output_price) == ("qwen3", 32768, 1, 10)


async def test_a_window_that_the_administrator_sets_is_kept(tmp_path: Path) -> None:
    async with (
        raw_server(CHAT) as server,
        running_service(tmp_path, policies(server, more="settings: {modelContextWindow: 16000}")) as running,
        server_of(running, tmp_path / "home") as proxy,
    ):
        assert (await proxy.with_keys("default")).model_context_window == 16000


async def test_a_reached_budget_is_told_in_its_own_words(tmp_path: Path) -> None:
    more = "budgets: [{tokens: 5, period: month, per: user}]"
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server, more=more)) as running:
        async with server_of(running, tmp_path / "home") as proxy:
            assert await said(proxy) == "Hello"
            await running.settled()
            with pytest.raises(ModelError) as caught:
                await said(proxy)
            assert caught.value.kind == "budget" and not caught.value.retryable
            assert (caught.value.particular or "").startswith("Your budget of 5 tokens a month is used up.")
            assert len(server.requests) == 1
        async with server_of(running, tmp_path / "home") as proxy:
            [notice] = proxy.notices
            assert notice.code == "tokens_nearly_used" and notice.params["limit"] == "5"


async def test_a_budget_that_is_nearly_used_is_told_at_once_and_in_the_same_words(tmp_path: Path) -> None:
    more = "budgets: [{tokens: 40, period: month, per: user}, {money: 1000, period: day, per: group}]"
    async with (
        raw_server(CHAT) as server,
        running_service(tmp_path, policies(server, more=more)) as running,
        server_of(running, tmp_path / "home", refresh_seconds=300) as proxy,
    ):
        told = asyncio.Event()
        proxy.subscribe(lambda change: told.set() if change.notices else None)
        assert await said(proxy) == await said(proxy) == "Hello"
        await running.settled()
        proxy.ask_again()
        await told.wait()
        [notice] = proxy.notices
        assert notice.message.startswith(
            "At least 80% of the budget of 40 tokens for models is used. It starts again on "
        )
        assert await said(proxy) == "Hello"
        await running.settled()
        # Who put it away is not told again because more is used.
        async with server_of(running, tmp_path / "other") as later:
            assert later.notices == (notice,)


async def test_who_stops_an_answer_stops_the_provider(tmp_path: Path) -> None:
    async def endlessly(reply: Reply) -> None:
        await reply.begin()
        await reply.send(sse_events(piece("Hel")))
        await asyncio.Event().wait()

    async with (
        raw_server(endlessly) as server,
        running_service(tmp_path, policies(server)) as running,
        server_of(running, tmp_path / "home") as proxy,
    ):
        client = await open_client(await proxy.with_keys("default"), policy=proxy.policy)
        heard = asyncio.Event()

        async def listen() -> None:
            async for _ in client.stream(REQUEST):
                heard.set()

        listening = asyncio.create_task(listen())
        await heard.wait()
        listening.cancel()
        await server.closed.wait()
        await client.close()


async def test_nobody_can_send_the_token_elsewhere(tmp_path: Path) -> None:
    async with (
        raw_server(CHAT) as server,
        running_service(tmp_path, policies(server)) as running,
        server_of(running, tmp_path / "home") as proxy,
    ):
        with pytest.raises(ForbiddenByOperator):
            await proxy.profiles.update("default", {"openAiBaseUrl": "http://elsewhere.example/v1"})
        await proxy.profiles.update("default", {"apiProvider": "openrouter", "openRouterModelId": "m"})
        with pytest.raises(InvalidSetting, match="no key"):
            await open_client(await proxy.with_keys("default"), policy=proxy.policy)


async def test_a_groups_limits_hold_in_its_members_servers(tmp_path: Path) -> None:
    more = "limits: {allowed_modes: [ask], allow_memory: false, allow_auto_approval: false, workspace_trust: never}"
    async with (
        raw_server(CHAT) as server,
        running_service(tmp_path, policies(server, more=more)) as running,
        server_of(running, tmp_path / "home") as proxy,
    ):
        assert proxy.settings.mode == "ask" and proxy.settings.memory_enabled is False
        assert proxy.policy.workspace_trust == "never" and not proxy.policy.allow_auto_approval
        with pytest.raises(ForbiddenByOperator):
            await proxy.update({"mode": "code"})


async def test_settings_and_use_are_told_to_that_person_alone(tmp_path: Path) -> None:
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        assert (await running.get("api/config/ada", "bob-token")).status_code == 403
        assert (await running.get("api/config/ada", "root-token")).status_code == 403
        assert (await running.get("api/config/ada", "")).status_code == 401
        running.hub.add("odd-token", "é%41 b")
        assert (await running.get(f"api/config/{quote('é%41 b')}", "odd-token")).status_code == 200
        await running.chat(stream=True)
        await running.settled()
        assert (await running.json("api/usage", "bob-token"))["usage"] == []
        for path in ("api/admin/usage", "api/admin/usage?format=csv"):
            assert (await running.get(path, "ada-token")).status_code == 403


def test_limits_only_narrow() -> None:
    policy = OperatorPolicy(
        allowed_modes=("ask", "code"), allowed_mcp_servers=("npx a",), allow_memory=False, workspace_trust="ask"
    )
    limits = GroupLimits(
        allowed_modes=("code", "debug"), allowed_tools=("read_file",), allowed_mcp_servers=("npx b",),
        allow_auto_approval=False, workspace_trust="always",
    )  # fmt: skip
    both = narrowed(policy, limits)
    assert (both.allowed_modes, both.allowed_tools, both.allowed_mcp_servers) == (("code",), ("read_file",), ("npx a",))
    assert (both.allow_memory, both.allow_auto_approval, both.workspace_trust) == (False, False, "ask")
    assert narrowed(policy, GroupLimits()) == policy


async def test_a_limit_that_is_not_understood_lifts_no_other(tmp_path: Path) -> None:
    answer: Mapping[str, JsonValue] = {"limits": {"allowed_modes": ["ask"], "allow_memory": 7, "allow_flight": False}}

    async def fetch(url: str, timeout: float) -> bytes:
        return json.dumps(answer).encode()

    policy = OperatorPolicy(keyring_timeout_seconds=30)
    source = UserConfigSource("http://hub", "ada", 5, fetch)
    proxy = ContextProxy(tmp_path, policy, SecretStore(tmp_path, policy, environ={}), user_config=source)
    await proxy.start()
    await proxy._held.drain()
    assert proxy.policy.allowed_modes == ("ask",)
    assert sorted(str(notice.params["reason"]).partition(":")[0] for notice in proxy.notices) == [
        "limits.allow_flight", "limits.allow_memory",
    ]  # fmt: skip
    await proxy.stop()


async def test_a_service_that_starts_later_is_asked_again(tmp_path: Path) -> None:
    asked: list[str] = []

    async def fetch(url: str, timeout: float) -> bytes:
        asked.append(url)
        if len(asked) < 3:
            raise OSError("Connection refused")
        return b'{"limits": {"allowed_modes": ["ask"]}}'

    policy = OperatorPolicy(keyring_timeout_seconds=30)
    source = UserConfigSource("http://hub", "ada", 5, fetch, retry_seconds=0.01)
    proxy = ContextProxy(tmp_path, policy, SecretStore(tmp_path, policy, environ={}), user_config=source)
    told: list[int] = []
    proxy.subscribe(lambda change: told.append(len(proxy.notices)))
    await proxy.start()
    await proxy._held.drain()
    assert proxy.policy.allowed_modes == ("ask",) and len(asked) == 3
    # The notice was there meanwhile, and is not any more.
    assert 1 in told and proxy.notices == ()
    await proxy.stop()


async def test_running_servers_hear_of_changed_limits(tmp_path: Path) -> None:
    answers = [
        b'{"limits": {"allowed_modes": ["ask"]}}', b'{"limits": {"allow_memory": false}}', b"no JSON",
        b'{"limits": {"allowed_modes": ["code"]}}',
    ]  # fmt: skip
    seen: list[tuple[tuple[str, ...] | None, bool]] = []

    async def fetch(url: str, timeout: float) -> bytes:
        # How things stand because of the answer before.
        seen.append((proxy.policy.allowed_modes, proxy.policy.allow_memory))
        if not answers:
            ended.set()
            await asyncio.Event().wait()
        return answers.pop(0)

    ended = asyncio.Event()
    policy = OperatorPolicy(keyring_timeout_seconds=30)
    source = UserConfigSource("http://hub", "ada", 30, fetch, retry_seconds=0.01, refresh_seconds=0.01)
    proxy = ContextProxy(tmp_path, policy, SecretStore(tmp_path, policy, environ={}), user_config=source)
    await proxy.start()
    await ended.wait()
    await proxy.stop()
    # What cannot be read changes nothing.
    assert seen == [(None, True), (("ask",), True), (None, False), (None, False), (("code",), True)]
    assert proxy.notices == ()


def test_without_a_token_the_servers_own_keys_stay() -> None:
    own = OperatorPolicy(provider_keys={"anthropic": SecretStr("sk-own")})
    assert behind_hub_service(own, "http://hub", {}).provider_keys == own.provider_keys
    with pytest.raises(InvalidSetting, match="hub_service_url must begin with"):
        behind_hub_service(own, "hub.example.org", {})
