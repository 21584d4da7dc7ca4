"""A task's line in the history follows what the task does, without holding its work up."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from ..._background_tasks import BackgroundTasks
from ...errors import HdspAgentError
from ...messages import HistoryItem
from .._ports import HistoryPort

__all__ = ["HistorySync"]

_LATER_SECONDS: Final = 0.5
"""So much later at most the history says when a task last did something; what else changes it says at once."""


class HistorySync:
    """Puts one line at a time; of what it is told meanwhile only the newest counts, as each tells the whole.

    ``on_listed`` is told how a line is listed.
    """

    def __init__(
        self,
        history: HistoryPort | None,
        owner: str | None,
        log: logging.Logger | logging.LoggerAdapter[logging.Logger],
        *,
        on_listed: Callable[[HistoryItem], None] = lambda item: None,
    ) -> None:
        self._history: Final = history
        self._owner: Final = owner
        self._log: Final = log
        self._on_listed: Final = on_listed
        self._held = BackgroundTasks()
        self._waiting: HistoryItem | None = None
        self._text: str | None = None
        self._putting = False
        self._is_due = False
        self._newest: HistoryItem | None = None
        self._timer: asyncio.TimerHandle | None = None

    def tell(self, item: HistoryItem, *, text: str | None = None) -> None:
        """The line is this now, and can be found by ``text`` if that is given."""
        if self._history is None:
            return
        before, self._newest = self._newest, item
        is_later_only = text is None and before is not None and before.model_copy(update={"ts": item.ts}) == item
        self._waiting = item
        self._text = self._text if text is None else text
        if not is_later_only:
            self._put(self._history)
        elif self._timer is None and not self._is_due:
            self._timer = asyncio.get_running_loop().call_later(_LATER_SECONDS, self._put, self._history)

    async def told(self) -> None:
        """Return when the history says what was told, or it was logged why it does not."""
        if self._timer is not None and self._history is not None:
            self._put(self._history)
        await self._held.drain()

    def _put(self, history: HistoryPort) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._is_due = True
        if not self._putting:
            self._putting = True
            self._held.begin(self._put_all(history))

    async def _put_all(self, history: HistoryPort) -> None:
        try:
            while self._is_due and (item := self._waiting) is not None:
                self._is_due = False
                text, self._waiting, self._text = self._text, None, None
                try:
                    self._on_listed(await history.put(item, text=text, owner=self._owner))
                except HdspAgentError as error:
                    self._log.warning("The history entry of the task could not be updated: %s", error)
        finally:
            self._putting = False
