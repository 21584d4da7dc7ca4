"""``hdsp-agent mcp``: the real program between the SDK's client and a real server, and what it says when it cannot connect."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import Implementation, TextContent

from hdsp_agent.cli._mcp_target import find_target
from hdsp_agent.comm.services import Services
from tests._helpers.forked_python import forked_python
from tests._helpers.model_server import raw_server
from tests._helpers.parsed_json import ParsedJson, parsed
from tests.cli._helpers.homes import PROGRAM
from tests.mcp._helpers.http_programs import LEGACY, MODERN
from tests.mcp._helpers.port_agents import PortAgents, let_in

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

BOTH = pytest.mark.parametrize("mode", ["legacy", MODERN])


@pytest.fixture
def agents(services: Services, http_server: object, jp_asyncio_loop: asyncio.AbstractEventLoop) -> PortAgents:
    """What answers behind a server that listens; its file in the runtime folder says where."""
    return let_in(services, jp_asyncio_loop)


@pytest.fixture
def environment(jp_serverapp: ServerApp, jp_environ: object, jp_runtime_dir: Path) -> dict[str, str]:
    jp_serverapp.write_server_info_file()
    return {**os.environ, "JUPYTER_RUNTIME_DIR": str(jp_runtime_dir), "PYTHONWARNINGS": "error"}


@asynccontextmanager
async def connected(
    environment: Mapping[str, str], folder: Path, *arguments: str, mode: str = MODERN
) -> AsyncIterator[Client]:
    """A program that started the proxy in a folder."""
    command = StdioServerParameters(
        command=forked_python(), args=[*PROGRAM[1:], "mcp", *arguments], env=dict(environment), cwd=folder
    )
    info = Implementation(name="codex", title="Codex", version="1.0")
    async with Client(command, mode=mode, client_info=info, cache=None) as client:
        yield client


async def _begun(environment: Mapping[str, str], folder: Path, *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        forked_python(),
        *PROGRAM[1:],
        "mcp",
        *arguments,
        cwd=folder,
        env=dict(environment),
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
    )


async def run(environment: Mapping[str, str], folder: Path, *arguments: str) -> tuple[int | None, str, str]:
    process = await _begun(environment, folder, *arguments)
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


@BOTH
async def test_a_program_that_starts_it_below_the_root_works_in_that_folder(
    agents: PortAgents, environment: dict[str, str], jp_root_dir: Path, mode: str
) -> None:
    folder = jp_root_dir / "하위 folder"
    folder.mkdir()
    async with connected(environment, folder, mode=mode) as client:
        assert [tool.name for tool in (await client.list_tools()).tools][:2] == ["echo", "image"]
        result = await client.call_tool("echo", {"text": "안녕 🙂"})
    assert result.structured_content == {"text": "안녕 🙂"}
    seen = agents.calls[0][0]
    assert (seen.name, seen.folder) == ("Codex", os.path.realpath(folder))


@BOTH
async def test_the_folder_can_be_said_and_one_outside_the_root_is_nobodys(
    agents: PortAgents, environment: dict[str, str], jp_root_dir: Path, tmp_path: Path, mode: str
) -> None:
    async with connected(environment, tmp_path, "proxy", "--folder", str(jp_root_dir), mode=mode) as client:
        await client.call_tool("echo")
    assert agents.calls[0][0].folder == os.path.realpath(jp_root_dir)
    (refused,) = await _answers(environment, tmp_path, 1, json.dumps(_request("tools/list")))
    assert "No Jupyter Server runs for" in refused["error"]["message"]


@pytest.mark.in_short(1)
@BOTH
async def test_large_messages_pass_both_ways_whole(
    agents: PortAgents, environment: dict[str, str], jp_root_dir: Path, mode: str
) -> None:
    async with connected(environment, jp_root_dir, mode=mode) as client:
        large = "è" * 500_000
        there = await client.call_tool("echo", {"text": large})
        back = await client.call_tool("large", {"text": "20000000"})
    assert there.structured_content == {"text": large}
    assert isinstance(back.content[0], TextContent) and len(back.content[0].text) == 20_000_000


@BOTH
async def test_progress_and_cancelling_pass(
    agents: PortAgents, environment: dict[str, str], jp_root_dir: Path, mode: str
) -> None:
    told: list[str | None] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)

    async with connected(environment, jp_root_dir, mode=mode) as client:
        call = asyncio.ensure_future(client.call_tool("wait", progress_callback=tell))
        await agents.begun.wait()
        call.cancel()
        await agents.until(lambda: bool(agents.ended))
        again = asyncio.ensure_future(client.call_tool("wait", progress_callback=tell))
        await agents.until(lambda: len(agents.calls) == 2)
        agents.may_end.set()
        result = await again
    assert agents.ended == ["cancelled", "done"]
    assert isinstance(result.content[0], TextContent) and result.content[0].text == "approved"


async def test_a_program_that_ends_leaves_nothing_running(
    agents: PortAgents, environment: dict[str, str], jp_root_dir: Path
) -> None:
    process = await asyncio.create_subprocess_exec(
        forked_python(), *PROGRAM[1:], "mcp", cwd=jp_root_dir, env=environment, stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(_request("tools/call", name="wait")).encode() + b"\n")
    await agents.begun.wait()
    process.stdin.close()
    await agents.until(lambda: bool(agents.ended))
    assert agents.ended == ["cancelled"]
    assert (*(await process.communicate()), process.returncode) == (b"", b"", 0)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
async def test_a_program_that_ends_it_by_a_signal_is_not_connected_any_more(
    agents: PortAgents, environment: dict[str, str], jp_root_dir: Path, told: signal.Signals
) -> None:
    process = await asyncio.create_subprocess_exec(
        forked_python(), *PROGRAM[1:], "mcp", cwd=jp_root_dir, env=environment, stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    assert process.stdin is not None and process.stdout is not None
    hello = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    for message in (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ):
        process.stdin.write(json.dumps(message).encode() + b"\n")
    await process.stdout.readline()
    await process.stdout.readline()
    assert len(agents.clients) == 1
    process.send_signal(told)
    assert await process.wait() == 130
    assert agents.clients == {}


async def test_nothing_but_the_protocol_is_on_standard_output(
    agents: PortAgents, environment: dict[str, str], jp_root_dir: Path
) -> None:
    said = await _answers(environment, jp_root_dir, 3, "", "no json", "[]", json.dumps(_request("tools/list")))
    assert [one["error"]["code"] for one in said[:2]] == [-32700, -32700]
    assert len(said[2]["result"]["tools"]) == 8


async def test_without_a_server_it_says_which_there_are_and_how_to_choose(
    agents: PortAgents, environment: dict[str, str], jp_serverapp: ServerApp, tmp_path: Path
) -> None:
    code, out, err = await run(environment, tmp_path, "test")
    url = jp_serverapp.connection_url
    assert code == 1 and "No Jupyter Server runs for" in out and f"--server ADDRESS:\n  {url}" in out, (out, err)
    chosen = await run(environment, tmp_path, "test", "--server", url)
    assert chosen[0] == 0 and "A program sees 8 tools." in chosen[1], chosen
    wrong = await run(environment, tmp_path, "test", "--server", "nonsense")
    assert wrong[0] == 1 and "nonsense is not the address of a Jupyter Server." in wrong[1], wrong


async def test_two_servers_of_one_folder_are_not_guessed_between_and_the_nearer_one_is_taken(
    agents: PortAgents, environment: dict[str, str], jp_serverapp: ServerApp, jp_root_dir: Path, jp_runtime_dir: Path
) -> None:
    told = jp_serverapp.server_info()
    other = {**told, "url": "http://127.0.0.1:9/", "port": 9}
    file = jp_runtime_dir / f"jpserver-{os.getpid()}1.json"
    file.write_text(json.dumps(other))
    code, out, _ = await run(environment, jp_root_dir, "test")
    assert code == 1 and "2 Jupyter Servers run for this folder." in out and "http://127.0.0.1:9/" in out
    # One for all that is above is farther away.
    file.write_text(json.dumps({**other, "root_dir": str(jp_root_dir.parent)}))
    assert (await run(environment, jp_root_dir, "test"))[0] == 0


async def test_what_is_wrong_is_said_in_words(
    agents: PortAgents, services: Services, environment: dict[str, str], jp_serverapp: ServerApp, jp_root_dir: Path
) -> None:
    steps = await _steps(environment, jp_root_dir)
    assert [step["ok"] for step in steps] == [True] * 5
    await services.config.update({"mcpServerEnabled": False})
    off = await _steps(environment, jp_root_dir)
    assert off[-1]["step"] == "enabled" and off[-1]["ok"] == False
    jp_serverapp.identity_provider.token = "another"
    denied = await _steps(environment, jp_root_dir)
    assert denied[-1]["step"] == "signedIn" and denied[-1]["ok"] == False


async def test_the_servers_that_our_agent_uses_are_listed(environment: dict[str, str], tmp_path: Path) -> None:
    home, folder = tmp_path / "storage", tmp_path / "folder"
    home.mkdir()
    folder.mkdir()
    servers = {"mine": {"command": "my-server", "disabled": True}}
    (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    own = {**environment, "HDSP_AGENT_HOME": str(home)}
    for arguments in (("servers", "--folder", str(folder)), ("--folder", str(folder), "servers")):
        code, out, err = await run(own, tmp_path, *arguments, "--json")
        assert code == 0, err
        assert [server["name"] for server in parsed(json.loads(out))] == ["mine"]


_UNKNOWN = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: 4\r\nConnection: close\r\n\r\n404!"


async def test_a_server_that_is_just_starting_is_asked_again(tmp_path: Path) -> None:
    tools = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": [], "resultType": "complete"}}).encode()
    ready = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" + tools
    request = json.dumps(_request("tools/list"))
    for command in ("test", None):
        async with raw_server(_UNKNOWN, _UNKNOWN, ready) as server:
            if command is not None:
                code, out, _ = await run(os.environ, tmp_path, command, "--server", server.url)
                assert code == 0, out
            else:
                [said] = await _answers(os.environ, tmp_path, 1, request, arguments=("--server", server.url))
                assert said["result"]["tools"] == []
            assert len(server.requests) == 3


@pytest.mark.long
async def test_a_server_without_us_is_told_from_one_that_is_starting(tmp_path: Path) -> None:
    async with raw_server(_UNKNOWN) as server:
        code, out, _ = await run(os.environ, tmp_path, "test", "--server", server.url)
        assert code == 1 and "There is no HDSP Agent at" in out
        request = json.dumps(_request("tools/list"))
        [said] = await _answers(os.environ, tmp_path, 1, request, arguments=("--server", server.url))
        assert "There is no HDSP Agent at" in said["error"]["message"]


async def test_a_hubs_token_is_taken_from_the_environment(
    agents: PortAgents, environment: dict[str, str], jp_serverapp: ServerApp, jp_root_dir: Path, jp_runtime_dir: Path
) -> None:
    token = jp_serverapp.identity_provider.token
    for file in jp_runtime_dir.glob("jpserver-*.json"):
        file.write_text(json.dumps({**json.loads(file.read_text()), "token": ""}))
    assert (await run(environment, jp_root_dir, "test"))[0] == 1
    assert (await run({**environment, "JUPYTERHUB_API_TOKEN": token}, jp_root_dir, "test"))[0] == 0


def test_a_hubs_token_goes_to_no_server_but_this_accounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "of-the-hub")
    elsewhere = "https://lab.example.org/user/ada/"
    assert find_target(tmp_path, elsewhere, tmp_path).token == ""
    monkeypatch.setenv("HDSP_AGENT_TOKEN", "given-for-it")
    assert find_target(tmp_path, elsewhere, tmp_path).token == "given-for-it"


async def _steps(environment: Mapping[str, str], folder: Path) -> ParsedJson:
    _, out, err = await run(environment, folder, "test", "--json")
    assert err == ""
    return parsed(json.loads(out)["steps"])


async def _answers(
    environment: Mapping[str, str], folder: Path, count: int, *lines: str, arguments: Sequence[str] = ()
) -> list[ParsedJson]:
    """What the proxy says to these lines, and that it says nothing else."""
    process = await _begun(environment, folder, *arguments)
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("".join(f"{line}\n" for line in lines).encode())
    said = [parsed(json.loads(await process.stdout.readline())) for _ in range(count)]
    process.stdin.close()
    assert (*(await process.communicate()), process.returncode) == (b"", b"", 0)
    return said


def _request(method: str, **params: object) -> dict[str, object]:
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}


@pytest.mark.slow
class TestAServerThatRestarts:
    """In a process of its own."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> Path:
        (tmp_path / "jupyter_server_config.json").write_text(
            json.dumps(
                {
                    "ServerApp": {"jpserver_extensions": {"hdsp_agent": True, "jupyter_server_terminals": False}},
                    "HdspAgentApp": {"fixed_settings": {"mcpServerEnabled": True}},
                }
            )
        )
        (tmp_path / "root").mkdir()
        return tmp_path

    @pytest.fixture
    def own_environment(self, place: Path) -> dict[str, str]:
        return {
            **os.environ,
            "HOME": str(place),
            "HDSP_AGENT_HOME": str(place / "home"),
            "JUPYTER_CONFIG_DIR": str(place),
            "JUPYTER_RUNTIME_DIR": str(place / "runtime"),
        }

    @pytest.fixture
    def heard(self) -> set[asyncio.Task[bytes]]:
        """What the servers go on writing, which somebody has to take."""
        return set()

    async def _start(self, place: Path, environment: Mapping[str, str], heard: set[asyncio.Task[bytes]]) -> Process:
        server = await asyncio.create_subprocess_exec(
            forked_python(), "-m", "jupyter_server", "--allow-root", "--no-browser",
            "--ServerApp.port=0", f"--ServerApp.root_dir={place / 'root'}",
            env=dict(environment), stderr=PIPE, limit=10_000_000,
        )  # fmt: skip
        assert server.stderr is not None
        while b"is ready" not in (line := await server.stderr.readline()):
            assert line, "the server ended"
        heard.add(asyncio.create_task(server.stderr.read()))
        return server

    @pytest.mark.in_short(1)
    @BOTH
    async def test_is_found_again_by_the_same_program(
        self, place: Path, own_environment: dict[str, str], heard: set[asyncio.Task[bytes]], mode: str
    ) -> None:
        server = await self._start(place, own_environment, heard)
        try:
            async with connected(own_environment, place / "root", mode=mode) as client:
                before = [tool.name for tool in (await client.list_tools()).tools]
                server.terminate()
                await server.wait()
                server = await self._start(place, own_environment, heard)
                # Another port, another token, no memory of the session.
                assert [tool.name for tool in (await client.list_tools()).tools] == before != []
        finally:
            server.kill()
            await server.wait()
            await asyncio.gather(*heard)
