"""What is seen to once a day: old conversations are packed and deleted as the settings say, and their size is measured."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from ..config import ContextProxy
from ..errors import HdspAgentError
from ..persistence import RetentionRules, StorageLimits, alert_level, clean, measure
from .history import History
from .storage_notices import StorageNotices
from .task_storage import TaskStorage

if TYPE_CHECKING:
    from ._complaints import Log

__all__ = ["Upkeep"]

_FIRST_AFTER_SECONDS: Final = 60.0
"""A server that starts has better things to do."""
_EVERY_SECONDS: Final = 24 * 3600.0
_AGAIN_AFTER_SECONDS: Final = 3600.0
_DOUBTS: Final = frozenset(
    {"config_corrupt", "config_set_aside", "setting_ignored", "storage_unavailable", "user_config_failed"}
)


class Upkeep:
    """Runs in the background from ``start`` to ``stop``; all that takes long is done in threads."""

    def __init__(
        self,
        storage: TaskStorage,
        history: History,
        config: ContextProxy,
        notices: StorageNotices,
        *,
        log: Log | None = None,
        first_after_seconds: float = _FIRST_AFTER_SECONDS,
    ) -> None:
        self._storage = storage
        self._history = history
        self._config = config
        self._notices = notices
        self._log = log or logging.getLogger(__name__)
        self._first_after_seconds = first_after_seconds
        self._rounds: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin the rounds."""
        self._rounds = asyncio.create_task(self._go_round(), name="hdsp-agent upkeep")

    async def stop(self) -> None:
        """End the rounds; one that is under way stops in good order."""
        if self._rounds is not None:
            self._rounds.cancel()
            await asyncio.gather(self._rounds, return_exceptions=True)

    async def look(self) -> None:
        """One round now."""
        settings = self._config.settings
        rules = RetentionRules(
            settings.retention_compress_days, 0 if self._settings_are_doubtful else settings.retention_delete_days
        )
        store, index = await self._storage.store(), await self._storage.index()
        report = await clean(store, rules, index=index)
        self._history.removed([task.task_id for task in report.deleted])
        if report.done:
            self._log.info(
                "Upkeep: %s conversations packed, %s deleted, %s bytes freed",
                len(report.packed), len(report.deleted), report.freed,
            )  # fmt: skip
        await self.measure()

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
        use = await measure(self._storage.home)
        level = alert_level(use, StorageLimits.of_gigabytes(warning, critical))
        self._notices.size(level, use.total_bytes, critical if level == "critical" else warning)

    async def _go_round(self) -> None:
        wait = self._first_after_seconds
        while True:
            await asyncio.sleep(wait)
            try:
                await self.look()
                wait = _EVERY_SECONDS
            except HdspAgentError as error:
                self._log.warning("Upkeep could not be done now and is tried again later: %s", error)
                wait = _AGAIN_AFTER_SECONDS
            except Exception:  # noqa: BLE001 -- see below
                # Held in a task nobody awaits: the round would end unseen, and with it all later ones.
                self._log.exception("Upkeep failed; it is tried again later")
                wait = _AGAIN_AFTER_SECONDS
