"""What an adapter and a task say to each other: one neutral request, one neutral stream of events.

The conversation is kept in Anthropic's content blocks. What other protocols want back verbatim and has no block there
rides in ``ApiMessage.reasoning_details``; ``ModelAnswer`` (in ``_answer``) puts both together.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias

from ..messages import ApiMessage, ApiProtocol, JsonObject

__all__ = [
    "KnownModel",
    "ModelClient",
    "ModelEvent",
    "ModelRequest",
    "Stop",
    "StopReason",
    "TextDelta",
    "ThinkingDelta",
    "ThinkingDone",
    "ToolCallDelta",
    "ToolCallDone",
    "ToolCallStart",
    "ToolSpec",
    "UsageReport",
    "cost_of",
]

_MILLION: Final = 1_000_000

StopReason: TypeAlias = Literal["end", "tool_use", "max_tokens", "refusal", "stop_sequence", "pause"]
"""Why a model stopped. ``pause`` asks for the same conversation to be sent again."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """More of the thoughts."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDone:
    """A stretch of thoughts is over; what must be sent back verbatim.

    ``signature`` belongs to the thoughts just streamed. ``encrypted`` is an opaque object: a ``redacted_thinking``
    block belongs into the content, everything else into ``reasoning_details``.
    """

    signature: str | None = None
    encrypted: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """The model begins to call a tool. ``index`` counts the calls of this answer."""

    index: int
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """More of a call's arguments, as JSON text."""

    index: int
    json: str


@dataclass(frozen=True, slots=True)
class ToolCallDone:
    """A call is complete; ``arguments`` is the whole JSON text as received, which need not be valid."""

    index: int
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class UsageReport:
    """The tokens of this request so far, not since the last report. ``input`` leaves out what the cache read or wrote."""

    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    """The part of ``output`` spent on thinking."""
    cost: float | None = None
    """US dollars, where the provider itself says so."""

    @property
    def context(self) -> int:
        """All tokens the model was sent."""
        return self.input + self.cache_read + self.cache_write


@dataclass(frozen=True, slots=True)
class Stop:
    """The answer is whole. Always the last event."""

    reason: StopReason


ModelEvent: TypeAlias = (
    TextDelta | ThinkingDelta | ThinkingDone | ToolCallStart | ToolCallDelta | ToolCallDone | UsageReport | Stop
)


@dataclass(frozen=True)
class ToolSpec:
    """A tool as the model is told of it; ``parameters`` is a JSON schema of an object."""

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True)
class ModelRequest:
    """What the model is asked."""

    system: str
    messages: Sequence[ApiMessage]
    tools: Sequence[ToolSpec] = ()
    max_output: int | None = None
    tool_choice: str = "auto"
    """``auto``, ``any``, ``none``, or the name of the tool that must be called."""
    parallel_tools: bool = True
    cache_key: str | None = None
    """Names the conversation, so that its requests reach the same cache."""
    cache_breakpoints: Sequence[int] = ()
    """Indices into ``messages``; without any the adapter's own rule holds."""
    stop: Sequence[str] = ()
    temperature: float | None = None
    """Goes before the profile's, where the protocol has one."""


@dataclass(frozen=True)
class KnownModel:
    """What is known of a model. Prices are US dollars for a million tokens."""

    id: str
    provider: str
    name: str | None = None
    context_window: int | None = None
    max_output: int | None = None
    supports_images: bool = False
    supports_tools: bool = True
    supports_thinking: bool = False
    supports_cache: bool = False
    input_price: float | None = None
    output_price: float | None = None
    cache_reads_price: float | None = None
    cache_writes_price: float | None = None
    deprecated: bool = False
    counts_tokens: bool = True
    """Whether the usage it reports is counted from what it was sent."""


class ModelClient(Protocol):
    """One profile's model, ready to be asked."""

    @property
    def info(self) -> KnownModel:
        """What is known of the model."""

    @property
    def protocol(self) -> ApiProtocol:
        """The family of protocols it speaks."""

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Ask the model. Raises ModelError, also when the answer breaks off before its ``Stop``.

        Cancelling the task that waits for the next event, or closing the iterator, closes the connection at once.
        """

    async def close(self) -> None:
        """Let go of all connections."""


def cost_of(info: KnownModel, usage: UsageReport) -> float | None:
    """What a request cost in US dollars, or None if nobody knows.

    Cached tokens without a price of their own cost as much as others.
    """
    if usage.cost is not None:
        return usage.cost
    if info.input_price is None or info.output_price is None:
        return None
    reads = info.input_price if info.cache_reads_price is None else info.cache_reads_price
    writes = info.input_price if info.cache_writes_price is None else info.cache_writes_price
    return (
        usage.input * info.input_price
        + usage.cache_read * reads
        + usage.cache_write * writes
        + usage.output * info.output_price
    ) / _MILLION
