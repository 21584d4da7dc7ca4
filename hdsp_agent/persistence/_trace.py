"""The task's id in everything that is logged about it."""

from __future__ import annotations

import logging
from collections.abc import MutableMapping
from typing import TYPE_CHECKING

from ..messages import TaskId

__all__ = ["TaskLogger", "task_logger"]

if TYPE_CHECKING:
    TaskLogger = logging.LoggerAdapter[logging.Logger]
else:
    TaskLogger = logging.LoggerAdapter


class _WithTraceId(TaskLogger):
    """Puts the id into each line, short for people, and into each record, whole for programs."""

    def process(self, msg: object, kwargs: MutableMapping[str, object]) -> tuple[object, MutableMapping[str, object]]:
        extra = kwargs.get("extra")
        kwargs["extra"] = {**(self.extra or {}), **(extra if isinstance(extra, dict) else {})}
        mark = str((self.extra or {}).get("task_id"))[:8]
        return f"[uuid:{mark}] {msg}", kwargs


def task_logger(logger: logging.Logger, task_id: TaskId) -> TaskLogger:
    """The logger, with the task's id as the trace id of every line."""
    return _WithTraceId(logger, {"task_id": task_id})
