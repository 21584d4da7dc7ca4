"""The store of tasks and its index inside the running server: opened in the background, looked after, closed."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

from ..errors import HdspAgentError, StorageUnavailable, Unavailable, UnknownTask
from ..messages import TaskId
from ..persistence import (
    Backend,
    HistoryChange,
    HistoryIndex,
    HistoryQuery,
    StateDatabase,
    TaskRecovery,
    TaskStore,
    history_database,
    kept_apart,
    list_recovered,
    open_history,
    open_memory,
    open_store,
    task_record,
    task_records,
    tasks_elsewhere,
)
from .storage_notices import StorageNotices

if TYPE_CHECKING:
    from ._bad_input_log import Log

__all__ = ["TaskStorage"]

_LOOK_SECONDS: Final = 2.0
_RECOVER_SECONDS: Final = 300.0
_SECOND_LOOK_SECONDS: Final = 15.0
_PATIENCE_SECONDS: Final = 10.0
_MOST_CHANGED_ELSEWHERE: Final = 1_000
_ADOPTED_AT_ONCE: Final = 100


class TaskStorage:
    """The task store and the history index of one home folder, which may be unusable at times.

    Nothing waits for it: it opens in the background, tries again while the folder cannot be used, and tells on the
    notice board. ``person`` is whoever the server belongs to; tasks that name nobody are theirs.
    """

    def __init__(
        self,
        home: Path,
        backend: Backend,
        notices: StorageNotices,
        *,
        url: str = "",
        artifact_store_url: str = "",
        person: str,
        on_change: Callable[[HistoryChange], None],
        remembered: int,
        log: Log | None = None,
        recover_seconds: float = _RECOVER_SECONDS,
    ) -> None:
        self.home: Final = home
        self._backend: Final = backend
        self.person: Final = person
        self._notices = notices
        self._log = log or logging.getLogger(__name__)
        # The rounds of its monitor would tell nobody what they did; ours do.
        self._store = open_store(
            home,
            backend,
            url=url,
            artifact_store_url=artifact_store_url,
            on_damage=notices.damaged,
            remembered=remembered,
            monitor_seconds=float("inf"),
        )
        self.database: Final = StateDatabase(history_database(home, backend))
        self._index = open_history(
            self._store, backend, self.database, source=lambda: task_records(self._store, person), on_change=on_change
        )
        self.memory: Final = open_memory(self._store, backend)
        """Where memory is that all servers of the person share, if there is such a place."""
        self._look_seconds = _LOOK_SECONDS
        self._recover_seconds = recover_seconds
        self._steps: Final[tuple[Callable[[], Awaitable[None]], ...]] = (
            self._open_store,
            self._look_elsewhere,
            self.database.start,
            self._index.start,
            self._list_recovered,
            self.adopt,
        )
        self._recovered: Sequence[TaskRecovery] = ()
        self._steps_taken = 0
        self._failure: HdspAgentError | None = None
        self._tried = asyncio.Event()
        self._on_change = on_change
        self._behind = False
        self._changed_elsewhere: set[TaskId] = set()
        self._something_changed = asyncio.Event()
        self._following: asyncio.Task[None] | None = None
        self._running: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to open it, and look after it from then on."""
        self._store.follow(self._hear)
        self._running = asyncio.create_task(self._run(), name="hdsp-agent task storage")

    async def stop(self) -> None:
        """Let go of everything, with all that was recorded on the disk."""
        for task in (self._running, self._following):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        await self._index.stop()
        await self.database.close()
        await self._store.stop()

    async def store(self) -> TaskStore:
        """The store, once it is open. Raises why it is not."""
        await self._opened()
        return self._store

    @property
    def unopened(self) -> TaskStore:
        """The store for whoever is not asked for anything before ``store`` has answered."""
        return self._store

    @property
    def unopened_index(self) -> HistoryIndex:
        """The index for whoever is not asked for anything before ``index`` has answered."""
        return self._index

    async def index(self) -> HistoryIndex:
        """The index, once it is open. Raises why it is not."""
        await self._opened()
        return self._index

    def fell_behind(self) -> None:
        """The folders were changed and the index could not be: bring it in line when that works again."""
        self._behind = True

    async def _opened(self) -> None:
        if not self._tried.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE_SECONDS):
                    await self._tried.wait()
        if self._failure is not None:
            raise type(self._failure)(self._failure.message, field=self._failure.field, **self._failure.params)
        if self._steps_taken < len(self._steps):
            raise Unavailable("The stored conversations are still being opened. Try again in a moment.")

    async def _run(self) -> None:
        await self._open_somehow()
        # Other servers may have changed what is not in this folder while this one was away.
        self._behind = self._behind or self._backend == "postgres"
        self._following = asyncio.create_task(self._follow(), name="hdsp-agent changes elsewhere")
        pauses: Iterator[float] = itertools.repeat(self._recover_seconds)
        if self._backend == "postgres":
            # Those whose holders seem to be gone are judged at a second look, which must not come much later.
            pauses = itertools.cycle((min(_SECOND_LOOK_SECONDS, self._recover_seconds), self._recover_seconds))
        recover_at = monotonic() + next(pauses)
        while True:
            await asyncio.sleep(self._look_seconds)
            upkeep = self._store.artifact_upkeep
            self._notices.artifact_store_away(None if upkeep is None else upkeep.trouble)
            try:
                await self._store.check_usable()
                if monotonic() >= recover_at:
                    recover_at = monotonic() + next(pauses)
                    await self._take_recovered(await self._store.recover())
                    await self._look_elsewhere()
                await self._catch_up()
            except HdspAgentError as error:
                # What is asked for meanwhile may work or say itself why not: reading works on a full disk.
                self._notices.unavailable(error)
            except Exception:  # noqa: BLE001 -- the rounds would end unseen
                self._log.exception("The stored conversations could not be checked; trying again")
            else:
                self._notices.available()

    async def _open_somehow(self) -> None:
        """Open it, trying again as long as the folder cannot be used."""
        while True:
            try:
                await self._open()
            except HdspAgentError as error:
                self._say_unavailable(error)
            except Exception as error:  # noqa: BLE001 -- see below
                # Held in a task nobody awaits: unsaid, the history would be away without a reason.
                self._log.exception("The stored conversations could not be opened")
                self._say_unavailable(
                    StorageUnavailable(
                        f"The stored conversations in {self.home} could not be opened: {error}. See the server's "
                        "log. The server tries again every few seconds.",
                        path=str(self.home), action="open", reason=str(error),
                    )
                )  # fmt: skip
            else:
                self._failure = None
                self._tried.set()
                self._notices.available()
                return
            self._tried.set()
            await asyncio.sleep(self._look_seconds)

    def _say_unavailable(self, error: HdspAgentError) -> None:
        if self._failure is None or self._failure.message != error.message:
            self._log.warning("Conversations cannot be saved: %s", error.message)
        self._failure = error
        self._notices.unavailable(error)

    async def _open(self) -> None:
        for step in self._steps[self._steps_taken :]:
            await step()
            self._steps_taken += 1

    async def _open_store(self) -> None:
        self._recovered = await self._store.start()
        if (upkeep := self._store.artifact_upkeep) is not None:
            upkeep.start()
        self._notices.recovered(self._recovered)

    async def _look_elsewhere(self) -> None:
        """Tell of conversations and messages that the folder has, and that are not shown."""
        elsewhere = await tasks_elsewhere(self._store, self.home, self._backend)
        for other, count in elsewhere.items():
            self._notices.kept_elsewhere(other, self._backend, count)
        if not elsewhere:
            self._notices.none_elsewhere()
        self._notices.kept_apart(await asyncio.to_thread(kept_apart, self.home))

    async def _list_recovered(self) -> None:
        await list_recovered(self._recovered, self._store, self._index)

    async def _take_recovered(self, recovered: Sequence[TaskRecovery]) -> None:
        self._notices.recovered(recovered)
        await list_recovered(recovered, self._store, self._index)

    async def adopt(self) -> None:
        """Give the tasks that name nobody, as commands that know no persons leave them, to whom the server belongs."""
        while hits := (await self._index.search(HistoryQuery(owner="", limit=_ADOPTED_AT_ONCE))).hits:
            for hit in hits:
                await self._index.upsert(hit.item, owner=self.person)

    def _hear(self, task_id: TaskId | None) -> None:
        if task_id is None:
            self.fell_behind()
        elif len(self._changed_elsewhere) >= _MOST_CHANGED_ELSEWHERE:
            self._changed_elsewhere.clear()
            self.fell_behind()
        else:
            self._changed_elsewhere.add(task_id)
            self._something_changed.set()

    async def _follow(self) -> None:
        """Bring the history in line with what other servers did."""
        while True:
            await self._something_changed.wait()
            self._something_changed.clear()
            while self._changed_elsewhere:
                try:
                    change = await self._brought_in_line(self._changed_elsewhere.pop())
                    if change != HistoryChange():
                        self._on_change(change)
                except HdspAgentError as error:
                    self._log.warning("What another server changed could not be read: %s", error)
                    self.fell_behind()
                except Exception:  # noqa: BLE001 -- nothing more would be followed, unseen
                    self._log.exception("What another server changed could not be read")
                    self.fell_behind()

    async def _brought_in_line(self, task_id: TaskId) -> HistoryChange:
        try:
            if (await (await self._store.view(task_id)).read_state()).history_item is None:
                # It has just been made, and gets its line with its first words.
                return HistoryChange()
            record = await self._store.in_thread(lambda: task_record(self._store, task_id))
        except UnknownTask:
            if await self._index.get(task_id) is None:
                return HistoryChange()
            await self._index.forget([task_id])
            return HistoryChange(removed=(task_id,))
        item = await self._index.upsert(record.item, text=record.text, owner=record.owner or self.person)
        return HistoryChange(changed=(item,))

    async def _catch_up(self) -> None:
        if self._behind:
            self._behind = False
            try:
                await self._index.rebuild(task_records(self._store, self.person))
                self._on_change(HistoryChange(everything=True))
            except HdspAgentError:
                self._behind = True
                raise
