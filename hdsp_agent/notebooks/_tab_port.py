"""What the notebooks need of the browser tabs that have them open."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..messages import (
    ApplyNotebookOperationsMessage,
    ChangeOutputsMessage,
    NotebookOperation,
    NotebookOperationsResultRequest,
    NotebookPageRequest,
    OpenNotebook,
    ReadNotebookMessage,
)

__all__ = ["NoTabs", "TabGone", "TabPort", "TabSilent", "TabView"]


class TabGone(Exception):
    """The tab is not there any more. The operations it was asked for last, it may have done or not."""

    def __init__(self, asked: Sequence[NotebookOperation] = ()) -> None:
        super().__init__()
        self.asked = tuple(asked)


class TabSilent(Exception):
    """The tab is connected and does not answer. What it was asked, it may still do until the deadline."""


@dataclass(frozen=True)
class TabView:
    """A tab, and a notebook as it told of it last."""

    owner: str
    client_id: str
    notebook: OpenNotebook


class TabPort(Protocol):
    """The tabs that have notebooks open. At most one of them holds the lease on a path: it is the one to ask."""

    def paths(self) -> Collection[str]:
        """All that tabs have open, those that are missed and what was left unsaved included."""

    async def holder(self, path: str) -> TabView | None:
        """The tab that holds the lease. Waits a moment for one whose connection was just lost."""

    def unsaved(self, path: str) -> list[TabView]:
        """Tabs other than the holder that have changes nobody saved, gone ones included."""

    async def apply(self, tab: TabView, message: ApplyNotebookOperationsMessage) -> NotebookOperationsResultRequest:
        """Have operations done. Raises TabGone or TabSilent."""

    async def read(self, tab: TabView, message: ReadNotebookMessage) -> NotebookPageRequest:
        """Have part of the notebook told. Raises TabGone or TabSilent."""

    async def show(self, tab: TabView, message: ChangeOutputsMessage) -> None:
        """Have outputs shown; without an answer. Raises TabGone."""

    def saved(self, path: str, content_hash: str | None, *, by: TabView | None) -> None:
        """The file has changed: tabs that show what it was before, and have nothing unsaved, show it anew."""


class NoTabs:
    """Where there is no browser."""

    def paths(self) -> Collection[str]:
        """None."""
        return ()

    async def holder(self, path: str) -> TabView | None:
        """Nobody."""
        return None

    def unsaved(self, path: str) -> list[TabView]:
        """None."""
        return []

    async def apply(self, tab: TabView, message: ApplyNotebookOperationsMessage) -> NotebookOperationsResultRequest:
        """Nobody can be asked."""
        raise TabGone

    async def read(self, tab: TabView, message: ReadNotebookMessage) -> NotebookPageRequest:
        """Nobody can be asked."""
        raise TabGone

    async def show(self, tab: TabView, message: ChangeOutputsMessage) -> None:
        """Nobody can be asked."""
        raise TabGone

    def saved(self, path: str, content_hash: str | None, *, by: TabView | None) -> None:
        """Nobody shows it."""
