"""Model servers for tests: aimock, which speaks the providers' real protocols, and a socket that says what it is told.

A test asks for the fixture ``model_server`` by importing it in the ``conftest.py`` of its folder.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from .free_port import free_port

__all__ = [
    "ModelServer",
    "RawRequest",
    "RawServer",
    "Reply",
    "Script",
    "model_server",
    "raw_server",
    "refusal",
    "sse",
    "sse_events",
]

_BINARY = Path(__file__).parents[2] / "node_modules" / ".bin" / "llmock"
_START_SECONDS = 180.0


@dataclass
class ModelServer:
    """A running aimock; unmatched requests are refused."""

    url: str

    def answer(self, *fixtures: dict[str, Any]) -> None:
        """Forget all and answer by these fixtures: ``{"match": …, "response": …}``."""
        self._call("POST", "/__aimock/reset", {})
        self._call("POST", "/__aimock/fixtures", {"fixtures": list(fixtures)})

    def journal(self) -> list[dict[str, Any]]:
        """The requests since the last ``answer``, in Chat Completions' form whatever the protocol was."""
        return [entry for entry in self._call("GET", "/__aimock/journal") if not entry["path"].startswith("/__aimock")]

    def _call(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.url + path, data=data, method=method, headers={"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.loads(response.read() or b"null")


@pytest.fixture(scope="session")
def model_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    """One aimock for all tests; each begins with ``answer``."""
    if not _BINARY.exists():
        pytest.fail("aimock is missing: run jlpm install first.")
    folder = tmp_path_factory.mktemp("aimock")
    fixtures, log = folder / "none.json", folder / "log"
    fixtures.write_text('{"fixtures": [{"match": {"userMessage": "no test says this"}, "response": {"content": "x"}}]}')
    port = free_port()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(_BINARY), "-p", str(port), "-h", "127.0.0.1", "-f", str(fixtures), "--strict"],
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            _wait_for(port, process, log)
            yield ModelServer(f"http://127.0.0.1:{port}")
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=60)


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail(f"aimock did not start: {log.read_text('utf-8')}")


@dataclass
class RawRequest:
    """What a client sent, byte for byte."""

    method: str
    path: str
    headers: dict[str, str]
    content: bytes

    @property
    def body(self) -> Any:
        """The JSON in it."""
        return json.loads(self.content)


@dataclass
class Reply:
    """The sending end of one answer."""

    writer: asyncio.StreamWriter
    request: RawRequest

    async def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.writer.write(data)
        await self.writer.drain()

    async def begin(self, status: str = "200 OK", headers: Sequence[str] = ()) -> None:
        """Begin a stream of server-sent events that ends with the connection."""
        lines = [f"HTTP/1.1 {status}", "Content-Type: text/event-stream", "Connection: close", *headers]
        await self.send(("\r\n".join(lines) + "\r\n\r\n").encode())

    async def chunk(self, data: bytes) -> None:
        """Send a piece of an answer that was begun as ``Transfer-Encoding: chunked``; nothing ends it."""
        await self.send(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def reset(self) -> None:
        """Break the connection."""
        self.writer.transport.abort()


Script = bytes | Callable[[Reply], Awaitable[None]]


@dataclass
class RawServer:
    """A socket that answers its requests by scripts, in order; the last one again and again."""

    scripts: Sequence[Script]
    url: str = ""
    requests: list[RawRequest] = field(default_factory=list)
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client has closed its connection while it was being answered."""
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the first request has come."""
    _connections: set[asyncio.Task[None]] = field(default_factory=set)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection."""
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            method, path, _ = head[0].split(" ", 2)
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
            content = await reader.readexactly(int(headers.get("content-length", 0)))
            script = self.scripts[min(len(self.requests), len(self.scripts) - 1)]
            request = RawRequest(method, path, headers, content)
            self.requests.append(request)
            self.asked.set()
            if isinstance(script, bytes):
                await Reply(writer, request).send(script)
                return
            answering = asyncio.ensure_future(script(Reply(writer, request)))
            gone = asyncio.ensure_future(reader.read(1))
            try:
                await asyncio.wait({answering, gone}, return_when=asyncio.FIRST_COMPLETED)
                if gone.done() and not answering.done():
                    self.closed.set()
            finally:
                answering.cancel()
                gone.cancel()
                await asyncio.gather(answering, gone, return_exceptions=True)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            self._connections.discard(task)

    async def stop(self) -> None:
        """End what is still being answered."""
        left = list(self._connections)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


@asynccontextmanager
async def raw_server(*scripts: Script) -> AsyncIterator[RawServer]:
    """A raw server on a free port."""
    server = RawServer(scripts)
    listening = await asyncio.start_server(server.handle, "127.0.0.1", 0, limit=2**24)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listening.close()
        await server.stop()


def sse(*events: object, named: bool = False) -> bytes:
    """A whole answer of server-sent events; strings go out as they are, objects as JSON, with their type as name."""
    return _head("200 OK", "text/event-stream", sse_events(*events, named=named))


def sse_events(*events: object, named: bool = False) -> bytes:
    """The events alone."""
    lines: list[str] = []
    for event in events:
        if named and isinstance(event, dict):
            lines.append(f"event: {event['type']}\n")
        lines.append(f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n")
    return "".join(lines).encode()


def refusal(status: str, body: object, *headers: str) -> bytes:
    """An error as JSON."""
    return _head(status, "application/json", json.dumps(body).encode(), *headers)


def _head(status: str, kind: str, content: bytes, *headers: str) -> bytes:
    lines = [
        f"HTTP/1.1 {status}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(content)}",
        "Connection: close",
        *headers,
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + content
