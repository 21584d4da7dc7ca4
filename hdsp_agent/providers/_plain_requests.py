"""Requests to a provider that are no conversation: what it offers, and whether it lets one in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from ..config import ProviderSettings
from ..messages import JsonObject
from ._anthropic_client import anthropic_sdk
from ._openai_client import openai_sdk
from ._provider_connection import ProviderConnection
from ._transport import Timeouts

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic, AsyncAnthropicBedrock, AsyncAnthropicVertex
    from openai import AsyncOpenAI

    AnySdk = AsyncAnthropic | AsyncAnthropicBedrock | AsyncAnthropicVertex | AsyncOpenAI

__all__ = ["PlainRequests", "plain_requests"]


class PlainRequests:
    """Asks a provider by path, with the profile's address, key and headers. Raises what its SDK raises."""

    def __init__(self, sdk: AnySdk) -> None:
        self._sdk = sdk

    async def get(self, path: str, query: Mapping[str, object]) -> object:
        """What it answers, as parsed JSON."""
        return await self._sdk.get(path, cast_to=object, options={"params": query})

    async def post(self, path: str, body: JsonObject) -> object:
        """What it answers, as parsed JSON."""
        return await self._sdk.post(path, cast_to=object, body=body)


@asynccontextmanager
async def plain_requests(
    connection: ProviderConnection, settings: ProviderSettings, timeouts: Timeouts
) -> AsyncIterator[PlainRequests]:
    """A client of the profile's provider, closed at the end."""
    # Importing an SDK takes a second, and reading the machine's certificates its time too.
    make = anthropic_sdk if connection.info.protocol == "anthropic" else openai_sdk
    sdk: AnySdk = await asyncio.to_thread(make, connection, settings, timeouts)
    async with sdk:
        yield PlainRequests(sdk)
