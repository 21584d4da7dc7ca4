"""Models that can be chosen."""

from __future__ import annotations

import asyncio

from ...config import ContextProxy, provider_info
from ...errors import HdspAgentError
from ...providers import ModelEntry, known_models, list_models
from ._rest_bodies import ModelList, ModelQuery
from ._rest_endpoint import RestHandler, endpoint

__all__ = ["ModelsHandler", "profile_asked"]


class ModelsHandler(RestHandler):
    """`GET models?provider=…`"""

    @endpoint("List a provider's models, with window and prices", answer=ModelList, query=ModelQuery)
    async def get(self, *, query: ModelQuery) -> ModelList:
        """Without a provider, those of the profile's. What the provider itself tells comes before the catalogue.

        Without a profile, or with one of another provider, a profile that uses this provider is asked with.
        """
        config = self.services.config
        named = config.profiles.current if query.profile is None else config.profiles.get(query.profile)
        provider = query.provider or named.api_provider or ""
        if provider_info(provider) is None:
            return ModelList(models=[])
        profile = named.id if named.api_provider == provider else profile_asked(config, provider)
        try:
            settings = await config.with_keys(profile, provider)
            models = await list_models(settings, policy=config.policy, local=self.services.local_models)
        except HdspAgentError as error:
            # Without a key, without a connection: an id can still be chosen from what is known.
            self.log.info("HDSP Agent: the models of %s come from the catalogue: %s", provider, error.message)
            # The catalogue is a large module that is read at first use.
            return ModelList(models=list(await asyncio.to_thread(known_models, provider)))
        entries = (ModelEntry.model_validate(model, from_attributes=True) for model in models)
        return ModelList(models=[entry.model_copy(update={"provider": provider}) for entry in entries])


def profile_asked(config: ContextProxy, provider: str) -> str:
    """Whose key and address to ask with: the current profile's, or another's that uses this provider."""
    current = config.profiles.current
    users = [entry.id for entry in (current, *config.profiles.entries) if entry.api_provider == provider]
    return users[0] if users else current.id
