"""Provider profiles: names for people, ids for keys, and nothing that can strand a person without one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import JsonValue, SecretStr

from hdsp_agent.config import ContextProxy, OperatorPolicy
from hdsp_agent.errors import Conflict, ForbiddenByOperator, InvalidInput, InvalidSetting, ProfileExists, UnknownProfile
from tests.config.conftest import OpenConfig

KEY = "sk-ant-planted-0123456789"


def write(home: Path, profiles: JsonValue) -> None:
    home.mkdir(mode=0o700, exist_ok=True)
    text = json.dumps({"version": 1, "providerProfiles": profiles})
    (home / "config.json").write_text(text, encoding="utf-8")


def names(proxy: ContextProxy) -> list[str]:
    return [entry.name for entry in proxy.profiles.entries]


async def test_there_is_a_profile_from_the_first_start_and_it_stays_the_same(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        [first] = proxy.profiles.entries
        assert (first.name, first.current, first.api_provider) == ("default", True, None)
    async with open_config() as proxy:
        assert proxy.profiles.entries == (first,)


async def test_ids_differ_between_folders(open_config: OpenConfig, tmp_path: Path) -> None:
    """The system keyring is shared by all folders of a person: equal ids would mix up their keys."""
    async with open_config() as one, open_config(folder=tmp_path / "other") as other:
        assert one.profiles.current.id != other.profiles.current.id


async def test_create_update_and_read_back(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        made = await proxy.profiles.create("  work  ", {"apiProvider": "openai", "openAiModelId": "gpt-x"})
        assert (made.name, made.api_provider, made.model_id, made.current) == ("work", "openai", "gpt-x", False)
        changed = await proxy.profiles.update(
            "work", {"openAiModelId": None, "openAiBaseUrl": "http://localhost:8000/v1"}
        )
        assert changed.id == made.id
        settings = proxy.profiles.settings("work")
        assert settings.open_ai_model_id is None
        assert settings.open_ai_base_url == "http://localhost:8000/v1"
        assert proxy.profiles.get(made.id) == proxy.profiles.get("work")


async def test_names_are_unique_and_sane(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        with pytest.raises(ProfileExists):
            await proxy.profiles.create(" default ")
        await proxy.profiles.create("work")
        with pytest.raises(ProfileExists):
            await proxy.profiles.rename("work", "default")
        for bad in ("", "   ", "x" * 101, "two\nlines"):
            with pytest.raises(InvalidInput):
                await proxy.profiles.create(bad)
        assert names(proxy) == ["default", "work"]
        assert (await proxy.profiles.create("x" * 100)).name == "x" * 100


async def test_renaming_keeps_the_id_the_place_the_keys_and_what_refers_to_it(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        await proxy.update({"secretStorage": "file"})
        made = await proxy.profiles.create("work", {"apiProvider": "anthropic", "apiKey": KEY})
        await proxy.profiles.create("last")
        await proxy.profiles.activate("work")
        await proxy.profiles.assign_mode("ask", "work")
        renamed = await proxy.profiles.rename("work", "home")
        assert renamed.id == made.id
        assert renamed.current
        assert names(proxy) == ["default", "home", "last"]
        assert proxy.profiles.for_mode("ask").name == "home"
        assert await proxy.secrets.get(renamed.id, "apiKey") == SecretStr(KEY)
        with pytest.raises(UnknownProfile):
            proxy.profiles.get("work")


async def test_deleting_the_current_profile_activates_another_and_forgets_all_of_it(
    home: Path, open_config: OpenConfig
) -> None:
    async with open_config() as proxy:
        await proxy.update({"secretStorage": "file"})
        made = await proxy.profiles.create("work", {"apiProvider": "anthropic", "apiKey": KEY})
        await proxy.profiles.activate("work")
        await proxy.profiles.pin("work")
        await proxy.profiles.assign_mode("ask", "work")
        await proxy.update({"enhancementApiConfigId": made.id, "profileThresholds": {made.id: 50}})
        await proxy.profiles.delete("work")
        assert names(proxy) == ["default"]
        assert proxy.profiles.current.name == "default"
        assert proxy.profiles.for_mode("ask").name == "default"
        assert proxy.settings.enhancement_api_config_id is None
        assert proxy.settings.profile_thresholds == {}
        assert await proxy.secrets.get(made.id, "apiKey") is None
    for file in home.iterdir():
        assert made.id not in file.read_text(encoding="utf-8")


async def test_the_last_profile_stays(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        with pytest.raises(Conflict, match="last profile"):
            await proxy.profiles.delete("default")
        assert names(proxy) == ["default"]


async def test_one_profile_can_be_for_all_modes(home: Path, open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        await proxy.profiles.create("work")
        await proxy.profiles.assign_mode("architect", "work")
        await proxy.profiles.lock(True)
        assert proxy.profiles.locked
        assert proxy.profiles.for_mode("architect").name == "default"
    async with open_config() as proxy:
        assert proxy.profiles.locked
        await proxy.profiles.lock(False)
        assert proxy.profiles.for_mode("architect").name == "work"
    assert "lockApiConfigAcrossModes" not in (home / "config.json").read_text(encoding="utf-8")


async def test_pins_and_modes(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        await proxy.profiles.create("work")
        assert (await proxy.profiles.pin("work")).pinned
        assert not (await proxy.profiles.pin("work", False)).pinned
        await proxy.profiles.assign_mode("architect", "work")
        assert proxy.profiles.for_mode("architect").name == "work"
        assert proxy.profiles.for_mode("code").name == "default"
        await proxy.profiles.clear_mode("architect")
        assert proxy.profiles.for_mode("architect").name == "default"
        with pytest.raises(InvalidSetting):
            await proxy.profiles.assign_mode("not a mode", "work")
        with pytest.raises(UnknownProfile):
            await proxy.profiles.assign_mode("ask", "nobody")


@pytest.mark.parametrize(
    ("patch", "field"),
    [
        ({"apiProvider": "chutes"}, "apiProvider"),
        ({"openAiBaseUrl": "localhost:1"}, "openAiBaseUrl"),
        ({"openAiBaseUrl": f"https://user:{KEY}@host/v1"}, "openAiBaseUrl"),
        ({"openAiBaseUrl": f"https://host/v1?api_key={KEY}"}, "openAiBaseUrl"),
        ({"openAiHeaders": {"Authorization": f"Bearer {KEY}"}}, "openAiHeaders"),
        ({"modelMaxTokens": 0}, "modelMaxTokens"),
        ({"apiKey": ["x"]}, "apiKey"),
        ({"id": "mine"}, "id"),
    ],
)
async def test_an_invalid_provider_setting_is_named_without_quoting_it(
    open_config: OpenConfig, patch: dict[str, JsonValue], field: str
) -> None:
    async with open_config() as proxy:
        before = proxy.profiles.page
        with pytest.raises(InvalidSetting) as caught:
            await proxy.profiles.update("default", {"modelTemperature": 1, **patch})
        assert caught.value.field == field
        assert KEY not in caught.value.message + str(caught.value.params)
        assert proxy.profiles.page == before


async def test_a_key_that_cannot_be_kept_keeps_the_profile_from_being_changed(open_config: OpenConfig) -> None:
    from hdsp_agent.errors import SecretStorageUnavailable

    async with open_config() as proxy:
        with pytest.raises(SecretStorageUnavailable):
            await proxy.profiles.update("default", {"apiProvider": "anthropic", "apiKey": KEY})
        assert proxy.profiles.current.api_provider is None
        with pytest.raises(SecretStorageUnavailable):
            await proxy.profiles.create("work", {"apiProvider": "anthropic", "apiKey": KEY})
        assert names(proxy) == ["default"]


async def test_deleting_a_key_by_null(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        await proxy.update({"secretStorage": "file"})
        entry = await proxy.profiles.update("default", {"apiProvider": "anthropic", "apiKey": KEY})
        await proxy.profiles.update("default", {"apiKey": None})
        assert await proxy.secrets.get(entry.id, "apiKey") is None


# ---- files edited by hand


async def test_an_unknown_provider_is_left_out_with_a_notice_and_stays_in_the_file(
    home: Path, open_config: OpenConfig
) -> None:
    write(
        home,
        {
            "currentApiConfigName": "a",
            "apiConfigs": {
                "a": {"id": "a1", "apiProvider": "human-relay", "apiModelId": "m"},
                "b": {"id": "b1", "apiProvider": "chutes"},
                "c": {"id": "c1", "apiProvider": ["x"]},
            },
        },
    )
    async with open_config() as proxy:
        assert [entry.api_provider for entry in proxy.profiles.entries] == [None, None, None]
        assert proxy.profiles.settings("a").api_model_id == "m"
        assert [notice.code for notice in proxy.notices] == ["provider_unknown", "provider_retired", "provider_unknown"]
        await proxy.update({"soundEnabled": True})
    assert "human-relay" in (home / "config.json").read_text(encoding="utf-8")


async def test_profiles_without_id_or_with_the_same_get_one_and_keep_it(home: Path, open_config: OpenConfig) -> None:
    write(
        home, {"apiConfigs": {"a": {"apiProvider": "ollama"}, "b": {"id": "x"}, "c": {"id": "x"}, "d": {"id": "../e"}}}
    )
    async with open_config() as proxy:
        ids = [entry.id for entry in proxy.profiles.entries]
        assert len(set(ids)) == 4
        assert ids[1] == "x"
        assert all("/" not in id for id in ids)
    async with open_config() as proxy:
        assert [entry.id for entry in proxy.profiles.entries] == ids


async def test_nonsense_costs_only_itself(home: Path, open_config: OpenConfig) -> None:
    write(
        home,
        {
            "currentApiConfigName": "gone",
            "apiConfigs": {"bad": "text", "ok": {"id": "o1", "modelTemperature": "hot", "apiProvider": "ollama"}},
            "modeApiConfigs": {"ask": "no-such-id", "code": 3, "debug": "o1"},
            "pinnedApiConfigs": {"o1": True, "x": 1},
        },
    )
    async with open_config() as proxy:
        assert names(proxy) == ["ok"]
        assert proxy.profiles.current.name == "ok"
        assert dict(proxy.profiles.modes) == {"debug": "o1"}
        assert {notice.code for notice in proxy.notices} == {"profile_ignored", "setting_ignored"}
        await proxy.profiles.create("new")
    raw = json.loads((home / "config.json").read_text(encoding="utf-8"))["providerProfiles"]["apiConfigs"]
    assert raw["bad"] == "text"
    assert raw["ok"]["modelTemperature"] == "hot"


async def test_a_key_written_into_the_file_is_not_used_and_is_pointed_out(home: Path, open_config: OpenConfig) -> None:
    write(home, {"apiConfigs": {"a": {"id": "a1", "apiProvider": "anthropic", "apiKey": KEY}}})
    async with open_config() as proxy:
        assert [notice.code for notice in proxy.notices] == ["key_in_config"]
        assert KEY not in proxy.notices[0].to_json()
        assert await proxy.secrets.get("a1", "apiKey") is None
        assert KEY not in json.dumps(await proxy.export_settings())


# ---- the operator


async def test_only_allowed_providers_can_be_used(home: Path, open_config: OpenConfig) -> None:
    write(
        home,
        {"apiConfigs": {"a": {"id": "a1", "apiProvider": "openrouter"}, "b": {"id": "b1", "apiProvider": "local"}}},
    )
    async with open_config(OperatorPolicy(allowed_providers=("local", "ollama"))) as proxy:
        assert [entry.allowed for entry in proxy.profiles.entries] == [False, True]
        for attempt in (
            proxy.profiles.create("c", {"apiProvider": "anthropic"}),
            proxy.profiles.update("b", {"apiProvider": "xai"}),
            proxy.profiles.activate("a"),
        ):
            with pytest.raises(ForbiddenByOperator):
                await attempt
        await proxy.profiles.update("a", {"apiProvider": "ollama"})
        assert proxy.profiles.get("a").allowed


async def test_the_operators_defaults_lie_below_the_persons_values(open_config: OpenConfig) -> None:
    policy = OperatorPolicy(default_profile="Team", default_provider="openai", default_model="team-model")
    async with open_config(policy) as proxy:
        assert (proxy.profiles.current.name, proxy.profiles.current.model_id) == ("Team", "team-model")
        await proxy.profiles.update("Team", {"openAiModelId": "mine"})
        assert proxy.profiles.current.model_id == "mine"
        await proxy.profiles.update("Team", {"apiProvider": "anthropic"})
        now = proxy.profiles.current
        assert now.model_id is None, "another provider has other models"
        assert proxy.profiles.settings("Team").api_model_id is None


async def test_fixed_provider_settings_hold_in_every_profile(open_config: OpenConfig) -> None:
    policy = OperatorPolicy(fixed_settings={"openAiBaseUrl": "http://gateway/v1"})
    async with open_config(policy) as proxy:
        assert proxy.profiles.settings("default").open_ai_base_url == "http://gateway/v1"
        with pytest.raises(ForbiddenByOperator):
            await proxy.profiles.update("default", {"openAiBaseUrl": "http://elsewhere/v1"})


@pytest.mark.parametrize(
    "slip",
    [
        OperatorPolicy(allowed_providers=("anthropc",)),
        OperatorPolicy(provider_keys={"opnai": SecretStr("x")}),
        OperatorPolicy(allowed_modes=("no such mode",)),
        OperatorPolicy(allowed_providers=("ollama",), default_provider="openai"),
        OperatorPolicy(allowed_modes=("code",), fixed_settings={"mode": "ask"}),
    ],
)
async def test_a_slip_of_the_operators_stops_the_start_and_is_named(
    open_config: OpenConfig, slip: OperatorPolicy
) -> None:
    with pytest.raises(InvalidSetting) as refused:
        async with open_config(slip):
            pass
    assert refused.value.field in (
        "allowed_providers",
        "provider_keys",
        "allowed_modes",
        "default_provider",
        "fixed_settings",
    )


# ---- names and halves of characters


async def test_names_of_all_scripts_and_emoji_are_taken_and_equal_looks_are_one_name(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        for name in ("..", "%2F", "con", "\U0001f469\u200d\U0001f4bb", "仕事\u3000用", "업무", "می\u200cخواهم"):
            assert (await proxy.profiles.create(name)).name == name
        await proxy.profiles.create("cafe\u0301")
        with pytest.raises(ProfileExists):
            await proxy.profiles.create("caf\u00e9")
        for name in ("\u202eright to left", "a\nb", "\x00", "\ud800"):
            with pytest.raises(InvalidInput):
                await proxy.profiles.create(name)


async def test_a_profile_named_like_anothers_id_does_not_get_its_changes(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        work = await proxy.profiles.create("work")
        impostor = await proxy.profiles.create(work.id)
        await proxy.profiles.update(work.id, {"apiProvider": "ollama"})
        assert proxy.profiles.get("work").api_provider == "ollama"
        assert proxy.profiles.get(impostor.id).api_provider is None


async def test_halves_of_characters_in_the_file_cost_only_themselves(home: Path, open_config: OpenConfig) -> None:
    half = "\ud800"
    write(
        home,
        {
            "apiConfigs": {half: {"id": "h1"}, "ok": {"id": "o1", "apiProvider": half}},
            "modeApiConfigs": {half: "o1", "ask": "o1"},
        },
    )
    async with open_config() as proxy:
        assert names(proxy) == ["ok"]
        assert dict(proxy.profiles.modes) == {"ask": "o1"}
        assert {notice.code for notice in proxy.notices} == {"profile_ignored", "provider_unknown"}
        for told in (*proxy.notices, *proxy.profiles.entries):
            assert told.to_json()
        json.dumps(await proxy.export_settings(), ensure_ascii=False).encode()
    assert json.loads((home / "config.json").read_text(encoding="utf-8"))["providerProfiles"]["apiConfigs"][half]
