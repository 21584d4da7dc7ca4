"""Task directories, append-only logs, locks, masking and the history index: nothing is lost."""

from __future__ import annotations

from ._corrupt_lines import CorruptLine, Damage, kept_aside
from ._file_store import FileStore
from ._forks import Fork, fork_at
from ._histories import effective_api, effective_ui
from ._history_index import HistoryChange, HistoryIndex, HistoryRecord, RebuildReport
from ._history_query import HistoryHit, HistoryPage, HistoryQuery
from ._locks import LockWatch, TaskLock, read_lock
from ._marks import AnyMark, CondenseMark, Mark, RewindMark, TruncateMark, UndoMark, parse_mark
from ._masking import Masker, StreamMasker
from ._message_manager import MessageManager
from ._protocol import (
    DamageNotice,
    HistoryLog,
    NewTask,
    Outcome,
    Place,
    Records,
    Recovery,
    StateChange,
    TaskLog,
    TaskReader,
    TaskStore,
)
from ._records import (
    STREAM_FILES,
    ApiDraft,
    ApiRecord,
    ApiRole,
    LockRecord,
    Stream,
    SummaryDraft,
    SummaryRecord,
    TaskKey,
    TaskMetadata,
    TaskState,
    TaskStatus,
    ToolDraft,
    ToolRecord,
    ToolStatus,
    estimated_tokens,
    iso_time,
    parse_iso_time,
)
from ._task_folders import TaskFolders
from ._vault import Vault

__all__ = [
    "STREAM_FILES",
    "AnyMark",
    "ApiDraft",
    "ApiRecord",
    "ApiRole",
    "CondenseMark",
    "CorruptLine",
    "Damage",
    "DamageNotice",
    "FileStore",
    "Fork",
    "HistoryChange",
    "HistoryHit",
    "HistoryIndex",
    "HistoryLog",
    "HistoryPage",
    "HistoryQuery",
    "HistoryRecord",
    "LockRecord",
    "LockWatch",
    "Mark",
    "Masker",
    "MessageManager",
    "NewTask",
    "Outcome",
    "Place",
    "RebuildReport",
    "Records",
    "Recovery",
    "RewindMark",
    "StateChange",
    "Stream",
    "StreamMasker",
    "SummaryDraft",
    "SummaryRecord",
    "TaskFolders",
    "TaskKey",
    "TaskLock",
    "TaskLog",
    "TaskMetadata",
    "TaskReader",
    "TaskState",
    "TaskStatus",
    "TaskStore",
    "ToolDraft",
    "ToolRecord",
    "ToolStatus",
    "TruncateMark",
    "UndoMark",
    "Vault",
    "effective_api",
    "effective_ui",
    "estimated_tokens",
    "fork_at",
    "iso_time",
    "kept_aside",
    "parse_iso_time",
    "parse_mark",
    "read_lock",
]
