"""A running server that lets other agents in, with a small port behind it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from hdsp_agent.comm.services import Services
from tests.mcp._helpers.http_programs import Programs
from tests.mcp._helpers.port_agents import PortAgents, let_in

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp


@pytest.fixture
def agents(services: Services, jp_asyncio_loop: asyncio.AbstractEventLoop) -> PortAgents:
    """What answers calls; the server is switched on."""
    return let_in(services, jp_asyncio_loop)


@pytest.fixture
def programs(
    agents: PortAgents, jp_serverapp: ServerApp, jp_http_port: int, jp_base_url: str, http_server: object
) -> Programs:
    """Connects programs over HTTP."""
    token = jp_serverapp.identity_provider.token
    return Programs(f"http://127.0.0.1:{jp_http_port}{jp_base_url}hdsp-agent/mcp", {"Authorization": f"Bearer {token}"})
