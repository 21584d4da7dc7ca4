"""The append-only log of everything that was done to a workspace's checkpoints. Everything here blocks.

A line is acknowledged when it is on the disk. A restore writes two lines with one number: the first says that it began, the
second, which replaces it, how it ended; a first without a second is a restore that a crash cut short. Other processes write
to the same log; whoever changes it holds the store's lock, so the log is read again only where it was changed.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from ..._private_files import replace_file
from ...append_log.appender import append_durably
from ...append_log.corrupt_lines import CorruptLine
from ...append_log.jsonl import REPLACES, JsonlLog, LineForm
from ...errors import NotFound
from .records import CheckpointRecord, OperationRecord

__all__ = ["OperationLog"]

_logger = logging.getLogger(__name__)
_ALL: Final = 1 << 60


class OperationLog:
    """What was done, oldest first."""

    def __init__(self, path: Path) -> None:
        self.path = path
        form = LineForm("seq", OperationRecord.model_validate_json, latest_wins=True)
        self._lines = JsonlLog(lambda: [path], form, self._damaged)
        self._seen: tuple[int, int, int] | None = None
        self._operations: list[OperationRecord] = []
        self._checkpoints: dict[str, CheckpointRecord] = {}

    def refresh(self) -> None:
        """Read what others added."""
        seen = _identity(self.path)
        if seen == self._seen and seen is not None:
            return
        entries = self._lines.between(0, _ALL, _ALL, newest=True)
        self._know([entry.record for entry in entries])
        self._seen = seen

    @property
    def generation(self) -> int | None:
        """Changes when the log is rewritten, which is when objects may have been dropped."""
        return self._seen[0] if self._seen is not None else None

    @property
    def operations(self) -> Sequence[OperationRecord]:
        """All of them."""
        return self._operations

    @property
    def checkpoints(self) -> Mapping[str, CheckpointRecord]:
        """The states they led to, by id, oldest first."""
        return self._checkpoints

    @property
    def head(self) -> CheckpointRecord | None:
        """The state the workspace was last known to be in."""
        return next(reversed(self._checkpoints.values()), None)

    @property
    def interrupted(self) -> OperationRecord | None:
        """A restore that a crash cut short and nobody has decided about; if its recovery was cut short too, still it."""
        return next((done for done in self._operations if done.status == "begun"), None)

    def checkpoint(self, wanted: str) -> CheckpointRecord:
        """The checkpoint with this id, or the newest with this commit."""
        found = self._checkpoints.get(wanted)
        if found is None and len(wanted) >= 4:
            found = next((one for one in reversed(self._checkpoints.values()) if one.commit.startswith(wanted)), None)
        if found is None:
            raise NotFound(
                f"There is no checkpoint {wanted}. It may have been deleted to save space. Choose another one.",
                id=wanted,
                why="unknown_checkpoint",
            )
        return found

    def next_seq(self) -> int:
        """The number of the next operation."""
        return self._operations[-1].seq + 1 if self._operations else 1

    def append(self, operation: OperationRecord) -> None:
        """Add an operation, or replace the one of this number by what became of it. On the disk when this returns."""
        replaces = any(known.seq == operation.seq for known in self._operations)
        append_durably(self.path, _line(operation, replaces=replaces))
        others = [known for known in self._operations if known.seq != operation.seq]
        self._know(sorted([*others, operation], key=lambda known: known.seq))
        self._seen = _identity(self.path)

    def rewrite(self, operations: Sequence[OperationRecord]) -> None:
        """Replace the whole log: some operations were dropped to save space."""
        replace_file(self.path, b"".join(_line(operation, replaces=False) for operation in operations))
        self._know(operations)
        self._seen = _identity(self.path)

    def _know(self, operations: Sequence[OperationRecord]) -> None:
        self._operations = list(operations)
        self._checkpoints = {}
        for done in operations:
            if done.checkpoint is not None:
                # A restore that others saved beside has its result twice; where it stands last is where it belongs.
                self._checkpoints.pop(done.checkpoint.id, None)
                self._checkpoints[done.checkpoint.id] = done.checkpoint

    def _damaged(self, path: Path, line: CorruptLine) -> None:
        _logger.error(
            "A line of %s at byte %s cannot be read (%s); its checkpoint is lost", path, line.offset, line.damage
        )


def _line(operation: OperationRecord, *, replaces: bool) -> bytes:
    data = operation.to_json().encode()
    if replaces:
        head, rest = data.split(b",", 1)
        data = head + b"," + REPLACES + b"," + rest
    return data + b"\n"


def _identity(path: Path) -> tuple[int, int, int] | None:
    with suppress(OSError):
        status = os.stat(path)
        return (status.st_ino, status.st_size, status.st_mtime_ns)
    return None
