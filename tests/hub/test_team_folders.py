"""What a group shares in a folder: its members' agents have its modes, commands, rules and notes, and nobody else's do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from hdsp_agent.agent import build_agent
from hdsp_agent.agent.prompts._mode_prompts import mode_prompt
from hdsp_agent.config import ContextProxy, OperatorPolicy
from hdsp_agent.errors import InvalidSetting
from hdsp_agent.messages import Command
from hdsp_agent.persistence import open_store

from .._helpers.model_server import raw_server
from ._helpers.policy_files import KEY
from ._helpers.proxied_models import CHAT, policies
from ._helpers.running import running_service
from .test_servers import server_of

REVIEWER = {
    "slug": "reviewer",
    "name": "Reviewer",
    "roleDefinition": "You review.",
    "groups": ["read"],
    "customInstructions": "Be kind.",
}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", KEY)


def share(folder: Path) -> None:
    files = {
        ".hdspmodes": json.dumps({"customModes": [REVIEWER]}),
        ".hdsp/commands/units.md": "---\ndescription: Check units\n---\nCheck the units of $ARGUMENTS",
        ".hdsp/rules/style.md": "Plot with altair.",
        ".hdsp/rules-reviewer/order.md": "Look at joins first.",
        ".hdsp/memory/notes.md": "- Sales are in won.",
        "AGENTS.md": "Tables are in /data.",
        "AGENTS.local.md": "Mine alone.",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    outside = folder.with_name("outside.md")
    outside.write_text("not shared", encoding="utf-8")
    (folder / ".hdsp/rules/away.md").symlink_to(outside)


def share_link(folder: Path) -> None:
    """A folder whose modes lie outside."""
    outside = folder.with_name("outside.json")
    outside.write_text(json.dumps({"customModes": [{**REVIEWER, "slug": "outsider"}]}), encoding="utf-8")
    folder.mkdir()
    (folder / ".hdspmodes").symlink_to(outside)


async def of_agent(proxy: ContextProxy, workspace: Path) -> tuple[Sequence[str], dict[str, Command], str]:
    """The modes and commands that the agent has, and what it is told, in the team's mode if there is one."""
    workspace.mkdir(exist_ok=True)
    manager = build_agent(proxy, open_store(proxy.home, "files"), workspace=workspace)
    services = manager.services
    modes = {mode.slug: mode for mode in await services.modes.modes(str(workspace))}
    commands = {command.name: command for command in await services.commands.listed(str(workspace))}
    mode = modes.get("reviewer", modes["ask"])
    prompt = await mode_prompt(services, mode, proxy.trusted_folders.trusted)
    return list(modes), commands, prompt


async def test_a_group_shares_a_folder(tmp_path: Path) -> None:
    shared, linked, workspace = tmp_path / "shared", tmp_path / "linked", tmp_path / "work"
    share(shared)
    share_link(linked)
    # A folder may be named twice: by the server's option, and by the group's policy.
    folders = f"team_folders: [{shared}, {linked}, {shared}]"
    async with (
        raw_server(CHAT) as server,
        running_service(tmp_path, policies(server, more=folders)) as running,
        server_of(running, tmp_path / "ada") as ada,
    ):
        modes, commands, prompt = await of_agent(ada, workspace)
        assert "reviewer" in modes
        assert (commands["units"].source, commands["units"].description) == ("team", "Check units")
        places = [prompt.index(text) for text in ("Look at joins", "Tables are in", "Plot with", "Sales are in won")]
        assert places == sorted(places)
        assert "not shared" not in prompt and "Mine alone." not in prompt and "outsider" not in modes
        for text in ("Be kind.", "Plot with altair."):
            assert prompt.count(text) == 1
        # The person's own come after the team's, and so before it where they disagree.
        own = ada.home / "commands/units.md"
        own.parent.mkdir(parents=True)
        own.write_text("Mine", encoding="utf-8")
        (workspace / "AGENTS.md").write_text("Nearest", encoding="utf-8")
        await asyncio.to_thread(ada.trusted_folders.decide, workspace, True)
        _, commands, prompt = await of_agent(ada, workspace)
        assert commands["units"].source == "global"
        assert prompt.index("Sales are in won") < prompt.index("Nearest")
        # Who works in the folder itself is told once.
        await asyncio.to_thread(ada.trusted_folders.decide, shared, True)
        _, _, prompt = await of_agent(ada, shared)
        for text in ("Be kind.", "Plot with altair."):
            assert prompt.count(text) == 1


async def test_another_group_does_not_have_it(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    share(shared)
    async with raw_server(CHAT) as server:
        teachers = f"teachers: {{models: ['*'], team_folders: [{shared}]}}"
        text = f"{policies(server).rstrip()}\n        groups:\n          {teachers}"
        async with (
            running_service(tmp_path, text) as running,
            server_of(running, tmp_path / "ada", "ada") as ada,
            server_of(running, tmp_path / "tess", "tess") as tess,
        ):
            modes, commands, prompt = await of_agent(ada, tmp_path / "work")
            assert "reviewer" not in modes and "units" not in commands and "Sales" not in prompt
            modes, commands, prompt = await of_agent(tess, tmp_path / "work")
            assert "reviewer" in modes and "units" in commands and "Sales" in prompt


def test_a_folder_is_a_whole_path() -> None:
    OperatorPolicy(team_folders=("/srv/team", "~/team")).check_names()
    with pytest.raises(InvalidSetting, match="team_folders names 'team'"):
        OperatorPolicy(team_folders=("team",)).check_names()
