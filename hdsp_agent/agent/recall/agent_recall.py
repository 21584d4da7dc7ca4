"""The search of a running agent's past, put together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from ...config import ConfigChange, ContextProxy, ProviderSettings
from ...errors import UnknownProfile
from ...memory import Memories
from ...persistence import HistoryIndex, TaskStore
from ...recall import RecallIndex
from ...tools import PathPolicy
from .._local_providers import stayed_on_this_machine
from .chosen_embedder import ChosenEmbedder
from .past_search import PastSearch
from .recall_feed import RecallFeed

__all__ = ["past_search"]


def past_search(
    recall: RecallIndex,
    *,
    config: ContextProxy,
    person: str,
    workspace: Path,
    memories: Memories,
    store: Callable[[], Awaitable[TaskStore]],
    index: Callable[[], Awaitable[HistoryIndex]],
) -> PastSearch:
    """What finds things in a person's conversations, memory and notebooks.

    ``person`` is whose settings ``config`` has.
    """
    embedder = ChosenEmbedder(recall, config, person)

    def paths() -> PathPolicy:
        return PathPolicy(workspace, forbidden=(config.home,))

    def settings_of(profile: str) -> ProviderSettings | None:
        with suppress(UnknownProfile):
            return config.profiles.settings(profile)
        return None

    def stayed_here(profile: str | None, used_local_model: bool) -> bool:
        return stayed_on_this_machine(profile, settings_of, used_local_model=used_local_model)

    def changed(change: ConfigChange) -> None:
        if "memoryEnabled" in change.settings:
            embedder.on_changed()

    config.subscribe(changed)
    feed = RecallFeed(
        recall,
        embedder,
        store=store,
        index=index,
        memories=memories,
        paths=paths,
        is_memory_on=lambda: config.settings.memory_enabled,
        stayed_here=stayed_here,
    )
    return PastSearch(recall, feed, embedder, workspace)
