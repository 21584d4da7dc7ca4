"""Out without keys, back in with as much as can be used, and a report about the rest."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path

import pytest
from pydantic import JsonValue, SecretStr

from hdsp_agent.config import ImportReport, OperatorPolicy, ProviderSettings, secret_keys
from hdsp_agent.errors import HdspAgentError, InvalidInput
from tests._helpers.parsed_json import parsed
from tests.config.conftest import OpenConfig

ROO_EXPORT: dict[str, JsonValue] = {
    "providerProfiles": {
        "currentApiConfigName": "claude",
        "apiConfigs": {
            "claude": {
                "id": "kh2j9zq0a1",
                "apiProvider": "anthropic",
                "apiModelId": "claude-sonnet-4-20250514",
                "apiKey": "sk-ant-planted-0123456789",
                "modelTemperature": None,
                "enableReasoningEffort": True,
                "rateLimitSeconds": 0,
                "todoListEnabled": True,
            },
            "gateway": {
                "id": "8x1m2n3b4v",
                "apiProvider": "openai",
                "openAiBaseUrl": "https://gateway.example/v1",
                "openAiApiKey": "planted-gateway-0123456789",
                "openAiModelId": "team-model",
                "openAiHeaders": {"X-Team": "data", "Ocp-Apim-Subscription-Key": "planted-header-0123456789"},
                "openAiCustomModelInfo": {
                    "maxTokens": -1,
                    "contextWindow": 64000,
                    "supportsImages": False,
                    "supportsPromptCache": False,
                    "inputPrice": 0.5,
                },
                "openAiHostHeader": "",
            },
            "old": {"id": "o1", "apiProvider": "chutes", "chutesApiKey": "planted-chutes-0123456789"},
            "editor": {"id": "e1", "apiProvider": "vscode-lm", "vsCodeLmModelSelector": {"vendor": "x"}},
            "vertex": {
                "id": "v1",
                "apiProvider": "vertex",
                "vertexJsonCredentials": '{"private_key": "planted-vertex-0123456789"}',
                "vertexProjectId": "p",
                "vertex1MContext": True,
            },
            "broken": "not a profile",
        },
        "modeApiConfigs": {"code": "kh2j9zq0a1", "ask": "8x1m2n3b4v", "debug": "gone"},
        "migrations": {"rateLimitSecondsMigrated": True},
    },
    "globalSettings": {
        "lastShownAnnouncementId": "jul-2025",
        "autoApprovalEnabled": True,
        "alwaysAllowReadOnly": True,
        "allowedCommands": ["git log", "npm test"],
        "terminalShellIntegrationDisabled": True,
        "terminalOutputPreviewSize": "large",
        "autoCondenseContextPercent": 80,
        "soundVolume": 3,
        "customCondensingPrompt": "Keep the file names.",
        "customSupportPrompts": {"EXPLAIN": "Explain briefly."},
        "pinnedApiConfigs": {"8x1m2n3b4v": True, "gone": True},
        "enhancementApiConfigId": "8x1m2n3b4v",
        "profileThresholds": {"kh2j9zq0a1": 60},
        "customModes": [
            {"slug": "reviewer", "name": "Reviewer", "roleDefinition": "You review.",
             "groups": ["read", "browser", ["edit", {"fileRegex": "\\.md$", "description": "Markdown"}]], "source": "global"},
            {"slug": "mine", "name": "Mine", "roleDefinition": "r", "groups": ["read"], "source": "project"},
            {"slug": "bad one", "name": "Bad", "roleDefinition": "r", "groups": []},
        ],
        "openRouterImageApiKey": "planted-image-0123456789",
        "telemetrySetting": "enabled",
        "mode": "architect",
    },
}  # fmt: skip


def outcomes(report: ImportReport) -> dict[str, str]:
    return {item.path: f"{item.outcome} {item.code}" for item in report.items}


async def test_a_roo_code_export_is_taken_and_its_keys_go_to_the_secret_storage(
    home: Path, open_config: OpenConfig
) -> None:
    async with open_config() as proxy:
        await proxy.update({"secretStorage": "file"})
        report = await proxy.import_settings(copy.deepcopy(ROO_EXPORT))

        assert report.profiles == ("claude", "gateway", "old", "editor", "vertex")
        assert report.current == proxy.profiles.current.name == "claude"
        claude, gateway = proxy.profiles.get("claude"), proxy.profiles.get("gateway")
        assert claude.id != "kh2j9zq0a1"
        assert claude.model_id == "claude-sonnet-4-20250514"
        assert await proxy.secrets.get(claude.id, "apiKey") == SecretStr("sk-ant-planted-0123456789")
        assert proxy.profiles.for_mode("ask") == gateway
        assert gateway.pinned
        assert proxy.settings.enhancement_api_config_id == gateway.id
        assert proxy.settings.profile_thresholds == {claude.id: 60}

        settings = proxy.profiles.settings("gateway")
        assert settings.open_ai_headers == {"X-Team": "data"}
        assert settings.model_context_window == 64000
        assert settings.model_supports_images is False
        assert settings.model_max_tokens is None
        headers = await proxy.secrets.get(gateway.id, "openAiSecretHeaders")
        assert headers == SecretStr("Ocp-Apim-Subscription-Key: planted-header-0123456789")
        assert proxy.profiles.settings("vertex").vertex_1m_context is True

        assert proxy.settings.auto_approval_enabled is True
        assert proxy.settings.allowed_commands == ("git log", "npm test")
        assert proxy.settings.sound_volume == 0.5
        assert proxy.settings.custom_support_prompts == {
            "CONDENSE": "Keep the file names.",
            "EXPLAIN": "Explain briefly.",
        }
        assert [mode.slug for mode in proxy.settings.custom_modes] == ["reviewer"]
        assert proxy.settings.mode == "architect"

        said = outcomes(report)
        assert said["providerProfiles.claude.apiKey"] == "taken key_saved"
        assert said["providerProfiles.old.apiProvider"] == "skipped provider_retired"
        assert said["providerProfiles.editor.apiProvider"] == "skipped provider_unknown"
        assert said["providerProfiles.broken"] == "skipped invalid"
        assert said["providerProfiles.modeApiConfigs.debug"] == "skipped unknown_profile"
        assert said["globalSettings.soundVolume"] == "skipped invalid_setting"
        volume = next(item for item in report.items if item.path == "globalSettings.soundVolume")
        assert str(volume.params["reason"]) in volume.message
        assert said["globalSettings.telemetrySetting"] == "skipped unknown"
        assert said["globalSettings.customModes.mine"] == "skipped project_mode"
        assert said["globalSettings.customModes.bad one"] == "skipped invalid_setting"
        assert "planted" not in report.to_json()
        assert proxy.notices == ()
    assert "planted" not in (home / "config.json").read_text(encoding="utf-8")


async def test_keys_that_cannot_be_kept_are_reported_and_written_nowhere(home: Path, open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        report = await proxy.import_settings(copy.deepcopy(ROO_EXPORT))
        assert outcomes(report)["providerProfiles.claude.apiKey"] == "skipped secret_storage_unavailable"
        assert proxy.profiles.get("claude").api_provider == "anthropic"
    for file in home.iterdir():
        assert b"planted" not in file.read_bytes(), file


async def test_an_import_merges_over_what_is_there(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        await proxy.update({"soundVolume": 0.1, "customModes": [{"slug": "a", "name": "A", "roleDefinition": "r"}]})
        kept = await proxy.profiles.create("kept", {"apiProvider": "ollama"})
        replaced = await proxy.profiles.create("claude", {"apiProvider": "ollama", "ollamaModelId": "x"})
        await proxy.import_settings(
            {
                "providerProfiles": {"currentApiConfigName": "none", "apiConfigs": {"claude": {"apiProvider": "xai"}}},
                "globalSettings": {
                    "customModes": [{"slug": "b", "name": "B", "roleDefinition": "r", "source": "global"}]
                },
            }
        )
        assert proxy.settings.sound_volume == 0.1
        assert [mode.slug for mode in proxy.settings.custom_modes] == ["a", "b"]
        assert proxy.profiles.get("kept") == kept
        again = proxy.profiles.get("claude")
        assert (again.id, again.api_provider) == (replaced.id, "xai")
        assert proxy.profiles.settings("claude").ollama_model_id is None
        assert again.current, "the file's current profile does not exist, so the first one taken is"


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        "text",
        {},
        {"settings": {}},
        {"globalSettings": []},
        {"globalSettings": {"nothing": 1}},
        {"providerProfiles": {"apiConfigs": {"a": 1, " ": {}}}},
    ],
)
async def test_a_document_with_nothing_to_take_is_refused_and_changes_nothing(
    home: Path, open_config: OpenConfig, document: JsonValue
) -> None:
    async with open_config() as proxy:
        before = (home / "config.json").read_bytes()
        with pytest.raises(InvalidInput):
            await proxy.import_settings(document)
        assert (home / "config.json").read_bytes() == before


async def test_an_import_cannot_go_round_the_operator(open_config: OpenConfig) -> None:
    policy = OperatorPolicy(
        allow_auto_approval=False,
        allowed_providers=("openai",),
        allowed_modes=("code",),
        fixed_settings={"openAiBaseUrl": "http://gateway/v1"},
    )
    async with open_config(policy) as proxy:
        report = await proxy.import_settings(copy.deepcopy(ROO_EXPORT))
        said = outcomes(report)
        for path in (
            "globalSettings.autoApprovalEnabled",
            "globalSettings.mode",
            "providerProfiles.claude",
            "providerProfiles.gateway.openAiBaseUrl",
        ):
            assert said[path] == "skipped forbidden_by_operator", path
        assert proxy.settings.auto_approval_enabled is False
        assert [entry.name for entry in proxy.profiles.entries if entry.api_provider] == ["gateway"]


async def test_no_import_however_mangled_breaks_anything(open_config: OpenConfig) -> None:
    """Seeded, so that a failure can be repeated."""
    chance = random.Random(7)
    junk: list[JsonValue] = [None, True, -1, 1e308, "", "x" * 300, "\ud800", [], [[]], {}, {"a": {"b": []}}]

    def mangle(node: JsonValue) -> JsonValue:
        if chance.random() < 0.06:
            return copy.deepcopy(chance.choice(junk))
        if isinstance(node, dict):
            return {(key if chance.random() > 0.02 else key + "é\n"): mangle(child) for key, child in node.items()}
        if isinstance(node, list):
            return [mangle(child) for child in node]
        return node

    async with open_config() as proxy:
        for _ in range(300):
            try:
                await proxy.import_settings(mangle(ROO_EXPORT))
            except HdspAgentError:
                continue
            assert proxy.notices == (), "what an import wrote must be readable"
        await proxy.update({"soundEnabled": True})


# ---- out


async def test_an_export_holds_no_key_wherever_keys_are(home: Path, open_config: OpenConfig) -> None:
    everything = {key: f"planted-{number}-0123456789" for number, key in enumerate(sorted(secret_keys()))}
    for storage, environ in (("file", {}), ("encrypted-file", {"HDSP_AGENT_PASSPHRASE": "right"})):
        async with open_config(environ={**environ, "XAI_API_KEY": "planted-environment"}) as proxy:
            await proxy.update({"secretStorage": storage})
            values = {key: value for key, value in everything.items() if key != "xaiApiKey"}
            await proxy.profiles.update(
                "default", {"apiProvider": "bedrock", "openAiBaseUrl": "http://127.0.0.1:1", **values}
            )
            text = json.dumps(await proxy.export_settings())
            assert "planted" not in text
            assert not secret_keys() & json.loads(text)["providerProfiles"]["apiConfigs"]["default"].keys()
            assert "planted" not in proxy.secrets.status.to_json() + repr(proxy.secrets.status)
        for file in home.iterdir():
            if file.name != "secrets.json" or storage == "encrypted-file":
                assert b"planted" not in file.read_bytes(), file


async def test_an_export_can_be_imported_elsewhere(home: Path, open_config: OpenConfig, tmp_path: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.json").write_text(
        '{"version": 1, "globalSettings": {"taskHistory": [{"id": "t"}]}}', encoding="utf-8"
    )
    async with open_config() as proxy, open_config(folder=tmp_path / "elsewhere") as other:
        await proxy.update(
            {
                "soundVolume": 0.3,
                "customModes": [
                    {"slug": "a", "name": "A", "roleDefinition": "r"},
                    {"slug": "p", "name": "P", "roleDefinition": "r", "source": "project"},
                ],
                "language": "ja",
            }
        )
        await proxy.profiles.create("work", {"apiProvider": "openai", "openAiHeaders": {"X-Team": "t"}})
        await proxy.profiles.activate("work")
        await proxy.profiles.pin("work")
        await proxy.profiles.assign_mode("ask", "work")
        exported = await proxy.export_settings()
        assert "taskHistory" not in parsed(exported["globalSettings"])

        report = await other.import_settings(json.loads(json.dumps(exported)))
        assert all(item.outcome == "taken" for item in report.items), report
        assert (other.settings.sound_volume, other.settings.language) == (0.3, "ja")
        assert [mode.slug for mode in other.settings.custom_modes] == ["a"]
        assert other.profiles.current.name == "work"
        assert other.profiles.current.pinned
        assert other.profiles.for_mode("ask").name == "work"
        assert other.profiles.settings("work") == ProviderSettings(
            api_provider="openai", open_ai_headers={"X-Team": "t"}
        )


async def test_more_profiles_than_anybody_has_are_left_out_and_said(open_config: OpenConfig) -> None:
    async with open_config() as config:
        many: JsonValue = {f"p{number}": {"apiProvider": "ollama"} for number in range(1_000)}
        report = await config.import_settings({"providerProfiles": {"apiConfigs": many, "currentApiConfigName": "p5"}})
        assert len(config.profiles.entries) == 100
        assert report.current == "p5"
        (left_out,) = [item for item in report.items if item.code == "too_many_profiles"]
        assert "901 of the file were left out" in left_out.message
        with pytest.raises(InvalidInput, match="at most 100 profiles"):
            await config.profiles.create("one more")
        # Those that are there may still be changed.
        changed: JsonValue = {"p7": {"apiProvider": "openai"}, "new": {"apiProvider": "openai"}}
        report = await config.import_settings({"providerProfiles": {"apiConfigs": changed}})
        assert report.profiles == ("p7",)


async def test_a_report_has_an_end(open_config: OpenConfig) -> None:
    async with open_config() as config:
        names: dict[str, JsonValue] = {f"k{number}": 1 for number in range(3_000)}
        report = await config.import_settings({"globalSettings": {**names, "mode": "ask"}})
        assert config.settings.mode == "ask"
        assert len(report.items) == 1_001
        assert report.items[-1].message == "2,001 more values are not shown here."
