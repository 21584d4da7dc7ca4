"""What a model of the policies costs and can take: the file's own numbers, else the catalogue's."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from ..config import ProviderSettings
from ..providers import KnownModel, model_info
from .policies import ModelPolicy, ProviderPolicy

__all__ = ["model_of"]

_UNKNOWN: Final = ModelPolicy()


@lru_cache(maxsize=4096)
def _described(protocol: str, address: str, model: str, own: ModelPolicy) -> KnownModel:
    place = (
        {"apiProvider": "anthropic", "apiModelId": model, "anthropicBaseUrl": address}
        if protocol == "anthropic"
        else {"apiProvider": "openai", "openAiModelId": model, "openAiBaseUrl": address}
    )
    numbers = {
        "modelInputPrice": own.input_price,
        "modelOutputPrice": own.output_price,
        "modelCacheReadsPrice": own.cache_read_price,
        "modelCacheWritesPrice": own.cache_write_price,
        "modelContextWindow": own.context_window,
        "modelMaxTokens": own.max_output,
    }
    given = {name: value for name, value in numbers.items() if value is not None}
    return model_info(ProviderSettings.model_validate({**place, **given}))


def model_of(provider: ProviderPolicy, model: str) -> KnownModel:
    """What is known of a model. The first call reads the catalogue: make it in a thread."""
    return _described(provider.protocol, provider.address, model, provider.models.get(model) or _UNKNOWN)
