"""What compares meanings where a person searches the past: as their settings say, from the next search on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ...config import ConfigChange, ContextProxy, GlobalSettings, SearchByMeaning, check_search_endpoint
from ...errors import EmbeddingsUnavailable, HdspAgentError
from ...memory.redaction import redact
from ...recall import EmbedderAccess, EndpointEmbedder, RecallIndex, bundled_embedder
from .._local_providers import is_on_this_machine

__all__ = ["ChosenEmbedder", "MeaningStatus"]

logger = logging.getLogger(__name__)

_SETTINGS: Final = frozenset({"searchByMeaning", "searchEndpointUrl", "searchEndpointModel"})
_KEY: Final = "searchEndpointApiKey"


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
    """Gives the index the embedder that the settings name. Nothing is sent anywhere before a person chose that.

    ``person`` is whose settings they are. An endpoint reads what is theirs, and nothing that is another person's.
    """

    def __init__(self, recall: RecallIndex, config: ContextProxy, person: str) -> None:
        self._recall = recall
        self._config = config
        self._person = person
        self._bundled = bundled_embedder()
        self._order = asyncio.Lock()
        self._is_stale = True
        self._key_state = self._find_key_state()
        self._problem: HdspAgentError | None = None
        self.on_changed: Callable[[], None] = lambda: None
        """Called when there is something for the background to do, such as the vectors of another embedder."""
        config.subscribe(self._changed)

    async def apply(self, *, anew: bool = False) -> None:
        """Let what was set last count. What is set meanwhile counts at the next call. ``anew`` also reads the key again."""
        async with self._order:
            if not (self._is_stale or anew):
                return
            self._is_stale = False
            try:
                await self._choose()
            except BaseException:
                self._is_stale = True
                raise

    def reads_for(self, owner: str) -> bool:
        """Whether vectors may be made of what is this person's."""
        return self._config.settings.search_by_meaning != "endpoint" or owner == self._person

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
        self._problem = None
        settings = self._config.settings
        if settings.search_by_meaning != "endpoint":
            self._use_at_once(settings)
            return
        endpoint: EndpointEmbedder | None = None
        problem: HdspAgentError | None = None
        try:
            endpoint = await self._endpoint(settings)
        except HdspAgentError as error:
            problem = error
        self._key_state = self._find_key_state()
        if _named(self._config.settings) != _named(settings):
            # Whatever was set while the key was read is in force already, and the rest of it with the next call.
            return
        if problem is not None:
            logger.warning("Searching by words only: %s", problem)
            self._problem = problem
        is_elsewhere = not is_on_this_machine(settings.search_endpoint_url or "")
        self._recall.use(endpoint, EmbedderAccess(self._person, is_elsewhere))

    def _use_at_once(self, settings: GlobalSettings) -> None:
        """What needs no key counts now. An endpoint gets nothing more to read until it is known to be the one."""
        self._recall.use(self._bundled if settings.search_by_meaning == "bundled" else None)

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
        key = await self._config.setting_key(_KEY)
        # Conversations are masked as the person wants it, which may be not at all; what leaves the machine always is.
        return EndpointEmbedder(url, model, key.get_secret_value() if key is not None else None, mask=redact)

    def _changed(self, change: ConfigChange) -> None:
        if change.settings & _SETTINGS:
            self._is_stale = True
            self._use_at_once(self._config.settings)
            self.on_changed()
        elif change.secrets and self._config.settings.search_by_meaning == "endpoint":
            if self._find_key_state() == self._key_state:
                return
            self._is_stale = True
            if not self._order.locked():
                # Else reading the key is what changed how it stands: to begin a round for that would have no end.
                self.on_changed()

    def _find_key_state(self) -> tuple[object, ...]:
        """Where keys are kept, and what is known of the endpoint's."""
        status = self._config.secrets.status
        return (status.storage, *(one for one in status.secrets if one.key == _KEY))


def _named(settings: GlobalSettings) -> tuple[str | None, ...]:
    return settings.search_by_meaning, settings.search_endpoint_url, settings.search_endpoint_model
