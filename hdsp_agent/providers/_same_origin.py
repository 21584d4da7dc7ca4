"""Keys stay at the address they were given for, wherever a server sends a request on to.

The HTTP library drops only the Authorization header on the way to another host, and other headers carry keys too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._model_error import ModelError

if TYPE_CHECKING:
    import httpx2

__all__ = ["stay_at_origin"]


def stay_at_origin(client: httpx2.AsyncClient, provider: str) -> httpx2.AsyncClient:
    """The client, which from now on follows no redirect to another scheme, host or port."""

    async def check(response: httpx2.Response) -> None:
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

    client.event_hooks = {**client.event_hooks, "response": [*client.event_hooks["response"], check]}
    return client
