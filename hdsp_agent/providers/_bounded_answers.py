"""No answer of a server fills the memory, however long it is or however far it was packed."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Final

from ._model_error import ModelError

if TYPE_CHECKING:
    import httpx2

__all__ = ["bound_answers"]

_MOST_BYTES: Final = 64 * 1024 * 1024
"""Unpacked. The longest answers of models are a few megabytes, images included."""


def bound_answers(client: httpx2.AsyncClient, provider: str) -> httpx2.AsyncClient:
    """The client, which from now on reads no more than so much of one answer, and raises ModelError for a longer one."""

    async def bound(response: httpx2.Response) -> None:
        unbounded = response.aiter_bytes

        async def bounded(chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:
            left = _MOST_BYTES
            async for piece in unbounded(chunk_size):
                left -= len(piece)
                if left < 0:
                    raise ModelError(
                        f"The server sent more than {_MOST_BYTES:,} bytes, which no answer of a model has. Check its address.",
                        provider=provider,
                        http_status=response.status_code,
                    )
                yield piece

        # Everything else that reads an answer reads it through this, whole or as it comes.
        response.aiter_bytes = bounded  # type: ignore[method-assign]

    client.event_hooks = {**client.event_hooks, "response": [*client.event_hooks["response"], bound]}
    return client
