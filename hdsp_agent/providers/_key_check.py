"""Whether a provider takes a key, found out without having a model say anything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Literal

from ..config import OperatorPolicy, ProviderSettings
from ..errors import HdspAgentError
from ._model_error import ErrorClass, ModelError
from ._plain_requests import PlainRequests, plain_requests
from ._provider_connection import ProviderConnection, connection_of
from ._safe_parse import items, mapping
from ._transport import Timeouts, in_time, model_error

__all__ = ["KeyCheck", "KeyVerdict", "check_key"]

KeyVerdict = Literal["accepted", "refused", "unreachable", "untold"]
"""What came of trying a key; ``untold`` if the provider's answers say nothing of it."""

_TIMEOUTS: Final = Timeouts(connect=5, first=10, idle=10)
_NOT_THERE: Final = frozenset({"network", "timeout", "overloaded", "broken_stream"})
_NOT_LET_IN: Final = frozenset({"authentication", "permission"})
# Their list of models is for everybody, or may be.
_OPEN_LISTS: Final = frozenset({"openrouter", "openai", "litellm"})


@dataclass(frozen=True)
class KeyCheck:
    """What came of it, and which class of error said so."""

    verdict: KeyVerdict
    kind: ErrorClass | None = None


async def check_key(settings: ProviderSettings, *, policy: OperatorPolicy | None = None) -> KeyCheck:
    """Ask the provider for something that costs nothing and that only a valid key gets.

    Raises what ``open_client`` raises for a profile that lacks something, but for its model, and ModelError if no
    request can be made of the profile.
    """
    connection = connection_of(settings, policy, needs_model=False)
    if connection.info.protocol in ("bedrock", "vertex", "local", "fake"):
        return KeyCheck("untold")
    key = connection.key_text
    if key is not None and not (key.isascii() and key.isprintable()):
        # No header can carry it; no provider gives such keys.
        return KeyCheck("refused", "authentication")
    try:
        async with plain_requests(connection, settings, _TIMEOUTS) as requests:
            return await _checked(connection, requests)
    except HdspAgentError:
        raise
    except Exception as error:
        # The client itself could not be made: of an address that is none, say.
        raise model_error(error, connection.info.id) from error


async def _checked(connection: ProviderConnection, requests: PlainRequests) -> KeyCheck:
    listed = await _refusal(connection, lambda: _list(connection, requests))
    if listed is None and connection.info.id not in _OPEN_LISTS:
        return KeyCheck("accepted")
    if listed is not None and listed.kind in _NOT_THERE:
        return KeyCheck("unreachable", listed.kind)
    if listed is not None and listed.kind == "authentication":
        return KeyCheck("refused", listed.kind)
    # A key may talk to models and not list them, and a list may be everybody's.
    used = await _refusal(connection, lambda: _use(connection, requests))
    if used is None:
        return KeyCheck("accepted")
    if used.kind in _NOT_LET_IN:
        return KeyCheck("refused", used.kind)
    if listed is None:
        return KeyCheck("untold" if used.kind in _NOT_THERE else "accepted", used.kind)
    nothing_there = listed.http_status == used.http_status == 404
    return KeyCheck("unreachable" if nothing_there or used.kind in _NOT_THERE else "untold", used.kind)


async def _list(connection: ProviderConnection, requests: PlainRequests) -> None:
    path = "/v1/models" if connection.info.protocol == "anthropic" else "/models"
    answer = await requests.get(path, {})
    if not items(answer) and "data" not in mapping(answer):
        raise ModelError("What answered is not a list of models.", provider=connection.info.id, http_status=404)


async def _use(connection: ProviderConnection, requests: PlainRequests) -> None:
    """What needs the key and does nothing: OpenRouter tells of keys; others refuse a request that asks for nothing."""
    match connection.info.protocol:
        case _ if connection.info.id == "openrouter":
            await requests.get("/key", {})
        case "anthropic":
            await requests.post("/v1/messages", {})
        case "openai-responses":
            await requests.post("/responses", {})
        case _:
            await requests.post("/chat/completions", {})


async def _refusal(connection: ProviderConnection, ask: Callable[[], Awaitable[None]]) -> ModelError | None:
    """How the provider refuses; None if it does not."""
    try:
        await _answered(connection.info.id, ask)
    except ModelError as error:
        return error
    return None


async def _answered(provider: str, ask: Callable[[], Awaitable[None]]) -> None:
    try:
        await in_time(ask(), _TIMEOUTS.first, provider, "answer")
    except HdspAgentError:
        raise
    except Exception as error:
        raise model_error(error, provider) from error
