"""The models a profile can choose from: asked of the provider where it tells, else from the catalogue."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from ..config import OperatorPolicy, ProviderSettings
from ..errors import HdspAgentError
from ..local import LocalModels, catalogue, model_limits
from ._model import KnownModel
from ._model_catalogue import find_model, known_models
from ._model_error import ModelError
from ._model_info import catalogue_of, described, embedded_info, entry_info
from ._plain_requests import PlainRequests, plain_requests
from ._provider_connection import ProviderConnection, connection_of
from ._safe_parse import count, items, mapping, number, text
from ._scripted import SCRIPTED_INFO
from ._transport import Timeouts, in_time, model_error

__all__ = ["list_models"]

logger = logging.getLogger(__name__)

_TIMEOUTS: Final = Timeouts(connect=5, first=15, idle=15)
_MOST_PAGES: Final = 20
# What the same list offers besides models to talk to.
_NO_CHAT: Final = re.compile(
    r"embed|whisper|tts|dall-e|image|audio|realtime|moderation|transcri|speech|sora|davinci|babbage|rerank|guard|ocr",
    re.IGNORECASE,
)
_WINDOWS: Final = ("context_length", "context_window", "max_context_length", "max_model_len", "max_input_tokens")


async def list_models(
    settings: ProviderSettings, *, policy: OperatorPolicy | None = None, local: LocalModels | None = None
) -> Sequence[KnownModel]:
    """The models the profile can choose from, by id.

    Raises what ``open_client`` raises for a profile that lacks something, and ModelError if the key is refused, or if
    the provider cannot be asked and no catalogue knows its models.
    """
    known = await asyncio.to_thread(_catalogue, settings)
    try:
        connection = connection_of(settings, policy, needs_model=False)
        if connection.info.protocol == "fake":
            return (SCRIPTED_INFO,)
        if connection.info.protocol == "local":
            return await asyncio.to_thread(_embedded, settings, local)
        if connection.info.protocol in ("bedrock", "vertex"):
            return known
        listed = await _live(connection, settings)
    except HdspAgentError as error:
        refused = isinstance(error, ModelError) and error.kind in ("authentication", "permission")
        if not known or refused:
            raise
        logger.info("The models of %s could not be listed: %s", settings.api_provider, error)
        return known
    return listed or known


def _catalogue(settings: ProviderSettings) -> tuple[KnownModel, ...]:
    return tuple(
        entry_info(entry, settings) for entry in known_models(catalogue_of(settings)) if not _NO_CHAT.search(entry.id)
    )


def _embedded(settings: ProviderSettings, local: LocalModels | None) -> tuple[KnownModel, ...]:
    """Those of our list, and those that people added; a file of the person's is named by its path alone."""
    listed, limits = (catalogue(), model_limits) if local is None else (local.listed(), local.limits)
    own = [settings.model_copy(update={"api_model_id": model.id, "local_model_path": None}) for model in listed.models]
    return tuple(embedded_info(limits(each)) for each in own)


async def _live(connection: ProviderConnection, settings: ProviderSettings) -> Sequence[KnownModel]:
    name = connection.info.id
    try:
        async with plain_requests(connection, settings, _TIMEOUTS) as requests:
            entries = await in_time(_pages(requests, connection), _TIMEOUTS.first, name, "list of models")
    except HdspAgentError:
        raise
    except Exception as error:
        raise model_error(error, name) from error
    return await asyncio.to_thread(_models, entries, settings)


async def _pages(requests: PlainRequests, connection: ProviderConnection) -> list[Mapping[str, object]]:
    if connection.info.protocol != "anthropic":
        answer = await requests.get("/models", {})
        return [mapping(entry) for entry in items(answer) or items(mapping(answer).get("data"))]
    entries: list[Mapping[str, object]] = []
    query: dict[str, object] = {"limit": 100}
    for _ in range(_MOST_PAGES):
        page = mapping(await requests.get("/v1/models", query))
        entries.extend(mapping(entry) for entry in items(page.get("data")))
        if not page.get("has_more") or not page.get("last_id"):
            break
        query["after_id"] = page["last_id"]
    return entries


def _models(entries: Sequence[Mapping[str, object]], settings: ProviderSettings) -> tuple[KnownModel, ...]:
    found: dict[str, KnownModel] = {}
    for entry in entries:
        # Gemini's list has "models/" before each id, which its requests do not need.
        id = text(entry.get("id")).removeprefix("models/")
        if id and not _NO_CHAT.search(id):
            found[id] = _model(id, entry, settings)
    return tuple(sorted(found.values(), key=lambda model: (model.deprecated, model.id)))


def _model(id: str, entry: Mapping[str, object], settings: ProviderSettings) -> KnownModel:
    known = find_model(catalogue_of(settings), id)
    provider = settings.api_provider or ""
    info = entry_info(known, settings) if known else described(KnownModel(id=id, provider=provider), settings)
    window = next((value for key in _WINDOWS if (value := count(entry.get(key)))), None)
    window = window or count(mapping(entry.get("meta")).get("n_ctx")) or info.context_window
    longest = (
        count(entry.get("max_completion_tokens"))
        or count(mapping(entry.get("top_provider")).get("max_completion_tokens"))
        or info.max_output
    )
    name = text(entry.get("display_name")) or text(entry.get("name")) or info.name
    return _with_prices(
        replace(
            info,
            id=id,
            name=name,
            context_window=window,
            max_output=longest,
            supports_images=_sees(entry, info.supports_images),
            supports_tools=_calls(entry, info.supports_tools),
            deprecated=info.deprecated or text(entry.get("lifecycle")) in ("deprecated", "retired"),
        ),
        mapping(entry.get("pricing")),
    )


def _sees(entry: Mapping[str, object], otherwise: bool) -> bool:
    modalities = items(mapping(entry.get("architecture")).get("input_modalities"))
    capabilities = mapping(entry.get("capabilities"))
    if modalities:
        return "image" in modalities
    if "image_input" in capabilities:
        return bool(mapping(capabilities["image_input"]).get("supported"))
    return bool(capabilities["vision"]) if "vision" in capabilities else otherwise


def _calls(entry: Mapping[str, object], otherwise: bool) -> bool:
    parameters = items(entry.get("supported_parameters"))
    capabilities = mapping(entry.get("capabilities"))
    if parameters:
        return "tools" in parameters
    return bool(capabilities["function_calling"]) if "function_calling" in capabilities else otherwise


def _with_prices(info: KnownModel, pricing: Mapping[str, object]) -> KnownModel:
    """The provider's own prices, given for a single token."""

    def price(key: str, known: float | None) -> float | None:
        try:
            value = float(text(pricing.get(key))) if isinstance(pricing.get(key), str) else number(pricing.get(key))
        except ValueError:
            return known
        # Below zero stands for "varies".
        return known if value is None or value < 0 else round(value * 1_000_000, 6)

    return replace(
        info,
        input_price=price("prompt", info.input_price),
        output_price=price("completion", info.output_price),
        cache_reads_price=price("input_cache_read", info.cache_reads_price),
        cache_writes_price=price("input_cache_write", info.cache_writes_price),
    )
