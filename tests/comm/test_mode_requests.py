"""Modes and slash commands of a person's own, changed from a page of a real server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from hdsp_agent._storage_dir import home_folder
from hdsp_agent.comm.services import Services
from tests.comm.conftest import Connect, messages

MINE: dict[str, object] = {
    "slug": "plots",
    "name": "Plots",
    "roleDefinition": "You draw plots.",
    "groups": ["read", ["edit", {"fileRegex": r"\\.ipynb$"}]],
}


@pytest.fixture
def rules_folder(services: Services) -> Path:
    """Where rules of a person's own lie, in the home folder that the server has in these tests."""
    return home_folder() / ".hdsp"


async def test_a_mode_of_ones_own_is_made_renamed_and_deleted(services: Services, connect: Connect) -> None:
    def own() -> list[tuple[str, str]]:
        return [(mode.slug, mode.name) for mode in services.config.settings.custom_modes]

    async with connect() as panel, connect() as other:
        assert (await panel.ask("updateCustomMode", modeConfig=MINE))["ok"]
        assert (await panel.ask("updateCustomMode", modeConfig={**MINE, "slug": "later"}))["ok"]
        listed = await panel.ask("requestModes")
        assert MINE.items() <= {mode["slug"]: mode for mode in listed["result"]}["plots"].items()
        assert {"slug": "plots", "name": "Plots"} in messages(panel, "modes")[-1]["modes"]
        renamed = {**MINE, "slug": "charts", "name": "Charts"}
        assert (await panel.ask("updateCustomMode", slug="plots", modeConfig=renamed))["ok"]
        assert own() == [("charts", "Charts"), ("later", "Plots")]
        await other.until(lambda: messages(other, "settingsUpdated"))
        assert (await panel.ask("deleteCustomMode", slug="charts"))["ok"]
        assert (await panel.ask("deleteCustomMode", slug="charts"))["error"]["code"] == "not_found"
        assert own() == [("later", "Plots")]


async def test_a_mode_with_its_rules_goes_to_another_home_as_a_file(
    services: Services, connect: Connect, rules_folder: Path
) -> None:
    rules = rules_folder / "rules-plots" / "deep" / "style.md"
    rules.parent.mkdir(parents=True)
    rules.write_text("Label the axes.", "utf-8")
    async with connect() as panel:
        await panel.ask("updateCustomMode", modeConfig=MINE)
        assert (await panel.ask("exportMode", slug="plots"))["ok"]
        file = str(messages(panel, "exportModeResult")[-1]["text"])
        await panel.ask("deleteCustomMode", slug="plots")
        rules.unlink()
        assert (await panel.ask("importMode", text=file))["ok"]
        assert messages(panel, "importModeResult")[-1]["slug"] == "plots"
        assert rules.read_text("utf-8") == "Label the axes."
        (mode,) = services.config.settings.custom_modes
        assert MINE.items() <= mode.to_wire().items()
        # Rules that are there already are nobody's to replace.
        rules.write_text("Mine.", "utf-8")
        assert (await panel.ask("importMode", text=file))["error"]["code"] == "conflict"
        assert rules.read_text("utf-8") == "Mine."


async def test_no_other_mode_of_ones_own_is_replaced(services: Services, connect: Connect) -> None:
    other = {**MINE, "slug": "other", "roleDefinition": "You took me an hour to write."}
    async with connect() as panel:
        assert (await panel.ask("updateCustomMode", modeConfig=MINE))["ok"]
        assert (await panel.ask("updateCustomMode", modeConfig=other))["ok"]
        refused = [
            await panel.ask("updateCustomMode", modeConfig={**MINE, "slug": "other"}),
            await panel.ask("updateCustomMode", slug="plots", modeConfig={**MINE, "slug": "other"}),
            await panel.ask("importMode", text=yaml.safe_dump({"customModes": [{**MINE, "slug": "other"}]})),
        ]
        assert [answer["error"]["code"] for answer in refused] == ["conflict"] * 3
        assert (await panel.ask("importMode", text=yaml.safe_dump({"customModes": [other]})))["ok"]
        assert (await panel.ask("updateCustomMode", slug="other", modeConfig={**other, "name": "Mine"}))["ok"]
    plots, kept = services.config.settings.custom_modes
    assert (plots.slug, kept.slug, kept.name) == ("plots", "other", "Mine")
    assert kept.role_definition == other["roleDefinition"]


@pytest.mark.parametrize(
    "path", ["../x.md", "rules-plots/../../.ssh/config", "/etc/passwd", "rules-plots", ".hidden", "..\\\\x", "a/.b/c"]
)
async def test_rules_of_an_imported_mode_stay_in_their_folder(
    services: Services, connect: Connect, rules_folder: Path, path: str
) -> None:
    file = yaml.safe_dump({"customModes": [{**MINE, "rulesFiles": [{"relativePath": path, "content": "x"}]}]})
    async with connect() as panel:
        assert (await panel.ask("importMode", text=file))["error"]["code"] == "invalid_input"
    assert services.config.settings.custom_modes == () and not rules_folder.exists()


