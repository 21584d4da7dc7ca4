"""A real JupyterHub, with its proxy in front and a person's server behind it: who gets in with which token."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping
from pathlib import Path

import httpx2
import pytest
from mcp_types import TextContent

from tests._helpers.long_tests import rounds
from tests._helpers.parsed_json import ParsedJson, parsed
from tests._helpers.real_hub import RealHub, running_hub
from tests.cli._helpers.homes import PROGRAM
from tests.mcp._helpers.http_programs import MODERN, Programs, modern_request

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(rounds(0, 1) == 0, reason="make test-long installs JupyterHub and its proxy"),
]

_SERVER = {
    "ServerApp": {"jpserver_extensions": {"hdsp_agent": True, "jupyter_server_terminals": False}},
    "HdspAgentApp": {
        "fixed_settings": {"mcpServerEnabled": True, "clientApprovals": {"Claude Code": "everything"}},
    },
}
_LIST = modern_request("tools/list")


def programs(hub: RealHub, token: str, person: str = "ada", **headers: str) -> Programs:
    """Other agents with this token, at a person's server."""
    return Programs(f"{hub.url}/user/{person}/hdsp-agent/mcp", {"Authorization": f"Bearer {token}", **headers})


async def test_programs_come_to_a_server_of_a_hub(tmp_path: Path) -> None:
    async with running_hub(tmp_path, _SERVER) as hub:
        await asyncio.gather(hub.start("ada"), hub.start("bob"))
        token, _ = await hub.token("ada", "access:servers!user=ada")
        await _a_scoped_token_opens_the_server(hub, token)
        await _other_tokens_do_not(hub, token)
        await _the_page_says_what_the_hub_needs(hub, token)
        await _in_a_terminal_no_token_is_needed(hub, tmp_path / "ada/project")


async def _a_scoped_token_opens_the_server(hub: RealHub, token: str) -> None:
    for mode in ("legacy", MODERN):
        # Behind a proxy that has a name of its own, too.
        async with programs(hub, token, Host="hub.example.org").connected(mode) as client:
            assert "edit_cells" in [tool.name for tool in (await client.list_tools()).tools]
            listed = await client.call_tool("list_notebooks")
            assert not listed.is_error and isinstance(listed.content[0], TextContent)


async def _other_tokens_do_not(hub: RealHub, token: str) -> None:
    await hub.ask("POST", "users/eve")
    bobs, _ = await hub.token("bob", "access:servers!user=bob")
    eves, _ = await hub.token("eve", "self")
    taken_back, token_id = await hub.token("ada", "access:servers!user=ada")
    await hub.ask("DELETE", f"users/ada/tokens/{token_id}")
    for refused in [*(f"Bearer {other}" for other in (bobs, eves, taken_back, "none")), ""]:
        answer = await programs(hub, token).post(_LIST, {"Authorization": refused})
        assert answer.status_code in (401, 403), (refused, answer.status_code, answer.text)
    assert (await programs(hub, token, "bob").post(_LIST)).status_code in (401, 403)
    page = {"Origin": "https://elsewhere.example"}
    assert (await programs(hub, token).post(_LIST, page)).status_code == 403
    assert (await programs(hub, token).post(_LIST)).status_code == 200


async def _in_a_terminal_no_token_is_needed(hub: RealHub, folder: Path) -> None:
    environment = await hub.environment("ada")
    report = await _tested(environment, folder)
    assert report["ok"] == True, report


async def _the_page_says_what_the_hub_needs(hub: RealHub, token: str) -> None:
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as http:
        answer = await http.get(
            f"{hub.url}/user/ada/hdsp-agent/api/mcp/server",
            params={"origin": "https://hub.example.org"},
            headers={"Authorization": f"Bearer {token}"},
        )
    assert answer.status_code == 200, answer.text
    told = parsed(answer.json())
    assert told["url"] == "https://hub.example.org/user/ada/hdsp-agent/mcp" and told["hub"] == True
    assert told["hubScope"] == "access:servers!user=ada"
    assert told["hubTokenUrl"] == "https://hub.example.org/hub/token"


async def _tested(environment: Mapping[str, str], folder: Path) -> ParsedJson:
    process = await asyncio.create_subprocess_exec(
        *PROGRAM, "mcp", "test", "--json", cwd=folder, env=dict(environment), stdin=DEVNULL, stdout=PIPE
    )
    out, _ = await process.communicate()
    return parsed(json.loads(out))
