"""The files that name servers: what is understood, what is refused, and what a folder may not do."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from hdsp_agent.config import GlobalSettings, OperatorPolicy
from hdsp_agent.errors import Conflict, ForbiddenByOperator, InvalidInput, NotFound
from hdsp_agent.mcp.client._server_config import server_config
from hdsp_agent.messages import JsonObject

from ._helpers.hubs import ME, hostile, running_hub, sample, until

TOKEN = "ghp_Zq8vT4mWb2LkP9xR7nYcAbCdEfGh"


@pytest.mark.parametrize(
    ("entry", "transport"),
    [
        ({"command": "npx", "args": ["-y", "x"], "env": {"A": "b"}, "type": "stdio", "icon": "?"}, "stdio"),
        ({"url": "https://example.com/mcp", "type": "http", "headers": {"X": "y"}}, "streamable-http"),
        ({"url": "https://example.com/mcp", "type": "streamable-http", "autoApprove": ["a"]}, "streamable-http"),
        ({"httpUrl": "https://example.com/mcp"}, "streamable-http"),
        ({"serverUrl": "http://localhost:8000/mcp", "transport": "streamableHttp"}, "streamable-http"),
    ],
)
async def test_common_forms_are_understood(tmp_path: Path, entry: JsonObject, transport: str) -> None:
    async with running_hub(tmp_path, {"one": entry}, prepare=False) as tested:
        await tested.hub.look(ME, tested.workspace)
        config = tested.state("one").config
        assert (config.problem, config.transport) == (None, transport)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({}, "needs a command or a url"),
        ({"command": "a", "url": "https://b/"}, "not both"),
        ({"url": "https://example.com/sse", "type": "sse"}, "SSE transport is not supported"),
        ({"url": "ftp://example.com"}, "whole http or https address"),
        ({"url": "https://"}, "whole http or https address"),
        ({"command": "a", "type": "http"}, "does not fit"),
        ({"command": "a", "type": "carrier-pigeon"}, "is not known"),
        ({"command": "a\0b"}, "NUL"),
        ({"command": "a", "args": "b"}, "args"),
        ({"command": "a", "timeout": 0}, "timeout"),
        ("npx", "not valid"),
        (None, "not valid"),
    ],
)
async def test_a_broken_entry_is_listed_with_what_is_wrong(tmp_path: Path, entry: JsonObject, problem: str) -> None:
    async with running_hub(tmp_path, {"bad": entry, "good": hostile("plain")}) as tested:
        assert problem in (tested.state("bad").config.problem or "")
        assert tested.state("bad").connection is None
        assert await tested.said("act", server="good") == "done"


@pytest.mark.in_short(2)
@pytest.mark.parametrize("content", ["{", "[]", '{"mcpServers": []}', "\x00", '{"mcpServers": {"a": ' + "[" * 5_000])
async def test_a_file_that_cannot_be_read_says_so_and_keeps_what_it_said(tmp_path: Path, content: str) -> None:
    async with running_hub(tmp_path, {"good": hostile("plain")}) as tested:
        (tested.home / "mcp.json").write_text(content, encoding="utf-8")
        await until(lambda: tested.hub.files(tested.workspace)[0].problem)
        assert await tested.said("act", server="good") == "done"


async def test_changes_of_the_file_are_noticed(tmp_path: Path) -> None:
    async with running_hub(tmp_path, {"one": hostile("plain")}) as tested:
        tested.write({"one": hostile("plain", env={"A": "b"}), "two": hostile("plain")})
        await until(lambda: len(tested.hub.states(ME, tested.workspace)) == 2)
        # The one that is another now was ended; both are there when they are needed.
        await tested.ready()
        assert {tool.server for tool in tested.task.offer.tools} == {"one", "two"}
        tested.write({})
        await until(lambda: not tested.task.offer.tools)


async def test_switched_off_in_the_settings_nothing_is_started(tmp_path: Path) -> None:
    settings = GlobalSettings(mcp_enabled=False)
    async with running_hub(tmp_path, {"one": hostile("plain")}, settings=settings) as tested:

        def offered() -> int:
            return len(tested.task.offer.tools)

        def is_connected() -> bool:
            return tested.state("one").connection is not None

        assert offered() == 0
        await tested.hub.look(ME, tested.workspace)
        assert not is_connected()
        tested.settings = GlobalSettings(mcp_enabled=True)
        await tested.ready()
        assert offered() == 1
        tested.settings = settings
        await until(lambda: not is_connected())


async def test_what_a_folder_brings_counts_once_it_is_trusted_and_switched_on(tmp_path: Path) -> None:
    async with running_hub(tmp_path, {"mine": hostile("plain")}, prepare=False) as tested:
        tested.write_project({"theirs": hostile("plain", alwaysAllow=["act"]), "MINE": hostile("dies")})
        await tested.ready()
        assert [state.config.name for state in tested.hub.states(ME, tested.workspace)] == ["mine"]
        await asyncio.to_thread(tested.folders.decide, tested.workspace, True)
        await tested.ready()
        theirs = tested.state("theirs")
        assert (theirs.needs_approval, theirs.is_disabled, theirs.connection) == (True, True, None)
        assert "of this name yourself" in (tested.state("MINE").config.problem or "")
        await tested.hub.switch(ME, tested.workspace, "theirs", "project", disabled=False)
        await tested.ready()
        # Its own file allows nothing.
        assert not tested.tool("act", "theirs").always_allowed
        # Another command is another server: it needs another yes.
        tested.write_project({"theirs": hostile("plain", "--and-more")})
        await until(lambda: tested.state("theirs").needs_approval)
        assert tested.state("theirs").connection is None
        tested.write_project({"theirs": hostile("plain", alwaysAllow=["act"])})
        await until(lambda: not tested.state("theirs").needs_approval)
        await asyncio.to_thread(tested.folders.decide, tested.workspace, False)
        await until(lambda: len(tested.hub.states(ME, tested.workspace)) == 1)


async def test_a_folder_gets_no_variables_and_no_keys_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", TOKEN)
    async with running_hub(tmp_path, prepare=False) as tested:
        text = json.dumps({"mcpServers": {"github": {**sample(), "env": {"TOKEN": TOKEN}}}})
        await tested.hub.add(ME, tested.workspace, text, name=None, replace_old=False, keep_secrets=False)
        await asyncio.to_thread(tested.folders.decide, tested.workspace, True)
        tested.write_project(
            {
                "variable": hostile("plain", "${env:MY_TOKEN}"),
                "secret": hostile("plain", env={"X": "${secret:github/TOKEN}"}),
                "bad name\u200b": hostile("plain"),
            }
        )
        await tested.hub.look(ME, tested.workspace)
        for name in ("variable", "secret"):
            await tested.hub.switch(ME, tested.workspace, name, "project", disabled=False)
        await tested.ready()
        assert "MY_TOKEN is not given to MCP servers" in (tested.connection("variable").error or "")
        assert "There is no saved key for ${secret:github/TOKEN}" in (tested.connection("secret").error or "")
        assert "has only the letters A to Z" in (tested.state("bad name\u200b").config.problem or "")


def test_all_that_a_folder_sets_around_its_command_is_shown(tmp_path: Path) -> None:
    entry: JsonObject = {
        "command": "npx",
        "args": ["-y", "good-server"],
        "cwd": "tools",
        "env": {"NODE_OPTIONS": "--require ./evil.js", "API_TOKEN": TOKEN},
    }
    theirs = server_config("theirs", "project", tmp_path, entry).address
    assert theirs == "env -C tools 'NODE_OPTIONS=--require ./evil.js' 'API_TOKEN=…' npx -y good-server"
    assert server_config("mine", "global", None, entry).address == "npx -y good-server"
    plain = server_config("plain", "project", tmp_path, {"command": "npx", "args": ["-y", "good-server"]})
    assert plain.address == "npx -y good-server"


async def test_a_folder_that_names_our_key_neither_gets_it_nor_takes_it_away(tmp_path: Path) -> None:
    async with running_hub(tmp_path, prepare=False) as tested:
        entry: JsonObject = {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": f"Bearer {TOKEN}"}}
        text = json.dumps({"mcpServers": {"tickets": entry}})
        await tested.hub.add(ME, tested.workspace, text, name=None, replace_old=False, keep_secrets=False)
        await asyncio.to_thread(tested.folders.decide, tested.workspace, True)
        # The same host, and whatever path there the folder likes.
        mine = "${secret:tickets/Authorization}"
        tested.write_project({"theirs": {"url": "http://127.0.0.1:9/elsewhere", "headers": {"X-Mine": mine}}})
        await tested.hub.look(ME, tested.workspace)
        await tested.hub.switch(ME, tested.workspace, "theirs", "project", disabled=False)
        await tested.ready()
        assert f"There is no saved key for {mine}" in (tested.connection("theirs").error or "")
        await tested.hub.delete(ME, tested.workspace, "theirs", "project")
        assert await tested.secrets.get_other("tickets/Authorization", "http://127.0.0.1:9") is not None


async def test_a_key_that_another_server_uses_outlives_the_one_it_was_given_with(tmp_path: Path) -> None:
    async with running_hub(tmp_path, prepare=False) as tested:
        entry: JsonObject = {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": f"Bearer {TOKEN}"}}
        text = json.dumps({"mcpServers": {"one": entry}})
        await tested.hub.add(ME, tested.workspace, text, name=None, replace_old=False, keep_secrets=False)
        written = json.loads((tested.home / "mcp.json").read_text())["mcpServers"]["one"]
        tested.write({"one": written, "two": written})
        await tested.hub.delete(ME, tested.workspace, "one", "global")
        assert await tested.secrets.get_other("one/Authorization", "http://127.0.0.1:9") is not None
        await tested.hub.delete(ME, tested.workspace, "two", "global")
        assert await tested.secrets.get_other("one/Authorization", "http://127.0.0.1:9") is None


async def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    async with running_hub(tmp_path, prepare=False) as tested:
        (tmp_path / "elsewhere.json").write_text(json.dumps({"mcpServers": {"x": hostile("plain")}}))
        (tested.workspace / ".hdsp").mkdir()
        (tested.workspace / ".hdsp" / "mcp.json").symlink_to(tmp_path / "elsewhere.json")
        await asyncio.to_thread(tested.folders.decide, tested.workspace, True)
        await tested.ready()
        assert tested.hub.states(ME, tested.workspace) == []
        assert "leads out of the folder" in (tested.hub.files(tested.workspace)[1].problem or "")


# ---- the operator's list


@pytest.mark.parametrize(
    ("entry", "allowed", "is_allowed"),
    [
        ({"url": "https://mcp.example.com/mcp"}, "https://mcp.example.com/*", True),
        ({"url": "https://mcp.example.com:443/mcp"}, "https://*.example.com/mcp", True),
        ({"url": "https://evil.org/mcp.example.com/mcp"}, "https://*.example.com/mcp", False),
        ({"url": "https://evil.org/x.example.com/"}, "https://*example.com/*", False),
        ({"url": "https://mcp.example.com.evil.org/mcp"}, "https://mcp.example.com/*", False),
        ({"url": "https://mcp.example.com@evil.org/mcp"}, "https://mcp.example.com/*", False),
        ({"url": "http://mcp.example.com/mcp"}, "https://mcp.example.com/*", False),
        ({"url": "https://mcp.example.com:8443/mcp"}, "https://mcp.example.com/*", False),
        ({"url": "https://mcp.example.com/a/../b/mcp"}, "https://mcp.example.com/a/*", False),
        ({"url": "https://mcp.example.com/a/%2E%2e/b/mcp"}, "https://mcp.example.com/a/*", False),
        ({"url": "https://mcp.example.com/a/..\\b"}, "https://mcp.example.com/a/*", False),
        ({"url": "https://mcp.example.com/a/..b/mcp"}, "https://mcp.example.com/a/*", True),
        ({"command": "npx", "args": ["-y", "@x/server", "/data"]}, "npx -y @x/server *", True),
        ({"command": "npx", "args": ["-y", "@x/server"]}, "npx -y @x/server *", True),
        ({"command": "npx", "args": ["-y", "@x/server-of-others"]}, "npx -y @x/server *", False),
        ({"command": "npx", "args": ["-y @x/server"]}, "npx -y @x/server *", False),
        ({"command": "/tmp/npx", "args": ["-y", "@x/server"]}, "npx *", False),
        ({"command": "https://mcp.example.com/mcp"}, "https://mcp.example.com/*", False),
    ],
)
async def test_the_operators_list_allows_what_it_names(
    tmp_path: Path, entry: JsonObject, allowed: str, is_allowed: bool
) -> None:
    policy = OperatorPolicy(allowed_mcp_servers=(allowed,))
    async with running_hub(tmp_path, {"one": entry}, policy=policy, prepare=False) as tested:
        await tested.hub.look(ME, tested.workspace)
        assert tested.state("one").is_forbidden is not is_allowed


async def test_what_the_operator_does_not_allow_is_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIDDEN", "plain")
    policy = OperatorPolicy(allowed_mcp_servers=("*python* -u * ${env:HIDDEN}",))
    variable = hostile("${env:HIDDEN}")
    async with running_hub(tmp_path, {"no": hostile("plain"), "variable": variable}, policy=policy) as tested:
        assert tested.state("no").connection is None
        with pytest.raises(ForbiddenByOperator):
            await tested.hub.switch(ME, tested.workspace, "no", "global", disabled=False)
        with pytest.raises(ForbiddenByOperator):
            await tested.hub.restart(ME, tested.workspace, "no", "global")
        # As it is written it is on the list, and as it is used it is not.
        assert "Your administrator does not allow" in (tested.connection("variable").error or "")
        text = json.dumps({"mcpServers": {"new": hostile("plain")}})
        with pytest.raises(ForbiddenByOperator):
            await tested.hub.add(ME, tested.workspace, text, name=None, replace_old=False, keep_secrets=True)


# ---- adding and deleting


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('{"mcpServers": {"a": {"command": "x"}, "b": {"url": "https://y/"}}}', {"a", "b"}),
        ('{"servers": {"a": {"type": "http", "url": "https://y/"}}, "inputs": []}', {"a"}),
        ('{"mcp": {"a": {"type": "local", "command": ["npx", "-y", "z"], "enabled": false}}}', {"a"}),
        ('{"a": {"command": "x"}}', {"a"}),
        ('{"command": "x"}', {"named"}),
    ],
)
async def test_what_other_programs_write_can_be_pasted(tmp_path: Path, text: str, names: set[str]) -> None:
    async with running_hub(tmp_path, prepare=False) as tested:
        done = await tested.hub.add(ME, tested.workspace, text, name="named", replace_old=False, keep_secrets=True)
        assert set(done.added) == names
        states = {state.config.name: state for state in tested.hub.states(ME, tested.workspace)}
        assert set(states) == names
        assert all(state.config.problem is None for state in states.values())
        if "enabled" in text:
            assert (states["a"].is_disabled, states["a"].config.address) == (True, "npx -y z")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"a": 1}', '{"mcpServers": {}}', '{"command": "x"}', '{"a": {"url": "x"}}']
)
async def test_what_is_no_server_is_refused(tmp_path: Path, text: str) -> None:
    async with running_hub(tmp_path, prepare=False) as tested:
        with pytest.raises(InvalidInput):
            await tested.hub.add(ME, tested.workspace, text, name=None, replace_old=False, keep_secrets=True)
        assert not (tested.home / "mcp.json").exists()


async def test_keys_that_are_pasted_are_kept_where_keys_are_kept(tmp_path: Path) -> None:
    entry = sample(env={"GITHUB_TOKEN": TOKEN, "MODE": "fast"})
    async with running_hub(tmp_path, prepare=False) as tested:
        text = json.dumps({"mcpServers": {"sample": entry}})
        done = await tested.hub.add(ME, tested.workspace, text, name=None, replace_old=False, keep_secrets=False)
        assert done.secrets == ("sample/GITHUB_TOKEN",)
        written = (tested.home / "mcp.json").read_text()
        assert TOKEN not in written
        assert json.loads(written)["mcpServers"]["sample"]["env"] == {
            "GITHUB_TOKEN": "${secret:sample/GITHUB_TOKEN}",
            "MODE": "fast",
        }
        await tested.ready()
        assert f"GITHUB_TOKEN={TOKEN}" in await tested.said("environment")
        assert TOKEN not in json.dumps(tested.state("sample").config.shown())
        await tested.hub.delete(ME, tested.workspace, "sample", "global")
        assert await tested.secrets.get_other("sample/GITHUB_TOKEN", "whatever") is None
        assert tested.hub.states(ME, tested.workspace) == []


async def test_a_key_of_a_header_keeps_its_scheme_and_goes_nowhere_else(tmp_path: Path) -> None:
    async with running_hub(tmp_path, prepare=False) as tested:
        entry: JsonObject = {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": f"Bearer {TOKEN}"}}
        text = json.dumps({"mcpServers": {"remote": entry}})
        await tested.hub.add(ME, tested.workspace, text, name=None, replace_old=False, keep_secrets=False)
        written = json.loads((tested.home / "mcp.json").read_text())["mcpServers"]["remote"]
        assert written["headers"] == {"Authorization": "Bearer ${secret:remote/Authorization}"}
        # Somebody changes the address: the key was not given for that one.
        tested.write({"remote": {**written, "url": "http://127.0.0.2:9/mcp"}})
        await tested.ready()
        assert "There is no saved key" in (tested.connection("remote").error or "")


async def test_a_name_that_is_taken_is_refused_or_replaced(tmp_path: Path) -> None:
    async with running_hub(tmp_path, {"one": sample()}, prepare=False) as tested:
        text = json.dumps({"mcpServers": {"one": hostile("plain"), "two": hostile("plain")}})
        with pytest.raises(Conflict):
            await tested.hub.add(ME, tested.workspace, text, name=None, replace_old=False, keep_secrets=True)
        done = await tested.hub.add(ME, tested.workspace, text, name=None, replace_old=True, keep_secrets=True)
        assert (done.added, done.replaced) == (("two",), ("one",))


async def test_deleting_leaves_the_rest_of_the_file(tmp_path: Path) -> None:
    async with running_hub(tmp_path, {"one": sample(), "two": hostile("plain")}, prepare=False) as tested:
        file = tested.home / "mcp.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), "inputs": [1]}))
        await tested.hub.delete(ME, tested.workspace, "one", "global")
        assert json.loads(file.read_text()) == {"mcpServers": {"two": hostile("plain")}, "inputs": [1]}
        with pytest.raises(NotFound):
            await tested.hub.delete(ME, tested.workspace, "one", "global")
