"""HTTP as an attacker writes it: the bytes go out as they are, with nothing put right on the way."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Answer", "request"]

_PATIENCE = 60.0
_LENGTH = re.compile(rb"\r\nContent-Length: (\d+)\r\n", re.IGNORECASE)


@dataclass(frozen=True)
class Answer:
    """What came back. Status 0: the connection was closed without a word."""

    status: int
    head: bytes
    body: bytes

    @property
    def text(self) -> str:
        """All of it."""
        return (self.head + b"\r\n\r\n" + self.body).decode("utf-8", "replace")

    def header(self, name: str) -> str | None:
        """The first header of this name."""
        wanted = name.lower().encode()
        for line in self.head.split(b"\r\n")[1:]:
            key, _, value = line.partition(b":")
            if key.strip().lower() == wanted:
                return value.strip().decode("latin-1")
        return None


async def request(
    port: int, method: str, target: str, headers: Mapping[str, str] | None = None, body: bytes = b""
) -> Answer:
    """One request over a connection of its own."""
    sent = {"Host": f"127.0.0.1:{port}", "Connection": "close", **(headers or {})}
    if body or method in ("POST", "PUT", "PATCH"):
        sent.setdefault("Content-Length", str(len(body)))
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items())]
    head = "\r\n".join(lines).encode("utf-8", "surrogatepass") + b"\r\n\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(head + body)
        heard = await asyncio.wait_for(_rest(reader), _PATIENCE)
    finally:
        writer.close()
    return _answer(heard)


async def _rest(reader: asyncio.StreamReader) -> bytes:
    heard = bytearray()
    try:
        while piece := await reader.read(65536):
            heard += piece
            if _is_whole(heard):
                break
    except ConnectionError:
        pass
    return bytes(heard)


def _is_whole(heard: bytearray) -> bool:
    """Whether nothing more belongs to it, though the connection stays."""
    head, ends, body = heard.partition(b"\r\n\r\n")
    if heard.startswith(b"HTTP/1.1 101"):
        return bool(ends)
    length = _LENGTH.search(head + b"\r\n")
    return bool(ends) and length is not None and len(body) >= int(length[1])


def _answer(heard: bytes) -> Answer:
    head, _, body = heard.partition(b"\r\n\r\n")
    words = head.split(b" ", 2)
    status = int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
    return Answer(status, head, body)
