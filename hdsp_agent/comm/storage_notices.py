"""What became of the stored conversations, in the words of the panel.

Everybody on the server sees these, so they count and never quote.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from ..errors import HdspAgentError
from ..persistence import Backend, DamageNotice, TaskRecovery
from .notice_board import Notices

__all__ = ["StorageNotices"]

_GIGABYTE = 1_000_000_000


class StorageNotices:
    """Keeps one notice about each thing that can be wrong with the storage."""

    def __init__(self, board: Notices) -> None:
        self._board = board
        self._damaged: dict[str, int] = {}
        self._recovered: set[str] = set()

    def unavailable(self, error: HdspAgentError) -> None:
        """Conversations cannot be kept just now."""
        self._board.post("storage", "error", error.code, error.message, error.params)

    def available(self) -> None:
        """They can."""
        self._board.withdraw("storage")

    def artifact_store_away(self, error: HdspAgentError | None) -> None:
        """Long outputs cannot be read from where they are kept, or they can."""
        if error is None:
            self._board.withdraw("artifacts")
        else:
            self._board.post("artifacts", "warning", error.code, error.message, error.params)

    def damaged(self, notice: DamageNotice) -> None:
        """A line of a log could not be read. One cut off by a crash was never acknowledged, so nothing is lost with it."""
        if notice.damage == "torn":
            return
        self._damaged[notice.task_id] = self._damaged.get(notice.task_id, 0) + 1
        lines, tasks = sum(self._damaged.values()), len(self._damaged)
        self._board.post(
            "damage",
            "warning",
            "conversations_damaged",
            f"Some stored conversations have damaged lines ({lines} in {tasks}). Nothing was deleted, and everything else was "
            "read. Run 'hdsp-agent doctor' to see where they are.",
            {"lines": lines, "tasks": tasks},
        )

    def recovered(self, recoveries: Sequence[TaskRecovery]) -> None:
        """Tasks whose server ended while they were worked on."""
        interrupted = {recovery.task_id for recovery in recoveries if recovery.status == "failed"}
        if not interrupted:
            return
        self._recovered |= interrupted
        self._board.post(
            "recovered",
            "info",
            "tasks_interrupted",
            f"Jupyter restarted, and conversations were interrupted ({len(self._recovered)}). Nothing was lost: open one to "
            "continue it.",
            {"tasks": len(self._recovered)},
        )

    def kept_elsewhere(self, other: Backend, used: Backend, count: int) -> None:
        """The folder has conversations that the backend in use does not show."""
        self._board.post(
            "elsewhere",
            "warning",
            "conversations_elsewhere",
            f"Conversations kept in {other} are not shown ({count}), because this server keeps conversations in {used}. "
            f"To copy them, run 'hdsp-agent migrate --to {used}'.",
            {"conversations": count, "keptIn": other, "used": used},
        )

    def none_elsewhere(self) -> None:
        """All that the folder has are shown."""
        self._board.withdraw("elsewhere")

    def kept_apart(self, folder: Path | None) -> None:
        """Messages that the database did not get are in this folder, or there are none."""
        if folder is None:
            self._board.withdraw("apart")
            return
        self._board.post(
            "apart",
            "warning",
            "messages_kept_apart",
            f"Some messages are not in the database, because another server continued their conversations. They are in {folder}. "
            "Delete those files when you no longer need them.",
            {"folder": str(folder)},
        )

    def size(self, level: Literal["ok", "warning", "critical"], size: int, limit_gigabytes: float) -> None:
        """How much is stored, and whether that is too much."""
        if level == "ok":
            self._board.withdraw("size")
            return
        gigabytes = round(size / _GIGABYTE, 1)
        self._board.post(
            "size",
            "error" if level == "critical" else "warning",
            "storage_critical" if level == "critical" else "storage_large",
            f"Stored conversations use {gigabytes} GB, more than {limit_gigabytes:g} GB. Delete some in the history, or "
            "change the storage settings to delete them sooner.",
            {"gigabytes": gigabytes, "limit": limit_gigabytes},
        )
