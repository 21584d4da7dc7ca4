"""A server that is talked to over Streamable HTTP, with bounds on what it may answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, cast

import httpx2
from mcp.client.streamable_http import streamable_http_client

from ...errors import InvalidInput
from ._bounded_messages import LARGEST_MESSAGE
from ._variables import FilledEntry

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

__all__ = ["http_client", "http_transport"]

_CONNECT_SECONDS: Final = 30.0
_READ_SECONDS: Final = 3_700.0
"""A call may take as long as its own time limit says, which is at most an hour."""


class _TooLarge(httpx2.StreamError):
    """An answer is larger than a message may be."""


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        total = 0
        async for chunk in self._stream:
            total += len(chunk)
            if total > LARGEST_MESSAGE:
                raise _TooLarge(f"It sent a message of more than {LARGEST_MESSAGE:,} bytes.")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def http_client(
    headers: Mapping[str, str], auth: httpx2.Auth | None, on_status: Callable[[int], None]
) -> httpx2.AsyncClient:
    """The client for one server; ``on_status`` is told the status of every answer."""

    async def bounded(response: httpx2.Response) -> None:
        on_status(response.status_code)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            # It was asked not to: a small answer could become a very large one.
            raise _TooLarge("It sent a compressed answer, which was not asked for.")
        if not response.headers.get("content-type", "").lower().startswith("text/event-stream"):
            response.stream = _Counted(cast("httpx2.AsyncByteStream", response.stream))

    try:
        return httpx2.AsyncClient(
            headers={"User-Agent": "hdsp-agent", **headers, "Accept-Encoding": "identity"},
            auth=auth,
            timeout=httpx2.Timeout(_CONNECT_SECONDS, read=_READ_SECONDS),
            event_hooks={"response": [bounded]},
        )
    except (ValueError, UnicodeError) as error:
        raise InvalidInput(f"A header of this server cannot be sent: {type(error).__name__}.") from None


@asynccontextmanager
async def http_transport(entry: FilledEntry, client: httpx2.AsyncClient) -> AsyncIterator[TransportStreams]:
    """The streams of a server, as the SDK's client takes them."""
    async with (
        client,
        streamable_http_client(entry.url or "", http_client=client, max_sse_event_size=LARGEST_MESSAGE) as streams,
    ):
        yield streams
