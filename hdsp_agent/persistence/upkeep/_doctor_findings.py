"""What the doctor finds."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ...errors import HdspAgentError
from ...messages import TaskId

__all__ = ["DoctorFinding", "FindingKind", "Report"]

logger = logging.getLogger(__name__)

FindingKind = Literal[
    "missing",
    "permissions",
    "damaged_settings",
    "database_damaged",
    "damaged_record",
    "torn_tail",
    "corrupt_line",
    "damaged_log",
    "interrupted_packing",
    "interrupted_move",
    "interrupted_restore",
    "dead_task",
    "stopped_task",
    "orphan_lock",
    "unfinished",
    "twice",
    "artifact_damaged",
    "artifact_missing",
    "artifact_store_away",
    "unused_objects",
    "index_damaged",
    "index_out_of_step",
    "kept_aside",
    "other_backend",
    "unknown_file",
]


@dataclass(frozen=True)
class DoctorFinding:
    """One thing that is not as it should be; ``note`` if nothing need be done about it."""

    kind: FindingKind
    path: Path
    message: str
    task_id: TaskId | None = None
    mended: bool = False
    note: bool = False


@dataclass
class Report:
    """Collects what is found."""

    findings: list[DoctorFinding] = field(default_factory=list)

    def add(
        self,
        kind: FindingKind,
        path: Path,
        message: str,
        *,
        task_id: TaskId | None = None,
        mended: bool = False,
        note: bool = False,
    ) -> None:
        """Write it down."""
        self.findings.append(DoctorFinding(kind, path, message, task_id, mended, note))

    def mend(
        self,
        kind: FindingKind,
        path: Path,
        message: str,
        mend: Callable[[], object] | None,
        *,
        task_id: TaskId | None = None,
        note: bool = False,
    ) -> None:
        """Write it down, and mend it if that is wanted; what refuses to be mended says why."""
        mended = False
        if mend is not None:
            try:
                mend()
                mended = True
            except (HdspAgentError, OSError) as error:
                message = f"{message} It could not be repaired: {error}"
                logger.warning("%s could not be repaired (%s): %s", path, kind, error)
        self.add(kind, path, message, task_id=task_id, mended=mended, note=note)
