"""Other makers' programs, connected by what we tell people to paste, with a played model behind each."""

from __future__ import annotations

import asyncio
import json
import os
import tomllib
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hdsp_agent.comm.services import Services
from hdsp_agent.mcp.connect import ConnectSnippet, connect_programs
from hdsp_agent.messages import JsonObject
from tests._helpers.long_tests import rounds
from tests._helpers.model_server import ModelServer, model_server, raw_server, sse
from tests.cli._helpers.homes import PROGRAM
from tests.mcp._helpers.installed_programs import BIN
from tests.mcp._helpers.port_agents import PortAgents, let_in

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

__all__ = ["model_server"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(rounds(0, 1) == 0, reason="make test-long installs these programs, more than a gigabyte"),
]

_ASKED = "say hello with the tool"
_SAID: JsonObject = {"text": "hello from outside"}
WAYS = pytest.mark.parametrize("way", ["local", "http"])


class Place:
    """A person's home and folder, with a program set up as our page says it."""

    def __init__(self, home: Path, root: Path, url: str, runtime: Path, token: str) -> None:
        self.home = home
        self.root = root
        self._url = url
        self._command = (*PROGRAM, "mcp", "--runtime-dir", str(runtime))
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "XDG"))},
            "HOME": str(home),
            # Some go by what a shell would say, not by where they are.
            "PWD": str(root),
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "HDSP_AGENT_TOKEN": token,
        }

    def snippet(self, program: str, way: str) -> ConnectSnippet:
        """The first text of this way."""
        (found,) = (each for each in connect_programs(self._url, self._command) if each.id == program)
        (chosen,) = (each for each in found.ways if each.kind == way)
        return chosen.snippets[0]

    def write(self, snippet: ConnectSnippet, **more: object) -> None:
        """Paste it into its file, beside what is there for the model."""
        assert snippet.file is not None
        file = self.home / snippet.file[2:] if snippet.file.startswith("~/") else self.root / snippet.file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({**json.loads(snippet.text), **more}) if more else snippet.text)

    async def run(self, *command: str, **environment: str) -> str:
        """The program to its end, in the folder."""
        process = await asyncio.create_subprocess_exec(
            *command, cwd=self.root, env={**self.environment, **environment}, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT
        )
        return (await process.communicate())[0].decode()


@pytest.fixture
def agents(services: Services, http_server: object, jp_asyncio_loop: asyncio.AbstractEventLoop) -> PortAgents:
    return let_in(services, jp_asyncio_loop)


@pytest.fixture
def place(
    agents: PortAgents,
    jp_serverapp: ServerApp,
    jp_root_dir: Path,
    jp_runtime_dir: Path,
    jp_base_url: str,
    jp_http_port: int,
    tmp_path: Path,
) -> Place:
    jp_serverapp.write_server_info_file()
    url = f"http://127.0.0.1:{jp_http_port}{jp_base_url}hdsp-agent/mcp"
    home = tmp_path / "someone"
    home.mkdir()
    return Place(home, jp_root_dir, url, jp_runtime_dir, jp_serverapp.identity_provider.token)


def _plays(model: ModelServer, tool: str) -> None:
    """The model calls the tool once, then is done."""
    call = {"name": tool, "arguments": json.dumps(_SAID)}
    model.answer(
        {"match": {"hasToolResult": True}, "response": {"content": "All done."}},
        {"match": {"userMessage": _ASKED}, "response": {"toolCalls": [call]}},
    )


def _called(agents: PortAgents, name: str, output: str) -> None:
    """The program called our tool, under its own name, and its model saw what it said."""
    assert [(tool, arguments) for _, tool, arguments in agents.calls] == [("echo", _SAID)], output
    assert name in agents.calls[0][0].name, agents.calls[0][0]
    assert "All done." in output


