"""What is seen to once a day: a backup, old conversations packed and deleted as the settings say, their size measured."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

from ..config import ContextProxy
from ..errors import HdspAgentError
from ..persistence import (
    RetentionRules,
    StorageLimits,
    StorageUse,
    alert_level,
    back_up,
    backups,
    clean,
    measure,
    parse_iso_time,
)
from ._rounds import Rounds, Times
from .history import History
from .storage_notices import StorageNotices
from .task_storage import TaskStorage

if TYPE_CHECKING:
    from ._bad_input_log import Log

__all__ = ["MeasuredStorage", "RetentionJob"]

_TIMES: Final = Times(first_after_seconds=60.0, every_seconds=24 * 3600.0, after_failure_seconds=3600.0)
_BACKUP_EVERY_SECONDS: Final = 20 * 3600.0
"""Less than a day: a round that is a little early must not leave a day out."""
_LARGEST_BACKED_UP: Final = 5_000_000_000
_CHANGES_WITH_ANYTHING: Final = ("config.json", "state.db", "state.db-wal", "tasks.db", "tasks.db-wal")
_DOUBTS: Final = frozenset(
    {"config_corrupt", "config_set_aside", "setting_ignored", "storage_unavailable", "user_config_failed"}
)


@dataclass(frozen=True)
class MeasuredStorage:
    """What was stored, and the room on its disk where that is known, at this time of the monotonic clock."""

    use: StorageUse
    free_bytes: int | None
    at: float


class RetentionJob:
    """Runs in the background from ``start`` to ``stop``; all that takes long is done in threads."""

    def __init__(
        self,
        storage: TaskStorage,
        history: History,
        config: ContextProxy,
        notices: StorageNotices,
        *,
        log: Log | None = None,
        times: Times = _TIMES,
    ) -> None:
        self._storage = storage
        self._history = history
        self._config = config
        self._notices = notices
        self._log = log or logging.getLogger(__name__)
        self.measured: MeasuredStorage | None = None
        """How much was stored when that was last measured."""
        self.on_measured: Callable[[], None] = lambda: None
        """Told when it was measured again."""
        self._rounds = Rounds("upkeep", self.look, times, failure="Upkeep failed", log=self._log)

    def start(self) -> None:
        """Begin the rounds."""
        self._rounds.start()

    async def stop(self) -> None:
        """End the rounds; one that is under way stops in good order."""
        await self._rounds.stop()

    async def look(self) -> None:
        """One round now."""
        await self._back_up()
        settings = self._config.settings
        rules = RetentionRules(
            settings.retention_compress_days, 0 if self._settings_are_doubtful else settings.retention_delete_days
        )
        store, index = await self._storage.store(), await self._storage.index()
        report = await clean(store, rules, index=index)
        self._history.removed([task.task_id for task in report.deleted])
        if report.done:
            self._log.info(
                "Upkeep: %s conversations compressed, %s deleted, %s bytes freed",
                len(report.packed), len(report.deleted), report.freed,
            )  # fmt: skip
        await self.measure()

    async def _back_up(self) -> None:
        """Make the day's backup, before anything is deleted. That it cannot be made keeps nothing else from being done."""
        generations, home = self._config.settings.backup_generations, self._storage.home
        target = home / "backups"
        if not generations or not await asyncio.to_thread(_is_due, home, target):
            return
        use = await measure(home)
        size = use.total_bytes - use.parts.get(target.name, 0)
        free = (await asyncio.to_thread(shutil.disk_usage, home)).free
        if size > _LARGEST_BACKED_UP or size * 2 > free:
            self._log.warning(
                "No backup was made: the storage folder has %s bytes, and %s are free. Make one elsewhere with: hdsp-agent backup --to",
                size, free,
            )  # fmt: skip
            return
        try:
            report = await back_up(home, target, generations=generations)
        except HdspAgentError as error:
            self._log.warning("No backup could be made: %s", error)
        else:
            self._log.info("Backup: %s with %s files", report.backup.path, report.files)

    @property
    def _settings_are_doubtful(self) -> bool:
        """Whether what cannot be read of the settings may say that nothing is to be deleted."""
        return any(
            notice.code in _DOUBTS and notice.field in (None, "retentionDeleteDays") for notice in self._config.notices
        )

    async def measure(self) -> None:
        """How much is stored, and whether that is too much."""
        settings = self._config.settings
        warning, critical = settings.size_warning_gigabytes, settings.size_critical_gigabytes
        use = await measure(self._storage.home, self._storage.unopened)
        free = await asyncio.to_thread(_free_bytes, self._storage.home)
        self.measured = MeasuredStorage(use, free, monotonic())
        self.on_measured()
        level = alert_level(use, StorageLimits.of_gigabytes(warning, critical))
        self._notices.size(level, use.total_bytes, critical if level == "critical" else warning)


def _free_bytes(home: Path) -> int | None:
    try:
        return shutil.disk_usage(home).free
    except OSError:
        return None


def _is_due(home: Path, target: Path) -> bool:
    """Whether the newest backup is a day old, and anything changed since. Blocks."""
    newest = next(iter(backups(target)), None)
    made_at = None if newest is None else parse_iso_time(newest.created_at)
    if made_at is None:
        return True
    if (datetime.now(UTC) - made_at).total_seconds() < _BACKUP_EVERY_SECONDS:
        return False
    files = [home / name for name in _CHANGES_WITH_ANYTHING]
    return any(file.exists() and file.stat().st_mtime > made_at.timestamp() for file in files)
