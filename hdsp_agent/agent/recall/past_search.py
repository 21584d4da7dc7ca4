"""Searching the past: for people, for programs and for the agent."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from ...errors import Unavailable
from ...recall import RecallHit, RecallIndex, RecallKind, RecallQuery
from .chosen_embedder import ChosenEmbedder, MeaningStatus
from .recall_feed import RecallFeed

__all__ = ["PastSearch"]

_KINDS: Final = frozenset[RecallKind](("conversation", "memory", "notebook"))
_PAUSE_SECONDS: Final = 60.0
"""How far apart searches and looks at the status begin rounds in the background."""


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
        self._hurried_at = float("-inf")

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
        stays_here: bool = False,
    ) -> Sequence[RecallHit]:
        """The passages of this person that answer best. Raises StorageUnavailable.

        ``stays_here`` says that the text must not leave this machine.
        """
        has_changed = await self.feed.refresh(owner)
        await self.embedder.apply()
        if has_changed or self.feed.is_behind:
            self._hurry(await self.embedder.status())
        if not self.feed.is_memory_on:
            kinds = (_KINDS if kinds is None else kinds) - {"memory"}
            if not kinds:
                return ()
        query = RecallQuery(
            text,
            owner,
            kinds=kinds,
            workspace=workspace,
            since=since,
            until=until,
            now=int(self._clock() * 1000),
            limit=limit,
            stays_here=stays_here,
        )
        hits = await self._recall.search(query)
        return [hit for hit in hits if await self.feed.is_there(hit.source)]

    async def meaning(self) -> MeaningStatus:
        """How searching by meaning stands. Raises StorageUnavailable."""
        status = await self.embedder.status()
        self._hurry(status)
        return status

    async def try_meaning(self) -> MeaningStatus:
        """Have one vector made now; how searching by meaning stands then. Raises StorageUnavailable."""
        await self.embedder.apply(anew=True)
        with suppress(Unavailable):
            await self._recall.try_embedder()
        status = await self.embedder.status()
        if status.unread and status.failure is None:
            # The background may have failed before, and waits.
            self.embedder.on_changed()
        return status

    def _hurry(self, status: MeaningStatus) -> None:
        """Have what is missing put in and read soon, where nothing is under way."""
        has_unread = status.unread > 0 and status.failure is None
        if not (has_unread or self.feed.is_behind) or self.feed.is_catching_up:
            return
        now = time.monotonic()
        if now - self._hurried_at >= _PAUSE_SECONDS:
            self._hurried_at = now
            self.embedder.on_changed()

    async def notebooks_here(self, hits: Sequence[RecallHit]) -> Mapping[str, str]:
        """The paths from the workspace on of those found notebooks that are in it, by their source's id."""
        here = await asyncio.to_thread(os.path.realpath, self._workspace)
        sources = [hit.source for hit in hits if hit.source.kind == "notebook"]
        return {source.id: source.title for source in sources if source.workspace == here}
