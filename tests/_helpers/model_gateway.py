"""A gateway in front of aimock: keeps every request as it was on the wire, and breaks answers where a test says so.

aimock's own journal turns each request into Chat Completions' form and knows neither Anthropic's models on Vertex nor
the frames in which Bedrock streams them; the gateway speaks for both.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import struct
import zlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Final, Literal
from urllib.parse import unquote, urlsplit

from .model_server import ModelServer, RawRequest, Reply, Script, refusal

__all__ = ["GOOGLE_TOKEN", "STOP_MARKS", "TOKEN_ANSWER", "Break", "frame", "gateway"]

GOOGLE_TOKEN: Final = "google-token-for-tests"
TOKEN_ANSWER: Final = refusal("200 OK", {"access_token": GOOGLE_TOKEN, "expires_in": 3600})
STOP_MARKS: Final = re.compile(rb'"message_delta"|response\.completed|"finish_reason":\s*"')
"""What an event looks like that says why the model stopped, in any protocol."""

Break = Literal["reset", "end", "garbage"]
"""How an answer is broken: the connection drops, the stream ends in good order, or what follows is no event."""

_BEDROCK: Final = re.compile(r"/model/([^/]+)/invoke-with-response-stream$")
_VERTEX: Final = re.compile(r"/models/([^/:]+):streamRawPredict$")


def gateway(
    server: ModelServer, *, broken: Break | None = None, before: re.Pattern[bytes] = STOP_MARKS, pause: float = 0
) -> Script:
    """A script that lets aimock answer. With ``broken`` that happens instead of the first event that has ``before``.

    ``pause`` is the time between two events, in seconds.
    """

    async def answer(reply: Reply) -> None:
        await _Exchange(server, reply, broken, before, pause).run()

    return answer


class _Exchange:
    """One request and its answer."""

    def __init__(
        self, server: ModelServer, reply: Reply, broken: Break | None, before: re.Pattern[bytes], pause: float
    ) -> None:
        self._server = server
        self._reply = reply
        self._broken = broken
        self._before = before
        self._pause = pause
        self._framed = bool(_BEDROCK.search(reply.request.path))

    async def run(self) -> None:
        address = urlsplit(self._server.url)
        reader, writer = await asyncio.open_connection(address.hostname, address.port, limit=2**24)
        try:
            writer.write(_forwarded(self._reply.request, address.netloc))
            await writer.drain()
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
            if "text/event-stream" not in headers.get("content-type", ""):
                body = await _whole(reader, headers)
                more = [f"Retry-After: {headers['retry-after']}"] if "retry-after" in headers else []
                await self._reply.send(refusal(head[0].split(" ", 1)[1], json.loads(body), *more))
                return
            await self._stream(reader)
        except (asyncio.IncompleteReadError, ConnectionError):
            # aimock broke off: so do we.
            self._reply.reset()
        finally:
            writer.close()

    async def _stream(self, reader: asyncio.StreamReader) -> None:
        kind = "application/vnd.amazon.eventstream" if self._framed else "text/event-stream"
        lines = ["HTTP/1.1 200 OK", f"Content-Type: {kind}", "Transfer-Encoding: chunked", "Connection: close"]
        await self._reply.send(("\r\n".join(lines) + "\r\n\r\n").encode())
        async with aclosing(_events(reader)) as events:
            async for event in events:
                if self._broken is not None and self._before.search(event):
                    await self._break(self._broken)
                    return
                await self._reply.chunk(_framed(event) if self._framed else event)
                await asyncio.sleep(self._pause)
        await self._reply.chunk(b"")

    async def _break(self, how: Break) -> None:
        if how == "garbage":
            await self._reply.chunk(b"\x00" * 64 if self._framed else b"event: x\ndata: {not json\n\n")
        if how == "reset":
            # What was sent arrives first.
            await asyncio.sleep(0.05)
            self._reply.reset()
            return
        await self._reply.chunk(b"")


def _forwarded(request: RawRequest, host: str) -> bytes:
    """The request as aimock takes it."""
    path, body = request.path, request.content
    cloud = _BEDROCK.search(path) or _VERTEX.search(path)
    if cloud is not None:
        path = "/v1/messages"
        body = json.dumps({**request.body, "model": unquote(cloud[1]), "stream": True}).encode()
    lines = [
        f"{request.method} {path} HTTP/1.1",
        f"Host: {host}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Connection: close",
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


async def _whole(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if "content-length" in headers:
        return await reader.readexactly(int(headers["content-length"]))
    async with aclosing(_chunks(reader)) as chunks:
        return b"".join([chunk async for chunk in chunks])


async def _chunks(reader: asyncio.StreamReader) -> AsyncGenerator[bytes, None]:
    while size := int(await reader.readuntil(b"\r\n"), 16):
        yield (await reader.readexactly(size + 2))[:-2]


async def _events(reader: asyncio.StreamReader) -> AsyncGenerator[bytes, None]:
    rest = b""
    async with aclosing(_chunks(reader)) as chunks:
        async for chunk in chunks:
            *events, rest = (rest + chunk).split(b"\n\n")
            for event in events:
                yield event + b"\n\n"


def _framed(event: bytes) -> bytes:
    """A server-sent event as Bedrock wraps it."""
    data = next(line[5:].strip() for line in event.split(b"\n") if line.startswith(b"data:"))
    return frame(json.dumps({"bytes": base64.b64encode(data).decode()}).encode())


def frame(payload: bytes, *headers: tuple[str, str]) -> bytes:
    """A frame of AWS's event stream; without headers one that holds a piece of an answer."""
    named: Sequence[tuple[str, str]] = headers or ((":event-type", "chunk"), (":message-type", "event"))
    head = b"".join(
        struct.pack(f"!B{len(name)}sBH", len(name), name.encode(), 7, len(value)) + value.encode()
        for name, value in (*named, (":content-type", "application/json"))
    )
    start = struct.pack("!II", 12 + len(head) + len(payload) + 4, len(head))
    whole = start + struct.pack("!I", zlib.crc32(start)) + head + payload
    return whole + struct.pack("!I", zlib.crc32(whole))
