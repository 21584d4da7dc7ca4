"""Defaults for a person from the operator's service: below the person's own values, and never in the way."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

import pytest
from pydantic import JsonValue

from hdsp_agent.config import ContextProxy, OperatorPolicy, UserConfigSource
from hdsp_agent.errors import ForbiddenByOperator
from tests.config.conftest import OpenConfig


def answering(answer: JsonValue | bytes, asked: list[str] | None = None) -> UserConfigSource:
    async def fetch(url: str, timeout: float) -> bytes:
        if asked is not None:
            asked.append(url)
        return answer if isinstance(answer, bytes) else json.dumps(answer).encode()

    return UserConfigSource(url="http://hub/users/{username}/config", username="ann/é", timeout=0.3, fetch=fetch)


def failing(work: Callable[[], Awaitable[bytes]]) -> UserConfigSource:
    return UserConfigSource(url="http://hub", username="ann", timeout=0.2, fetch=lambda url, timeout: work())


async def settled(proxy: ContextProxy) -> None:
    """Wait until the answer has been used."""
    arrived = asyncio.Event()
    end = proxy.subscribe(
        lambda change: arrived.set() if change.settings or change.profiles or change.notices else None
    )
    await asyncio.wait_for(arrived.wait(), 60)
    end()


async def test_values_become_defaults_below_the_persons_own(open_config: OpenConfig) -> None:
    asked: list[str] = []
    source = answering(
        {
            "globalSettings": {"soundVolume": 0.9, "language": "ko"},
            "providerSettings": {"apiProvider": "openai", "openAiBaseUrl": "http://gateway/v1"},
            "llm_model": "team-model",
            "context_length": 128000,
        },
        asked,
    )
    async with open_config() as proxy:
        await proxy.update({"soundVolume": 0.1})
    async with open_config(user_config=source) as proxy:
        await settled(proxy)
        assert asked == ["http://hub/users/ann%2F%C3%A9/config"]
        assert (proxy.settings.sound_volume, proxy.settings.language) == (0.1, "ko")
        settings = proxy.profiles.settings("default")
        assert (settings.open_ai_model_id, settings.model_context_window) == ("team-model", 128000)
        assert settings.open_ai_base_url == "http://gateway/v1"
        assert (await proxy.update({"language": "ja"})).language == "ja"
        assert "gateway" not in json.dumps(await proxy.export_settings()), "defaults are not the person's own"


async def test_the_short_form_of_existing_services_is_understood(open_config: OpenConfig) -> None:
    async with open_config(user_config=answering({"llm_provider": "openai", "context_length": 128000})) as proxy:
        await settled(proxy)
        assert proxy.profiles.current.api_provider == "openai"
        assert proxy.profiles.settings("default").model_context_window == 128000


async def test_values_listed_as_fixed_cannot_be_changed(open_config: OpenConfig) -> None:
    source = answering(
        {
            "globalSettings": {"memoryEnabled": False},
            "llm_provider": "ollama",
            "fixed": ["memoryEnabled", "apiProvider", 3, "x"],
        }
    )
    async with open_config() as proxy:
        await proxy.update({"memoryEnabled": True})
    async with open_config(user_config=source) as proxy:
        await settled(proxy)
        assert proxy.fixed == {"memoryEnabled", "apiProvider"}
        assert proxy.settings.memory_enabled is False
        with pytest.raises(ForbiddenByOperator):
            await proxy.update({"memoryEnabled": True})
        with pytest.raises(ForbiddenByOperator):
            await proxy.profiles.update("default", {"apiProvider": "anthropic"})


async def test_a_setting_that_becomes_fixed_is_told_even_if_its_value_stays(open_config: OpenConfig) -> None:
    async with open_config(user_config=answering({"memoryEnabled": True, "fixed": ["memoryEnabled"]})) as proxy:
        told: set[str] = set()
        proxy.subscribe(lambda change: told.update(change.settings))
        await settled(proxy)
        assert told == {"memoryEnabled"}


async def test_what_the_operator_fixed_on_this_server_goes_first(open_config: OpenConfig) -> None:
    policy = OperatorPolicy(fixed_settings={"soundVolume": 0}, allow_auto_approval=False)
    source = answering(
        {
            "soundVolume": 1,
            "autoApprovalEnabled": True,
            "language": "ko",
            "fixed": ["soundVolume", "autoApprovalEnabled"],
        }
    )
    async with open_config(policy, user_config=source) as proxy:
        await settled(proxy)
        assert (proxy.settings.sound_volume, proxy.settings.auto_approval_enabled) == (0, False)


async def hang() -> bytes:
    await asyncio.sleep(60)
    return b""


async def refuse() -> bytes:
    raise ConnectionRefusedError("connection refused")


async def explode() -> bytes:
    raise LookupError("an error of some HTTP client")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (failing(hang), "no answer within 0.2 seconds"),
        (failing(refuse), "connection refused"),
        (failing(explode), "an error of some HTTP client"),
        (answering(b"<html>"), "not JSON"),
        (answering([1]), "not a JSON object"),
        (answering({"soundVolume": "loud"}), "soundVolume"),
        (answering({"llm_provider": "skynet"}), "skynet"),
        (answering({"apiKey": "sk-planted"}), "keys"),
    ],
)
async def test_a_service_that_fails_is_a_notice_and_holds_up_nothing(
    open_config: OpenConfig, source: UserConfigSource, reason: str
) -> None:
    async with open_config(user_config=source) as proxy:
        at_start = proxy.notices
        assert at_start == (), "the start waited for the service"
        await proxy.update({"maxGitStatusFiles": 3})
        if not proxy.notices:
            await settled(proxy)
        [notice] = proxy.notices
        assert notice.code == "user_config_failed"
        assert reason in notice.message
        assert "planted" not in notice.message
        assert proxy.settings.max_git_status_files == 3
