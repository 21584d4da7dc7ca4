"""What pages are sent of a gateway's kernels, as it is heard on its way."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from hdsp_agent.notebooks.kernels import _page_messages
from hdsp_agent.notebooks.kernels.iopub import PageMessages, Published

if TYPE_CHECKING:
    from jupyter_server.gateway.connections import GatewayWebSocketConnection


class Connection:
    """A connection to a gateway that does nothing by itself."""

    def __init__(self, session_id: str = "s") -> None:
        self.kernel_id = "k"
        self.session_id = session_id
        self.disconnected = False
        self.gone = asyncio.Event()
        stream = SimpleNamespace(closed=lambda: False)
        socket = SimpleNamespace(client_terminated=True, stream=stream, close=lambda code, reason: None)
        self.websocket_handler = SimpleNamespace(ws_connection=socket)

    async def connect(self) -> None:
        """It is there at once."""

    def disconnect(self) -> None:
        self.disconnected = True
        self.gone.set()

    def handle_outgoing_message(self, incoming_msg: str, *args: object) -> None:
        """Nobody reads it."""

    def close(self) -> None:
        """As a page of JupyterLab does."""
        self.websocket_handler.ws_connection.close()
        self.disconnect()


def heard(pages: PageMessages) -> type[Connection]:
    base = cast("type[GatewayWebSocketConnection]", Connection)
    return cast("type[Connection]", pages.heard_connections(base))


def status(state: str) -> str:
    return json.dumps(
        {
            "channel": "iopub",
            "header": {"msg_type": "status", "msg_id": state},
            "parent_header": {"msg_id": "run", "msg_type": "execute_request"},
            "content": {"execution_state": state},
        }
    )


async def test_a_page_that_left_while_the_gateway_was_to_be_tried_again_is_not_there() -> None:
    pages = PageMessages()
    page = heard(pages)()
    await page.connect()
    page.disconnect()
    # The gateway is tried once more.
    await page.connect()
    assert not pages.are_there("k")


async def test_a_kept_connection_makes_room_for_its_own_page() -> None:
    pages = PageMessages()
    pages.listen("k", lambda published: None)
    left, other, same = heard(pages)(), heard(pages)("another"), heard(pages)()
    await left.connect()
    left.handle_outgoing_message(status("busy"))
    left.close()
    await other.connect()
    assert not left.gone.is_set()
    await same.connect()
    assert left.gone.is_set() and not same.gone.is_set()


async def test_a_connection_is_not_kept_for_a_run_whose_end_was_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_page_messages, "_NEXT_BEGINS_SECONDS", 0.0)
    pages = PageMessages()
    listener = pages.listen("k", lambda published: None)
    page = heard(pages)()
    await page.connect()
    page.handle_outgoing_message(status("busy"))
    page.close()
    assert pages.are_there("k")
    listener.missed_end()
    await asyncio.wait_for(page.gone.wait(), 60)
    assert not pages.are_there("k")


@pytest.mark.parametrize(
    "odd",
    ['{"msg_type": "status", "header": {}, "content": 1}', '{"msg_type": "status", "header": ' + "[" * 99_999],
    ids=["content", "depth"],
)
async def test_an_odd_message_does_no_harm(odd: str) -> None:
    pages, told = PageMessages(), list[Published]()
    pages.listen("k", told.append)
    page = heard(pages)()
    await page.connect()
    page.handle_outgoing_message(odd)
    page.handle_outgoing_message(status("busy"))
    assert [published.kind for published in told] == ["status"]
