"""What a server still says when nobody listens any more harms nobody."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, JSONRPCNotification

from hdsp_agent.mcp.client._server_log import ServerLog
from hdsp_agent.mcp.client._stdio import StdioTransport
from hdsp_agent.mcp.client._variables import FilledEntry, FilledOAuth

from ._helpers.hubs import until

NEWS: JSONRPCMessage = JSONRPCNotification(jsonrpc="2.0", method="notifications/tools/list_changed")


def transport(folder: Path) -> StdioTransport:
    """One whose process does not matter; made in its loop."""
    oauth = FilledOAuth(None, None, None)
    return StdioTransport(FilledEntry("a", (), {}, None, None, {}, oauth, frozenset()), folder, ServerLog())


def test_what_comes_when_the_loop_is_closed_is_dropped(tmp_path: Path) -> None:
    async def made() -> StdioTransport:
        return transport(tmp_path)

    late = asyncio.run(made())
    assert not late._handed_over(NEWS)
    # What nobody awaited would be told of here.
    gc.collect()


async def test_what_is_cancelled_on_its_way_is_dropped(tmp_path: Path) -> None:
    unheard = transport(tmp_path)
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    unheard._to_client = to_client
    before = asyncio.all_tasks()
    handing = asyncio.create_task(asyncio.to_thread(unheard._handed_over, NEWS))
    await until(lambda: len(asyncio.all_tasks() - before) == 2)
    for task in asyncio.all_tasks() - before - {handing}:
        task.cancel()
    assert await handing is False
    to_client.close()
    from_server.close()
