"""What a server may send at once, before the SDK looks at it."""

from __future__ import annotations

import contextvars
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, JSONRPCResponse

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream, Transport, TransportStreams

__all__ = ["LARGEST_MESSAGE", "MOST_LISTED", "bounded"]

LARGEST_MESSAGE: Final = 16_000_000
"""Bytes."""
MOST_LISTED: Final = 1_000
"""Tools, resources, or prompts of one server that are looked at."""
_LARGEST_SCHEMA: Final = 32_000
_LISTS: Final = ("tools", "resources", "resourceTemplates", "prompts")


@asynccontextmanager
async def bounded(transport: Transport) -> AsyncIterator[TransportStreams]:
    """The same transport, with what comes in cut to what can be borne."""
    async with transport as (read, write):
        yield _BoundedStream(read), write


class _BoundedStream:
    """A stream of messages. The SDK asks for ``last_context`` to learn in whose name the last one came."""

    def __init__(self, stream: ReadStream[SessionMessage | Exception]) -> None:
        self._stream = stream

    @property
    def last_context(self) -> contextvars.Context | None:
        """Of the call that the last message belongs to."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """The next message."""
        return _bounded(await self._stream.receive())

    async def aclose(self) -> None:
        """Read no more."""
        await self._stream.aclose()

    def __aiter__(self) -> _BoundedStream:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return _bounded(await self._stream.__anext__())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _bounded(item: SessionMessage | Exception) -> SessionMessage | Exception:
    if isinstance(item, SessionMessage):
        _cut(item.message)
    return item


def _cut(message: JSONRPCMessage) -> None:
    """Leave out what would cost too much.

    The SDK checks what a tool returns against the ``outputSchema`` that its server gave it, and a pattern in that can take
    for ever. Whoever needs the result to have a form looks at it.
    """
    if not isinstance(message, JSONRPCResponse):
        return
    result: dict[str, Any] = message.result
    for name in _LISTS:
        listed = result.get(name)
        if isinstance(listed, list):
            result[name] = [one for one in listed[: MOST_LISTED + 1] if name != "tools" or _fits(one)]


def _fits(tool: object) -> bool:
    if not isinstance(tool, dict):
        return True
    tool.pop("outputSchema", None)
    return len(json.dumps(tool.get("inputSchema"))) <= _LARGEST_SCHEMA
