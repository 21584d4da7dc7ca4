"""The search of a running agent's past, put together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from ...memory import Memories
from ...persistence import HistoryIndex, StateDatabase, TaskStore
from ...recall import RecallIndex, bundled_embedder
from ...tools import PathPolicy
from .past_search import PastSearch
from .recall_feed import RecallFeed

__all__ = ["past_search"]


def past_search(
    database: StateDatabase,
    *,
    home: Path,
    workspace: Path,
    memories: Memories,
    store: Callable[[], Awaitable[TaskStore]],
    index: Callable[[], Awaitable[HistoryIndex]],
    with_meaning: bool = True,
) -> PastSearch:
    """What finds things in a person's conversations, memory and notebooks. Before the database is started.

    ``with_meaning`` also finds other words for the same, where the extra ``semantic`` is installed.
    """
    recall = RecallIndex(database, bundled_embedder() if with_meaning else None)

    def paths() -> PathPolicy:
        return PathPolicy(workspace, forbidden=(home,))

    return PastSearch(recall, RecallFeed(recall, store=store, index=index, memories=memories, paths=paths), workspace)
