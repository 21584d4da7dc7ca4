"""What came of verifying notebooks, each report with the checkpoint of what was verified. Everything here blocks.

Whoever changes the log holds the store's lock; reading needs none.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from pydantic import ConfigDict

from ..._private_files import Identity, identity_of, replace_file
from ...append_log.appender import append_durably
from ...append_log.corrupt_lines import CorruptLine
from ...append_log.jsonl import JsonlLog, LineForm
from ...errors import InvalidInput
from ...messages import JsonObject
from ...wire import WireModel
from ..files.records import CheckpointId

__all__ = ["VerificationReport", "VerificationReports"]

_log = logging.getLogger(__name__)
_ALL: Final = 1 << 60
_MOST_REPORTS: Final = 100
_MOST_BYTES: Final = 1_000_000
"""Of one report, which thousands of cells fit in."""


class VerificationReport(WireModel):
    """What came of verifying a notebook once."""

    model_config = ConfigDict(extra="ignore")

    seq: int = 0
    id: str
    ts: int
    """When it ended, in milliseconds."""
    owner: str
    """Who asked for it, and alone may see it."""
    checkpoint: CheckpointId
    path: str
    """In the contents API."""
    same: int
    """Cells that showed what was saved in them."""
    differing: int
    report: JsonObject
    """All of it, as whoever verified wrote it."""


class VerificationReports:
    """The newest reports of a workspace, oldest first."""

    def __init__(self, path: Path) -> None:
        self._path = path
        form = LineForm("seq", VerificationReport.model_validate_json)
        self._lines = JsonlLog(lambda: [path], form, self._damaged)
        self._known: tuple[Identity | None, Sequence[VerificationReport]] = (None, ())
        """What was read, and of which version of the file: one value, as several threads ask."""

    def summaries(self) -> Sequence[VerificationReport]:
        """All of them, without what they report of cells."""
        now = identity_of(self._path)
        seen, summaries = self._known
        if now != seen or now is None:
            summaries = [one.model_copy(update={"report": {}}) for one in self._read()]
            self._known = now, summaries
        return summaries

    def find(self, report: str) -> VerificationReport | None:
        """The one with this id, whole."""
        seq = next((one.seq for one in self.summaries() if one.id == report), None)
        found = self._lines.between(seq, seq, 1, newest=True) if seq is not None else []
        return found[0].record if found and found[0].record.id == report else None

    def add(self, report: VerificationReport) -> None:
        """Keep one more; beyond a number the oldest goes. Raises InvalidInput for one that is too large."""
        kept = self._read()
        line = _line(report.model_copy(update={"seq": kept[-1].seq + 1 if kept else 1}))
        if len(line) > _MOST_BYTES:
            raise InvalidInput(
                f"The report of {report.path} is larger than {_MOST_BYTES // 1000} kB, so it is not kept."
            )
        if len(kept) < _MOST_REPORTS:
            append_durably(self._path, line)
        else:
            replace_file(self._path, b"".join(map(_line, kept[1 - _MOST_REPORTS :])) + line)

    def collect(self, checkpoints: Collection[CheckpointId]) -> None:
        """Drop those of all checkpoints but these."""
        if all(one.checkpoint in checkpoints for one in self.summaries()):
            return
        replace_file(self._path, b"".join(_line(one) for one in self._read() if one.checkpoint in checkpoints))

    def _read(self) -> list[VerificationReport]:
        return [entry.record for entry in self._lines.between(0, _ALL, _ALL, newest=True)]

    def _damaged(self, path: Path, line: CorruptLine) -> None:
        _log.error("A line of %s at byte %s cannot be read (%s); its report is lost", path, line.offset, line.damage)


def _line(report: VerificationReport) -> bytes:
    return report.to_json().encode() + b"\n"
