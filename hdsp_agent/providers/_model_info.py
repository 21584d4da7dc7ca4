"""What is known of a profile's model: the catalogue's numbers, and the profile's own, which go first."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from ..config import ProviderSettings, model_id, provider_info
from ..errors import HdspAgentError
from ..local import ModelLimits, model_limits
from ._model import KnownModel
from ._model_catalogue import ModelEntry, find_model
from ._quirks import quirks_of, server_of

__all__ = ["catalogue_of", "described", "embedded_info", "entry_info", "local_info", "model_info", "reasons"]

_HOSTED: Final = frozenset({"anthropic", "openai-native", "bedrock", "vertex", "gemini", "xai"})
_CLAUDE_OUTPUT: Final[tuple[tuple[re.Pattern[str], int], ...]] = (
    (re.compile(r"claude-3-(?:haiku|opus|sonnet)"), 4096),
    (re.compile(r"claude-3-5"), 8192),
    # Far below what they can do: what is reserved for the answer is missing from the conversation.
    (re.compile(r"claude"), 32_000),
)
_UNKNOWN_OUTPUT: Final = 8192
_NO_THINKING: Final = re.compile(r"claude-3-(?:haiku|opus|sonnet|5)")
_REASONS: Final = re.compile(r"(?:^|/)(?:o\d|gpt-(?:[5-9]|\d\d)|codex)(?!.*chat)")
_BLIND: Final = re.compile(r"^(?:o1-mini|o3-mini|gpt-3\.5)|claude-3-5-haiku")
_LONG_WINDOW: Final = 1_000_000


def model_info(settings: ProviderSettings) -> KnownModel:
    """What is known of the profile's model. The first call reads the catalogue: make it in a thread."""
    provider = settings.api_provider or ""
    if provider == "local":
        try:
            return local_info(settings, model_limits(settings))
        except HdspAgentError:
            # A model that was added, or none that there is: whoever wants to ask it is told so.
            return _with_own_numbers(KnownModel(id=model_id(settings) or "", provider=provider), settings)
    model = model_id(settings) or ""
    entry = find_model(catalogue_of(settings), model) if model else None
    info = entry_info(entry, settings) if entry else described(KnownModel(id=model, provider=provider), settings)
    return _with_own_numbers(replace(info, id=model, provider=provider), settings)


def local_info(settings: ProviderSettings, limits: ModelLimits) -> KnownModel:
    """The same of an embedded model's profile."""
    embedded = embedded_info(limits)
    own = _with_own_numbers(embedded, settings)
    # Its window is made as large as this, and no larger than the model can.
    return replace(own, context_window=embedded.context_window, max_output=embedded.max_output)


def embedded_info(limits: ModelLimits) -> KnownModel:
    """What is known of an embedded model. It costs nothing."""
    return KnownModel(
        id=limits.id,
        provider="local",
        name=limits.name,
        context_window=limits.context,
        max_output=limits.output,
        supports_cache=True,
        input_price=0.0,
        output_price=0.0,
    )


def catalogue_of(settings: ProviderSettings) -> str:
    """The provider whose catalogue knows the profile's models."""
    if settings.api_provider != "openai":
        return settings.api_provider or ""
    server = server_of(settings, settings.open_ai_base_url)
    return "openai-native" if server in ("openai", "azure") else server


def entry_info(entry: ModelEntry, settings: ProviderSettings) -> KnownModel:
    """What the catalogue and the model's name say of a model."""
    known = KnownModel(
        id=entry.id,
        provider=settings.api_provider or entry.provider,
        name=entry.name,
        context_window=entry.context_window,
        input_price=entry.input_price,
        output_price=entry.output_price,
        cache_reads_price=entry.cache_reads_price,
        cache_writes_price=entry.cache_writes_price,
        deprecated=entry.deprecated,
    )
    return described(known, settings)


def reasons(model: str) -> bool:
    """Whether a model of OpenAI's thinks before it answers."""
    return bool(_REASONS.search(model))


def described(info: KnownModel, settings: ProviderSettings) -> KnownModel:
    """What the provider's name and the model's say."""
    provider, model = settings.api_provider or "", info.id
    claude = "claude" in model
    if provider in ("anthropic", "bedrock", "vertex"):
        output = next((tokens for pattern, tokens in _CLAUDE_OUTPUT if pattern.search(model)), _UNKNOWN_OUTPUT)
        images = claude and not _BLIND.search(model)
        thinks = claude and not _NO_THINKING.search(model)
        return replace(info, max_output=output, supports_images=images, supports_thinking=thinks, supports_cache=True)
    base = provider_info(provider)
    address = settings.open_ai_base_url if provider == "openai" else base.default_base_url if base else None
    quirks = quirks_of(server_of(settings, address), model, settings)
    cached = info.cache_reads_price is not None or provider in _HOSTED
    return replace(
        info,
        supports_images=quirks.images and not _BLIND.search(model),
        supports_thinking=provider != "openai-native" or reasons(model),
        supports_cache=cached,
    )


def _with_own_numbers(info: KnownModel, settings: ProviderSettings) -> KnownModel:
    """The profile's explicit numbers, where it has any."""

    def own(value: int | None, known: int | None) -> int | None:
        return known if value is None else value

    def price(value: float | None, known: float | None) -> float | None:
        return known if value is None else value

    def flag(value: bool | None, known: bool) -> bool:
        return known if value is None else value

    window = info.context_window
    long = {
        "anthropic": settings.anthropic_beta_1m_context,
        "bedrock": settings.aws_bedrock_1m_context,
        "vertex": settings.vertex_1m_context,
    }
    if long.get(info.provider):
        window = max(window or 0, _LONG_WINDOW)
    if info.provider == "ollama":
        window = own(settings.ollama_num_ctx, window)
    return replace(
        info,
        context_window=own(settings.model_context_window, window),
        max_output=own(settings.model_max_tokens, info.max_output),
        supports_images=flag(settings.model_supports_images, info.supports_images),
        supports_tools=flag(settings.model_supports_tools, info.supports_tools),
        supports_cache=flag(settings.model_supports_prompt_cache, info.supports_cache),
        input_price=price(settings.model_input_price, info.input_price),
        output_price=price(settings.model_output_price, info.output_price),
        cache_reads_price=price(settings.model_cache_reads_price, info.cache_reads_price),
        cache_writes_price=price(settings.model_cache_writes_price, info.cache_writes_price),
    )
