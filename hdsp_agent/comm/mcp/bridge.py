"""One request and its answer, from Tornado to an ASGI application and back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, cast

from tornado.iostream import StreamClosedError
from tornado.web import RequestHandler

from ..._timeouts import wait_at_most
from ...mcp.server.caller import AsgiMessage

if TYPE_CHECKING:
    from tornado.http1connection import HTTP1Connection

__all__ = ["AsgiBridge"]

# The application has no business with what says who asks.
_KEPT_BACK: Final = frozenset({"authorization", "cookie", "x-xsrftoken"})


class AsgiBridge:
    """What the application receives and sends. ``closed`` is set when nobody takes the answer any more."""

    def __init__(self, handler: RequestHandler, body: bytes, closed: asyncio.Event, write_seconds: float) -> None:
        self._handler = handler
        self._body: bytes | None = body
        self._closed = closed
        self._write_seconds = write_seconds
        self.answered = False
        """Whether the answer has begun."""

    def scope(self) -> dict[str, Any]:
        """The request, without its address's query: it may hold a token."""
        request = self._handler.request
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": request.protocol,
            "path": request.path,
            "raw_path": request.path.encode("utf-8", "surrogateescape"),
            "query_string": b"",
            "root_path": "",
            "headers": [
                (name.lower().encode("latin-1", "replace"), value.encode("latin-1", "replace"))
                for name, value in request.headers.get_all()
                if name.lower() not in _KEPT_BACK
            ],
            "client": (request.remote_ip, 0),
            "server": None,
        }

    async def receive(self) -> AsgiMessage:
        """The body, which is whole; after it, that the caller is gone."""
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._closed.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: AsgiMessage) -> None:
        """Write a piece; returns once the caller's side took it. Without a caller it goes nowhere."""
        if self._closed.is_set():
            return
        try:
            await wait_at_most(self._write(message), self._write_seconds)
        except TimeoutError:
            self._handler.log.info("HDSP Agent: a program did not read its answer and was disconnected")  # type: ignore[attr-defined]
            self.cut_off()
        except StreamClosedError:
            self._closed.set()

    def cut_off(self) -> None:
        """End the connection within the answer: in good order, half of it would pass for the whole."""
        self._closed.set()
        cast("HTTP1Connection", self._handler.request.connection).close()

    async def _write(self, message: AsgiMessage) -> None:
        if message["type"] == "http.response.start":
            self.answered = True
            self._handler.set_status(message["status"])
            self._handler.clear_header("Content-Type")
            for name, value in message.get("headers", ()):
                self._handler.set_header(name.decode("latin-1"), value.decode("latin-1"))
            return
        self._handler.write(message.get("body", b""))
        if message.get("more_body", False):
            await self._handler.flush()
        else:
            await self._handler.finish()
