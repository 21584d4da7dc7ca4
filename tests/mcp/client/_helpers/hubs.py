"""A hub on folders of its own, with real servers, and a person who answers."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from pydantic import JsonValue

from hdsp_agent.config import GlobalSettings, OperatorPolicy, SecretStore, TrustedFolders
from hdsp_agent.mcp.client import McpHub, ServerState, TaskServers
from hdsp_agent.mcp.client._connection import Connection
from hdsp_agent.messages import JsonObject
from hdsp_agent.tools import McpAnswer, OfferedMcpTool
from tests._helpers.forked_python import forked_python

__all__ = ["ME", "ROOT", "TestedHub", "hostile", "processes", "running_hub", "sample", "until"]

ME = "somebody"
ROOT = Path(__file__).parents[4]
PATIENCE = 60.0
HELPERS = "tests.mcp.client._helpers"


def sample(**more: JsonValue) -> JsonObject:
    """The entry of the well-behaved server, begun at once; ``command`` has it begun as people do."""
    return {"command": forked_python(), "args": ["-m", f"{HELPERS}.sample_server"], "cwd": str(ROOT), **more}


def hostile(kind: str, *arguments: str, **more: JsonValue) -> JsonObject:
    """The entry of a server that misbehaves in one way."""
    script = str(Path(__file__).with_name("hostile_server.py"))
    return {"command": sys.executable, "args": ["-u", script, kind, *arguments], **more}


@dataclass
class TestedHub:
    """What a test talks to."""

    __test__ = False

    hub: McpHub
    home: Path
    workspace: Path
    settings: GlobalSettings
    policy: OperatorPolicy
    secrets: SecretStore
    folders: TrustedFolders
    changes: list[str] = field(default_factory=list)
    asked: list[tuple[str, Sequence[str]]] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    progress: list[str] = field(default_factory=list)

    def write(self, servers: Mapping[str, JsonValue]) -> None:
        """Replace the person's own file."""
        self.home.mkdir(parents=True, exist_ok=True)
        (self.home / "mcp.json").write_text(json.dumps({"mcpServers": servers}))

    def write_project(self, servers: Mapping[str, JsonValue]) -> None:
        """Replace the folder's file."""
        (self.workspace / ".hdsp").mkdir(exist_ok=True)
        (self.workspace / ".hdsp" / "mcp.json").write_text(json.dumps({"mcpServers": servers}))

    @property
    def task(self) -> TaskServers:
        """The servers as a task has them."""
        return TaskServers(self.hub, ME, self.workspace)

    def state(self, name: str) -> ServerState:
        """How a server stands."""
        return self.hub.state(ME, self.workspace, name)

    def connection(self, name: str) -> Connection:
        """The connection to a server."""
        connection = self.state(name).connection
        assert connection is not None
        return connection

    def log(self, name: str) -> str:
        """What its log says."""
        return "\n".join(line.text for line in self.connection(name).log.lines)

    def tool(self, tool: str, server: str = "sample") -> OfferedMcpTool:
        """A tool that is offered."""
        found = self.task.offer.tool(server, tool)
        assert found is not None, [one.tool for one in self.task.offer.tools]
        return found

    async def call(self, tool: str, arguments: JsonObject | None = None, *, server: str = "sample") -> McpAnswer:
        """Use a tool."""

        async def progressed(text: str) -> None:
            self.progress.append(text)

        return await self.task.call(self.tool(tool, server), arguments or {}, progressed=progressed, ask=self.ask)

    async def said(self, tool: str, arguments: JsonObject | None = None, *, server: str = "sample") -> str:
        """The text of its answer."""
        answer = await self.call(tool, arguments, server=server)
        return "\n".join(part for part in answer.parts if isinstance(part, str))

    async def ready(self) -> None:
        """Connect to all servers that are used, however slow this machine is."""
        await self.hub.prepare(ME, self.workspace, 3 * PATIENCE)

    async def ask(self, question: str, suggested: Sequence[str]) -> str:
        """The person."""
        self.asked.append((question, suggested))
        return self.answers.pop(0) if self.answers else suggested[0]


@asynccontextmanager
async def running_hub(
    home: Path,
    servers: Mapping[str, JsonValue] | None = None,
    *,
    settings: GlobalSettings | None = None,
    policy: OperatorPolicy | None = None,
    prepare: bool = True,
) -> AsyncIterator[TestedHub]:
    """A hub; connected to these servers, unless it is not to ``prepare``. Nothing is left of them in the end."""
    workspace = home / "work"
    workspace.mkdir(parents=True, exist_ok=True)
    decided = policy or OperatorPolicy()
    secrets = SecretStore(home / "home", decided, environ={})
    secrets.start("memory", ())
    folders = TrustedFolders(home / "home", lambda: tested.policy)
    hub = McpHub(
        home / "home",
        policy=lambda: tested.policy,
        settings=lambda: tested.settings,
        secrets=secrets,
        trusted=folders.trusted,
        workspace=workspace,
        person=ME,
    )
    tested = TestedHub(hub, home / "home", workspace, settings or GlobalSettings(), decided, secrets, folders)
    hub.on_changed = tested.changes.append
    if servers is not None:
        tested.write(servers)
    try:
        if prepare:
            await tested.ready()
        yield tested
    finally:
        await hub.stop()
        await secrets.stop()
    # What a server itself started was killed with it, and is gone a moment later.
    await until(lambda: not processes(home))


def processes(home: Path) -> list[psutil.Process]:
    """The processes that work in these folders."""
    found = []
    for process in psutil.process_iter():
        try:
            folder = process.cwd()
            if process.pid != psutil.Process().pid and Path(folder).is_relative_to(home):
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


async def until(ready: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait until this is so."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not ready():
        assert asyncio.get_running_loop().time() < deadline, "it did not happen"
        await asyncio.sleep(0.01)
