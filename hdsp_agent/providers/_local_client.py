"""The embedded model: the Chat Completions adapter, spoken with a process that is started when it is asked something."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from time import monotonic
from typing import Final

from pydantic import SecretStr

from ..config import ProviderSettings
from ..local import LocalModels, ModelEndpoint, RuntimeFailed, TooLittleMemory
from ..messages import ApiProtocol
from ._model import KnownModel, ModelClient, ModelEvent, ModelRequest, UsageReport
from ._model_error import ModelError
from ._openai_client import open_chat
from ._provider_connection import ProviderConnection
from ._transport import Timeouts

__all__ = ["LocalClient"]

_FEW_TOKENS: Final = 48
"""Fewer than that are read in no time that could be told from that of the request itself."""


class LocalClient:
    """A profile's embedded model. Requests take turns at it; its process is begun again where it died."""

    def __init__(
        self,
        connection: ProviderConnection,
        settings: ProviderSettings,
        info: KnownModel,
        timeouts: Timeouts,
        models: LocalModels,
    ) -> None:
        self._connection = replace(connection, model=info.id)
        self._settings = settings
        # The runtime would write until its window is full.
        self._limited = settings.model_copy(update={"model_max_tokens": info.max_output, "include_max_tokens": True})
        self._info = info
        self._timeouts = timeouts
        self._models = models
        self._opened: tuple[ModelEndpoint, ModelClient] | None = None

    @property
    def info(self) -> KnownModel:
        """What is known of the model."""
        return self._info

    @property
    def protocol(self) -> ApiProtocol:
        """The family of protocols it speaks."""
        return "openai"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Ask the model, once it is this request's turn. Raises ModelError, and why it cannot be run."""
        file = await self._models.file_of(self._settings)
        try:
            async with self._models.runtime.turn(file) as endpoint:
                client = await self._client(endpoint)
                stopwatch = _Stopwatch()
                async with aclosing(client.stream(request)) as events:  # type: ignore[type-var]  # adapters are generators
                    async for event in events:
                        stopwatch.see(event)
                        yield event
                self._models.runtime.measured(reading=stopwatch.reading, writing=stopwatch.writing)
        except TooLittleMemory:
            raise
        except RuntimeFailed as failure:
            if not isinstance(failure.__cause__, ModelError):
                raise
            # It died while it answered: the same request may well succeed with a new one.
            raise ModelError(failure.message, kind="broken_stream", provider="local") from failure

    async def close(self) -> None:
        """Let go of all connections. The process goes when nobody has asked it anything for a while."""
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened[1].close()

    async def _client(self, endpoint: ModelEndpoint) -> ModelClient:
        if self._opened is not None and self._opened[0] == endpoint:
            return self._opened[1]
        await self.close()
        connection = replace(self._connection, base_url=endpoint.url, key=SecretStr(endpoint.key))
        client = await asyncio.to_thread(open_chat, connection, self._limited, self._info, self._timeouts)
        self._opened = endpoint, client
        return client


class _Stopwatch:
    """How fast the model reads and writes, in tokens a second."""

    def __init__(self) -> None:
        self._asked = monotonic()
        self._first: float | None = None
        self._last = self._asked
        self._usage: UsageReport | None = None

    def see(self, event: ModelEvent) -> None:
        """Note when it came."""
        if isinstance(event, UsageReport):
            self._usage = event
            return
        self._last = monotonic()
        self._first = self._first or self._last

    @property
    def reading(self) -> float | None:
        """Of what it had not read before."""
        if self._usage is None or self._first is None or self._usage.input < _FEW_TOKENS:
            return None
        return self._usage.input / max(0.001, self._first - self._asked)

    @property
    def writing(self) -> float | None:
        """Of its answer."""
        if self._usage is None or self._first is None or self._usage.output < 2 or self._last <= self._first:
            return None
        return (self._usage.output - 1) / (self._last - self._first)
