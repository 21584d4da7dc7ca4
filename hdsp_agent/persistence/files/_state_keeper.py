"""The state of a task that is worked on: changed in memory, written soon, and at least every 30 s as a heartbeat."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from typing_extensions import TypedDict, Unpack

from ..._iso_time import iso_time
from ...errors import Conflict, HdspAgentError, StorageUnavailable
from ...messages import HistoryItem
from .._records import ModelUse, StoredTaskState, TaskStatus

__all__ = ["HEARTBEAT_SECONDS", "StateChange", "StateKeeper"]

HEARTBEAT_SECONDS: Final = 30.0
_SOON: Final = 0.5


class StateChange(TypedDict, total=False):
    """The fields of a task's state that may be changed."""

    status: TaskStatus
    started_at: str | None
    llm_call_count: int
    tool_call_count: int
    total_tokens_used: int
    current_context_tokens: int
    compression_count: int
    last_activity: str | None
    error: str | None
    resumable: bool
    pinned: bool
    history_item: HistoryItem | None
    model_use: list[ModelUse] | None
    has_external_content: bool | None
    used_local_model: bool | None


class StateKeeper:
    """The state of one task, and the beating of its lock: ``write`` does both.

    ``lost`` says that another process took the task.
    """

    def __init__(
        self,
        write: Callable[[StoredTaskState], Awaitable[None]],
        state: StoredTaskState,
        log: logging.LoggerAdapter[logging.Logger],
        *,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
    ) -> None:
        self._write = write
        self._state = state
        self._log = log
        self._heartbeat_seconds = heartbeat_seconds
        self._changed = asyncio.Event()
        self._stopping = asyncio.Event()
        self._writing = asyncio.Lock()
        self._beating: asyncio.Task[None] | None = None
        self.lost: Conflict | None = None
        self.trouble: StorageUnavailable | None = None

    @property
    def state(self) -> StoredTaskState:
        """The state as last changed."""
        return self._state

    def start(self) -> None:
        """Begin to write what changes, and to beat."""
        self._stopping.clear()
        self._beating = asyncio.create_task(self._beat(), name="hdsp-agent task heartbeat")

    def change(self, **changes: Unpack[StateChange]) -> None:
        """Change the state; it is written soon."""
        self._state = self._state.model_copy(update={**changes, "updated_at": iso_time()})
        self._changed.set()

    async def save(self) -> None:
        """Write the state now, and beat."""
        async with self._writing:
            self._changed.clear()
            try:
                await self._write(self._state)
            except BaseException:
                self._changed.set()
                raise
            self.trouble = None

    async def stop(self) -> None:
        """Stop beating; nothing is being written any more afterwards."""
        self._stopping.set()
        beating, self._beating = self._beating, None
        if beating is not None:
            await beating
        async with self._writing:
            pass

    async def _beat(self) -> None:
        while not self._stopping.is_set():
            await self._pause(self._heartbeat_seconds, self._changed)
            await self._pause(_SOON)
            if self._stopping.is_set() or self.lost is not None:
                continue
            if not self._changed.is_set():
                self._state = self._state.model_copy(update={"updated_at": iso_time()})
            try:
                await self.save()
            except HdspAgentError as error:
                self._note(error)
                await self._pause(min(5.0, self._heartbeat_seconds))

    def _note(self, error: HdspAgentError) -> None:
        if isinstance(error, Conflict):
            self.lost = error
            self._log.error("The task was taken over: %s", error)
        elif isinstance(error, StorageUnavailable):
            if self.trouble is None:
                self._log.warning("The task's state is currently not saved: %s", error)
            self.trouble = error
        else:
            self._log.error("The task's state cannot be saved", exc_info=error)

    async def _pause(self, seconds: float, until: asyncio.Event | None = None) -> None:
        waits = [asyncio.ensure_future(event.wait()) for event in (self._stopping, until) if event is not None]
        try:
            await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
