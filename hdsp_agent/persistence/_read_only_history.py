"""The histories of a task that somebody else works on, or nobody: to look at what a change would do."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import Conflict
from ..messages import ClineMessage
from ._records import ApiRecord
from ._task_reader import TaskReader
from .marks._marks import Mark
from .marks._message_manager import MessageManager

__all__ = ["history_to_read"]


async def history_to_read(reader: TaskReader) -> MessageManager:
    """The histories of a task as they are now; whoever tries to change them gets a ``Conflict``."""
    ui, api = await reader.ui.newest(1), await reader.api.newest(1)
    log = _ReadOnlyLog(reader, ui[-1].ts if ui else 0, api[-1].seq if api else 0)
    return MessageManager(log, [mark async for mark in reader.marks.iterate()])


class _ReadOnlyLog:
    def __init__(self, reader: TaskReader, last_ui_ts: int, last_api_seq: int) -> None:
        self._reader = reader
        self._last_ui_ts = last_ui_ts
        self._last_api_seq = last_api_seq

    @property
    def last_ui_ts(self) -> int:
        return self._last_ui_ts

    @property
    def last_api_seq(self) -> int:
        return self._last_api_seq

    async def ui_between(self, first_ts: int, last_ts: int, *, limit: int, newest: bool) -> Sequence[ClineMessage]:
        return await self._reader.ui.between(first_ts, last_ts, limit=limit, newest=newest)

    async def api_between(self, first_seq: int, last_seq: int, *, limit: int, newest: bool) -> Sequence[ApiRecord]:
        return await self._reader.api.between(first_seq, last_seq, limit=limit, newest=newest)

    async def append_mark(self, mark: Mark) -> None:
        task_id = self._reader.task_id
        raise Conflict(f"Task {task_id} is open for viewing only. Open it to change its conversation.", task=task_id)
