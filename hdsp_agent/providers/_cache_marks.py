"""Where a request's breakpoints for the provider's cache are, as far as the protocol has any."""

from __future__ import annotations

from typing import Final

from ..config import ProviderSettings, provider_info
from ._anthropic_request import marked_messages
from ._model import KnownModel, ModelRequest

__all__ = ["cache_marks"]

_MARKED: Final = frozenset({"anthropic", "bedrock", "vertex"})


def cache_marks(settings: ProviderSettings | None, info: KnownModel, request: ModelRequest) -> list[int] | None:
    """The indexes of the messages that end with one; None where the provider finds by itself what it has cached."""
    known = provider_info(settings.api_provider) if settings is not None and settings.api_provider else None
    if settings is None or known is None or known.protocol not in _MARKED:
        return None
    if not info.supports_cache or (known.id == "bedrock" and settings.aws_use_prompt_cache is False):
        return []
    return marked_messages(request)
