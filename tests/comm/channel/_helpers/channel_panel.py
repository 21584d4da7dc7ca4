"""A panel for tests: it speaks the channel over a real WebSocket and keeps all it hears."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from itertools import count
from typing import Any

import anyio
from pydantic import TypeAdapter
from tornado.websocket import WebSocketClientConnection

from hdsp_agent.messages import PROTOCOL_VERSION, ServerFrame

Frame = dict[str, Any]

VERSION = "0.1.0"
SERVER_FRAMES: TypeAdapter[Any] = TypeAdapter(ServerFrame)


class Panel:
    """One tab."""

    _ids = count(1)

    def __init__(self, socket: WebSocketClientConnection, client_id: str | None = None) -> None:
        self.socket = socket
        self.client_id = client_id or f"tab-{next(self._ids)}"
        self.comm_id = f"comm-{self.client_id}"
        self.frames: list[Frame] = []
        self.closed = asyncio.Event()
        self._news = asyncio.Event()
        self._requests = count(1)
        self._reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        try:
            while (message := await self.socket.read_message()) is not None:
                parsed = json.loads(message)
                for frame in parsed if isinstance(parsed, list) else [parsed]:
                    SERVER_FRAMES.validate_python(frame)
                    self.frames.append(frame)
                self._news.set()
        finally:
            self.closed.set()
            self._news.set()

    async def until(self, condition: Callable[[], object], seconds: float = 60) -> None:
        """Wait until what was heard fulfils ``condition``."""
        with anyio.fail_after(seconds):
            while not condition():
                assert not self.closed.is_set(), f"closed with {self.socket.close_code}; heard {self.frames[-3:]}"
                self._news.clear()
                await self._news.wait()

    async def say(self, frame: object) -> None:
        """Send one frame, or anything else that is JSON."""
        await self.socket.write_message(json.dumps(frame))

    async def open(self, **changes: object) -> Frame:
        """Open the channel and return the answer."""
        hello: dict[str, object] = {
            "target": "hdsp_agent.webview",
            "clientId": self.client_id,
            "version": VERSION,
            "protocol": PROTOCOL_VERSION,
            **changes,
        }
        await self.say({"op": "open", "commId": self.comm_id, "data": hello})
        await self.until(lambda: self.of("open"))
        return self.of("open")[0]

    async def ask(self, type_: str, *, request_id: object = None, **fields: object) -> Frame:
        """Send a request and return its ack."""
        request_id = request_id or f"{self.client_id}-{next(self._requests)}"
        await self.send_request(type_, request_id, **fields)
        return await self.answer_to(request_id)

    async def send_request(self, type_: str, request_id: object, **fields: object) -> None:
        """Send a request and do not wait."""
        await self.say(
            {"op": "msg", "commId": self.comm_id, "data": {"type": type_, "requestId": request_id, **fields}}
        )

    async def answer_to(self, request_id: object) -> Frame:
        """The data of the ack of a request."""
        await self.until(lambda: self.acks(request_id))
        return self.acks(request_id)[0]

    def acks(self, request_id: object) -> list[Frame]:
        """All acks of a request so far."""
        return [frame["data"] for frame in self.of("ack") if frame["data"]["requestId"] == request_id]

    def of(self, op: str) -> list[Frame]:
        """The frames with this op."""
        return [frame for frame in self.frames if frame["op"] == op]

    @property
    def numbers(self) -> list[int]:
        """The sequence numbers heard."""
        return [frame["seq"] for frame in self.of("msg") if "seq" in frame]

    async def drop(self) -> None:
        """Lose the connection without a word."""
        protocol = self.socket.protocol
        assert protocol is not None and protocol.stream is not None
        protocol.stream.close()
        await self.closed.wait()

    async def leave(self) -> None:
        """Close the socket and wait until it is closed."""
        self.socket.close()
        await self.closed.wait()
        await self._reader
