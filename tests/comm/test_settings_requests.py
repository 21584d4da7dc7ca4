"""Settings and profiles over the channel: what one page does, all pages hear."""

from __future__ import annotations

import json
from pathlib import Path

from hdsp_agent.comm.services import Services
from tests.comm.conftest import Connect, messages


async def test_a_new_page_starts_from_the_whole_state(services: Services, connect: Connect) -> None:
    async with connect() as panel:
        (message,) = messages(panel, "state")
        state = message["state"]
        assert isinstance(state, dict)
        assert state["version"] == services.version
        assert state["settings"] == services.config.settings.to_wire()
        assert state["currentApiConfigName"] == "default"
        assert state["secretStatus"]["storage"]["available"] is False


async def test_a_setting_changed_on_one_page_reaches_the_other(connect: Connect) -> None:
    async with connect() as one, connect() as other:
        assert (await one.ask("updateSettings", updatedSettings={"mode": "ask"}))["ok"]
        await other.until(lambda: messages(other, "settingsUpdated"))
        settings = messages(other, "settingsUpdated")[-1]["settings"]
        assert isinstance(settings, dict) and settings["mode"] == "ask"


async def test_the_mode_chosen_on_a_page_is_a_setting(services: Services, connect: Connect) -> None:
    async with connect() as panel:
        assert (await panel.ask("mode", text="architect"))["ok"]
        assert services.config.settings.mode == "architect"


async def test_a_bad_setting_is_refused_at_its_field(services: Services, connect: Connect) -> None:
    async with connect() as panel:
        ack = await panel.ask("updateSettings", updatedSettings={"requestDelaySeconds": "soon"})
        assert (ack["error"]["code"], ack["error"]["field"]) == ("invalid_setting", "requestDelaySeconds")


async def test_profiles_that_one_page_writes_and_chooses_reach_the_other(services: Services, connect: Connect) -> None:
    book = services.config.profiles
    async with connect() as one, connect() as other:
        await one.ask("saveApiConfiguration", text="local", apiConfiguration={"apiProvider": "ollama"})
        assert book.current.name == "default"
        await one.ask("saveApiConfiguration", text="local", apiConfiguration={"ollamaModelId": "qwen"})
        assert book.get("local").model_id == "qwen"
        await one.ask("toggleApiConfigPin", text=book.get("local").id)
        assert book.get("local").pinned
        await one.ask("loadApiConfiguration", text=book.get("local").id)
        assert book.current.name == "local"
        ack = await one.ask("loadApiConfiguration", text="nowhere")
        assert ack["error"]["code"] == "unknown_profile"
        await other.until(lambda: len(messages(other, "profilesUpdated")) >= 4)
        assert messages(other, "profilesUpdated")[-1]["currentApiConfigName"] == "local"


async def test_one_profile_is_locked_across_modes_on_all_pages(services: Services, connect: Connect) -> None:
    async with connect() as one, connect() as other:
        assert messages(other, "state")[0]["state"]["lockApiConfigAcrossModes"] is False
        assert (await one.ask("lockApiConfigAcrossModes", bool=True))["ok"]
        assert services.config.profiles.locked
        await other.until(lambda: messages(other, "profilesUpdated"))
        assert messages(other, "profilesUpdated")[-1]["lockApiConfigAcrossModes"] is True
        assert (await one.ask("lockApiConfigAcrossModes", bool=False))["ok"]
        await other.until(lambda: messages(other, "profilesUpdated")[-1]["lockApiConfigAcrossModes"] is False)


async def test_what_was_exported_can_be_imported_after_a_reset(services: Services, connect: Connect) -> None:
    async with connect() as panel:
        await panel.ask("mode", text="debug")
        exported = (await panel.ask("exportSettings"))["result"]
        await services.config.reset()
        assert services.config.settings.mode == "code"
        report = (await panel.ask("importSettings", text=json.dumps(exported)))["result"]
        assert report["items"] and services.config.settings.mode == "debug"
        ack = await panel.ask("importSettings", text="{")
        assert ack["error"]["code"] == "invalid_input"


async def test_a_broken_edit_from_outside_is_told_and_can_be_put_away(
    storage_dir: Path, services: Services, connect: Connect
) -> None:
    async with connect() as one, connect() as other:
        (storage_dir / "config.json").write_text("{ oops", encoding="utf-8")
        await one.until(lambda: messages(one, "noticesUpdated"))
        (notice,) = services.notices.standing
        assert (notice.code, notice.level) == ("config_corrupt", "error")
        assert (await one.ask("dismissNotice", id=notice.id))["ok"]
        await other.until(
            lambda: messages(other, "noticesUpdated")[-1:] and not messages(other, "noticesUpdated")[-1]["notices"]
        )
        assert (storage_dir / "config.json").read_text(encoding="utf-8") == "{ oops"


async def test_what_this_version_cannot_do_is_said(connect: Connect) -> None:
    async with connect() as panel:
        assert (await panel.ask("requestSkills"))["error"]["code"] == "unknown_type"
        assert (await panel.ask("cancelTask", taskId="nowhere"))["error"]["code"] == "unknown_task"


async def test_an_import_with_half_a_character_gets_a_typed_error(connect: Connect) -> None:
    async with connect() as panel:
        ack = await panel.ask("importSettings", text='{"globalSettings": {"mode": "ask", "z\\ud800": 1}}')
        assert ack["error"]["code"] == "invalid_input"


async def test_putting_away_what_does_not_stand_is_not_remembered(services: Services, connect: Connect) -> None:
    async with connect() as panel:
        for number in range(50):
            assert (await panel.ask("dismissNotice", id=f"nothing-{number}"))["ok"]
        assert services.notices._put_away == set()
