"""Task directories, append-only logs, locks, masking and the history index: nothing is lost."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from .._iso_time import iso_time, parse_iso_time
from ..append_log.corrupt_lines import CorruptLine, Damage, kept_aside
from ._audit_log import AuditAction, AuditEntry, AuditLog
from ._backends import (
    BACKENDS,
    DATABASE_NAME,
    Backend,
    backend_named,
    has_store,
    history_database,
    open_store,
    tasks_elsewhere,
)
from ._protocol import (
    DamageNotice,
    HistoryLog,
    NewTaskRecord,
    Outcome,
    Place,
    Records,
    StateChange,
    TaskLog,
    TaskOverview,
    TaskReader,
    TaskRecovery,
    TaskStore,
)
from ._read_only_history import history_to_read
from ._records import (
    COMPLETED_STATUSES,
    STREAM_FILES,
    ApiDraft,
    ApiRecord,
    ApiRole,
    CountedTokens,
    LockRecord,
    ModelUse,
    StoredTaskState,
    Stream,
    SummaryDraft,
    SummaryRecord,
    TaskKey,
    TaskMetadata,
    TaskStatus,
    ToolDraft,
    ToolRecord,
    ToolStatus,
    estimated_tokens,
)
from ._trace import task_logger
from .files._file_store import FileStore
from .files._task_locks import LockWatch, TaskLock, read_lock
from .history._index import HistoryChange, HistoryIndex, HistoryRecord, RebuildReport
from .history._places import HistoryPlaces, PlaceCount
from .history._query import HistoryHit, HistoryPage, HistoryQuery
from .history._state_database import StateDatabase
from .marks._forks import Fork, fork_at
from .marks._histories import effective_api, effective_ui
from .marks._marks import AnyMark, CondenseMark, Mark, RewindMark, TruncateMark, UndoMark, parse_mark
from .marks._message_manager import MessageManager, Newer, RewindEffect
from .marks._replay import HistoryView, newest_marks, replay
from .marks._spans import SpanSet
from .marks._tool_pairs import INTERRUPTED
from .masking._masker import Masker, StreamMasker
from .masking._vault import Vault
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
    from .exchange._import import ImportedTask, TaskImportReport, import_embedded, import_tasks
    from .exchange._import_images import with_images
    from .exchange._import_json import ImportFinding
    from .exchange._migration import MigrationReport, migrate
    from .history._task_records import as_left, history_item, list_recovered, task_record, task_records
    from .sqlite._sqlite_store import SqliteStore
    from .upkeep._backup import BackupInfo, BackupReport, RestoreReport, back_up, backups, restore_backup, verify_backup
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
    "PLACEHOLDER",
    "STREAM_FILES",
    "AlertLevel",
    "AnyMark",
    "ApiDraft",
    "ApiRecord",
    "ApiRole",
    "AuditAction",
    "AuditEntry",
    "AuditLog",
    "Backend",
    "BackupInfo",
    "BackupReport",
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
    "HistoryHit",
    "HistoryIndex",
    "HistoryLog",
    "HistoryPage",
    "HistoryPlaces",
    "HistoryQuery",
    "HistoryRecord",
    "HistoryView",
    "ImportFinding",
    "ImportedTask",
    "LockRecord",
    "LockWatch",
    "Mark",
    "Masker",
    "MessageManager",
    "MigrationReport",
    "ModelUse",
    "NewTaskRecord",
    "Newer",
    "Outcome",
    "Place",
    "PlaceCount",
    "PlaceUse",
    "Progress",
    "RebuildReport",
    "Records",
    "RestoreReport",
    "RetentionRules",
    "RewindEffect",
    "RewindMark",
    "SpanSet",
    "SqliteStore",
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
    "TaskOverview",
    "TaskReader",
    "TaskRecovery",
    "TaskSizes",
    "TaskStatus",
    "TaskStore",
    "ToolDraft",
    "ToolRecord",
    "ToolStatus",
    "Totals",
    "TruncateMark",
    "UndoMark",
    "Vault",
    "alert_level",
    "as_left",
    "back_up",
    "backend_named",
    "backups",
    "clean",
    "effective_api",
    "effective_ui",
    "embedded_conversation",
    "embedded_copy_id",
    "estimated_tokens",
    "examine",
    "export_task",
    "fork_at",
    "has_store",
    "history_database",
    "history_item",
    "history_to_read",
    "import_embedded",
    "import_tasks",
    "iso_time",
    "kept_aside",
    "list_recovered",
    "measure",
    "migrate",
    "newest_marks",
    "open_store",
    "parse_iso_time",
    "parse_mark",
    "read_embedded",
    "read_lock",
    "render_task",
    "replay",
    "restore_backup",
    "statistics",
    "task_logger",
    "task_record",
    "task_records",
    "tasks_elsewhere",
    "verify_backup",
    "with_images",
]

# What only some need is imported when they do: most of it would cost every start.
_LATER: Final = {
    "TaskFilter": ("upkeep._statistics", "TaskFilter"),
    "as_left": ("history._task_records", "as_left"),
    "history_item": ("history._task_records", "history_item"),
    "list_recovered": ("history._task_records", "list_recovered"),
    "task_record": ("history._task_records", "task_record"),
    "task_records": ("history._task_records", "task_records"),
    "AlertLevel": ("upkeep._quota", "AlertLevel"),
    "BackupInfo": ("upkeep._backup", "BackupInfo"),
    "BackupReport": ("upkeep._backup", "BackupReport"),
    "CleanReport": ("upkeep._retention", "CleanReport"),
    "DoctorReport": ("upkeep._doctor", "DoctorReport"),
    "EMBEDDED_KEY": ("exchange._embedded", "EMBEDDED_KEY"),
    "EmbeddedConversation": ("exchange._embedded", "EmbeddedConversation"),
    "embedded_conversation": ("exchange._embedded", "embedded_conversation"),
    "embedded_copy_id": ("exchange._embedded", "embedded_copy_id"),
    "read_embedded": ("exchange._embedded", "read_embedded"),
    "ExportFormat": ("exchange._export", "ExportFormat"),
    "DoctorFinding": ("upkeep._doctor", "DoctorFinding"),
    "ImportFinding": ("exchange._import_json", "ImportFinding"),
    "TaskImportReport": ("exchange._import", "TaskImportReport"),
    "ImportedTask": ("exchange._import", "ImportedTask"),
    "MigrationReport": ("exchange._migration", "MigrationReport"),
    "PlaceUse": ("upkeep._quota", "PlaceUse"),
    "RestoreReport": ("upkeep._backup", "RestoreReport"),
    "RetentionRules": ("upkeep._retention", "RetentionRules"),
    "SqliteStore": ("sqlite._sqlite_store", "SqliteStore"),
    "Statistics": ("upkeep._statistics", "Statistics"),
    "StorageLimits": ("upkeep._quota", "StorageLimits"),
    "StorageUse": ("upkeep._quota", "StorageUse"),
    "Totals": ("upkeep._statistics", "Totals"),
    "alert_level": ("upkeep._quota", "alert_level"),
    "back_up": ("upkeep._backup", "back_up"),
    "backups": ("upkeep._backup", "backups"),
    "clean": ("upkeep._retention", "clean"),
    "examine": ("upkeep._doctor", "examine"),
    "export_task": ("exchange._export", "export_task"),
    "import_embedded": ("exchange._import", "import_embedded"),
    "import_tasks": ("exchange._import", "import_tasks"),
    "measure": ("upkeep._quota", "measure"),
    "migrate": ("exchange._migration", "migrate"),
    "render_task": ("exchange._export", "render_task"),
    "restore_backup": ("upkeep._backup", "restore_backup"),
    "statistics": ("upkeep._statistics", "statistics"),
    "verify_backup": ("upkeep._backup", "verify_backup"),
    "with_images": ("exchange._import_images", "with_images"),
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _LATER[name]
    value: object = getattr(import_module(f".{module}", __name__), attribute)
    globals()[name] = value
    return value
