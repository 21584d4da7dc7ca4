"""The MCP server's page: switched on and off, what to paste, who is connected, and a test of the connection."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
from tornado.httpclient import HTTPClientError

from hdsp_agent.comm.services import Services
from hdsp_agent.messages import JsonObject
from tests._helpers.jupyter_fetch import Fetch
from tests._helpers.parsed_json import ParsedJson, parsed
from tests.comm.conftest import Connect, messages
from tests.mcp._helpers.http_programs import MODERN, Programs, modern_request
from tests.mcp._helpers.port_agents import PortAgents

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

PATH = ("hdsp-agent", "api", "mcp", "server")


async def ask(
    fetch: Fetch, *parts: str, method: str = "GET", body: JsonObject | None = None, **more: object
) -> ParsedJson:
    answer = await fetch(*PATH, *parts, method=method, body=None if body is None else json.dumps(body), **more)
    return parsed(json.loads(answer.body))


@pytest.fixture
def agents(services: Services) -> PortAgents:
    agents = PortAgents()
    services.mcp_endpoint.agents = agents
    return agents


@pytest.fixture
def programs(jp_serverapp: ServerApp, jp_http_port: int, jp_base_url: str, http_server: object) -> Programs:
    token = jp_serverapp.identity_provider.token
    return Programs(f"http://127.0.0.1:{jp_http_port}{jp_base_url}hdsp-agent/mcp", {"Authorization": f"Bearer {token}"})


async def test_it_is_off_at_first_and_stays_as_it_was_put(
    services: Services, agents: PortAgents, jp_fetch: Fetch
) -> None:
    assert not (await ask(jp_fetch))["enabled"]
    assert (await ask(jp_fetch, method="PUT", body={"enabled": True}))["enabled"]
    assert services.config.settings.mcp_server_enabled
    assert (await ask(jp_fetch))["enabled"]
    assert not (await ask(jp_fetch, method="PUT", body={"enabled": False}))["enabled"]


async def test_what_to_paste_is_told_for_every_program_both_ways(
    services: Services, agents: PortAgents, jp_fetch: Fetch, jp_base_url: str
) -> None:
    view = await ask(jp_fetch, params={"origin": "https://lab.example.org"})
    programs = view["programs"]
    assert [program["id"] for program in programs] == [
        "claude-code", "codex", "cursor", "vscode", "gemini-cli", "opencode", "copilot-cli",
    ]  # fmt: skip
    url = f"https://lab.example.org{jp_base_url}hdsp-agent/mcp"
    assert view["url"] == url and not view["hub"]
    for program in programs:
        local, over_http = program["ways"]
        assert local["kind"] == "local" and over_http["kind"] == "http"
        assert "HDSP_AGENT_TOKEN" not in json.dumps(local) and url in json.dumps(over_http)
        assert "HDSP_AGENT_TOKEN" in json.dumps(over_http)


async def test_a_hub_says_where_tokens_are_made(
    services: Services, agents: PortAgents, jp_fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTERHUB_USER", "ada")
    monkeypatch.setenv("JUPYTERHUB_BASE_URL", "/jupyter/")
    view = await ask(jp_fetch, params={"origin": "https://hub.example.org"})
    assert view["hub"] and view["hubScope"] == "access:servers!user=ada"
    assert view["hubTokenUrl"] == "https://hub.example.org/jupyter/hub/token"
    first = view["programs"][0]["ways"][0]
    assert first["kind"] == "http"


async def test_an_address_that_is_none_is_refused(services: Services, jp_fetch: Fetch) -> None:
    with pytest.raises(HTTPClientError) as refused:
        await ask(jp_fetch, params={"origin": "javascript:alert(1)"})
    assert refused.value.code == 400


async def test_who_is_connected_is_listed_and_can_be_sent_away(
    programs: Programs, agents: PortAgents, services: Services, jp_fetch: Fetch
) -> None:
    await services.config.update({"mcpServerEnabled": True})
    async with programs.connected(MODERN, name="Claude Code\u202e\n" + "x" * 100) as client:
        await client.list_tools()
    listed = (await ask(jp_fetch))["agents"]
    agent = listed[0]
    assert agent["name"] == ("Claude Code " + "x" * 100)[:60] and agent["activity"] == "idle"
    key = str(agent["key"])
    chosen = (await ask(jp_fetch, "agents", key, method="PATCH", body={"approvals": "edit"}))["agents"]
    assert chosen[0]["approvals"] == "edit" and not chosen[0]["canAsk"] and not chosen[0]["mayAsk"]
    chosen = (await ask(jp_fetch, "agents", key, method="PATCH", body={"mayAsk": True}))["agents"]
    assert chosen[0]["approvals"] == "edit" and bool(chosen[0]["mayAsk"])
    chosen = (await ask(jp_fetch, "agents", key, method="PATCH", body={"mayAsk": False}))["agents"]
    assert not chosen[0]["mayAsk"]
    assert (await ask(jp_fetch, "agents", key, method="DELETE"))["agents"] == []
    with pytest.raises(HTTPClientError) as gone:
        await ask(jp_fetch, "agents", key, method="DELETE")
    assert gone.value.code == 404
    with pytest.raises(HTTPClientError) as gone:
        await ask(jp_fetch, "agents", key, method="PATCH", body={"approvals": None})
    assert gone.value.code == 404
    with pytest.raises(HTTPClientError) as gone:
        await ask(jp_fetch, "agents", key, method="PATCH", body={"mayAsk": True})
    assert gone.value.code == 404


async def test_the_test_says_what_a_program_would_meet(
    programs: Programs, agents: PortAgents, services: Services, jp_fetch: Fetch
) -> None:
    off = await ask(jp_fetch, "test", method="POST", body={})
    steps = off["steps"]
    assert [step["step"] for step in steps] == ["reached", "signedIn", "enabled"]
    assert [bool(step["ok"]) for step in steps] == [True, True, False]
    assert "Connect another agent" in json.dumps(steps[-1], ensure_ascii=False)
    await services.config.update({"mcpServerEnabled": True})
    on = await ask(jp_fetch, "test", method="POST", body={})
    assert on["ok"] and on["tools"] == 8
    # It is nobody who works here.
    assert (await ask(jp_fetch))["agents"] == [] and agents.calls == []


async def test_pages_hear_when_the_list_changes(
    services: Services, agents: PortAgents, connect: Connect, jp_serverapp: ServerApp
) -> None:
    external = services.agent.external
    async with connect() as page:
        external.on_changed(None)
        await page.until(lambda: bool(messages(page, "externalAgentsUpdated")))


class TestAnOperatorWhoForbidsIt:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, dict[str, object]]) -> dict[str, dict[str, object]]:
        jp_server_config["HdspAgentApp"]["allow_mcp_server"] = False
        return jp_server_config

    async def test_is_obeyed(self, programs: Programs, agents: PortAgents, jp_fetch: Fetch) -> None:
        view = await ask(jp_fetch)
        assert not view["enabled"] and view["fixed"]
        with pytest.raises(HTTPClientError) as refused:
            await ask(jp_fetch, method="PUT", body={"enabled": True})
        assert refused.value.response is not None
        assert json.loads(refused.value.response.body)["code"] == "forbidden_by_operator"
        assert (await programs.post(modern_request("tools/list"))).status_code == 403


class TestAnOperatorWhoSwitchesItOnForEveryone:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, dict[str, object]]) -> dict[str, dict[str, object]]:
        jp_server_config["HdspAgentApp"]["fixed_settings"] = {"mcpServerEnabled": True}
        return jp_server_config

    async def test_is_obeyed(self, programs: Programs, agents: PortAgents, jp_fetch: Fetch) -> None:
        view = await ask(jp_fetch)
        assert view["enabled"] and view["fixed"]
        with pytest.raises(HTTPClientError) as refused:
            await ask(jp_fetch, method="PUT", body={"enabled": False})
        assert refused.value.code == 403
        async with programs.connected(MODERN) as client:
            await asyncio.wait_for(client.list_tools(), 60)
