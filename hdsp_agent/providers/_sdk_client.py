"""One profile's model behind one of the official SDKs."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Final, Protocol

from ..messages import ApiProtocol, JsonObject
from ._content_blocks import in_call_order
from ._model import KnownModel, ModelEvent, ModelRequest, Stop
from ._transport import EventStream, Timeouts, broken_stream, events_of

__all__ = ["Decoder", "Post", "SdkClient", "read_answer"]


class Decoder(Protocol):
    """Reads one answer of one protocol."""

    @property
    def over(self) -> bool:
        """Whether the provider said that nothing follows."""

    @property
    def whole(self) -> bool:
        """Whether the answer is complete; its usage may still follow."""

    def read(self, event: Mapping[str, object]) -> Iterator[ModelEvent]:
        """The events that follow from the provider's next one."""

    def finish(self) -> Iterator[ModelEvent]:
        """What is left at the end; without a Stop if the answer is not whole."""


# The usage may come after the answer's end, and some servers then forget to close.
_USAGE_SECONDS: Final = 5.0
_GOODBYE_SECONDS: Final = 0.25

Post = Callable[[JsonObject, Mapping[str, str]], Awaitable[EventStream]]
"""Sends a body, with headers of its own, and opens the stream of its answer."""


class SdkClient(ABC):
    """A ModelClient over an SDK's client."""

    def __init__(
        self,
        info: KnownModel,
        protocol: ApiProtocol,
        post: Post,
        close: Callable[[], Awaitable[None]],
        timeouts: Timeouts,
    ) -> None:
        self._info = info
        self._protocol: ApiProtocol = protocol
        self._post = post
        self._close = close
        self._timeouts = timeouts

    @property
    def info(self) -> KnownModel:
        """What is known of the model."""
        return self._info

    @property
    def protocol(self) -> ApiProtocol:
        """The family of protocols it speaks."""
        return self._protocol

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Ask the model."""
        # In a thread: a long conversation takes a good part of a second, and other tasks stream meanwhile.
        body = await asyncio.to_thread(self._ordered_body, request)
        headers = self._headers(request)
        answer = read_answer(lambda: self._post(body, headers), self._decoder(), self._timeouts, self._info.provider)
        async with aclosing(answer):
            async for event in answer:
                yield event

    async def close(self) -> None:
        """Let go of all connections."""
        await self._close()

    def _ordered_body(self, request: ModelRequest) -> JsonObject:
        return self._body(replace(request, messages=in_call_order(request.messages)))

    def _headers(self, request: ModelRequest) -> Mapping[str, str]:
        """Headers for this request alone."""
        return {}

    @abstractmethod
    def _body(self, request: ModelRequest) -> JsonObject: ...

    @abstractmethod
    def _decoder(self) -> Decoder: ...


async def read_answer(
    open_stream: Callable[[], Awaitable[EventStream]], decoder: Decoder, timeouts: Timeouts, provider: str
) -> AsyncGenerator[ModelEvent, None]:
    """The events of one answer, ending in its Stop. Raises ModelError if there is none."""
    finished: list[ModelEvent] = []

    def lingering() -> float | None:
        if decoder.over:
            return _GOODBYE_SECONDS
        return _USAGE_SECONDS if decoder.whole else None

    async with aclosing(events_of(open_stream, timeouts, provider, lingering)) as chunks:
        async for chunk in chunks:
            if finished:
                continue
            for event in decoder.read(chunk):
                yield event
            if decoder.over:
                # Nobody waits for the goodbye; it is read so that the connection can be used again.
                finished = list(decoder.finish())
                for event in finished:
                    yield event
    if not finished:
        finished = list(decoder.finish())
        for event in finished:
            yield event
    if not finished or not isinstance(finished[-1], Stop):
        raise broken_stream(provider, "ended its answer without saying why.")
