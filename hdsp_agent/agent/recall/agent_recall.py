"""The search of a running agent's past, put together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from ...config import ContextProxy
from ...memory import Memories
from ...persistence import HistoryIndex, StateDatabase, TaskStore
from ...recall import RecallIndex
from ...tools import PathPolicy
from .chosen_embedder import ChosenEmbedder
from .past_search import PastSearch
from .recall_feed import RecallFeed

__all__ = ["past_search"]


def past_search(
    database: StateDatabase,
    *,
    config: ContextProxy,
    workspace: Path,
    memories: Memories,
    store: Callable[[], Awaitable[TaskStore]],
    index: Callable[[], Awaitable[HistoryIndex]],
) -> PastSearch:
    """What finds things in a person's conversations, memory and notebooks. Before the database is started."""
    recall = RecallIndex(database)
    embedder = ChosenEmbedder(recall, config)

    def paths() -> PathPolicy:
        return PathPolicy(workspace, forbidden=(config.home,))

    feed = RecallFeed(recall, embedder, store=store, index=index, memories=memories, paths=paths)
    return PastSearch(recall, feed, embedder, workspace)
