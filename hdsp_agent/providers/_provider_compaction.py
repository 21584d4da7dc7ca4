"""Condensing that the provider does itself: it gives an item back that only the same model there can read."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable
from urllib.parse import urlsplit

from ..messages import ApiMessage, JsonObject
from ._model import ModelClient, ModelRequest, UsageReport
from ._model_error import ModelError
from ._responses_usage import responses_usage
from ._safe_parse import items, mapping, text
from ._transport import broken_stream

__all__ = [
    "SEALED_FOR",
    "CompactingClient",
    "Compaction",
    "CompactionOffers",
    "EncryptedItemRefused",
    "compaction_of",
    "endpoint_of",
    "sealed_items",
]

SEALED_FOR: Final = "sealed_for"
"""Of a sealed item: the endpoint and model that can read it. Ours, never sent."""

_KIND: Final = "compaction"
_NOT_OFFERED: Final = frozenset({404, 405, 410, 501})
_PAUSE_SECONDS: Final = 600.0
"""So long it is not tried again where it failed for another reason."""


@dataclass(frozen=True)
class Compaction:
    """A conversation as its provider condensed it. ``item`` rides in ``ApiMessage.reasoning_details``."""

    item: JsonObject
    usage: UsageReport | None


class EncryptedItemRefused(ModelError):
    """The provider cannot read what it sealed itself, as with another key. The client sends no sealed items from now on."""


@runtime_checkable
class CompactingClient(ModelClient, Protocol):
    """A model whose provider may condense conversations."""

    @property
    def endpoint(self) -> str | None:
        """Stands for the address and the model together: what one of them seals, no other reads. None once it did not."""

    async def compact(self, request: ModelRequest) -> Compaction:
        """Have the messages of a request condensed. Raises ModelError, also where the provider does not offer it.

        EncryptedItemRefused if it cannot read what it sealed before.
        """


class CompactionOffers:
    """Which endpoints condense, as far as is known: what failed is not tried each time."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._not_before: dict[str, float] = {}

    def may_be_asked(self, endpoint: str) -> bool:
        """Whether it is worth trying."""
        return self._now() >= self._not_before.get(endpoint, 0.0)

    def failed(self, endpoint: str, error: ModelError) -> None:
        """It was tried in vain: for now, or for good where there is no such address."""
        offered = error.http_status not in _NOT_OFFERED
        self._not_before[endpoint] = self._now() + _PAUSE_SECONDS if offered else float("inf")


def endpoint_of(address: str, model: str) -> str:
    """See ``CompactingClient.endpoint``. It is kept in logs, so an address with a name and password is not in it."""
    parts = urlsplit(address)
    place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path} {model}"
    return hashlib.sha256(place.encode()).hexdigest()


def compaction_of(answer: object, endpoint: str, provider: str) -> Compaction:
    """What the provider answered. Raises ModelError unless there is just one sealed item in it."""
    found = [item for item in map(mapping, items(mapping(answer).get("output"))) if _is_sealed(item)]
    if len(found) != 1:
        raise broken_stream(provider, f"condensed the conversation to {len(found)} items, where one is expected.")
    item: JsonObject = {
        key: value  # type: ignore[misc]  # what JSON holds is a JSON value
        for key, value in found[0].items()
        if value is not None
    }
    return Compaction({**item, SEALED_FOR: endpoint}, responses_usage(mapping(mapping(answer).get("usage"))))


def sealed_items(message: ApiMessage, endpoint: str | None = None) -> list[JsonObject]:
    """The sealed items that ride with a message, for this endpoint alone if one is named."""
    return [
        detail
        for detail in message.reasoning_details or []
        if isinstance(detail, dict) and _is_sealed(detail) and endpoint in (None, detail.get(SEALED_FOR))
    ]


def _is_sealed(item: Mapping[str, object]) -> bool:
    return item.get("type") == _KIND and bool(text(item.get("encrypted_content")))
