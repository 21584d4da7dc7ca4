"""What compares meanings where a person searches the past: as their settings say, from the next search on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from ...config import ConfigChange, ContextProxy, GlobalSettings, SearchByMeaning, check_search_endpoint
from ...errors import EmbeddingsUnavailable, HdspAgentError
from ...memory.redaction import redact
from ...recall import EndpointEmbedder, RecallIndex, bundled_embedder

__all__ = ["ChosenEmbedder", "MeaningStatus"]

logger = logging.getLogger(__name__)

_SETTINGS: Final = frozenset({"searchByMeaning", "searchEndpointUrl", "searchEndpointModel"})


@dataclass(frozen=True)
class MeaningStatus:
    """How searching by meaning stands."""

    by: SearchByMeaning
    installed: bool
    """Whether the extra ``semantic`` is."""
    unread: int
    """How many passages are found by their words alone so far."""
    failure: HdspAgentError | None
    """Why there is no searching by meaning just now."""


class ChosenEmbedder:
    """Gives the index the embedder that the settings name. Nothing is sent anywhere before a person chose that."""

    def __init__(self, recall: RecallIndex, config: ContextProxy) -> None:
        self._recall = recall
        self._config = config
        self._bundled = bundled_embedder()
        self._order = asyncio.Lock()
        self._is_stale = True
        self._problem: HdspAgentError | None = None
        self.on_changed: Callable[[], None] = lambda: None
        """Called when another was chosen, whose vectors are to be made."""
        config.subscribe(self._changed)

    async def apply(self) -> None:
        """Let what was set last count."""
        async with self._order:
            while self._is_stale:
                self._is_stale = False
                self._problem = None
                await self._choose()

    async def status(self) -> MeaningStatus:
        """How it stands now. Raises StorageUnavailable."""
        await self.apply()
        return MeaningStatus(
            by=self._config.settings.search_by_meaning,
            installed=self._bundled is not None,
            unread=await self._recall.count_unembedded(),
            failure=self._problem or self._recall.failure,
        )

    async def _choose(self) -> None:
        settings = self._config.settings
        match settings.search_by_meaning:
            case "off":
                self._recall.use(None)
            case "bundled":
                self._recall.use(self._bundled)
            case "endpoint":
                try:
                    self._recall.use(await self._endpoint(settings))
                except HdspAgentError as error:
                    logger.warning("Searching by words alone: %s", error)
                    self._problem = error
                    self._recall.use(None)

    async def _endpoint(self, settings: GlobalSettings) -> EndpointEmbedder:
        url, model = settings.search_endpoint_url, settings.search_endpoint_model
        check_search_endpoint(url, self._config.policy)
        if url is None:
            raise EmbeddingsUnavailable(
                "The embeddings endpoint has no address yet. Enter it in the settings.", missing="url"
            )
        if model is None:
            raise EmbeddingsUnavailable(
                "The embeddings endpoint has no model yet. Enter it in the settings.", missing="model"
            )
        key = await self._config.setting_key("searchEndpointApiKey")
        # Conversations are masked as the person wants it, which may be not at all; what leaves the machine always is.
        return EndpointEmbedder(_base(url), model, key.get_secret_value() if key is not None else None, mask=redact)

    def _changed(self, change: ConfigChange) -> None:
        is_chosen = self._config.settings.search_by_meaning == "endpoint"
        if change.settings & _SETTINGS or (change.secrets and is_chosen):
            self._is_stale = True
            self.on_changed()


def _base(url: str) -> str:
    """The address before ``/embeddings``, as people write it in one way or another."""
    url = url.rstrip("/").removesuffix("/embeddings")
    return url if urlsplit(url).path not in ("", "/") else f"{url}/v1"
