"""What is known of hosted models without asking anybody: context windows and list prices.

The data is the maintained ``genai-prices`` package's. It covers the providers below; models of others work with the
explicit numbers of their profile.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING

from ..wire import WireModel

if TYPE_CHECKING:
    from decimal import Decimal

    from genai_prices.types import ModelInfo, ModelPrice, Provider, TieredPrices

__all__ = ["ModelEntry", "find_model", "known_models"]

# Our provider id → the catalogue's.
_CATALOGUED = {
    "anthropic": "anthropic",
    "bedrock": "aws",
    "deepseek": "deepseek",
    "gemini": "google",
    "groq": "groq",
    "mistral": "mistral",
    "openai-native": "openai",
    "openrouter": "openrouter",
    "vertex": "google",
    "xai": "x-ai",
}


# Where to look next: the clouds offer the models of these makers.
_MAKERS = {"bedrock": ("anthropic",), "vertex": ("anthropic",)}
# What the clouds put before or behind a maker's own id.
_CLOUD_PREFIX = re.compile(r"^(?:.*/)?(?:(?:global|us|eu|apac|ap|jp|au|us-gov)\.)?anthropic\.")
_CLOUD_SUFFIX = re.compile(r"(?:-v\d+(?::\d+)?|@.*)$")


class ModelEntry(WireModel):
    """A model as the catalogue knows it; prices are US dollars for a million tokens below any volume tier."""

    id: str
    provider: str
    name: str | None = None
    context_window: int | None = None
    input_price: float | None = None
    output_price: float | None = None
    cache_reads_price: float | None = None
    cache_writes_price: float | None = None
    deprecated: bool = False


def known_models(provider: str) -> tuple[ModelEntry, ...]:
    """The catalogue's models of one of our providers, those still offered first.

    The first call reads a large data module: make it in a thread.
    """
    # Only names of ours are remembered: what else is asked for must not pile up.
    return _catalogued(provider) if provider in _CATALOGUED else ()


def find_model(provider: str, model: str) -> ModelEntry | None:
    """The catalogue's entry for a model's id in any of its forms: dated, an alias, or as a cloud names it.

    The first call reads a large data module: make it in a thread.
    """
    if (found := _matched(provider, model)) is not None:
        return found
    own = _CLOUD_SUFFIX.sub("", _CLOUD_PREFIX.sub("", model))
    for maker in _MAKERS.get(provider, ()):
        if (found := _matched(maker, own)) is not None:
            return found
    return None


def _matched(provider: str, model: str) -> ModelEntry | None:
    if provider not in _CATALOGUED:
        return None
    from genai_prices.data import providers

    source = next((entry for entry in providers if entry.id == _CATALOGUED[provider]), None)
    found = source.find_model(model, all_providers=providers) if source else None
    return _entry(provider, found) if found else None


@cache
def _catalogued(provider: str) -> tuple[ModelEntry, ...]:
    from genai_prices.data import providers

    source: Provider | None = next((entry for entry in providers if entry.id == _CATALOGUED[provider]), None)
    models = source.models if source else []
    entries = [_entry(provider, model) for model in models]
    return tuple(sorted(entries, key=lambda entry: (entry.deprecated, entry.id)))


def _entry(provider: str, model: ModelInfo) -> ModelEntry:
    prices: ModelPrice = model.get_prices(datetime.now(tz=UTC))
    return ModelEntry(
        id=model.id,
        provider=provider,
        name=model.name,
        context_window=model.context_window,
        input_price=_dollars(prices, "input_mtok"),
        output_price=_dollars(prices, "output_mtok"),
        cache_reads_price=_dollars(prices, "cache_read_mtok"),
        cache_writes_price=_dollars(prices, "cache_write_mtok"),
        deprecated=bool(model.deprecated),
    )


def _dollars(prices: ModelPrice, unit: str) -> float | None:
    price: Decimal | TieredPrices | None = getattr(prices, unit, None)
    if price is None:
        return None
    return float(price.base if hasattr(price, "base") else price)
