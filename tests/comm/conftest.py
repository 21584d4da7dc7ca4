"""What the tests of the running extension share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from hdsp_agent.agent.checkpoints import checkpoint_service
from hdsp_agent.comm import open_panels
from hdsp_agent.comm.services import Services
from tests._helpers.jupyter_fetch import SocketFetch
from tests.comm.channel._helpers.channel_panel import Frame, Panel


@pytest.fixture(autouse=True)
def nothing_left_out_for_want_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a page is told without, if it takes a busy machine longer, it is told."""
    monkeypatch.setattr(checkpoint_service, "_COUNT_SECONDS", 60.0)
    monkeypatch.setattr(open_panels, "_PATIENCE_SECONDS", 60.0)


Connect = Callable[[], AbstractAsyncContextManager[Panel]]


@pytest.fixture
def connect(services: Services, jp_ws_fetch: SocketFetch) -> Connect:
    """Opens pages of the real extension."""
    return lambda: opened_page(services, jp_ws_fetch)


@asynccontextmanager
async def opened_page(
    services: Services, fetch: SocketFetch, name: str | None = None, headers: Mapping[str, str] | None = None
) -> AsyncIterator[Panel]:
    """A page that has heard the state."""
    panel = Panel(await fetch("hdsp-agent", "comm", **({} if headers is None else {"headers": headers})), name)
    try:
        await panel.open(version=services.version)
        await panel.until(lambda: messages(panel, "state"))
        yield panel
    finally:
        await panel.leave()


def messages(panel: Panel, type_: str) -> list[Frame]:
    """The messages of a type heard so far."""
    return [frame["data"] for frame in panel.of("msg") if frame["data"]["type"] == type_]
