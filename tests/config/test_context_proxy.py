"""One place where settings are read and changed: checked as a whole, or not changed at all."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from hdsp_agent.config import ConfigChange, ContextProxy, GlobalSettings, OperatorPolicy, SecretStore, overridden
from hdsp_agent.errors import ForbiddenByOperator, HdspAgentError, InvalidSetting
from tests._helpers.long_tests import rounds
from tests._helpers.parsed_json import parsed
from tests.config.conftest import OpenConfig


def document(home: Path) -> dict[str, JsonValue]:
    content: dict[str, JsonValue] = json.loads((home / "config.json").read_text(encoding="utf-8"))
    return content


# ---- settings


async def test_a_change_is_told_to_listeners_by_name(open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        told: list[ConfigChange] = []
        end = proxy.subscribe(lambda change: told.append(change) if change.settings else None)
        await proxy.update({"soundVolume": 0.1, "soundEnabled": False})
        assert told == [ConfigChange(settings=frozenset({"soundVolume"}))]
        end()
        end()
        await proxy.update({"soundVolume": 0.2})
        assert len(told) == 1


async def test_a_listener_that_fails_keeps_nothing_from_the_others(
    open_config: OpenConfig, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_config() as proxy:
        told: list[ConfigChange] = []

        def fail(change: ConfigChange) -> None:
            raise RuntimeError("the listener is broken")

        proxy.subscribe(fail)
        proxy.subscribe(told.append)
        await proxy.update({"soundVolume": 0.1})
        assert told
        assert proxy.settings.sound_volume == 0.1
        assert "listener" in caplog.text


@pytest.mark.parametrize(
    ("patch", "field", "reason"),
    [
        ({"soundVolume": 2}, "soundVolume", "less than or equal to 1"),
        ({"soundVolume": "0.5"}, "soundVolume", "number"),
        ({"soundVolume": float("nan")}, "soundVolume", "not JSON"),
        ({"autoApprovalEnabled": "true"}, "autoApprovalEnabled", "boolean"),
        ({"enterBehavior": "both"}, "enterBehavior", "'send' or 'newline'"),
        ({"mode": "two words"}, "mode", "pattern"),
        ({"mode": "\ud800"}, "mode", "half a character"),
        ({"allowedCommands": ["ls", ""]}, "allowedCommands", "at 1"),
        ({"allowedMaxRequests": 10**5000}, "allowedMaxRequests", "number"),
        ({"maskedKinds": ["email", "everything"]}, "maskedKinds", "must be"),
        ({"profileThresholds": {"p": 3}}, "profileThresholds", "between 5 and 100"),
        ({"customModes": [{"slug": "x", "name": "", "roleDefinition": "r"}]}, "customModes", "name"),
        ({"customModes": [{"slug": "x", "name": "X", "roleDefinition": "r", "groups": [["edit", {"fileRegex": "("}]]}]},
         "customModes", "regular expression"),
        ({"noSuchSetting": 1}, "noSuchSetting", "no setting"),
        ({"sound_volume": 0.1}, "sound_volume", "no setting"),
        ({"apiKey": "sk-1"}, "apiKey", "no setting"),
        ({"soundEnabled": True, "language": "tlh", "soundVolume": 9}, "language", "'en'"),
    ],
)  # fmt: skip
async def test_an_invalid_setting_is_named_and_nothing_is_changed(
    home: Path, open_config: OpenConfig, patch: dict[str, JsonValue], field: str, reason: str
) -> None:
    async with open_config() as proxy:
        before = (home / "config.json").read_bytes()
        with pytest.raises(InvalidSetting) as caught:
            await proxy.update(patch)
        assert caught.value.field == field
        assert reason in caught.value.message
        assert proxy.settings == GlobalSettings()
        assert (home / "config.json").read_bytes() == before


async def test_null_puts_a_setting_back_to_its_default(home: Path, open_config: OpenConfig) -> None:
    async with open_config() as proxy:
        await proxy.update({"soundVolume": 0.1, "allowedMaxRequests": 5, "language": "ko"})
        await proxy.update({"soundVolume": None, "allowedMaxRequests": None, "language": ""})
        assert proxy.settings == GlobalSettings()
    assert document(home)["globalSettings"] == {}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
setting_names = st.sampled_from(sorted(GlobalSettings.model_json_schema()["properties"])) | st.text(max_size=20)
good_values: st.SearchStrategy[JsonValue] = st.sampled_from(
    [True, False, 1, 10, 50, 100, 0.5, "code", "send", "small", "ko", [], {}, ["ls"], None]
)


def test_any_patch_applies_wholly_or_changes_nothing() -> None:
    async def check(patches: list[dict[str, JsonValue]]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder) / "home"
            policy = OperatorPolicy()
            proxy = ContextProxy(home, policy, SecretStore(home, policy, environ={}))
            await proxy.start()
            try:
                for patch in patches:
                    before, file = proxy.settings, (home / "config.json").read_bytes()
                    try:
                        after = await proxy.update(patch)
                    except HdspAgentError as error:
                        assert error.field in patch
                        assert proxy.settings == before
                        assert (home / "config.json").read_bytes() == file
                    else:
                        wire = after.to_wire()
                        for key, value in patch.items():
                            if value not in (None, ""):
                                assert wire[key] == value
            finally:
                await proxy.stop()
            # What was accepted is accepted again from the file.
            again = ContextProxy(home, policy, SecretStore(home, policy, environ={}))
            await again.start()
            assert again.settings == proxy.settings
            assert again.notices == ()
            await again.stop()

    patches = st.lists(st.dictionaries(setting_names, good_values | json_values, max_size=4), max_size=4)

    @settings(max_examples=rounds(50, 150), deadline=None)
    @given(patches)
    def run(sequence: list[dict[str, JsonValue]]) -> None:
        # Changing where keys are kept needs a place for them; that has tests of its own.
        asyncio.run(check([{k: v for k, v in patch.items() if k != "secretStorage"} for patch in sequence]))

    run()


async def test_nothing_blocks_the_event_loop(open_config: OpenConfig) -> None:
    with blockbuster_ctx(scanned_modules=["hdsp_agent"]):
        async with open_config(environ={"HDSP_AGENT_PASSPHRASE": "x"}) as proxy:
            await proxy.update({"soundVolume": 0.1, "secretStorage": "file"})
            await proxy.profiles.update("default", {"apiProvider": "anthropic", "apiKey": "sk-ant-0123456789"})
            await proxy.update({"secretStorage": "encrypted-file"})
            await proxy.import_settings(await proxy.export_settings())
            await proxy.secrets.retry()
            await asyncio.sleep(0.5)
            await proxy.reset()


# ---- the operator


async def test_what_the_operator_fixes_holds_and_cannot_be_changed(home: Path, open_config: OpenConfig) -> None:
    policy = OperatorPolicy(fixed_settings={"retentionDeleteDays": 5}, allow_auto_approval=False)
    home.mkdir()
    home.mkdir(exist_ok=True)
    (home / "config.json").write_text(
        '{"version": 1, "globalSettings": {"retentionDeleteDays": 90, "autoApprovalEnabled": true}}', encoding="utf-8"
    )
    async with open_config(policy) as proxy:
        assert proxy.fixed == {"retentionDeleteDays", "autoApprovalEnabled"}
        assert proxy.settings.retention_delete_days == 5
        assert proxy.settings.auto_approval_enabled is False
        for key, value in {"retentionDeleteDays": 90, "autoApprovalEnabled": True}.items():
            with pytest.raises(ForbiddenByOperator) as caught:
                await proxy.update({"soundEnabled": True, key: value})
            assert caught.value.field == key
        assert proxy.settings.sound_enabled is False


async def test_only_allowed_modes_can_be_chosen(open_config: OpenConfig) -> None:
    async with open_config(OperatorPolicy(allowed_modes=("ask", "architect"))) as proxy:
        assert proxy.settings.mode == "ask"
        await proxy.update({"mode": "architect"})
        with pytest.raises(ForbiddenByOperator):
            await proxy.update({"mode": "code"})
        assert proxy.settings.mode == "architect"


@pytest.mark.parametrize(
    "policy",
    [
        OperatorPolicy(fixed_settings={"soundVolume": 7}),
        OperatorPolicy(fixed_settings={"noSuchSetting": 1}),
        OperatorPolicy(fixed_settings={"apiKey": "sk-1"}),
        OperatorPolicy(default_provider="no-such-provider"),
    ],
)
async def test_a_mistake_of_the_operator_is_said_at_the_start(open_config: OpenConfig, policy: OperatorPolicy) -> None:
    """Going on without what was meant to be fixed would be worse than not starting."""
    with pytest.raises(InvalidSetting):
        async with open_config(policy):
            pass


# ---- reset


async def test_reset_puts_everything_back_and_deletes_keys(home: Path, open_config: OpenConfig) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.json").write_text(
        '{"version": 1, "globalSettings": {"taskHistory": [{"id": "t1"}]}}', encoding="utf-8"
    )
    async with open_config() as proxy:
        await proxy.update({"secretStorage": "file", "soundVolume": 0.1})
        await proxy.profiles.update("default", {"apiProvider": "anthropic", "apiKey": "sk-ant-0123456789"})
        await proxy.profiles.create("work", {"apiProvider": "mistral", "mistralApiKey": "planted-0123456789"})
        old = {entry.id for entry in proxy.profiles.entries}
        await proxy.reset()
        assert proxy.settings == GlobalSettings()
        assert [entry.name for entry in proxy.profiles.entries] == ["default"]
        assert proxy.profiles.current.id not in old
        assert parsed(document(home))["globalSettings"]["taskHistory"] == [{"id": "t1"}]
    assert not (home / "secrets.json").exists()


async def test_reset_goes_on_when_keys_cannot_be_deleted_and_says_so(open_config: OpenConfig) -> None:
    async with open_config(environ={"HDSP_AGENT_PASSPHRASE": "right"}) as proxy:
        await proxy.update({"soundVolume": 0.1, "secretStorage": "encrypted-file"})
        await proxy.profiles.update("default", {"apiProvider": "anthropic", "apiKey": "sk-ant-0123456789"})
        (proxy.home / "secrets.enc").write_text("damaged", encoding="utf-8")
        await proxy.reset()
        assert proxy.settings.sound_volume == 0.5
        assert [notice.code for notice in proxy.notices] == ["keys_left_behind"]
        assert (proxy.home / "secrets.enc").read_text(encoding="utf-8") == "damaged"


def test_what_one_task_sets_comes_over_the_settings_and_below_the_operator() -> None:
    base = GlobalSettings(denied_commands=("rm",), always_allow_write=True)
    policy = OperatorPolicy(
        fixed_settings={"alwaysAllowWrite": False, "modelTemperature": 0.5}, allow_auto_approval=False
    )
    wanted: dict[str, JsonValue] = {
        "deniedCommands": ["mv"],
        "alwaysAllowWrite": True,
        "autoApprovalEnabled": True,
        "alwaysAllowReadOnly": True,
    }
    made = overridden(base, wanted, policy)
    assert made.denied_commands == ("rm", "mv")
    assert made.always_allow_read_only
    assert not made.always_allow_write
    assert not made.auto_approval_enabled
