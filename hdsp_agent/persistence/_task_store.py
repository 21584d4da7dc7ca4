"""All tasks of one home folder or database. ``tests/persistence/_helpers/store_contract.py`` says as tests what every store does."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from typing_extensions import TypedDict

from .._background_tasks import BackgroundTasks
from ..errors import Conflict, HdspAgentError
from ..messages import ClineMessage, TaskId
from ._abandoned_tasks import TaskRecovery
from ._damage_reports import DamageNotice, DamageReports
from ._new_task import NewTaskRecord, first_records
from ._records import Place, StoredTaskState, TaskMetadata
from ._task_log import REMEMBERED, TaskLog
from ._task_reader import TaskReader
from ._trace import task_logger
from .files._state_keeper import HEARTBEAT_SECONDS
from .files._task_folders import checked_id

if TYPE_CHECKING:
    from .postgres._artifact_upkeep import ArtifactUpkeep

__all__ = ["MONITOR_SECONDS", "StoreOptions", "TaskOverview", "TaskStore"]

T = TypeVar("T")

logger = logging.getLogger(__name__)

MONITOR_SECONDS: Final = 300.0


class StoreOptions(TypedDict, total=False):
    """What every kind of store can be told."""

    on_damage: Callable[[DamageNotice], None] | None
    remembered: int
    heartbeat_seconds: float
    monitor_seconds: float


@dataclass(frozen=True)
class TaskOverview:
    """What a list of tasks needs to know of one, with the first messages that the person saw."""

    metadata: TaskMetadata
    state: StoredTaskState
    size: int
    """How many bytes it takes; 0 if that was not wanted."""
    first: Sequence[ClineMessage] = ()


class TaskStore(ABC):
    """All tasks of one home folder or database. What only looks works before ``start``, too, and leaves all as it is.

    ``on_damage`` hears of each damaged line once, on the event loop.
    """

    def __init__(
        self,
        *,
        on_damage: Callable[[DamageNotice], None] | None = None,
        remembered: int = REMEMBERED,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
        monitor_seconds: float = MONITOR_SECONDS,
    ) -> None:
        self._open: dict[TaskId, TaskLog] = {}
        self._held = BackgroundTasks()
        self._damages = DamageReports(on_damage)
        self._remembered = remembered
        self._heartbeat_seconds = heartbeat_seconds
        self._monitor_seconds = monitor_seconds
        self._recovering = asyncio.Lock()
        self._rounds: asyncio.Task[None] | None = None

    async def start(self) -> Sequence[TaskRecovery]:
        """Get ready, and finish what a crash interrupted; what that was."""
        self._damages.start()
        await self._prepare()
        recoveries = await self.recover()
        self._rounds = asyncio.create_task(self._go_round(), name="hdsp-agent task monitor")
        return recoveries

    async def stop(self) -> None:
        """Let go of all tasks, with everything written."""
        rounds, self._rounds = self._rounds, None
        if rounds is not None:
            rounds.cancel()
            await asyncio.gather(rounds, return_exceptions=True)
        await self._held.drain()
        for log in list(self._open.values()):
            await log.close()
        await self._shut()

    def follow(self, on_change: Callable[[TaskId | None], None]) -> None:  # noqa: B027 -- where there is something to hear
        """Before ``start``: hear, on the event loop, of each task that a server with another history changed.

        None says that it may be any. Where all servers of a person share one history, that tells them.
        """

    @property
    def artifact_upkeep(self) -> ArtifactUpkeep | None:
        """What looks after artifacts in an object store, where they are in one."""
        return None

    async def create(self, new: NewTaskRecord) -> TaskLog:
        """Begin a task."""
        return await self._held.finish(self._create(new))

    async def resume(self, task_id: TaskId) -> TaskLog:
        """Work on a task again. ``Conflict`` says who works on it already."""
        return await self._held.finish(self._resume(task_id))

    @abstractmethod
    async def view(self, task_id: TaskId) -> TaskReader:
        """A task to look at."""

    @abstractmethod
    async def tasks(self, place: Place | None = None) -> Sequence[TaskId]:
        """The ids of all tasks, or of those in one place."""

    @abstractmethod
    async def size(self, task_id: TaskId) -> int:
        """How many bytes a task takes."""

    @abstractmethod
    async def amend(self, task_id: TaskId, change: Callable[[StoredTaskState], StoredTaskState]) -> StoredTaskState:
        """Change the state of a task nobody works on, such as its title."""

    @abstractmethod
    async def delete(self, task_id: TaskId) -> None:
        """Delete a task nobody works on."""

    async def recover(self) -> Sequence[TaskRecovery]:
        """Finish interrupted moves and mark what dead processes were working on as failed."""
        async with self._recovering:
            return await self._recover()

    @abstractmethod
    async def check_usable(self) -> None:
        """Raise what hinders tasks from being kept just now, such as a folder that is gone or a full disk."""

    @abstractmethod
    async def check_at_rest(self, task_id: TaskId) -> None:
        """Raise ``Conflict`` if somebody works on the task."""

    @abstractmethod
    def overview(self, task_id: TaskId, *, messages: int, size: bool = True) -> TaskOverview:
        """A task, with so many of its first messages, and with its size, for which all of it may have to be read. Blocks."""

    @abstractmethod
    def overviews(self, *, messages: int, size: bool = True) -> Iterator[TaskOverview]:
        """All tasks that can be read, each as it is when its turn comes. Blocks."""

    async def in_thread(self, call: Callable[[], T]) -> T:
        """Call what reads tasks and blocks, in a thread for that."""
        return await asyncio.to_thread(call)

    @abstractmethod
    async def _prepare(self) -> None:
        """Make what the tasks are kept in, as needed."""

    @abstractmethod
    async def _shut(self) -> None:
        """Let go of what the tasks are kept in."""

    @abstractmethod
    async def _make(self, metadata: TaskMetadata, state: StoredTaskState) -> TaskLog:
        """Make a task and take it."""

    @abstractmethod
    async def _take(self, task_id: TaskId) -> TaskLog:
        """Take a task that nobody works on."""

    @abstractmethod
    async def _recover(self) -> Sequence[TaskRecovery]:
        """Look after the tasks of dead processes, once."""

    async def _create(self, new: NewTaskRecord) -> TaskLog:
        metadata, state = first_records(new)
        checked_id(metadata.uuid)
        return self._begin(await self._make(metadata, state), "started")

    async def _resume(self, task_id: TaskId) -> TaskLog:
        if task_id in self._open:
            raise Conflict(f"Task {task_id} is already running here. Continue it there.", task=task_id)
        return self._begin(await self._take(task_id), "resumed")

    def _begin(self, log: TaskLog, how: str) -> TaskLog:
        self._open[log.task_id] = log
        log.begin()
        task_logger(logger, log.task_id).info("Task %s", how)
        return log

    def _ended(self, task_id: TaskId) -> None:
        self._open.pop(task_id, None)

    async def _go_round(self) -> None:
        while True:
            await asyncio.sleep(self._monitor_seconds)
            try:
                await self.recover()
            except HdspAgentError as error:
                logger.warning("The tasks of other processes could not be checked: %s", error)
