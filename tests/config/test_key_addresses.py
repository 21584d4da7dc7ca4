"""A key goes only to the address it was given for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import SecretStr

from hdsp_agent.config import ContextProxy, OperatorPolicy
from hdsp_agent.config._key_addresses import origin_of
from hdsp_agent.errors import InvalidSetting, KeyForOtherAddress

from .conftest import OpenConfig

KEY = "planted-key-0123456789"
HERE = "https://here.example/v1"
ELSEWHERE = "https://elsewhere.example/v1"


async def kept(proxy: ContextProxy, **settings: object) -> str:
    """A profile of a server at HERE, with a key in a file."""
    await proxy.use_storage("file")
    at_here = {"apiProvider": "openai", "openAiBaseUrl": HERE, **settings}
    entry = await proxy.profiles.update("default", at_here)  # type: ignore[arg-type]
    await proxy.set_secret("default", "openAiApiKey", SecretStr(KEY))
    return entry.id


async def test_a_saved_key_is_not_used_at_another_address_until_it_is_typed_again(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        await kept(proxy)
        assert (await proxy.with_keys("default")).open_ai_api_key == SecretStr(KEY)
        await proxy.profiles.update("default", {"openAiBaseUrl": ELSEWHERE})
        with pytest.raises(KeyForOtherAddress, match=r"given for https://here\.example") as raised:
            await proxy.with_keys("default")
        assert raised.value.params == {"given_for": "https://here.example", "address": "https://elsewhere.example"}
        assert KEY not in str(raised.value)
        [shown] = [each for each in proxy.secrets.status.secrets if each.key == "openAiApiKey"]
        assert (shown.present, shown.given_for) == (True, "https://here.example")
        await proxy.set_secret("default", "openAiApiKey", SecretStr("another-0123456789"))
        assert (await proxy.with_keys("default")).open_ai_api_key == SecretStr("another-0123456789")
        [shown] = [each for each in proxy.secrets.status.secrets if each.key == "openAiApiKey"]
        assert shown.given_for is None


async def test_another_path_at_the_same_address_is_the_same_address(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        await kept(proxy)
        for same in ("https://here.example", "https://HERE.example:443/v2", "https://here.example./v1"):
            await proxy.profiles.update("default", {"openAiBaseUrl": same})
            assert (await proxy.with_keys("default")).open_ai_api_key == SecretStr(KEY), same


@pytest.mark.parametrize(
    "other",
    [
        "http://here.example/v1",
        "https://here.example:8443/v1",
        "https://here.example.evil.test/v1",
        "https://evil.test/here.example",
        "https://sub.here.example/v1",
    ],
)
async def test_what_only_resembles_the_address_is_another(open_config: OpenConfig, other: str) -> None:
    async with open_config() as proxy:
        await kept(proxy)
        await proxy.profiles.update("default", {"openAiBaseUrl": other})
        with pytest.raises(KeyForOtherAddress):
            await proxy.with_keys("default")


async def test_secret_headers_are_bound_too(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        await kept(proxy)
        await proxy.set_secret("default", "openAiSecretHeaders", SecretStr("X-Gate: 0123456789"))
        await proxy.delete_secret("default", "openAiApiKey")
        await proxy.profiles.update("default", {"openAiBaseUrl": ELSEWHERE})
        with pytest.raises(KeyForOtherAddress):
            await proxy.with_keys("default")


async def test_a_key_saved_with_its_address_is_for_that_address(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        await kept(proxy)
        await proxy.profiles.update("default", {"openAiBaseUrl": ELSEWHERE, "openAiApiKey": "new-0123456789"})
        assert (await proxy.with_keys("default")).open_ai_api_key == SecretStr("new-0123456789")
        await proxy.profiles.update("default", {"openAiBaseUrl": HERE})
        with pytest.raises(KeyForOtherAddress):
            await proxy.with_keys("default")


async def test_a_key_needs_an_address(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        await proxy.use_storage("file")
        await proxy.profiles.update("default", {"apiProvider": "openai"})
        with pytest.raises(InvalidSetting, match="address first"):
            await proxy.set_secret("default", "openAiApiKey", SecretStr(KEY))


async def test_a_key_that_is_tried_elsewhere_stays_where_it_is(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        await kept(proxy)
        with pytest.raises(KeyForOtherAddress):
            await proxy.with_keys("default", "openai", changes={"openAiBaseUrl": ELSEWHERE})
        settings = await proxy.with_keys(
            "default", "openai", changes={"openAiBaseUrl": ELSEWHERE}, without=frozenset({"openAiApiKey"})
        )
        assert settings.open_ai_api_key is None


async def test_a_key_of_an_earlier_version_counts_as_given_for_the_address_at_the_first_start(
    home: Path, open_config: OpenConfig
) -> None:
    async with open_config() as proxy:
        profile = await kept(proxy)
    file = home / "secrets.json"
    file.write_text(json.dumps({"version": 1, "secrets": {f"{profile}/openAiApiKey": KEY}}), encoding="utf-8")
    async with open_config() as proxy:
        assert (await proxy.with_keys("default")).open_ai_api_key == SecretStr(KEY)
        await proxy.profiles.update("default", {"openAiBaseUrl": ELSEWHERE})
        with pytest.raises(KeyForOtherAddress):
            await proxy.with_keys("default")
    async with open_config() as proxy:
        with pytest.raises(KeyForOtherAddress):
            await proxy.with_keys("default")
        await proxy.profiles.update("default", {"openAiBaseUrl": HERE})
        assert (await proxy.with_keys("default")).open_ai_api_key == SecretStr(KEY)


async def test_an_earlier_key_of_a_provider_not_in_use_counts_as_its_own_addresss(
    home: Path, open_config: OpenConfig
) -> None:
    async with open_config() as proxy:
        profile = await kept(proxy, anthropicBaseUrl=ELSEWHERE)
    file = home / "secrets.json"
    file.write_text(json.dumps({"version": 1, "secrets": {f"{profile}/apiKey": KEY}}), encoding="utf-8")
    async with open_config() as proxy:
        await proxy.profiles.update("default", {"apiProvider": "anthropic"})
        with pytest.raises(KeyForOtherAddress, match=r"given for https://api\.anthropic\.com"):
            await proxy.with_keys("default")
        await proxy.profiles.update("default", {"anthropicBaseUrl": None})
        assert (await proxy.with_keys("default")).api_key == SecretStr(KEY)


# ---- keys of the environment


ENVIRONMENT = {"ANTHROPIC_API_KEY": "sk-ant-environment-1", "OPENAI_COMPATIBLE_API_KEY": "environment-2-0123456789"}


async def test_a_key_of_the_environment_goes_to_its_providers_own_address_only(open_config: OpenConfig) -> None:
    async with open_config(environ=ENVIRONMENT) as proxy:
        await proxy.use_storage("file")
        await proxy.profiles.update("default", {"apiProvider": "anthropic"})
        assert (await proxy.with_keys("default")).api_key == SecretStr("sk-ant-environment-1")
        await proxy.profiles.update("default", {"anthropicBaseUrl": ELSEWHERE})
        with pytest.raises(KeyForOtherAddress, match="ANTHROPIC_API_KEY"):
            await proxy.with_keys("default")
        [shown] = proxy.secrets.status.secrets
        assert (shown.present, shown.variable, shown.given_for) == (
            False,
            "ANTHROPIC_API_KEY",
            "https://api.anthropic.com",
        )
        # One's own key can be saved for this address, beside the one of the environment.
        await proxy.set_secret("default", "apiKey", SecretStr(KEY))
        assert (await proxy.with_keys("default")).api_key == SecretStr(KEY)
        await proxy.profiles.update("default", {"anthropicBaseUrl": None})
        assert (await proxy.with_keys("default")).api_key == SecretStr("sk-ant-environment-1")


async def test_the_environment_can_name_an_address_for_its_key(open_config: OpenConfig) -> None:
    async with open_config(environ={**ENVIRONMENT, "ANTHROPIC_BASE_URL": "https://elsewhere.example/x"}) as proxy:
        await proxy.profiles.update("default", {"apiProvider": "anthropic", "anthropicBaseUrl": ELSEWHERE})
        assert (await proxy.with_keys("default")).api_key == SecretStr("sk-ant-environment-1")


async def test_the_operator_can_set_an_address_for_the_environments_key(open_config: OpenConfig) -> None:
    policy = OperatorPolicy(keyring_timeout_seconds=30, fixed_settings={"anthropicBaseUrl": ELSEWHERE})
    async with open_config(policy, environ=ENVIRONMENT) as proxy:
        await proxy.profiles.update("default", {"apiProvider": "anthropic"})
        assert (await proxy.with_keys("default")).api_key == SecretStr("sk-ant-environment-1")


async def test_a_compatible_servers_key_goes_where_a_person_says_and_not_where_a_file_says(
    open_config: OpenConfig,
) -> None:
    document = {
        "providerProfiles": {
            "currentApiConfigName": "gift",
            "apiConfigs": {"gift": {"apiProvider": "openai", "openAiBaseUrl": ELSEWHERE, "openAiModelId": "m"}},
        }
    }
    async with open_config(environ=ENVIRONMENT) as proxy:
        await proxy.profiles.update("default", {"apiProvider": "openai", "openAiBaseUrl": HERE})
        assert (await proxy.with_keys("default")).open_ai_api_key == SecretStr("environment-2-0123456789")
        await proxy.import_settings(document)  # type: ignore[arg-type]
        with pytest.raises(KeyForOtherAddress, match="OPENAI_COMPATIBLE_API_KEY"):
            await proxy.with_keys("gift")
    async with open_config(environ=ENVIRONMENT) as proxy:
        with pytest.raises(KeyForOtherAddress):
            await proxy.with_keys("gift")
        await proxy.profiles.update("gift", {"openAiBaseUrl": ELSEWHERE})
        assert (await proxy.with_keys("gift")).open_ai_api_key == SecretStr("environment-2-0123456789")


async def test_an_import_over_a_profile_does_not_lead_its_key_elsewhere(open_config: OpenConfig) -> None:
    document = {"providerProfiles": {"apiConfigs": {"default": {"apiProvider": "openai", "openAiBaseUrl": ELSEWHERE}}}}
    async with open_config() as proxy:
        await kept(proxy)
        await proxy.import_settings(document)  # type: ignore[arg-type]
        with pytest.raises(KeyForOtherAddress):
            await proxy.with_keys("default")


async def test_a_key_that_comes_with_an_address_is_for_it(open_config: OpenConfig) -> None:
    profile = {"apiProvider": "openai", "openAiBaseUrl": ELSEWHERE, "openAiApiKey": KEY}
    async with open_config() as proxy:
        await proxy.use_storage("file")
        await proxy.import_settings({"providerProfiles": {"apiConfigs": {"gift": profile}}})  # type: ignore[dict-item]
        assert (await proxy.with_keys("gift")).open_ai_api_key == SecretStr(KEY)


@pytest.mark.parametrize("region", ["evil.test/#", "a.evil.test", "x@evil.test/", "us east", "a\n"])
async def test_a_region_cannot_name_another_host(open_config: OpenConfig, region: str) -> None:
    async with open_config() as proxy:
        for field in ("awsRegion", "vertexRegion"):
            with pytest.raises(InvalidSetting):
                await proxy.profiles.update("default", {field: region})


def test_an_address_has_one_spelling() -> None:
    assert origin_of("HTTPS://Api.Example:443/v1?x=1") == "https://api.example"
    assert origin_of("http://localhost:11434") == origin_of("http://127.0.0.1:11434/v1") == origin_of("localhost:11434")
    assert origin_of("http://[::1]:8000/") == "http://[::1]:8000"
    assert origin_of("https://a.example") != origin_of("https://a.example:444")
