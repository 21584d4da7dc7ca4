"""Task directories, append-only logs, locks, masking and the history index: nothing is lost."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from .._iso_time import iso_time, parse_iso_time
from ..append_log.corrupt_lines import CorruptLine, Damage, kept_aside
from ._abandoned_tasks import TaskRecovery
from ._audit_log import AuditAction, AuditEntry, AuditLog
from ._backends import (
    BACKENDS,
    DATABASE_NAME,
    Backend,
    backend_named,
    create_tables,
    has_store,
    history_database,
    open_history,
    open_memory,
    open_store,
    tasks_elsewhere,
)
from ._damage_reports import DamageNotice
from ._kept_apart import kept_apart
from ._new_task import NewTaskRecord
from ._read_only_history import history_to_read
from ._records import (
    COMPLETED_STATUSES,
    INTERRUPTED,
    STREAM_FILES,
    ApiDraft,
    ApiRecord,
    CountedTokens,
    LockRecord,
    ModelUse,
    Outcome,
    Place,
    StoredTaskState,
    Stream,
    SummaryDraft,
    SummaryRecord,
    TaskKey,
    TaskMetadata,
    TaskStatus,
    ToolDraft,
    ToolRecord,
)
from ._shared_memory import LARGEST_SHARED_FILE, SharedFile, SharedMemory
from ._task_log import TaskLog
from ._task_reader import TaskReader
from ._task_store import TaskStore
from ._task_streams import AnyRecord, Records
from ._trace import task_logger
from .files._file_store import FileStore
from .files._state_keeper import StateChange
from .files._task_folders import checked_id
from .files._task_locks import LockWatch, TaskLock, read_lock
from .history._history_dialect import HistoryDatabase, bounded, storable
from .history._history_schema import full_text_search
from .history._index import HistoryChange, HistoryIndex
from .history._places import HistoryPlaces
from .history._query import HistoryHit, HistoryPage, HistoryQuery
from .history._snippets import Snippet, SnippetPart, cut_snippet
from .history._state_database import Schema, StateDatabase
from .history._text_normalization import fold, tidy
from .marks._forks import Fork, fork_at
from .marks._histories import effective_ui, unrewound_api
from .marks._marks import AnyMark, CondenseMark, RewindMark, TruncateMark, UndoMark
from .marks._message_manager import MessageManager, Newer, RewindEffect
from .marks._replay import HistoryView, newest_marks, replay
from .marks._spans import SpanSet
from .masking._masker import Masker, StreamMasker
from .masking._vault import Vault
from .tables._sql import SqlConnection
from .upkeep._work_progress import Progress

if TYPE_CHECKING:
    from .exchange._embedded import (
        EMBEDDED_KEY,
        EmbeddedConversation,
        embedded_conversation,
        embedded_copy_id,
        read_embedded,
    )
    from .exchange._export import ExportFormat, export_task, render_task
    from .exchange._find import find_messages
    from .exchange._import import TaskImportReport, import_embedded, import_tasks
    from .exchange._import_json import ImportFinding
    from .exchange._migration import MigrationReport, migrate
    from .exchange._shared import SharedConversation, shared_conversation
    from .history._task_records import as_left, history_item, list_recovered, task_record, task_records
    from .upkeep._backup import BackupInfo, back_up, backups, restore_backup, verify_backup
    from .upkeep._doctor import DoctorFinding, DoctorReport, examine
    from .upkeep._quota import AlertLevel, PlaceUse, StorageLimits, StorageUse, alert_level, measure
    from .upkeep._retention import CleanReport, RetentionRules, clean
    from .upkeep._statistics import Statistics, TaskFilter, Totals, statistics
from ._task_sizes import TaskSizes
from .masking._vault import PLACEHOLDER

__all__ = [
    "BACKENDS",
    "COMPLETED_STATUSES",
    "DATABASE_NAME",
    "EMBEDDED_KEY",
    "INTERRUPTED",
    "LARGEST_SHARED_FILE",
    "PLACEHOLDER",
    "STREAM_FILES",
    "AlertLevel",
    "AnyMark",
    "AnyRecord",
    "ApiDraft",
    "ApiRecord",
    "AuditAction",
    "AuditEntry",
    "AuditLog",
    "Backend",
    "BackupInfo",
    "CleanReport",
    "CondenseMark",
    "CorruptLine",
    "CountedTokens",
    "Damage",
    "DamageNotice",
    "DoctorFinding",
    "DoctorReport",
    "EmbeddedConversation",
    "ExportFormat",
    "FileStore",
    "Fork",
    "HistoryChange",
    "HistoryDatabase",
    "HistoryHit",
    "HistoryIndex",
    "HistoryPage",
    "HistoryPlaces",
    "HistoryQuery",
    "HistoryView",
    "ImportFinding",
    "LockRecord",
    "LockWatch",
    "Masker",
    "MessageManager",
    "MigrationReport",
    "ModelUse",
    "NewTaskRecord",
    "Newer",
    "Outcome",
    "Place",
    "PlaceUse",
    "Progress",
    "Records",
    "RetentionRules",
    "RewindEffect",
    "RewindMark",
    "Schema",
    "SharedConversation",
    "SharedFile",
    "SharedMemory",
    "Snippet",
    "SnippetPart",
    "SpanSet",
    "SqlConnection",
    "StateChange",
    "StateDatabase",
    "Statistics",
    "StorageLimits",
    "StorageUse",
    "StoredTaskState",
    "Stream",
    "StreamMasker",
    "SummaryDraft",
    "SummaryRecord",
    "TaskFilter",
    "TaskImportReport",
    "TaskKey",
    "TaskLock",
    "TaskLog",
    "TaskMetadata",
    "TaskReader",
    "TaskRecovery",
    "TaskSizes",
    "TaskStatus",
    "TaskStore",
    "ToolDraft",
    "ToolRecord",
    "Totals",
    "TruncateMark",
    "UndoMark",
    "Vault",
    "alert_level",
    "as_left",
    "back_up",
    "backend_named",
    "backups",
    "bounded",
    "checked_id",
    "clean",
    "create_tables",
    "cut_snippet",
    "effective_ui",
    "embedded_conversation",
    "embedded_copy_id",
    "examine",
    "export_task",
    "find_messages",
    "fold",
    "fork_at",
    "full_text_search",
    "has_store",
    "history_database",
    "history_item",
    "history_to_read",
    "import_embedded",
    "import_tasks",
    "iso_time",
    "kept_apart",
    "kept_aside",
    "list_recovered",
    "measure",
    "migrate",
    "newest_marks",
    "open_history",
    "open_memory",
    "open_store",
    "parse_iso_time",
    "read_embedded",
    "read_lock",
    "render_task",
    "replay",
    "restore_backup",
    "shared_conversation",
    "statistics",
    "storable",
    "task_logger",
    "task_record",
    "task_records",
    "tasks_elsewhere",
    "tidy",
    "unrewound_api",
    "verify_backup",
]

# What only some need is imported when they do: most of it would cost every start.
_LATER: Final = {
    name: module
    for module, names in {
        "exchange._embedded": (
            "EMBEDDED_KEY",
            "EmbeddedConversation",
            "embedded_conversation",
            "embedded_copy_id",
            "read_embedded",
        ),
        "exchange._export": ("ExportFormat", "export_task", "render_task"),
        "exchange._find": ("find_messages",),
        "exchange._import": ("TaskImportReport", "import_embedded", "import_tasks"),
        "exchange._import_json": ("ImportFinding",),
        "exchange._migration": ("MigrationReport", "migrate"),
        "exchange._shared": ("SharedConversation", "shared_conversation"),
        "history._task_records": ("as_left", "history_item", "list_recovered", "task_record", "task_records"),
        "upkeep._backup": ("BackupInfo", "back_up", "backups", "restore_backup", "verify_backup"),
        "upkeep._doctor": ("DoctorFinding", "DoctorReport", "examine"),
        "upkeep._quota": ("AlertLevel", "PlaceUse", "StorageLimits", "StorageUse", "alert_level", "measure"),
        "upkeep._retention": ("CleanReport", "RetentionRules", "clean"),
        "upkeep._statistics": ("Statistics", "TaskFilter", "Totals", "statistics"),
    }.items()
    for name in names
}
"""The names by their modules."""


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f".{_LATER[name]}", __name__), name)
    globals()[name] = value
    return value
