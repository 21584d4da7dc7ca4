"""Tabs without a browser: each reads everything the channel sends and does nothing with it.

Usage: ``python -m benchmarks.readers URL TOKEN COUNT``; says "ready", and ends with its standard input.
"""

from __future__ import annotations

import asyncio
import sys

from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from hdsp_agent import __version__
from hdsp_agent.messages import COMM_TARGET, PROTOCOL_VERSION, ClientHello, ClientOpen, ClientPong


async def main(url: str, token: str, count: int) -> None:
    """Open the tabs, say so, and read until standard input ends."""
    connections = [await open_tab(url, token, f"bench-reader-{number}") for number in range(count)]
    readers = [asyncio.create_task(_read(connection)) for connection in connections]
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for reader in readers:
        reader.cancel()


async def open_tab(url: str, token: str, name: str) -> WebSocketClientConnection:
    """A connection that has been greeted, with what follows unread."""
    address = url.replace("http", "ws", 1) + "/hdsp-agent/comm"
    request = HTTPRequest(address, headers={"Authorization": f"token {token}"})
    # A browser offers compression, so the server compresses for these too.
    connection = await websocket_connect(request, compression_options={})
    hello = ClientHello(target=COMM_TARGET, client_id=name, version=__version__, protocol=PROTOCOL_VERSION)
    await connection.write_message(ClientOpen(comm_id=name, data=hello).to_json())
    await connection.read_message()
    return connection


async def _read(connection: WebSocketClientConnection) -> None:
    pong = ClientPong(comm_id="").to_json()
    while (message := await connection.read_message()) is not None:
        if '"op":"ping"' in str(message):
            await connection.write_message(pong)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
