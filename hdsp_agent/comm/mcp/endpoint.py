"""Has the MCP server running while somebody uses it: loaded for the first request, gone with the last word."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..._background_tasks import BackgroundTasks
from ...agent.external.port import ExternalAgents
from ...errors import Unavailable

if TYPE_CHECKING:
    from ...mcp.server.asgi_app import McpApp
    from ...mcp.server.caller import AsgiReceive, AsgiSend, Caller
    from ...mcp.server.protocol_server import McpServer

__all__ = ["McpEndpoint"]

logger = logging.getLogger(__name__)

_WATCHER: Final = "_shutdown_watcher"
"""The coroutine that sse-starlette leaves behind, looking twice a second whether uvicorn ends."""


class McpEndpoint:
    """Serves requests. ``is_on`` says whether anybody may connect now."""

    def __init__(
        self,
        agents: ExternalAgents,
        *,
        root: Path,
        is_on: Callable[[], bool],
        max_body_bytes: int,
        write_seconds: float,
    ) -> None:
        self.agents = agents
        self.root: Final = root
        self.max_body_bytes: Final = max_body_bytes
        self.write_seconds = write_seconds
        self.make_server: Callable[[ExternalAgents], McpServer] | None = None
        """Replaced where more than our own tools is served."""
        self._is_on = is_on
        self._starting = asyncio.Lock()
        self._app: McpApp | None = None
        self._life: asyncio.Task[None] | None = None
        self._requests: set[asyncio.Task[None]] = set()
        self._owners: set[str | None] = set()
        self._background = BackgroundTasks()
        self._stopped = False

    @property
    def is_on(self) -> bool:
        """Whether programs may connect."""
        return self._is_on() and not self._stopped

    async def serve(self, caller: Caller, scope: Mapping[str, Any], receive: AsgiReceive, send: AsgiSend) -> None:
        """Answer one request. Raises Unavailable if the server ends meanwhile."""
        app = await self._running_app()
        self._owners.add(caller.owner)
        request = asyncio.ensure_future(app.serve(caller, scope, receive, send))
        self._requests.add(request)
        request.add_done_callback(self._requests.discard)
        try:
            await asyncio.wait({request})
        finally:
            request.cancel()
        if request.cancelled():
            raise Unavailable("Other agents were disconnected.")
        request.result()

    async def load(self) -> None:
        """Load what the first program would have to wait for, if programs may connect."""
        if self.is_on:
            await self._running_app()

    def setting_changed(self) -> None:
        """Whoever is here when the server is switched off does not stay."""
        if not self.is_on and self._owners:
            self._background.begin(self._disconnect())

    async def stop(self) -> None:
        """End it for good. What the agents were doing is put aside with the tasks."""
        self._stopped = True
        await self._background.drain()
        await self._close()

    async def _disconnect(self) -> None:
        await self._close()
        owners, self._owners = self._owners, set()
        for owner in owners:
            for agent in self.agents.connected(owner):
                await self.agents.disconnect(owner, agent.key)

    async def _close(self) -> None:
        async with self._starting:
            life, self._app, self._life = self._life, None, None
            under_way = {*self._requests, *([life] if life is not None else [])}
            for task in under_way:
                task.cancel()
            if under_way:
                await asyncio.wait(under_way)
            await _end_watchers()

    async def _running_app(self) -> McpApp:
        async with self._starting:
            if not self.is_on:
                raise Unavailable("Other agents may not connect to this server now.")
            if self._app is None:
                # Most of a second, which no other request should wait for.
                modules = await asyncio.to_thread(_load)
                make = self.make_server or modules["protocol_server"].protocol_server
                app: McpApp = modules["asgi_app"].McpApp(make(self.agents), self.max_body_bytes)
                ready = asyncio.Event()
                self._life = asyncio.create_task(self._live(app, ready), name="hdsp-agent mcp")
                await ready.wait()
                self._app = app
            return self._app

    async def _live(self, app: McpApp, ready: asyncio.Event) -> None:
        try:
            async with app.running():
                ready.set()
                await asyncio.Event().wait()
        except Exception:
            logger.exception("HDSP Agent: the server for other agents ended unexpectedly")
            self._app = None
        finally:
            ready.set()


def _load() -> dict[str, Any]:
    return {name: import_module(f"hdsp_agent.mcp.server.{name}") for name in ("asgi_app", "protocol_server")}


async def _end_watchers() -> None:
    left = [task for task in asyncio.all_tasks() if getattr(task.get_coro(), "__qualname__", "") == _WATCHER]
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left)
