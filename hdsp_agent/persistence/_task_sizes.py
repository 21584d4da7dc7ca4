"""How many bytes tasks have: each look goes through a folder, so a task at work is not looked at after each of its steps."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import Final

from ..messages import HistoryItem, TaskId
from ._task_store import TaskStore

__all__ = ["TaskSizes"]

_REMEMBERED_SECONDS: Final = 5.0
_MOST_REMEMBERED: Final = 1_000


class TaskSizes:
    """Remembers for a few seconds how large tasks at work were."""

    def __init__(self) -> None:
        self._sizes: OrderedDict[str, tuple[float, int]] = OrderedDict()

    async def of(self, item: HistoryItem, store: TaskStore) -> int:
        """How many bytes this task has. Raises ``UnknownTask``."""
        remembered = self._sizes.get(item.id)
        now = time.monotonic()
        if item.status == "active" and remembered is not None and now - remembered[0] < _REMEMBERED_SECONDS:
            return remembered[1]
        size = await store.size(TaskId(item.id))
        self._sizes[item.id] = now, size
        while len(self._sizes) > _MOST_REMEMBERED:
            self._sizes.popitem(last=False)
        return size
