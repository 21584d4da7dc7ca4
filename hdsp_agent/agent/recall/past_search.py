"""Searching the past: for people, for programs and for the agent."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ...errors import Unavailable
from ...recall import RecallHit, RecallIndex, RecallKind, RecallQuery
from .chosen_embedder import ChosenEmbedder, MeaningStatus
from .recall_feed import RecallFeed

__all__ = ["PastSearch"]


class PastSearch:
    """Asks the index, once what was said last is in it."""

    def __init__(
        self,
        recall: RecallIndex,
        feed: RecallFeed,
        embedder: ChosenEmbedder,
        workspace: Path,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._recall = recall
        self._workspace = workspace
        self.feed = feed
        self.embedder = embedder
        self._clock = clock

    async def search(
        self,
        owner: str,
        text: str,
        *,
        kinds: frozenset[RecallKind] | None = None,
        workspace: str | None = None,
        since: int | None = None,
        until: int | None = None,
        limit: int = 10,
    ) -> Sequence[RecallHit]:
        """The passages of this person that answer best. Raises StorageUnavailable."""
        await self.feed.refresh(owner)
        await self.embedder.apply()
        now = int(self._clock() * 1000)
        hits = await self._recall.search(
            RecallQuery(text, owner, kinds=kinds, workspace=workspace, since=since, until=until, now=now, limit=limit)
        )
        return [hit for hit in hits if await self.feed.is_there(hit.source)]

    async def try_meaning(self) -> MeaningStatus:
        """Have one vector made now; how searching by meaning stands then. Raises StorageUnavailable."""
        await self.embedder.apply()
        with suppress(Unavailable):
            await self._recall.try_embedder()
        return await self.embedder.status()

    async def notebooks_here(self, hits: Sequence[RecallHit]) -> Mapping[str, str]:
        """The paths from the workspace on of those found notebooks that are in it, by their source's id."""
        here = await asyncio.to_thread(os.path.realpath, self._workspace)
        sources = [hit.source for hit in hits if hit.source.kind == "notebook"]
        return {source.id: source.title for source in sources if source.workspace == here}
