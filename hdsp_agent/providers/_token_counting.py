"""Counting tokens as a model does: only where its server tells how it splits a text, and has loaded it already.

What Anthropic, Google and OpenAI offer is not asked: what is counted was not sent yet, and may never be.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final

from pydantic import SecretStr

from ..config import OperatorPolicy, ProviderSettings
from ..errors import HdspAgentError
from ..local import LocalModels
from ..messages import JsonObject
from ._plain_requests import PlainRequests, plain_requests
from ._provider_connection import ProviderConnection, connection_of
from ._safe_parse import count, items, mapping, text
from ._transport import Timeouts, in_time, model_error

__all__ = ["count_tokens"]

logger = logging.getLogger(__name__)

_PROVIDERS: Final = frozenset({"local", "openai"})
"""Ollama and LM Studio have no route for it, and LiteLLM asks others."""
_TIMEOUTS: Final = Timeouts(connect=2, first=5, idle=5)


@dataclass(frozen=True)
class _Tokenizer:
    """How a server is asked for the tokens of a text; ``tokens`` is None for an answer of another form."""

    path: str
    body: Callable[[str, str], JsonObject]
    tokens: Callable[[Mapping[str, object]], int | None]


async def count_tokens(
    settings: ProviderSettings,
    texts: Sequence[str],
    *,
    policy: OperatorPolicy | None = None,
    local: LocalModels | None = None,
) -> list[int] | None:
    """The tokens of each text; None if the profile's model cannot be asked. No model is loaded for it.

    Which server it is, is asked first: none but those that are known to count by themselves are sent the texts.
    """
    if settings.api_provider not in _PROVIDERS:
        return None
    try:
        async with _asked(settings, policy, local) as found:
            if found is None:
                return None
            requests, tokenizer, connection = found
            counting = _counts(requests, tokenizer, connection, texts)
            return await in_time(counting, _TIMEOUTS.first, connection.info.id, "count of tokens")
    except HdspAgentError as error:
        logger.info("The tokens could not be counted by %s: %s", settings.api_provider, error.message)
        return None


@asynccontextmanager
async def _asked(
    settings: ProviderSettings, policy: OperatorPolicy | None, local: LocalModels | None
) -> AsyncIterator[tuple[PlainRequests, _Tokenizer, ProviderConnection] | None]:
    connection = connection_of(settings, policy)
    is_embedded = connection.info.protocol == "local"
    if is_embedded:
        endpoint = None
        if local is not None and local.runtime.process_id is not None:
            endpoint = local.runtime.endpoint((await local.file_of(settings)).path)
        if endpoint is None:
            yield None
            return
        connection = replace(connection, base_url=endpoint.url, key=SecretStr(endpoint.key))
    async with plain_requests(connection, settings, _TIMEOUTS) as requests:
        tokenizer = _LLAMA if is_embedded else await _tokenizer_of(requests, connection)
        yield None if tokenizer is None else (requests, tokenizer, connection)


async def _tokenizer_of(requests: PlainRequests, connection: ProviderConnection) -> _Tokenizer | None:
    """How the server counts, if it says that it is one of those that do, and that the model is loaded."""
    provider = connection.info.id
    try:
        answer = await in_time(requests.get("/models", {}), _TIMEOUTS.first, provider, "list of models")
    except Exception as error:
        raise model_error(error, provider) from error
    entries = [mapping(entry) for entry in items(mapping(answer).get("data"))]
    for entry in entries:
        status = text(mapping(entry.get("status")).get("value"))
        names = {text(entry.get("id")), *map(text, items(entry.get("aliases")))}
        # A server of one model takes any name for it.
        is_meant = connection.model in names or (len(entries) == 1 and not status)
        if is_meant and status in ("", "loaded"):
            return _BY_OWNER.get(text(entry.get("owned_by")))
    return None


async def _counts(
    requests: PlainRequests, tokenizer: _Tokenizer, connection: ProviderConnection, texts: Sequence[str]
) -> list[int] | None:
    base = (connection.base_url or "").removesuffix("/v1")
    found: list[int] = []
    for each in texts:
        if not each:
            found.append(0)
            continue
        try:
            answer = await requests.post(f"{base}{tokenizer.path}", tokenizer.body(each, connection.model))
        except Exception as error:
            raise model_error(error, connection.info.id) from error
        tokens = tokenizer.tokens(mapping(answer))
        if tokens is None:
            return None
        found.append(tokens)
    return found


_LLAMA: Final = _Tokenizer(
    # One that switches between models would load the one that is named.
    "/tokenize?autoload=false",
    lambda each, model: {"content": each, "model": model},
    lambda answer: len(items(answer.get("tokens"))) or None,
)
_VLLM: Final = _Tokenizer(
    "/tokenize",
    lambda each, model: {"prompt": each, "model": model, "add_special_tokens": False},
    lambda answer: count(answer.get("count")) or None,
)
_BY_OWNER: Final[Mapping[str, _Tokenizer]] = {"llamacpp": _LLAMA, "vllm": _VLLM}
"""By what their lists of models name as the owner."""
