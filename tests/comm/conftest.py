"""What the tests of the running extension share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from hdsp_agent.comm.services import Services
from tests._helpers.jupyter_fetch import SocketFetch
from tests.comm.channel._helpers.channel_panel import Frame, Panel

Connect = Callable[[], AbstractAsyncContextManager[Panel]]


@pytest.fixture
def connect(services: Services, jp_ws_fetch: SocketFetch) -> Connect:
    """Opens pages of the real extension."""

    @asynccontextmanager
    async def connected() -> AsyncIterator[Panel]:
        panel = Panel(await jp_ws_fetch("hdsp-agent", "comm"))
        try:
            await panel.open(version=services.version)
            await panel.until(lambda: messages(panel, "state"))
            yield panel
        finally:
            await panel.leave()

    return connected


def messages(panel: Panel, type_: str) -> list[Frame]:
    """The messages of a type heard so far."""
    return [frame["data"] for frame in panel.of("msg") if frame["data"]["type"] == type_]