@WAYS
async def test_claude_code(place: Place, agents: PortAgents, model_server: ModelServer, way: str) -> None:
    _plays(model_server, "mcp__hdsp-agent__echo")
    model = {
        "ANTHROPIC_BASE_URL": model_server.url,
        "ANTHROPIC_API_KEY": "sk-ant-none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        # A played answer has no thoughts to go on from.
        "MAX_THINKING_TOKENS": "0",
    }
    snippet = place.snippet("claude-code", way)
    if snippet.kind == "command":
        assert "Added" in await place.run("sh", "-c", snippet.text)
        configured = []
    else:
        place.write(snippet)
        configured = ["--mcp-config", ".mcp.json"]
    output = await place.run(
        "claude", "-p", _ASKED, "--model", "claude-sonnet-4-5", "--allowedTools", "mcp__hdsp-agent__echo", *configured,
        **model,
    )  # fmt: skip
    _called(agents, "Claude Code", output)


@WAYS
async def test_gemini_cli(place: Place, agents: PortAgents, model_server: ModelServer, way: str) -> None:
    _plays(model_server, "mcp_hdsp-agent_echo")
    place.write(place.snippet("gemini-cli", way), security={"auth": {"selectedType": "gemini-api-key"}})
    output = await place.run(
        "gemini", "-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-p", _ASKED,
        GEMINI_API_KEY="none", GOOGLE_GEMINI_BASE_URL=model_server.url, GEMINI_CLI_TRUST_WORKSPACE="true",
    )  # fmt: skip
    _called(agents, "Gemini CLI", output)


@WAYS
async def test_opencode(place: Place, agents: PortAgents, model_server: ModelServer, way: str) -> None:
    _plays(model_server, "hdsp-agent_echo")
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "played",
        "options": {"baseURL": f"{model_server.url}/v1", "apiKey": "none"},
        "models": {"one": {"name": "one"}},
    }
    place.write(
        place.snippet("opencode", way), provider={"played": provider}, model="played/one", permission={"*": "allow"}
    )
    output = await place.run("opencode", "run", _ASKED)
    _called(agents, "opencode", output)


@WAYS
async def test_codex(place: Place, agents: PortAgents, way: str) -> None:
    call = {
        "type": "function_call",
        "id": "f1",
        "call_id": "c1",
        "namespace": "mcp__hdsp_agent",
        "name": "echo",
        "arguments": json.dumps(_SAID),
    }
    text = {"type": "output_text", "text": "All done."}
    answer = {"type": "message", "role": "assistant", "id": "m1", "content": [text]}
    async with raw_server(_responses(call), _responses(answer)) as model:
        snippet = place.snippet("codex", way)
        assert tomllib.loads(snippet.text)["mcp_servers"].keys() == {"hdsp-agent"}
        # Its first request does not wait for servers that are not required, which a person's typing gives time for.
        played = [
            'model = "gpt-5"',
            'model_provider = "played"',
            snippet.text,
            "required = true",
            "startup_timeout_sec = 120",
            "[model_providers.played]",
            'name = "played"',
            f'base_url = "{model.url}/v1"',
            'wire_api = "responses"',
        ]
        file = place.home / ".codex/config.toml"
        file.parent.mkdir()
        file.write_text("\n".join(played))
        output = await place.run("codex", "exec", "--skip-git-repo-check", _ASKED)
        _called(agents, "Codex", output)
        assert str(_SAID["text"]) in model.requests[-1].content.decode()


def _responses(item: Mapping[str, object]) -> bytes:
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return sse(
        {"type": "response.created", "response": {"id": "r1"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "r1", "usage": usage}},
        named=True,
    )


@WAYS
async def test_the_inspector(place: Place, agents: PortAgents, way: str) -> None:
    where = place.snippet("opencode", way) if way == "local" else place.snippet("cursor", way)
    entry = json.loads(where.text)
    if way == "local":
        target = entry["mcp"]["hdsp-agent"]["command"]
    else:
        header = f"Authorization: Bearer {place.environment['HDSP_AGENT_TOKEN']}"
        target = [entry["mcpServers"]["hdsp-agent"]["url"], "--transport", "http", "--header", header]
    output = await place.run(
        "mcp-inspector", "--cli", *target, "--method", "tools/call", "--tool-name", "echo", "--tool-arg", "text=hello"
    )
    assert [(tool, arguments) for _, tool, arguments in agents.calls] == [("echo", {"text": "hello"})], output
    assert json.loads(output)["structuredContent"] == {"text": "hello"}
