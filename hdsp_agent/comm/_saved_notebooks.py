"""Notebooks' files as the agent left them: a tab that shows an older one is told to show it anew."""

from __future__ import annotations

from typing import Final

from ..messages import OpenNotebook, ReloadNotebookMessage
from ._notebook_tab import NotebookTab

__all__ = ["SavedNotebooks"]

_MOST_FILES: Final = 1_000


class SavedNotebooks:
    """The hash of each file, until somebody else writes it."""

    def __init__(self) -> None:
        self._hashes: dict[str, str] = {}

    def left(self, path: str, content_hash: str | None) -> None:
        """The agent left a file with this content; None is one that is not known."""
        self._hashes.pop(path, None)
        if content_hash is not None:
            self._hashes[path] = content_hash
        for oldest in list(self._hashes)[:-_MOST_FILES]:
            del self._hashes[oldest]

    def moved(self, old: str, new: str) -> None:
        """A file has another path now."""
        if old in self._hashes:
            self._hashes[new] = self._hashes.pop(old)

    def is_news(self, tab: NotebookTab, path: str, before: OpenNotebook | None) -> bool:
        """Whether a tab that told of a notebook like this before shows now what somebody else than the agent wrote."""
        now = tab.notebooks.get(path)
        if now is None or before is None or now.collaborative or None in (before.content_hash, now.content_hash):
            return False
        return now.content_hash not in (before.content_hash, self._hashes.get(path))

    def told(self, tab: NotebookTab, path: str, before: OpenNotebook | None) -> ReloadNotebookMessage | None:
        """What to answer a tab that has told of a notebook, which it told of before like this."""
        now, current = tab.notebooks.get(path), self._hashes.get(path)
        if now is None or current is None:
            return None
        if before is not None and now.content_hash not in (before.content_hash, current):
            # It has read or written the file since: what the agent left is not the newest any more.
            del self._hashes[path]
            return None
        return self.news(tab, path)

    def news(self, tab: NotebookTab, path: str) -> ReloadNotebookMessage | None:
        """What to tell a tab of a file, if it shows an older one."""
        current = self._hashes.get(path)
        if current is None or not tab.shows_older(path, current):
            return None
        return ReloadNotebookMessage(path=path, content_hash=current)
