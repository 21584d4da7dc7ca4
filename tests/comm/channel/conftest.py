"""A real Jupyter Server with the channel in it, and nothing else of the extension."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import pytest
from jupyter_server.serverapp import ServerApp
from jupyter_server.utils import url_path_join

from hdsp_agent.comm import Channel, ChannelHub, ChannelLimits, Owner
from hdsp_agent.comm.websocket import ChannelHandler
from tests.comm.channel._helpers.channel_backend import Backend
from tests.comm.channel._helpers.channel_panel import VERSION, Panel

_OURS = os.path.join("hdsp_agent", "comm")


@pytest.fixture
def jp_server_config() -> dict[str, object]:
    # The terminals extension, which the plugin would add, has an endpoint that this policy refuses.
    extensions = {"jupyter_server_terminals": False}
    return {"ServerApp": {"jpserver_extensions": extensions, "allow_unauthenticated_access": False}}


@dataclass
class Server:
    """The channel of a running server, and a way to open panels on it."""

    hub: ChannelHub
    backend: Backend
    channel: Channel
    connect: Callable[..., AbstractAsyncContextManager[Panel]]
    app: ServerApp


@pytest.fixture
def serve(jp_serverapp, jp_ws_fetch, http_server):  # type: ignore[no-untyped-def]
    """Start the channel with given limits; ends it, and checks that nothing of it is left."""

    @asynccontextmanager
    async def start(backend: Backend | None = None, **limits: float) -> AsyncIterator[Server]:
        backend = backend or Backend()
        hub = ChannelHub(
            version=VERSION,
            dispatcher=backend.dispatcher(),
            state_of=backend.state_of,
            limits=ChannelLimits(**{"stop_seconds": 0.5, **limits}),  # type: ignore[arg-type]
            log=logging.getLogger("hdsp_agent.test"),
        )
        web_app = jp_serverapp.web_app
        if "hdsp_agent_channels" not in web_app.settings:
            path = url_path_join(web_app.settings["base_url"], "hdsp-agent/comm")
            web_app.add_handlers(".*$", [(path, ChannelHandler)])
        web_app.settings["hdsp_agent_channels"] = hub
        panels: list[Panel] = []

        @asynccontextmanager
        async def connect(
            client_id: str | None = None, *, attach: bool = True, headers: dict[str, str] | None = None, **hello: object
        ) -> AsyncIterator[Panel]:
            socket = await jp_ws_fetch("hdsp-agent", "comm", headers=headers)
            panel = Panel(socket, client_id)
            panels.append(panel)
            if attach:
                await panel.open(**hello)
            yield panel

        channel_owner = _default_owner()
        try:
            yield Server(hub, backend, hub.channel(channel_owner), connect, jp_serverapp)
        finally:
            backend.gate.set()
            await hub.stop()
            for panel in panels:
                await panel.leave()
            # Tornado may just have begun with a message that nobody reads any more.
            for _ in range(3000):
                if not (left := _tasks_of_ours()):
                    break
                await asyncio.sleep(0.01)
            assert left == []

    return start


def _tasks_of_ours() -> list[asyncio.Task[object]]:
    return [
        task
        for task in asyncio.all_tasks()
        if (code := getattr(task.get_coro(), "cr_code", None)) and _OURS in code.co_filename
    ]


def _default_owner() -> Owner:
    from hdsp_agent.comm.identity import server_owner

    return server_owner()
