"""Trust in folders over REST: what a page is told, what it may decide, and which other pages hear of it."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPClientError

from hdsp_agent.comm.services import Services
from tests._helpers.jupyter_fetch import Fetch
from tests.comm._helpers.stored_tasks import keep
from tests.comm.conftest import Connect, messages
from tests.comm.test_composer_requests import answered

API = ("hdsp-agent", "api")
MODES = {"customModes": [{"slug": "acme", "name": "Acme", "roleDefinition": "x", "groups": ["read"]}]}


@pytest.fixture
def folder(jp_root_dir: Path) -> Path:
    """The server's folder, which brings a mode, a command and rules."""
    (jp_root_dir / ".hdsp/commands").mkdir(parents=True)
    (jp_root_dir / ".hdsp/commands/plot.md").write_text("Plot it")
    (jp_root_dir / ".hdspmodes").write_text(json.dumps(MODES))
    (jp_root_dir / "AGENTS.md").write_text("Be brief.")
    return jp_root_dir


async def asked(jp_fetch: Fetch, *path: str, **more: Any) -> Any:
    answer = await jp_fetch(*API, *path, **more)
    return json.loads(answer.body)


async def decided(jp_fetch: Fetch, folder: str | Path, trusted: bool | None) -> Any:
    body = json.dumps({"folder": str(folder), "trusted": trusted})
    return await asked(jp_fetch, "folder-trust", method="PUT", body=body)


async def test_the_servers_folder_is_asked_about_with_all_it_brings(
    services: Services, jp_fetch: Fetch, folder: Path
) -> None:
    trust = await asked(jp_fetch, "folder-trust")
    assert trust == {
        "folder": str(folder),
        "verdict": "undecided",
        "brings": [
            {"kind": "mode", "name": "Acme", "path": ".hdspmodes"},
            {"kind": "instructions", "name": "AGENTS.md", "path": "AGENTS.md"},
            {"kind": "command", "name": "/plot", "path": ".hdsp/commands/plot.md"},
        ],
    }
    assert await asked(jp_fetch, "trusted-folders") == {"folders": [], "workspaceTrust": "ask", "operators": []}


async def test_a_decision_counts_for_all_pages_at_once(
    services: Services, jp_fetch: Fetch, connect: Connect, folder: Path
) -> None:
    async def offered() -> tuple[bool, bool]:
        modes = (await answered(one, "modes", "requestModes"))["modes"]
        commands = (await answered(one, "commands", "requestCommands"))["commands"]
        return "acme" in [mode["slug"] for mode in modes], "plot" in [command["name"] for command in commands]

    async with connect() as one, connect() as other:
        assert await offered() == (False, False)
        trust = await decided(jp_fetch, folder, True)
        assert (trust["verdict"], trust["decidedBy"], trust["through"]) == ("trusted", "person", str(folder))
        for page in (one, other):
            await page.until(partial(messages, page, "folderTrustUpdated"))
            assert messages(page, "folderTrustUpdated") == [{"type": "folderTrustUpdated", "folder": str(folder)}]
        assert await offered() == (True, True)
        (listed,) = (await asked(jp_fetch, "trusted-folders"))["folders"]
        assert (listed["folder"], listed["trusted"]) == (str(folder), True)
        await decided(jp_fetch, folder, False)
        await other.until(lambda: len(messages(other, "folderTrustUpdated")) == 2)
        assert await offered() == (False, False)
        assert (await decided(jp_fetch, folder, None))["verdict"] == "undecided"
        assert (await asked(jp_fetch, "trusted-folders"))["folders"] == []


async def test_a_conversations_own_folder_is_meant_where_it_is_named(
    services: Services, jp_fetch: Fetch, folder: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / ".roo/rules").mkdir(parents=True)
    (elsewhere / ".roo/rules/a.md").write_text("x")
    task = await keep(services, "Do it", workspace=str(elsewhere))
    trust = await asked(jp_fetch, "folder-trust", params={"task": task})
    assert (trust["folder"], [one["name"] for one in trust["brings"]]) == (str(elsewhere), [".roo/rules/a.md"])
    # A page asks as soon as a conversation begins, which may be before it is stored.
    begun = await asked(jp_fetch, "folder-trust", params={"task": "0b0e7a3e-0000-4000-8000-000000000000"})
    assert begun == await asked(jp_fetch, "folder-trust")


@pytest.mark.parametrize("name", ["relative", "", "/nowhere/at/all", "/etc/passwd", "/nul\0", "/\udc80"])
async def test_what_is_no_folder_cannot_be_trusted(services: Services, jp_fetch: Fetch, name: str) -> None:
    with pytest.raises(HTTPClientError) as refused:
        await decided(jp_fetch, name, True)
    assert refused.value.code == 400
    assert (await asked(jp_fetch, "trusted-folders"))["folders"] == []


class TestWhereTheOperatorDecides:
    """On a server whose operator lets nobody else decide."""

    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
        traits = {"workspace_trust": "never", "trusted_folders": [str(tmp_path / "team")]}
        return {**jp_server_config, "HdspAgentApp": {**jp_server_config["HdspAgentApp"], **traits}}

    async def test_people_are_told_so_and_cannot_change_it(
        self, services: Services, jp_fetch: Fetch, folder: Path, tmp_path: Path
    ) -> None:
        trust = await asked(jp_fetch, "folder-trust")
        assert (trust["verdict"], trust["decidedBy"]) == ("notTrusted", "operator")
        with pytest.raises(HTTPClientError) as refused:
            await decided(jp_fetch, folder, True)
        assert refused.value.code == 403
        listed = await asked(jp_fetch, "trusted-folders")
        assert listed == {"folders": [], "workspaceTrust": "never", "operators": [str(tmp_path / "team")]}


async def test_nothing_is_decided_without_the_right_to_write(services: Services, jp_fetch: Fetch, folder: Path) -> None:
    with pytest.raises(HTTPClientError) as refused:
        await jp_fetch(
            *API,
            "folder-trust",
            method="PUT",
            body=json.dumps({"folder": str(folder), "trusted": True}),
            headers={"Authorization": "token wrong"},
        )
    assert refused.value.code in (401, 403)
    assert services.config.trusted_folders.trusted(folder) is None
