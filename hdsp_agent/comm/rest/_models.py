"""Models that can be chosen."""

from __future__ import annotations

import asyncio

from ...providers import known_models
from ._bodies import ModelList, ModelQuery
from ._endpoint import RestHandler, endpoint

__all__ = ["ModelsHandler"]


class ModelsHandler(RestHandler):
    """`GET models?provider=…`"""

    @endpoint("Models of a provider: window and prices", answer=ModelList, query=ModelQuery)
    async def get(self, *, query: ModelQuery) -> ModelList:
        """Without a provider, those of the current profile's."""
        provider = query.provider or self.services.config.profiles.current.api_provider or ""
        # The catalogue is a large module that is read at first use.
        models = await asyncio.to_thread(known_models, provider)
        return ModelList(models=list(models))
