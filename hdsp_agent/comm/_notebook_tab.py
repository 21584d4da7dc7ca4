"""A tab of the browser, as far as it has notebooks open."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

from ..messages import NotebookOperationsResultRequest, NotebookPageRequest, OpenNotebook
from ..notebooks import TabView
from ._owner import Owner

__all__ = ["Answer", "NotebookTab"]

Answer = NotebookOperationsResultRequest | NotebookPageRequest


class NotebookTab:
    """It is connected from when it has told what it has open until its connection ends, or begins anew."""

    def __init__(self, owner: Owner, client_id: str) -> None:
        self.owner: Final = owner
        self.client_id: Final = client_id
        self.notebooks: dict[str, OpenNotebook] = {}
        self.connected = False
        self.left_at = 0.0
        self.is_remembered = False
        """Whether it is known only from before the server started again."""
        self.waiting: dict[str, asyncio.Future[Answer]] = {}
        self.silent: set[str] = set()
        """Notebooks it was asked about and did not answer for, since it was last heard of."""
        self._opened_at: dict[str, float] = {}
        self._reloads: dict[str, tuple[str, str]] = {}

    def tell(self, notebooks: Iterable[OpenNotebook], now: float) -> None:
        """These are its notebooks now."""
        self.notebooks = {each.path: each for each in notebooks}
        self._opened_at = {path: self._opened_at.get(path, now) for path in self.notebooks}
        self._reloads = {path: asked for path, asked in self._reloads.items() if path in self.notebooks}
        self.connected = True
        self.is_remembered = False

    def remember(self, notebooks: Iterable[OpenNotebook], now: float) -> None:
        """It had these when the server last ran, and has not come back yet."""
        self.notebooks = {each.path: each for each in notebooks}
        self.left_at = now
        self.is_remembered = True

    def lose(self, now: float) -> None:
        """Its connection is lost, or a new one; what it has open now it has not told yet."""
        if self.connected:
            self.connected = False
            self.left_at = now

    def keep_unsaved(self) -> None:
        """It did not come back. What it had unsaved is remembered: it may be on a laptop that sleeps."""
        self.notebooks = {path: each for path, each in self.notebooks.items() if each.dirty}

    def view(self, path: str) -> TabView:
        """A notebook of it for those who ask."""
        return TabView(self.owner, self.client_id, self.notebooks[path])

    def has(self, path: str) -> bool:
        """Whether it has a notebook open now."""
        return self.connected and path in self.notebooks

    def has_unsaved(self, path: str) -> bool:
        """Whether it has changes nobody saved. What is shared through collaboration, the others have as well."""
        notebook = self.notebooks.get(path)
        return notebook is not None and notebook.dirty and not notebook.collaborative

    def opened_after(self, path: str, checkpoint: float) -> bool:
        """Whether somebody opened a notebook here since."""
        return self.has(path) and self._opened_at[path] > checkpoint

    def shows_older(self, path: str, current: str) -> bool:
        """Whether it is to show the file anew. Asked once: what the file is by then, the tab finds out itself."""
        notebook = self.notebooks.get(path)
        if notebook is None or not self.connected or notebook.dirty or notebook.collaborative:
            return False
        if notebook.content_hash in (None, current) or self._reloads.get(path) == (notebook.content_hash, current):
            return False
        self._reloads[path] = str(notebook.content_hash), current
        return True
