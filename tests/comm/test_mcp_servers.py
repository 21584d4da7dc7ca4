"""MCP servers in the running server: pages add them, switch them and hear of them, and conversations use them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import psutil
import pytest
from jupyter_server.serverapp import ServerApp
from tornado.httpclient import HTTPClientError

from hdsp_agent.comm.services import Services
from tests._helpers.jupyter_fetch import Fetch
from tests.comm._helpers.scripted_pages import asked, said, speak
from tests.comm.channel._helpers.channel_panel import Panel
from tests.comm.conftest import Connect, messages
from tests.mcp.client._helpers.http_servers import sample_http_server
from tests.mcp.client._helpers.hubs import hostile, sample

API = ("hdsp-agent", "api", "mcp", "servers")
TOKEN = "ghp_Zq8vT4mWb2LkP9xR7nYcAbCdEfGh"
HERE = {"serverName": "sample", "source": "global"}


async def rest(jp_fetch: Fetch, *path: str, method: str = "GET", **body: object) -> Any:
    sent = json.dumps(body) if method == "POST" else None
    answer = await jp_fetch(*API, *path, method=method, body=sent)
    return json.loads(answer.body)


async def refused(jp_fetch: Fetch, *path: str, method: str = "GET", **body: object) -> tuple[int, dict[str, Any]]:
    with pytest.raises(HTTPClientError) as caught:
        await rest(jp_fetch, *path, method=method, **body)
    assert caught.value.response is not None
    return caught.value.code, json.loads(caught.value.response.body)


async def add(jp_fetch: Fetch, **servers: object) -> Any:
    return await rest(jp_fetch, method="POST", text=json.dumps({"mcpServers": servers}), keepSecretsInFile=True)


async def connected(panel: Panel, name: str = "sample") -> dict[str, Any]:
    """What pages hear once a server is connected."""

    def newest() -> dict[str, Any] | None:
        heard = messages(panel, "mcpServers")
        servers = heard[-1]["mcpServers"] if heard else []
        return next((one for one in servers if one["name"] == name and one["status"] == "connected"), None)

    await panel.until(newest)
    found = newest()
    assert found is not None
    return found


async def test_servers_are_added_seen_and_switched(jp_fetch: Fetch, connect: Connect, storage_dir: Path) -> None:
    async with connect() as panel, connect() as other:
        empty = await rest(jp_fetch)
        assert (empty["servers"], empty["enabled"], empty["operatorLimits"]) == ([], True, False)
        assert [file["path"] for file in empty["files"]] == [str(storage_dir / "mcp.json")]
        done = await add(jp_fetch, sample=sample(env={"MODE": "fast"}))
        assert (done["added"], done["servers"][0]["config"].count("fast")) == (["sample"], 0)
        heard = await connected(panel)
        assert (heard["toolCount"], "tools" in heard) == (13, False)
        await connected(other)
        [server] = (await rest(jp_fetch))["servers"]
        tools = {tool["name"]: tool for tool in server["tools"]}
        assert (tools["add"]["alwaysAllow"], tools["add"]["enabledForPrompt"]) == (False, True)
        assert server["prompts"][0]["command"] == "/mcp.sample.review"
        assert [one["uri"] for one in server["resources"]] == ["sample://greeting"]
        shown = {**HERE, "toolName": "add", "alwaysAllow": True}
        refused = await panel.ask("toggleToolAlwaysAllow", **shown, fingerprint="another")
        assert refused["error"]["code"] == "conflict"
        assert (await panel.ask("toggleToolAlwaysAllow", **shown, fingerprint=tools["add"]["fingerprint"]))["ok"]
        assert (await panel.ask("toggleToolEnabledForPrompt", **HERE, toolName="fail", isEnabled=False))["ok"]
        assert (await panel.ask("updateMcpTimeout", **HERE, timeout=5))["ok"]
        view = await rest(jp_fetch)
        tools = {tool["name"]: tool for tool in view["servers"][0]["tools"]}
        assert (tools["add"]["alwaysAllow"], tools["fail"]["enabledForPrompt"]) == (True, False)
        assert (view["servers"][0]["timeout"], view["toolCount"], view["offeredAtMost"]) == (5, 12, 60)
        assert (await panel.ask("toggleMcpServer", **HERE, disabled=True))["ok"]
        assert (await rest(jp_fetch))["servers"][0]["disabled"]
        assert (await panel.ask("toggleMcpServer", **HERE, disabled=False))["ok"]
        await connected(panel)
        assert (await panel.ask("restartMcpServer", text="sample", source="global"))["ok"]
        assert (await panel.ask("refreshAllMcpServers"))["ok"]
        assert (await panel.ask("deleteMcpServer", **HERE))["ok"]
        assert (await rest(jp_fetch))["servers"] == []
        assert json.loads((storage_dir / "mcp.json").read_text()) == {"mcpServers": {}}


@pytest.mark.parametrize(
    ("type_", "more", "code"),
    [
        ("restartMcpServer", {"text": "nobody", "source": "global"}, "not_found"),
        ("toggleMcpServer", {"serverName": "nobody", "source": "project", "disabled": False}, "not_found"),
        ("toggleToolAlwaysAllow", {**HERE, "toolName": "x", "alwaysAllow": True}, "not_found"),
        ("updateMcpTimeout", {**HERE, "timeout": 0}, "invalid_input"),
        ("updateMcpTimeout", {**HERE, "timeout": 1e9}, "invalid_input"),
        ("toggleMcpServer", {"serverName": "sample", "source": "elsewhere", "disabled": True}, "invalid_input"),
        ("deleteMcpServer", {"serverName": "nobody", "source": "global"}, "not_found"),
    ],
)
async def test_what_makes_no_sense_is_refused(connect: Connect, type_: str, more: dict[str, object], code: str) -> None:
    async with connect() as panel:
        ack = await panel.ask(type_, **more)
        assert ack["error"]["code"] == code


async def test_opening_the_settings_connects_and_reading_starts_nothing(
    jp_fetch: Fetch, connect: Connect, storage_dir: Path
) -> None:
    storage_dir.mkdir(exist_ok=True)
    (storage_dir / "mcp.json").write_text(json.dumps({"mcpServers": {"sample": sample()}}))
    async with connect() as panel:
        for _ in range(3):
            assert (await rest(jp_fetch))["servers"][0]["status"] == "disconnected"
        assert (await rest(jp_fetch, "connect", method="POST"))["servers"][0]["status"] == "connecting"
        await connected(panel)


async def test_a_log_is_shown_without_keys(jp_fetch: Fetch, connect: Connect) -> None:
    async with connect() as panel:
        await add(jp_fetch, bad=hostile("chatty", env={"SOME_TOKEN": TOKEN}))
        await connected(panel, "bad")
        log = await rest(jp_fetch, "bad", "log")
        assert any("Starting up" in line["text"] and line["origin"] == "agent" for line in log["lines"])
        assert TOKEN not in json.dumps([log, await rest(jp_fetch)])
        assert (await refused(jp_fetch, "nobody", "log"))[0] == 404


async def test_keys_are_not_kept_in_the_file_unless_that_is_wanted(
    jp_fetch: Fetch, services: Services, storage_dir: Path
) -> None:
    text = json.dumps({"mcpServers": {"sample": sample(env={"SOME_TOKEN": TOKEN})}})
    # There is no keyring here, and nothing was chosen instead.
    status, error = await refused(jp_fetch, method="POST", text=text)
    assert (status, error["code"]) == (409, "secret_storage_unavailable")
    assert not (storage_dir / "mcp.json").exists()
    await services.config.use_storage("memory")
    assert (await rest(jp_fetch, method="POST", text=text))["secrets"] == ["sample/SOME_TOKEN"]
    assert TOKEN not in (storage_dir / "mcp.json").read_text()
    # They move with all keys, and go with all keys.
    await services.config.use_storage("file")
    [server] = services.mcp_servers.hub.states(str(services.storage.person), services.mcp_servers.workspace)
    assert await services.mcp_servers.hub._secrets.key(server.config, "sample/SOME_TOKEN") == TOKEN
    await services.config.reset()
    assert await services.mcp_servers.hub._secrets.key(server.config, "sample/SOME_TOKEN") is None


async def test_a_conversation_uses_them(
    jp_fetch: Fetch, services: Services, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    turns = (
        [{"tool": "mcp--sample--add", "arguments": {"a": 20, "b": 22}}],
        [{"tool": "attempt_completion", "arguments": {"result": "Done."}}],
    )
    async with connect() as panel:
        await add(jp_fetch, sample=sample())
        await speak(services, tmp_path, *turns)
        await panel.ask("newTask", text="Add them")
        await panel.until(lambda: asked(panel, "use_mcp_server"))
        [ask] = asked(panel, "use_mcp_server")
        assert json.loads(str(ask["text"]))["toolName"] == "add"
        await panel.ask("askResponse", messageTs=ask["ts"], askResponse="yesButtonClicked")
        await panel.until(lambda: asked(panel, "completion_result"))
        assert '"total": 42' in said(panel, "mcp_server_response")[0]
        await panel.ask("requestCommands")
        await panel.until(lambda: messages(panel, "commands"))
        names = [command["name"] for command in messages(panel, "commands")[-1]["commands"]]
        assert "mcp.sample.review" in names


async def test_one_logs_in_through_the_browser(jp_fetch: Fetch, connect: Connect, services: Services) -> None:
    await services.config.use_storage("memory")
    async with sample_http_server(module="login_server") as url, connect() as panel:
        await add(jp_fetch, remote={"url": url})
        back = "http://127.0.0.1:8888/hdsp-agent/mcp-login"
        page = (await rest(jp_fetch, "remote", "login", method="POST", redirectUri=back))["url"]
        async with httpx2.AsyncClient(trust_env=False, timeout=60) as browser:
            target = (await browser.get(page)).headers["location"]
        query = {name: values[0] for name, values in parse_qs(urlsplit(target).query).items()}
        with pytest.raises(HTTPClientError) as wrong:
            await jp_fetch("hdsp-agent", "mcp-login", params={**query, "state": "<script>"})
        assert wrong.value.code == 404
        assert wrong.value.response is not None
        assert b"This sign-in is over." in wrong.value.response.body
        answer = await jp_fetch("hdsp-agent", "mcp-login", params=query, headers={"Accept-Language": "ko-KR,en;q=0.8"})
        assert '<html lang="ko">' in answer.body.decode()
        assert "로그인되었습니다." in answer.body.decode()
        assert (await connected(panel, "remote"))["authStatus"] == "authenticated"
        assert await rest(jp_fetch, "remote", "login", method="DELETE") == {"done": True}


async def test_nothing_is_left_when_the_server_stops(
    jp_fetch: Fetch, services: Services, connect: Connect, tmp_path: Path
) -> None:
    folder = tmp_path / "of-the-server"
    folder.mkdir()
    async with connect() as panel:
        await add(jp_fetch, bad=hostile("deaf", cwd=str(folder)))
        await connected(panel, "bad")
    assert _working_in(folder)
    await services.mcp_servers.stop()
    assert not _working_in(folder)


def _working_in(folder: Path) -> list[int]:
    found = []
    for process in psutil.process_iter(["cwd"]):
        if process.info["cwd"] == str(folder):
            found.append(process.pid)
    return found


async def test_the_sdk_is_not_loaded_before_it_is_needed(jp_serverapp: ServerApp) -> None:
    code = (
        "import sys, hdsp_agent._graph, hdsp_agent.mcp.client, hdsp_agent.cli.commands.mcp\n"
        "sys.exit(any(name.split('.')[0] in ('mcp', 'mcp_types') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
