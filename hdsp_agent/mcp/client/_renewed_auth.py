"""Renewing tokens to the end: what was sent to renew them is good for nothing afterwards, so the answer must not be lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import aclosing
from typing import TYPE_CHECKING, Final, TypeAlias

import httpx2

from ..._timeouts import wait_at_most
from ._http import http_client

if TYPE_CHECKING:
    from mcp.client.auth import OAuthClientProvider

__all__ = ["RenewedAuth"]

_ANSWER_SECONDS: Final = 60.0

ToTheEnd: TypeAlias = Callable[[Coroutine[object, object, None]], Awaitable[None]]
"""Does work whole, even if whoever waits for it is cancelled."""


class RenewedAuth(httpx2.Auth):
    """The SDK's log-in. A connection that is stopped while its tokens are renewed leaves the new ones to the next one."""

    requires_response_body = True

    def __init__(self, provider: OAuthClientProvider, to_the_end: ToTheEnd) -> None:
        self._provider = provider
        self._to_the_end = to_the_end

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """What to send for this request, one after the other."""
        if not self._provider.context.is_token_valid():
            await self._to_the_end(self._renew(request))
        async with aclosing(self._provider.async_auth_flow(request)) as flow:
            try:
                outgoing = await anext(flow)
                while True:
                    outgoing = await flow.asend((yield outgoing))
            except StopAsyncIteration:
                return

    async def _renew(self, request: httpx2.Request) -> None:
        """Send all that comes before the request itself, which is not sent here."""
        async with aclosing(self._provider.async_auth_flow(request)) as flow:
            outgoing = await anext(flow)
            if outgoing is request:
                return
            # It reads the certificates that are trusted.
            async with await asyncio.to_thread(http_client, {}, None, lambda _: None) as client:
                while outgoing is not request:
                    outgoing = await flow.asend(await wait_at_most(client.send(outgoing), _ANSWER_SECONDS))
