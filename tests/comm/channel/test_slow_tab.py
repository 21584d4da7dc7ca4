from __future__ import annotations

import asyncio
import base64
import gc
import json
import os
import socket
import time
import tracemalloc

import pytest

from hdsp_agent.messages import CurrentCheckpointUpdatedMessage

MEGABYTE = 1024 * 1024


class DeafTab:
    """A tab on a plain TCP socket: it opens the channel, and then never reads again."""

    def __init__(self, port: int, base_url: str, headers: dict[str, str]) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._socket.setblocking(False)
        self._port = port
        self._path = f"{base_url}hdsp-agent/comm"
        self._headers = {
            "Host": f"127.0.0.1:{port}",
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
            "Sec-WebSocket-Version": "13",
            **headers,
        }

    async def open(self, client_id: str) -> None:
        loop = asyncio.get_running_loop()
        await loop.sock_connect(self._socket, ("127.0.0.1", self._port))
        lines = [f"GET {self._path} HTTP/1.1", *(f"{name}: {value}" for name, value in self._headers.items()), "", ""]
        await loop.sock_sendall(self._socket, "\r\n".join(lines).encode())
        answer = await loop.sock_recv(self._socket, 1024)
        assert b" 101 " in answer.split(b"\r\n")[0]
        hello = {"target": "hdsp_agent.webview", "clientId": client_id, "version": "0.1.0", "protocol": 1}
        await self.say(json.dumps({"op": "open", "commId": "deaf", "data": hello}))

    async def say(self, text: str) -> None:
        data = text.encode()
        assert len(data) < 65536
        head = (
            bytes([0x81, 0x80 | len(data)]) if len(data) < 126 else bytes([0x81, 0xFE]) + len(data).to_bytes(2, "big")
        )
        # A mask of zeros leaves the data as it is.
        await asyncio.get_running_loop().sock_sendall(self._socket, head + bytes(4) + data)

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def deaf_tab(jp_http_port, jp_base_url, jp_auth_header):  # type: ignore[no-untyped-def]
    def make() -> DeafTab:
        return DeafTab(jp_http_port, jp_base_url, jp_auth_header)

    return make


async def until(condition, seconds: float = 60) -> None:  # type: ignore[no-untyped-def]
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


@pytest.mark.long
async def test_a_tab_that_never_reads_costs_little_delays_nobody_and_is_closed(serve, deaf_tab) -> None:  # type: ignore[no-untyped-def]
    """20 MB are published; the deaf tab may hold what is on its way, not what it did not take."""
    async with serve(write_seconds=4.0, ring_bytes=2 * MEGABYTE) as server, server.connect() as healthy:
        deaf = deaf_tab()
        await deaf.open("deaf")
        await until(lambda: len(server.channel.clients) == 2)
        text = "x" * 10_000
        tracemalloc.start()
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        for number in range(2000):
            server.channel.publish(CurrentCheckpointUpdatedMessage(text=text))
            if number % 20 == 19:
                await healthy.ask("updateSettings", updatedSettings={})
                # What this end of the test itself keeps is not the server's.
                healthy.frames.clear()
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert (after - before) / MEGABYTE < 6
        await until(lambda: len(server.channel.clients) == 1)
        assert server.channel.clients[0].client_id == healthy.client_id
        assert server.channel.clients[0].resyncs == 0
        # Tornado gives a tab that does not answer the closing handshake five seconds.
        await until(lambda: len(server.channel._sessions) == 1)
        assert (await healthy.ask("updateSettings", updatedSettings={}))["ok"] is True
        deaf.close()


async def test_a_tab_that_asks_and_never_reads_stops_being_read(serve, deaf_tab, caplog) -> None:  # type: ignore[no-untyped-def]
    async with serve(outbox_frames=50, write_seconds=2.0) as server, server.connect() as healthy:
        deaf = deaf_tab()
        await deaf.open("deaf")
        await until(lambda: len(server.channel.clients) == 2)
        refused = '{"op":"msg","commId":"deaf","data":{"type":"makeCoffee","requestId":"%s"}}'
        batch = "[" + ",".join(refused % f"r{number}" for number in range(500)) + "]"
        sent = 0

        async def flood() -> None:
            nonlocal sent
            while True:
                await deaf.say(batch)
                sent += 500

        flooding = asyncio.create_task(flood())
        try:
            answered = 0
            while clients := [stats for stats in server.channel.clients if stats.client_id == "deaf"]:
                answered = clients[0].frames_sent
                assert (await healthy.ask("updateSettings", updatedSettings={}))["ok"] is True
                assert all(stats.waiting <= 50 for stats in server.channel.clients)
                await asyncio.sleep(0.05)
            # Some answers fit into the buffers of both systems; then nothing more is read.
            assert answered < sent / 2
            assert len(server.channel.clients) == 1
        finally:
            flooding.cancel()
            await asyncio.wait([flooding])
            deaf.close()
        assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def test_a_tab_that_lags_catches_up_with_the_state(serve, deaf_tab) -> None:  # type: ignore[no-untyped-def]
    async with serve(ring_frames=50) as server, server.connect() as panel:
        await panel.until(lambda: panel.of("msg"))
        stream = panel.socket.protocol.stream
        # Reading stops here as it does in a tab whose page is busy.
        panel._reader.cancel()
        await asyncio.wait([panel._reader])
        panel.closed.clear()
        text = "x" * 20_000
        for _ in range(1500):
            server.channel.publish(CurrentCheckpointUpdatedMessage(text=text))
            await asyncio.sleep(0)
        assert not stream.closed()
        panel._reader = asyncio.create_task(panel._read())
        await panel.until(lambda: panel.numbers and panel.numbers[-1] == 1500)
        assert panel.numbers == sorted(panel.numbers)
        assert server.channel.clients[0].resyncs >= 1
        for earlier, later in zip(panel.of("msg"), panel.of("msg")[1:], strict=False):
            assert later["seq"] == earlier["seq"] + 1 or later["data"]["type"] == "state"
