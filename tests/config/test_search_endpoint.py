"""The embeddings endpoint among the settings: its key goes where keys go, and only a person or the operator names it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import SecretStr

from hdsp_agent.config import ContextProxy, OperatorPolicy
from hdsp_agent.errors import ForbiddenByOperator, InvalidSetting, KeyForOtherAddress, UnknownProfile

from .conftest import OpenConfig

KEY = "planted-key-0123456789"
NAME = "searchEndpointApiKey"
HERE = "https://here.example/v1"
ENDPOINT = {"searchByMeaning": "endpoint", "searchEndpointUrl": HERE, "searchEndpointModel": "small"}


def shown(proxy: ContextProxy) -> list[tuple[bool, str | None, str | None]]:
    return [(one.present, one.last4, one.given_for) for one in proxy.secrets.status.secrets if one.key == NAME]


async def test_nothing_is_named_at_first(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        settings = proxy.settings
        assert settings.search_by_meaning == "bundled"
        assert (settings.search_endpoint_url, settings.search_endpoint_model) == (None, None)
        assert await proxy.setting_key(NAME) is None
        assert shown(proxy) == []


async def test_the_key_is_kept_with_keys_and_in_no_settings_file(open_config: OpenConfig, home: Path) -> None:
    async with open_config() as proxy:
        await proxy.use_storage("file")
        await proxy.update({**ENDPOINT, NAME: KEY})
        assert await proxy.setting_key(NAME) == SecretStr(KEY)
        assert shown(proxy) == [(True, "6789", None)]
        assert KEY not in json.dumps(await proxy.export_settings()) + proxy.settings.to_json() + repr(proxy.settings)
    assert KEY not in (home / "config.json").read_text()
    async with open_config() as proxy:
        assert await proxy.setting_key(NAME) == SecretStr(KEY)
        await proxy.delete_secret("settings", NAME)
        assert await proxy.setting_key(NAME) is None
        assert shown(proxy) == [(False, None, None)]


async def test_the_key_goes_only_to_the_address_it_was_given_for(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        await proxy.use_storage("file")
        with pytest.raises(InvalidSetting, match="enter the address first"):
            await proxy.set_secret("settings", NAME, SecretStr(KEY))
        await proxy.update(ENDPOINT)
        await proxy.set_secret("settings", NAME, SecretStr(KEY))
        await proxy.update({"searchEndpointUrl": "https://elsewhere.example/v1"})
        with pytest.raises(KeyForOtherAddress, match=r"given for https://here\.example"):
            await proxy.setting_key(NAME)
        assert shown(proxy) == [(True, "6789", "https://here.example")]


async def test_keys_of_two_storage_folders_never_meet(open_config: OpenConfig, tmp_path: Path) -> None:
    ids = set()
    for name in ("one", "two"):
        async with open_config(folder=tmp_path / name) as proxy:
            await proxy.use_storage("file")
            await proxy.update({**ENDPOINT, NAME: KEY})
            ids |= {one.profile_id for one in proxy.secrets.status.secrets if one.key == NAME}
    assert len(ids) == 2


async def test_the_key_moves_and_is_forgotten_with_the_others(open_config: OpenConfig, home: Path) -> None:
    async with open_config(environ={"HDSP_AGENT_PASSPHRASE": "correct horse"}) as proxy:
        await proxy.use_storage("file")
        await proxy.update({**ENDPOINT, NAME: KEY})
        await proxy.use_storage("encrypted-file")
        assert not (home / "secrets.json").exists()
        assert await proxy.setting_key(NAME) == SecretStr(KEY)
        await proxy.reset()
        assert await proxy.setting_key(NAME) is None
        assert not (home / "secrets.enc").exists()


async def test_a_key_of_the_environment_goes_before_a_saved_one(open_config: OpenConfig) -> None:
    async with open_config(environ={"HDSP_AGENT_SEARCH_API_KEY": KEY}) as proxy:
        await proxy.update(ENDPOINT)
        assert await proxy.setting_key(NAME) == SecretStr(KEY)
        assert [one.variable for one in proxy.secrets.status.secrets if one.key == NAME] == [
            "HDSP_AGENT_SEARCH_API_KEY"
        ]


async def test_a_key_of_no_profile_is_no_key_of_one(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        await proxy.use_storage("file")
        with pytest.raises(InvalidSetting):
            await proxy.set_secret("default", NAME, SecretStr(KEY))
        with pytest.raises(UnknownProfile):
            await proxy.set_secret("settings", "apiKey", SecretStr(KEY))


async def test_a_key_written_into_the_file_is_told_and_not_used(open_config: OpenConfig, home: Path) -> None:
    home.mkdir()
    (home / "config.json").write_text(json.dumps({"version": 1, "globalSettings": {**ENDPOINT, NAME: KEY}}))
    async with open_config() as proxy:
        assert [notice.code for notice in proxy.notices] == ["key_in_config"]
        assert KEY not in repr(proxy.notices)
        assert await proxy.setting_key(NAME) is None
        assert proxy.settings.search_endpoint_url == HERE


async def test_a_settings_file_neither_carries_nor_names_an_endpoint(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        await proxy.use_storage("file")
        document = {"globalSettings": {**ENDPOINT, NAME: KEY, "soundVolume": 0.25}}
        report = await proxy.import_settings(document)  # type: ignore[arg-type]
        told = {item.path.rpartition(".")[2]: item.code for item in report.items}
        assert told == {**dict.fromkeys([*ENDPOINT, NAME], "not_transferred"), "soundVolume": "taken"}
        assert proxy.settings.search_endpoint_url is None and proxy.settings.search_by_meaning == "bundled"
        await proxy.update(ENDPOINT)
        assert not ENDPOINT.keys() & (await proxy.export_settings())["globalSettings"].keys()  # type: ignore[union-attr]


@pytest.mark.parametrize("url", ["ftp://here.example", "here.example", "https://me:secret@here.example/v1"])
async def test_an_address_that_is_none_or_hides_a_key_is_refused(open_config: OpenConfig, url: str) -> None:
    async with open_config() as proxy:
        with pytest.raises(InvalidSetting):
            await proxy.update({"searchEndpointUrl": url})


@pytest.mark.parametrize("patch", [ENDPOINT, {"searchByMeaning": "endpoint"}, {"searchEndpointUrl": HERE}])
async def test_who_may_use_no_openai_compatible_provider_may_name_no_endpoint(
    open_config: OpenConfig, patch: dict[str, str]
) -> None:
    policy = OperatorPolicy(allowed_providers=("anthropic",), keyring_timeout_seconds=30)
    async with open_config(policy) as proxy:
        with pytest.raises(ForbiddenByOperator):
            await proxy.update(patch)
        assert proxy.settings.search_by_meaning == "bundled"
        await proxy.update({"searchByMeaning": "off", "searchEndpointUrl": None})


async def test_an_address_that_the_operator_fixed_for_models_is_the_only_one(open_config: OpenConfig) -> None:
    policy = OperatorPolicy(fixed_settings={"openAiBaseUrl": HERE}, keyring_timeout_seconds=30)
    async with open_config(policy) as proxy:
        with pytest.raises(ForbiddenByOperator, match=r"only the address https://here\.example"):
            await proxy.update({"searchEndpointUrl": "https://elsewhere.example/v1"})
        await proxy.update(ENDPOINT)


async def test_the_operator_can_fix_the_endpoint_and_not_the_key(open_config: OpenConfig) -> None:
    policy = OperatorPolicy(allowed_providers=("anthropic",), fixed_settings=dict(ENDPOINT), keyring_timeout_seconds=30)
    async with open_config(policy) as proxy:
        assert proxy.settings.search_endpoint_url == HERE
        with pytest.raises(ForbiddenByOperator):
            await proxy.update({"searchEndpointUrl": "https://elsewhere.example/v1"})
    with pytest.raises(InvalidSetting, match="environment variable"):
        async with open_config(OperatorPolicy(fixed_settings={NAME: KEY})):
            pass
