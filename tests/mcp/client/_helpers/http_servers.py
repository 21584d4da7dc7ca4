"""Servers with a web address: one made with the SDK, and some that misbehave."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from tests._helpers.forked_python import forked_python
from tests._helpers.free_port import free_port

from .hubs import HELPERS, ROOT, until

__all__ = ["Answering", "answering_server", "sample_http_server"]


@asynccontextmanager
async def sample_http_server(port: int | None = None, *, module: str = "sample_server") -> AsyncIterator[str]:
    """The well-behaved server at a web address."""
    port = port or free_port()
    process = await asyncio.create_subprocess_exec(
        forked_python(), "-m", f"{HELPERS}.{module}", "http", str(port), cwd=ROOT,
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        await until(lambda: process.returncode is not None or _listens(port))
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        await process.wait()
        # What it was forked from ends it a moment later.
        await until(lambda: not _listens(port))


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Answering(BaseHTTPRequestHandler):
    """Answers in one way; ``seen`` are the headers of all requests."""

    protocol_version = "HTTP/1.1"
    kind = "plain"
    seen: list[dict[str, str]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.seen.append(dict(self.headers.items()))
        _KINDS[self.kind](self, json.loads(body or b"{}"))

    def do_GET(self) -> None:
        self.seen.append(dict(self.headers.items()))
        self.send_error(405)

    do_DELETE = do_GET

    def reply(self, status: int, body: bytes, **headers: str) -> None:
        """Send an answer."""
        self.send_response(status)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        for name, value in {"content-type": "application/json", **given}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Nobody reads it."""


def _result(request: dict[str, object]) -> bytes:
    match request.get("method"):
        case "initialize":
            result: dict[str, object] = {
                "protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"},
            }  # fmt: skip
        case "tools/list":
            result = {"tools": [{"name": "act", "inputSchema": {"type": "object"}}]}
        case "tools/call":
            result = {"content": [{"type": "text", "text": "done"}]}
        case _:
            return json.dumps(
                {"jsonrpc": "2.0", "id": request.get("id"), "error": {"code": -32601, "message": "no"}}
            ).encode()
    return json.dumps({"jsonrpc": "2.0", "id": request.get("id"), "result": result}).encode()


def _plain(handler: Answering, request: dict[str, object]) -> None:
    if "id" not in request:
        handler.reply(202, b"")
    else:
        handler.reply(200, _result(request))


def _in_call(act: Callable[[Answering], None]) -> Callable[[Answering, dict[str, object]], None]:
    def answer(handler: Answering, request: dict[str, object]) -> None:
        if request.get("method") == "tools/call":
            act(handler)
        else:
            _plain(handler, request)

    return answer


def _endless(handler: Answering) -> None:
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("connection", "close")
    handler.end_headers()
    try:
        for _ in range(1_000):
            handler.wfile.write(b'{"x": "' + b"y" * 1_000_000)
    except OSError:
        pass


def _one_event(handler: Answering) -> None:
    handler.send_response(200)
    handler.send_header("content-type", "text/event-stream")
    handler.send_header("connection", "close")
    handler.end_headers()
    try:
        for _ in range(1_000):
            handler.wfile.write(b"data: " + b"y" * 1_000_000)
    except OSError:
        pass


_KINDS: dict[str, Callable[[Answering, dict[str, object]], None]] = {
    "plain": _plain,
    "no-log-in": lambda handler, request: handler.reply(401, b"{}"),
    "forbidden": lambda handler, request: handler.reply(403, b"{}"),
    "web-page": lambda handler, request: handler.reply(200, b"<html>", content_type="text/html"),
    "elsewhere": lambda handler, request: handler.reply(307, b"", location="http://127.0.0.2:9/mcp"),
    "packed": _in_call(lambda handler: handler.reply(200, gzip.compress(b"x" * 50_000_000), content_encoding="gzip")),
    "endless": _in_call(_endless),
    "one-event": _in_call(_one_event),
    "silent": _in_call(lambda handler: time.sleep(3)),
    "broken-off": _in_call(lambda handler: handler.connection.shutdown(socket.SHUT_RDWR)),
}


@contextmanager
def answering_server(kind: str) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Such a server; its address, and what it sees."""
    seen: list[dict[str, str]] = []
    handler = type("Handler", (Answering,), {"kind": kind, "seen": seen})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/mcp", seen
    finally:
        server.shutdown()
        server.server_close()