@pytest.mark.parametrize(
    ("paths", "error"),
    [
        (["a.md", "a.md/b.md"], "invalid_input"),
        (["a/b.md", "a"], "invalid_input"),
        (["a.md", "rules-plots/a.md"], "invalid_input"),
        (["a\0b"], "invalid_input"),
        (["a.md", "x" * 300], "storage_unavailable"),
    ],
)
async def test_rules_that_cannot_all_be_written_leave_none_behind(
    services: Services, connect: Connect, rules_folder: Path, paths: list[str], error: str
) -> None:
    rules = [{"relativePath": path, "content": str(number)} for number, path in enumerate(paths)]
    async with connect() as panel:
        file = yaml.safe_dump({"customModes": [{**MINE, "rulesFiles": rules}]})
        assert (await panel.ask("importMode", text=file))["error"]["code"] == error
    assert services.config.settings.custom_modes == ()
    assert [path for path in rules_folder.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("text", ["", "[1]", "{", "customModes: []", "customModes: [{slug: a}]", "a: &a [*a]"])
async def test_what_is_no_mode_is_not_imported(services: Services, connect: Connect, text: str) -> None:
    async with connect() as panel:
        assert (await panel.ask("importMode", text=text))["error"]["code"] == "invalid_input"
    assert services.config.settings.custom_modes == ()


async def test_the_prompt_of_a_mode_is_seen_changed_and_put_back(services: Services, connect: Connect) -> None:
    async def prompt(panel: Any) -> str:
        assert (await panel.ask("getSystemPrompt", mode="ask"))["ok"]
        return str(messages(panel, "systemPrompt")[-1]["text"])

    async with connect() as panel:
        before = await prompt(panel)
        assert before.startswith("You are HDSP Agent")
        changed = {"roleDefinition": "You are a pirate.", "customInstructions": "Say arr."}
        assert (await panel.ask("updatePrompt", promptMode="ask", customPrompt=changed))["ok"]
        after = await prompt(panel)
        assert after.startswith("You are a pirate.") and "Say arr." in after
        assert (await panel.ask("updatePrompt", promptMode="ask", customPrompt={}))["ok"]
        assert await prompt(panel) == before
        assert (await panel.ask("getSystemPrompt", mode="nowhere"))["error"]["code"] == "not_found"


async def test_slash_commands_are_written_changed_and_deleted_where_they_belong(
    services: Services, connect: Connect, storage_dir: Path, jp_root_dir: Path
) -> None:
    async with connect() as panel:

        async def names() -> dict[str, str]:
            await panel.ask("requestCommands")
            commands: Any = messages(panel, "commands")[-1]["commands"]
            return {command["name"]: command["source"] for command in commands}

        mine = {"source": "global", "content": "---\ndescription: Sum up\n---\nSum up $ARGUMENTS"}
        assert (await panel.ask("createCommand", text="sum", values=mine))["ok"]
        assert (storage_dir / "commands" / "sum.md").read_text("utf-8") == mine["content"]
        new = {"source": "global", "content": "Another", "isNew": True}
        assert (await panel.ask("createCommand", text="sum", values=new))["error"]["code"] == "conflict"
        shown = await panel.ask("openCommandFile", text="sum", values={"source": "global"})
        assert shown["result"] == mine["content"]
        refused = await panel.ask("createCommand", text="plot", values={"source": "project", "content": "Plot"})
        assert refused["error"]["code"] == "not_allowed" and not (jp_root_dir / ".hdsp").exists()
        services.config.trusted_folders.decide(jp_root_dir, True)
        assert (await panel.ask("createCommand", text="plot", values={"source": "project", "content": "Plot"}))["ok"]
        assert (await names()).items() >= {"sum": "global", "plot": "project"}.items()
        for name, content in (("../x", "x"), (".x", "x"), ("x y", "x"), ("empty", "---\na: b\n---\n ")):
            values = {"source": "global", "content": content}
            assert (await panel.ask("createCommand", text=name, values=values))["error"]["code"] == "invalid_input"
        for name, source in (("sum", "global"), ("plot", "project")):
            assert (await panel.ask("deleteCommand", text=name, values={"source": source}))["ok"]
            gone = await panel.ask("deleteCommand", text=name, values={"source": source})
            assert gone["error"]["code"] == "not_found"
        assert not {"sum", "plot"} & set(await names())


async def test_a_link_in_a_folder_does_not_lead_a_command_out_of_it(
    services: Services, connect: Connect, jp_root_dir: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (jp_root_dir / ".hdsp").symlink_to(outside)
    services.config.trusted_folders.decide(jp_root_dir, True)
    async with connect() as panel:
        values = {"source": "project", "content": "Plot"}
        assert (await panel.ask("createCommand", text="plot", values=values))["error"]["code"] == "not_allowed"
    assert list(outside.iterdir()) == []
