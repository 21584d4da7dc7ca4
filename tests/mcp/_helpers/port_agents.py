"""A small real implementation of the port: a few tools that do what their names say, without the engine behind them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from hdsp_agent.agent.external.port import (
    AskProgram,
    ConnectedAgent,
    ExternalClient,
    ExternalResult,
    OfferedResource,
    OfferedTool,
    Progress,
    ResourceContent,
)
from hdsp_agent.comm.services import Services
from hdsp_agent.config import ApprovalPreset
from hdsp_agent.errors import InvalidInput, NotFound
from hdsp_agent.messages import JsonObject

__all__ = ["PIXEL", "SLOW", "PortAgents", "let_in", "offered_tool"]

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


SLOW = "notebook:///asked.ipynb"
"""What the person is asked about."""


async def _told_nobody(text: str) -> None:
    """A resource has no progress of its own."""


def offered_tool(name: str, *, read_only: bool = True, schema: JsonObject | None = None) -> OfferedTool:
    """A tool called so."""
    return OfferedTool(
        name=name,
        title=name.capitalize(),
        description=f"The tool {name}.",
        input_schema=schema or {"type": "object", "properties": {"text": {"type": "string"}}},
        output_schema=None,
        read_only=read_only,
        destructive=False,
        idempotent=read_only,
        open_world=False,
    )


class PortAgents:
    """Keeps what it was asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[ExternalClient, str, JsonObject]] = []
        self.written: list[str] = []
        self.ended: list[str] = []
        """How each call of ``wait`` ended: ``done`` or ``cancelled``."""
        self.clients: dict[str, ExternalClient] = {}
        self.presets: dict[str, ApprovalPreset] = {}
        self.asking: set[str] = set()
        self.on_changed: Callable[[str | None], None] = lambda owner: None
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()

        self._happened = asyncio.Event()

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait for calls to get there."""
        while not is_so():
            self._happened.clear()
            await self._happened.wait()

    async def tools(self, client: ExternalClient) -> Sequence[OfferedTool]:
        return [
            offered_tool("echo"),
            offered_tool("image"),
            offered_tool("refuse"),
            offered_tool("break"),
            offered_tool("wait"),
            offered_tool("large"),
            offered_tool("write", read_only=False),
            offered_tool("ask"),
        ]

    async def call(
        self,
        client: ExternalClient,
        name: str,
        arguments: JsonObject,
        progress: Progress,
        ask: AskProgram | None = None,
    ) -> ExternalResult:
        self.calls.append((client, name, arguments))
        self._happened.set()
        self.clients[client.key] = client
        text = str(arguments.get("text", ""))
        match name:
            case "echo":
                return ExternalResult([{"type": "text", "text": text}], {"text": text}, False)
            case "image":
                source: JsonObject = {"type": "base64", "media_type": "image/png", "data": PIXEL}
                return ExternalResult([{"type": "image", "source": source}], None, False)
            case "refuse":
                raise InvalidInput("There is no cell c9. The notebook has the cells c1 and c2.")
            case "break":
                raise RuntimeError("a secret of the inside")
            case "write":
                self.written.append(text)
                return ExternalResult([{"type": "text", "text": "written"}], None, False)
            case "large":
                return ExternalResult([{"type": "text", "text": "x" * int(text)}], None, False)
            case "wait":
                return await self._wait(progress)
            case "ask":
                return await self._ask(ask)
        raise AssertionError(name)

    async def _wait(self, progress: Progress) -> ExternalResult:
        await progress("Waiting for your approval in JupyterLab")
        self.begun.set()
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            # What the engine does here it has to await.
            await asyncio.sleep(0)
            self._end("cancelled")
            raise
        self._end("done")
        return ExternalResult([{"type": "text", "text": "approved"}], None, False)

    async def _ask(self, ask: AskProgram | None) -> ExternalResult:
        """Ask the program, unless it is answered here first: ``may_end`` is the answer here."""
        assert ask is not None
        there, here = asyncio.ensure_future(ask("Allow this?")), asyncio.ensure_future(self.may_end.wait())
        try:
            await asyncio.wait({there, here}, return_when=asyncio.FIRST_COMPLETED)
            said = str(there.result()) if there.done() and there.exception() is None else "here"
        finally:
            there.cancel()
            here.cancel()
        self.begun.set()
        return ExternalResult([{"type": "text", "text": said}], None, False)

    def _end(self, how: str) -> None:
        self.ended.append(how)
        self._happened.set()

    async def resources(self, client: ExternalClient) -> Sequence[OfferedResource]:
        return [
            OfferedResource("notebook:///a.ipynb", "a.ipynb", "A", "A notebook.", "text/markdown"),
            OfferedResource("notebook:///{path}", "notebook", "Notebook", "Any notebook.", "text/markdown"),
        ]

    async def read_resource(self, client: ExternalClient, uri: str) -> Sequence[ResourceContent]:
        if uri == SLOW:
            await self._wait(_told_nobody)
        elif uri != "notebook:///a.ipynb":
            raise NotFound(f"There is no resource {uri}.")
        return [ResourceContent(uri, "text/markdown", "# A"), ResourceContent(uri, "image/png", data=PIXEL)]

    def connect(self, client: ExternalClient) -> None:
        self.clients[client.key] = client

    def connected(self, owner: str | None) -> Sequence[ConnectedAgent]:
        return [
            ConnectedAgent(
                key,
                client.name,
                client.version,
                1,
                2,
                "idle",
                None,
                None,
                None,
                self.presets.get(client.name, "ask"),
                client.can_ask,
                client.name in self.asking,
            )
            for key, client in self.clients.items()
            if client.owner == owner
        ]

    async def disconnect(self, owner: str | None, key: str) -> bool:
        client = self.clients.get(key)
        if client is None or client.owner != owner:
            return False
        del self.clients[key]
        self._happened.set()
        return True

    async def choose_approvals(self, owner: str | None, key: str, preset: ApprovalPreset | None) -> bool:
        client = self.clients.get(key)
        if client is None or client.owner != owner:
            return False
        self.presets[client.name] = preset or "ask"
        return True

    async def choose_questions(self, owner: str | None, key: str, may_ask: bool) -> bool:
        client = self.clients.get(key)
        if client is None or client.owner != owner:
            return False
        self.asking.discard(client.name)
        if may_ask:
            self.asking.add(client.name)
        return True


def let_in(services: Services, loop: asyncio.AbstractEventLoop) -> PortAgents:
    """Other agents may connect to this server, and these answer them."""
    agents = PortAgents()
    services.mcp_endpoint.agents = agents
    loop.run_until_complete(services.config.update({"mcpServerEnabled": True}))
    return agents
