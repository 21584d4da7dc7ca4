"""What no server may make of a request: send its keys on to another address, or fill the memory with its answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Final

from ._model_error import ModelError

if TYPE_CHECKING:
    import httpx2

__all__ = ["guarded"]

_MOST_BYTES: Final = 64 * 1024 * 1024
"""Unpacked. The longest answers of models are a few megabytes, images included."""


def guarded(client: httpx2.AsyncClient, provider: str) -> httpx2.AsyncClient:
    """The client, which from now on follows no redirect to another scheme, host or port, and reads no more than so much
    of one answer. It raises ModelError instead.
    """

    async def stay_at_origin(response: httpx2.Response) -> None:
        # The HTTP library drops only the Authorization header on the way to another host, and other headers carry keys too.
        if not response.has_redirect_location:
            return
        asked = response.request.url
        target = asked.join(response.headers["location"])
        if (target.scheme, target.host, target.port) != (asked.scheme, asked.host, asked.port):
            raise ModelError(
                f"The server redirects to another address, {target.scheme}://{target.netloc.decode('ascii', 'replace')}. "
                "Your key is not sent there. Enter that address yourself if you trust it.",
                provider=provider,
                http_status=response.status_code,
            )

    async def bound(response: httpx2.Response) -> None:
        unbounded = response.aiter_bytes

        async def bounded(chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:
            left = _MOST_BYTES
            async for piece in unbounded(chunk_size):
                left -= len(piece)
                if left < 0:
                    raise ModelError(
                        f"The server sent more than {_MOST_BYTES:,} bytes, too many for a model's answer. Check its address.",
                        provider=provider,
                        http_status=response.status_code,
                    )
                yield piece

        # Everything else that reads an answer reads it through this, whole or as it comes.
        response.aiter_bytes = bounded  # type: ignore[method-assign]

    hooks = [*client.event_hooks["response"], stay_at_origin, bound]
    client.event_hooks = {**client.event_hooks, "response": hooks}
    return client
