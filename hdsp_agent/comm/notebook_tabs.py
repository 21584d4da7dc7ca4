"""The tabs that have notebooks open: which of them the agent works with, and what it asks of it.

One tab holds the lease on a path. It keeps it while it is connected and has the notebook open, unless it has nothing
unsaved and another tab does. A tab whose connection is lost is waited for, since most come back within a second.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Final, TypeVar, cast

from pydantic import JsonValue

from ..errors import Unavailable
from ..messages import (
    ApplyNotebookOperationsMessage,
    ChangeOutputsMessage,
    ExtensionMessage,
    NotebookOperationsResultRequest,
    NotebookPageRequest,
    OpenNotebook,
    OpenNotebooksRequest,
    ReadNotebookMessage,
)
from ..notebooks import TabGone, TabSilent, TabView, UnreviewedChange, under
from ._channel_hub import ChannelHub
from ._dispatch import Dispatcher, RequestContext
from ._notebook_tab import Answer, NotebookTab
from ._owner import Owner
from ._saved_notebooks import SavedNotebooks
from .notebook_memory import NotebookMemory, RememberedTab

if TYPE_CHECKING:
    from ._bad_input_log import Log

__all__ = ["NotebookTabs"]

PATIENCE_SECONDS: Final = 5.0
"""How long a tab that lost its connection, or has not found the server again after a restart, is waited for."""
RESTART_SECONDS: Final = 40.0
"""How long a tab from before a restart is waited for: it may look for its server again only every half minute."""
ANSWER_SECONDS: Final = 20.0
"""A tab that is connected and takes longer is busy with something else, for example a dialog."""

_LOOK_SECONDS: Final = 0.5
_CLOSED_SECONDS: Final = 1.0
AnswerT = TypeVar("AnswerT", NotebookOperationsResultRequest, NotebookPageRequest)


class NotebookTabs:
    """Knows every tab's notebooks; the notebooks' adapter speaks to the one that holds the lease through it."""

    def __init__(
        self,
        channels: ChannelHub,
        *,
        memory: NotebookMemory | None = None,
        log: Log | None = None,
    ) -> None:
        self.patience = PATIENCE_SECONDS
        self.restart_patience = RESTART_SECONDS
        self._memory = memory
        self.answer_seconds = ANSWER_SECONDS
        self._channels = channels
        self._log = log or logging.getLogger(__name__)
        self._tabs: dict[tuple[Owner, str], NotebookTab] = {}
        self._leases: dict[str, NotebookTab] = {}
        self._files = SavedNotebooks()
        self._newest: dict[str, NotebookTab] = {}
        """The tab whose person saved a notebook last, or read it anew: the others show what it was before."""
        self._renamed: dict[str, tuple[str, float]] = {}
        """New to old path and when, of files that were renamed and whose tabs have not told so yet."""
        self._changed = asyncio.Event()
        self._telling: set[asyncio.Task[None]] = set()
        self._started = monotonic()
        self._on_renamed: list[Callable[[str, str], None]] = []
        self._on_opened: list[Callable[[str], None]] = []
        self._unreviewed: Callable[[str], Sequence[UnreviewedChange]] = lambda path: ()
        channels.on_tab(self._connection_changed)

    async def start(self) -> None:
        """Learn which tabs to wait for: those from before the server started again."""
        for known in await self._memory.recall() if self._memory is not None else ():
            key = known.owner, known.client_id
            if key not in self._tabs:
                tab = self._tabs[key] = NotebookTab(*key)
                notebooks = [
                    OpenNotebook(path=path, revision=0, dirty=dirty) for path, dirty in known.notebooks.items()
                ]
                tab.remember(notebooks, monotonic())
                asyncio.get_running_loop().call_later(self.restart_patience + 0.1, self._gone, tab)

    def register(self, dispatcher: Dispatcher) -> None:
        """Take responsibility for what tabs tell of their notebooks."""
        dispatcher.handle_all(
            {
                "openNotebooks": self.open_notebooks,
                "notebookOperationsResult": self.answered,
                "notebookPage": self.answered,
            }
        )

    def on_renamed(self, listener: Callable[[str, str], None]) -> None:
        """Call this with the old and the new path when a notebook was renamed in a tab."""
        self._on_renamed.append(listener)

    def on_opened(self, listener: Callable[[str], None]) -> None:
        """Call this when the lease on a path went to a tab, which may have missed what was shown before."""
        self._on_opened.append(listener)

    def offer(self, unreviewed: Callable[[str], Sequence[UnreviewedChange]]) -> None:
        """Tell tabs that come to a notebook what of it nobody has looked at."""
        self._unreviewed = unreviewed

    # ---- what tabs tell

    async def open_notebooks(self, context: RequestContext, message: OpenNotebooksRequest) -> JsonValue:
        """These are the notebooks of the tab now. The answer is what of them nobody has looked at and it may not show."""
        key = context.owner, context.client_id
        tab = self._tabs.setdefault(key, NotebookTab(*key))
        before, was_away = tab.notebooks, not tab.connected
        tab.tell(message.notebooks, monotonic())
        for old, new in (message.renamed or {}).items():
            self._renamed_in(tab, old, new)
        for path in {*before, *tab.notebooks}:
            if was_away and self._leases.get(path) is tab and path in tab.notebooks:
                self._opened(path)
            if path not in tab.notebooks:
                self._forget_newest(tab, path)
            elif self._files.is_news(tab, path, before.get(path)):
                self._newest[path] = tab
            self._settle(path)
            self._tell(tab, self._files.told(tab, path, before.get(path)))
        self._woke_up(tab)
        if not tab.notebooks and not tab.waiting:
            self._tabs.pop(key, None)
        self._remember()
        self._wake()
        return self._news(tab, {} if was_away else before)

    async def answered(self, context: RequestContext, message: Answer) -> None:
        """A tab has done what it was asked, or says why not."""
        tab = self._tabs.get((context.owner, context.client_id))
        if tab is None:
            return
        future = tab.waiting.get(message.op_id)
        if future is not None and not future.done():
            future.set_result(message)
        self._woke_up(tab)

    def file_renamed(self, old: str, new: str) -> None:
        """A tab that has the notebook open learns of it in a moment, and tells its new name then."""
        for path in {path for tab in self._tabs.values() for path in tab.notebooks if tab.has(path)}:
            now = under(path, old, new)
            if now != path:
                self._renamed[now] = path, monotonic()

    # ---- what the notebooks ask

    def paths(self) -> set[str]:
        """All that tabs have open, those that are missed and what was left unsaved included."""
        return {path for tab in self._tabs.values() for path in tab.notebooks}

    async def holder(self, path: str) -> TabView | None:
        """The tab that holds the lease. Waits a checkpoint for one whose connection was just lost."""
        while True:
            tab = self._leases.get(path)
            if tab is not None and tab.connected:
                return tab.view(path)
            if not self._worth_waiting(path):
                return None
            await self._next_change()

    def unsaved(self, path: str) -> list[TabView]:
        """Tabs other than the holder that have changes nobody saved, gone ones included."""
        holder = self._leases.get(path)
        return [
            tab.view(path)
            for tab in self._tabs.values()
            if tab.has_unsaved(path) and not (tab is holder and tab.connected) and not self._went_on(tab, path)
        ]

    async def apply(self, tab: TabView, message: ApplyNotebookOperationsMessage) -> NotebookOperationsResultRequest:
        """Have operations done. Raises TabGone or TabSilent."""
        return await self._ask(tab, message, NotebookOperationsResultRequest)

    async def read(self, tab: TabView, message: ReadNotebookMessage) -> NotebookPageRequest:
        """Have part of the notebook told. Raises TabGone or TabSilent."""
        return await self._ask(tab, message, NotebookPageRequest)

    async def show(self, tab: TabView, message: ChangeOutputsMessage) -> None:
        """Have outputs shown; without an answer. Raises TabGone."""
        try:
            await self._channels.channel(Owner(tab.owner)).send_to(tab.client_id, message)
        except Unavailable:
            raise TabGone from None

    def saved(self, path: str, content_hash: str | None, *, by: TabView | None) -> None:
        """The file has changed: tabs that show what it was before, and have nothing unsaved, show it anew."""
        self._files.left(path, content_hash)
        for tab in self._tabs.values():
            if by is None or (tab.owner, tab.client_id) != (by.owner, by.client_id):
                self._tell(tab, self._files.news(tab, path))

    async def stop(self) -> None:
        """Ask nobody any more."""
        for task in self._telling:
            task.cancel()
        if self._telling:
            await asyncio.wait(self._telling)
        if self._memory is not None:
            await self._memory.stop()

    # ---- leases

    def _renamed_in(self, tab: NotebookTab, old: str, new: str) -> None:
        if self._leases.get(old) is tab:
            self._leases[new] = self._leases.pop(old)
        if self._newest.get(old) is tab:
            self._newest[new] = self._newest.pop(old)
        self._files.moved(old, new)
        for listener in self._on_renamed:
            listener(old, new)

    def _woke_up(self, tab: NotebookTab) -> None:
        """One that did not answer in time is offered again what it has not taken."""
        silent, tab.silent = tab.silent, set()
        for path in silent:
            if tab.has(path) and self._leases.get(path) is tab:
                self._opened(path)

    def _news(self, tab: NotebookTab, before: Mapping[str, OpenNotebook]) -> JsonValue:
        """The changes nobody has looked at, of notebooks that are new to a tab, or new to it in this form."""
        news: dict[str, JsonValue] = {}
        for path, now in tab.notebooks.items():
            known = before.get(path)
            # What the holder of the lease has changed itself, it shows already.
            shows_own = self._leases.get(path) is tab and not now.collaborative
            if known is None or (known.content_hash != now.content_hash and not shows_own):
                changes = self._unreviewed(path)
                if changes:
                    news[path] = [change.to_wire() for change in changes]
        return {"unreviewed": news} if news else None

    def _opened(self, path: str) -> None:
        for listener in self._on_opened:
            listener(path)

    def _settle(self, path: str) -> None:
        """Give the lease to the tab that shall have it."""
        holder = self._leases.get(path)
        if holder is not None and self._keeps(holder, path):
            return
        candidates = [tab for tab in self._tabs.values() if tab.has(path) and not tab.notebooks[path].read_only]
        newest = self._newest.get(path)
        best = max(candidates, key=lambda tab: _claim(tab, path, newest, holder), default=None)
        if best is holder:
            return
        if best is None:
            self._leases.pop(path, None)
            return
        self._leases[path] = best
        self._opened(path)

    def _forget_newest(self, tab: NotebookTab, path: str) -> None:
        if self._newest.get(path) is tab:
            del self._newest[path]

    def _keeps(self, holder: NotebookTab, path: str) -> bool:
        """Whether the lease stays whatever other tabs have."""
        notebook = holder.notebooks.get(path)
        return notebook is not None and (self._is_missed(holder) or (holder.connected and notebook.dirty))

    def _worth_waiting(self, path: str) -> bool:
        """Whether a tab may turn up that has the notebook open."""
        if monotonic() - self._started < self.patience:
            # Tabs from before a restart find the server again one after the other.
            return True
        old, since = self._renamed.get(path, (path, 0.0))
        if old != path and monotonic() - since < self.patience and any(tab.has(old) for tab in self._tabs.values()):
            return True
        self._renamed.pop(path, None)
        return any(path in tab.notebooks and self._is_missed(tab) for tab in self._tabs.values())

    def _is_missed(self, tab: NotebookTab) -> bool:
        """Whether it was there a moment ago."""
        patience = self.restart_patience if tab.is_remembered else self.patience
        return not tab.connected and monotonic() - tab.left_at < patience

    def _went_on(self, gone: NotebookTab, path: str) -> bool:
        """Whether its person has opened the notebook elsewhere since it was lost: they will not wait for it either."""
        return not gone.connected and any(
            tab.owner == gone.owner and tab.opened_after(path, gone.left_at) for tab in self._tabs.values()
        )

    def _connection_changed(self, owner: Owner, client_id: str) -> None:
        tab = self._tabs.get((owner, client_id))
        if tab is not None:
            self._lose(tab)

    def _lose(self, tab: NotebookTab) -> None:
        if tab.connected:
            tab.lose(monotonic())
            asyncio.get_running_loop().call_later(self.patience + 0.1, self._gone, tab)
            self._wake()

    def _gone(self, tab: NotebookTab) -> None:
        if tab.connected or self._is_missed(tab):
            return
        tab.keep_unsaved()
        for path in [path for path, holder in self._leases.items() if holder is tab]:
            del self._leases[path]
            self._forget_newest(tab, path)
            self._settle(path)
        if not tab.notebooks:
            self._tabs.pop((tab.owner, tab.client_id), None)
        self._remember()
        self._wake()

    def _remember(self) -> None:
        if self._memory is not None:
            now = time.time()
            self._memory.remember(
                RememberedTab(
                    tab.owner,
                    tab.client_id,
                    {path: each.dirty for path, each in tab.notebooks.items() if not each.collaborative},
                    now,
                )
                for tab in self._tabs.values()
                if tab.notebooks
            )

    # ---- asking

    async def _ask(
        self, view: TabView, message: ApplyNotebookOperationsMessage | ReadNotebookMessage, answer: type[AnswerT]
    ) -> AnswerT:
        tab = self._tabs.get((Owner(view.owner), view.client_id))
        if tab is None:
            raise TabGone
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        tab.waiting[message.op_id] = future
        until = monotonic() + self.answer_seconds
        try:
            await self._send(tab, message, at_once=True)
            while not await self._answer(tab, message.path, future, until):
                # It is asked again when it is back: whoever has done an operation answers as before.
                await self._back(tab, message.path)
                await self._send(tab, message, at_once=True)
            return _as(answer, future.result())
        finally:
            tab.waiting.pop(message.op_id, None)

    async def _answer(self, tab: NotebookTab, path: str, future: asyncio.Future[Answer], until: float) -> bool:
        """Wait for an answer; False when the connection was lost meanwhile."""
        while tab.connected and not future.done():
            if monotonic() > until:
                if not tab.has(path):
                    raise TabGone
                tab.silent.add(path)
                raise TabSilent
            if not tab.has(path):
                # Closed, or renamed: an answer to what was done before may be on its way.
                until = min(until, monotonic() + _CLOSED_SECONDS)
            await self._next_change(future)
        return future.done()

    async def _send(self, tab: NotebookTab, message: ExtensionMessage, *, at_once: bool = False) -> None:
        try:
            await self._channels.channel(tab.owner).send_to(tab.client_id, message, at_once=at_once)
        except Unavailable:
            self._lose(tab)

    async def _back(self, tab: NotebookTab, path: str) -> None:
        while not tab.has(path):
            # One that came back without the notebook was reloaded, and is perhaps just opening it again.
            if tab.connected or not self._is_missed(tab):
                raise TabGone
            await self._next_change()

    async def _next_change(self, future: asyncio.Future[Answer] | None = None) -> None:
        changed = asyncio.ensure_future(self._changed.wait())
        awaited: set[asyncio.Future[object]] = {cast("asyncio.Future[object]", changed)}
        if future is not None:
            awaited.add(cast("asyncio.Future[object]", future))
        try:
            await asyncio.wait(awaited, timeout=min(_LOOK_SECONDS, self.patience), return_when=asyncio.FIRST_COMPLETED)
        finally:
            changed.cancel()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _tell(self, tab: NotebookTab, message: ExtensionMessage | None) -> None:
        if message is not None and tab.connected:
            task = asyncio.create_task(self._send(tab, message))
            self._telling.add(task)
            task.add_done_callback(self._telling.discard)


def _claim(
    tab: NotebookTab, path: str, newest: NotebookTab | None, holder: NotebookTab | None
) -> tuple[bool, bool, bool, bool]:
    notebook = tab.notebooks[path]
    return notebook.dirty, tab is newest, tab is holder, notebook.visible


def _as(kind: type[AnswerT], answer: Answer) -> AnswerT:
    if not isinstance(answer, kind):
        # It answers something else than it was asked; that can only be taken for no answer.
        raise TabSilent
    return answer
