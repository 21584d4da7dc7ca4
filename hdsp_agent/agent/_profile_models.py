"""The models of a person's profiles, kept ready between tasks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from ..config import ContextProxy, ProviderSettings
from ..errors import HdspAgentError
from ..local import LocalModels
from ..messages import ModelInfo, ModelRecord
from ..providers import KnownModel, ModelClient, count_tokens, list_models, open_client
from ._local_providers import place_on_this_machine

__all__ = ["DEFAULT_MISTAKE_LIMIT", "ProfileModels"]

logger = logging.getLogger(__name__)

DEFAULT_MISTAKE_LIMIT: Final = 3


class ProfileModels:
    """See ``Models``. A changed profile is opened anew; its old client closes when it has been replaced."""

    def __init__(self, config: ContextProxy, local: LocalModels | None = None) -> None:
        self._config = config
        self._local = local
        self._clients: dict[str, tuple[ProviderSettings, ModelClient]] = {}
        self._replaced: list[ModelClient] = []
        self._opening = asyncio.Lock()

    def profile_for(self, mode: str, now: str | None = None) -> str:
        """See ``Models``."""
        book = self._config.profiles
        if now is not None and book.locked and now in self._names():
            return now
        return book.for_mode(mode).name

    async def client(self, profile: str) -> ModelClient:
        """The model of this profile; the current one's if there is no such profile any more."""
        async with self._opening:
            settings = await self._settings(profile)
            known = self._clients.get(profile)
            if known is not None and known[0] == settings:
                return known[1]
            client = await open_client(settings, policy=self._config.policy, local=self._local)
            if known is not None:
                # Another task may be listening to it.
                self._replaced.append(known[1])
            self._clients[profile] = settings, client
            return client

    def settings_of(self, profile: str) -> ProviderSettings | None:
        """The settings of the profile of this name, without its keys; None if there is no such profile."""
        return self._config.profiles.settings(profile) if profile in self._names() else None

    def mistake_limit(self, profile: str) -> int:
        """After how many mistakes in a row the agent asks; 0 is never."""
        limit = self._plain(profile).consecutive_mistake_limit
        return DEFAULT_MISTAKE_LIMIT if limit is None else limit

    def rate_limit_seconds(self, profile: str) -> float:
        """How far apart requests are spaced."""
        own = self._plain(profile).rate_limit_seconds
        return self._config.settings.rate_limit_seconds if own is None else own

    async def count_tokens(self, profile: str, texts: Sequence[str]) -> list[int] | None:
        """The tokens of each text as the profile's model counts them; None if nobody on this machine can tell."""
        if place_on_this_machine(self._plain(profile)) is None:
            return None
        try:
            settings = await self._settings(profile)
        except HdspAgentError as error:
            logger.info("The tokens could not be counted without the key: %s", error.message)
            return None
        return await count_tokens(settings, texts, policy=self._config.policy, local=self._local)

    async def known(self) -> ModelRecord:
        """The models the current profile can choose from, by id; those of unknown size are left out."""
        settings = await self._settings(self._config.profiles.current.id)
        models = await list_models(settings, policy=self._config.policy, local=self._local)
        return {model.id: _told(model, model.context_window) for model in models if model.context_window is not None}

    async def close(self) -> None:
        """Let go of all models."""
        clients = [client for _, client in self._clients.values()] + self._replaced
        self._clients, self._replaced = {}, []
        await asyncio.gather(*(client.close() for client in clients), return_exceptions=True)

    def _plain(self, profile: str) -> ProviderSettings:
        known = profile in self._names()
        return self._config.profiles.settings(profile if known else self._config.profiles.current.id)

    def _names(self) -> frozenset[str]:
        return frozenset(name for entry in self._config.profiles.entries for name in (entry.id, entry.name))

    async def _settings(self, profile: str) -> ProviderSettings:
        """The profile with its keys."""
        known = profile in self._names()
        return await self._config.with_keys(profile if known else self._config.profiles.current.id)


def _told(model: KnownModel, window: int) -> ModelInfo:
    """A model as clients know it."""
    return ModelInfo(
        context_window=window,
        max_tokens=model.max_output,
        supports_images=model.supports_images,
        supports_prompt_cache=model.supports_cache,
        input_price=model.input_price,
        output_price=model.output_price,
        cache_reads_price=model.cache_reads_price,
        cache_writes_price=model.cache_writes_price,
    )
