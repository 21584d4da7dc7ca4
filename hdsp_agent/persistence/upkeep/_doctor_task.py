"""Looks one task's folder over. With ``repair`` the caller holds the task's lock."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from pydantic import ValidationError

from ..._iso_time import iso_time
from ..._private_files import read_with_identity, set_aside
from ..._private_open import open_private
from ...append_log.corrupt_lines import CorruptLine, keep_aside, kept_aside
from ...append_log.gzip_logs import PACKED, open_packed
from ...append_log.log_tail import is_record, repair_tail
from ...errors import HdspAgentError
from ...messages import TaskId
from .._records import STREAM_FILES, StoredTaskState, Stream, TaskMetadata
from .._task_streams import LINE_FORMS
from ..files._artifacts import ARTIFACT_NAME
from ..files._task_folders import ARTIFACTS, METADATA, STATE, read_metadata, read_state, tidy, write_record
from ..files._task_locks import LOCK_NAME
from ._doctor_findings import FindingKind, Report

__all__ = ["REFERENCE", "TaskExamination"]

_BLOCK: Final = 1024 * 1024
REFERENCE: Final = re.compile(
    rb'artifact[^"\n]{0,40}"?\s{0,4}[:/=]?\s{0,4}\\?"?([0-9a-f]{64})(?![0-9a-f])', re.IGNORECASE
)
"""How a line names an artifact, whatever its field is called: a bare sha256 may be anything."""


class TaskExamination:
    """One look at a task. Of one that is worked on, only what its owner does not see to itself is told."""

    def __init__(self, folder: Path, task_id: TaskId, report: Report, *, repair: bool, worked_on: bool = False) -> None:
        self._folder = folder
        self._task_id = task_id
        self._report = report
        self._repair = repair
        self._worked_on = worked_on
        self._referenced: set[str] = set()

    def run(self) -> None:
        """Look at everything."""
        self._modes()
        self._record(METADATA, TaskMetadata.model_validate_json, self._mend_metadata)
        self._record(STATE, StoredTaskState.model_validate_json, self._mend_state)
        for stream, name in STREAM_FILES.items():
            self._log(stream, name)
        self._artifacts()
        self._others()
        if self._repair:
            tidy(self._folder)

    def _add(self, kind: FindingKind, path: Path, message: str, *, note: bool = False) -> None:
        self._report.add(kind, path, message, task_id=self._task_id, note=note)

    def _mend(self, kind: FindingKind, path: Path, message: str, mend: Callable[[], object]) -> None:
        self._report.mend(kind, path, message, mend if self._repair else None, task_id=self._task_id)

    def _modes(self) -> None:
        if sys.platform == "win32":
            return
        for at, folders, names in os.walk(self._folder):
            for path in (Path(at), *(Path(at) / name for name in names)):
                with suppress(FileNotFoundError):
                    mode = path.lstat().st_mode
                    if not stat.S_ISLNK(mode) and mode & 0o077:
                        right = 0o700 if stat.S_ISDIR(mode) else 0o600
                        self._mend(
                            "permissions", path, f"Others can use it (mode {stat.S_IMODE(mode):03o}).",
                            lambda path=path, right=right: path.chmod(right),  # type: ignore[misc]  # bound now
                        )  # fmt: skip
            folders.sort()

    def _record(self, name: str, parse: Callable[[bytes], object], mend: Callable[[], None]) -> None:
        path = self._folder / name
        try:
            found = read_with_identity(path)
            if found is None:
                self._mend("damaged_record", path, f"{name} is missing.", mend)
                return
            parse(found[0])
        except ValidationError as error:
            first = error.errors(include_url=False)[0]["msg"]
            self._mend("damaged_record", path, f"{name} is damaged: {first}.", mend)
        except HdspAgentError as error:
            self._add("damaged_record", path, str(error))

    def _mend_metadata(self) -> None:
        path = self._folder / METADATA
        metadata = read_metadata(self._folder)
        if path.exists():
            set_aside(path, _stamp())
        write_record(path, metadata)

    def _mend_state(self) -> None:
        write_record(self._folder / STATE, read_state(self._folder, repair=True))

    def _log(self, stream: Stream, name: str) -> None:
        plain, packed = self._folder / name, self._folder / (name + PACKED)
        if plain.exists() and packed.exists():
            self._mend(
                "interrupted_packing", packed, "The log exists compressed and uncompressed; the uncompressed one is used.",
                lambda: _remove_copy(packed, plain),
            )  # fmt: skip
        try:
            if plain.exists():
                with open(plain, "rb") as log:
                    self._lines(stream, plain, log)
                self._examine_tail(plain)
            elif packed.exists():
                with open_packed(open(packed, "rb", buffering=0))[0] as unpacked:
                    self._lines(stream, packed, unpacked)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            self._add(
                "damaged_log", packed, f"The compressed log is damaged ({error}). Restore the task from a backup."
            )
        except OSError as error:
            self._add("damaged_log", plain, f"The log cannot be read: {error}.")

    def _lines(self, stream: Stream, path: Path, log: IO[bytes]) -> None:
        known: set[tuple[int, bytes]] | None = None
        settled = 0
        for offset, line in _whole_lines(log):
            self._referenced.update(match.decode() for match in REFERENCE.findall(line))
            try:
                LINE_FORMS[stream].parse(line)
                continue
            except (ValueError, RecursionError):
                damage = CorruptLine(offset, line, "unknown" if is_record(line) else "corrupt")
            if damage.damage == "unknown":
                self._add(
                    "corrupt_line", path, f"The line at byte {offset} has the format of another version.", note=True
                )
                continue
            if known is None:
                known = {(kept.offset, kept.data) for kept in kept_aside(path)}
            if (offset, line) in known:
                settled += 1
                continue
            self._mend(
                "corrupt_line", path, f"The line at byte {offset} ({len(line)} bytes) cannot be read.",
                lambda damage=damage: keep_aside(path, [damage]),  # type: ignore[misc]  # bound now
            )  # fmt: skip
        if settled:
            self._add("kept_aside", path, f"{settled} damaged lines were set aside and are skipped.", note=True)

    def _examine_tail(self, path: Path) -> None:
        if self._worked_on:
            return
        with open(path, "rb") as log:
            size = log.seek(0, os.SEEK_END)
            if size == 0:
                return
            log.seek(size - 1)
            if log.read(1) == b"\n":
                return
        self._mend(
            "torn_tail", path, "The last line is incomplete: it was never confirmed as saved.", lambda: _cut_tail(path)
        )

    def _artifacts(self) -> None:
        folder = self._folder / ARTIFACTS
        there: set[str] = set()
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
            for entry in entries:
                path = Path(entry.path)
                if not ARTIFACT_NAME.fullmatch(entry.name):
                    if ".corrupt-" in entry.name:
                        self._add("kept_aside", path, "It was damaged and set aside.", note=True)
                    elif not entry.name.startswith("."):
                        self._add("unknown_file", path, "This is unknown, and is not changed.", note=True)
                    continue
                if _sum_of(path) == entry.name:
                    there.add(entry.name)
                else:
                    self._mend(
                        "artifact_damaged", path, "Its content does not match its name.",
                        lambda path=path: set_aside(path, _stamp()),  # type: ignore[misc]  # bound now
                    )  # fmt: skip
        for name in sorted(self._referenced - there):
            self._add("artifact_missing", folder / name, "A message refers to it, but it is missing.")

    def _others(self) -> None:
        ours = {METADATA, STATE, ARTIFACTS, LOCK_NAME, *STREAM_FILES.values()}
        for entry in sorted(os.scandir(self._folder), key=lambda entry: entry.name):
            name = entry.name
            if name in ours or name.startswith((LOCK_NAME, ".")) or name.removesuffix(PACKED) in ours:
                continue
            if ".corrupt" in name:
                base = name.partition(".corrupt")[0]
                count = len(kept_aside(self._folder / base)) if name.endswith(".corrupt") else 1
                self._add("kept_aside", Path(entry.path), f"{count} damaged parts of {base} are kept here.", note=True)
            else:
                self._add("unknown_file", Path(entry.path), "This is unknown, and is not changed.", note=True)


def _whole_lines(log: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    offset = 0
    pieces: list[bytes] = []
    while block := log.read(_BLOCK):
        *lines, rest = block.split(b"\n")
        for line in lines:
            whole = b"".join((*pieces, line)) if pieces else line
            pieces = []
            if whole:
                yield offset, whole
            offset += len(whole) + 1
        pieces.append(rest)


def _cut_tail(path: Path) -> None:
    descriptor = open_private(path, os.O_RDWR | os.O_APPEND)
    try:
        repair_tail(path, descriptor)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_copy(packed: Path, plain: Path) -> None:
    """Remove the packed log if all it has is in the other one; else keep it aside."""
    same = False
    with (
        suppress(OSError, EOFError, zlib.error),
        open(plain, "rb") as log,
        open_packed(open(packed, "rb", buffering=0))[0] as unpacked,
    ):
        same = _digest(unpacked) == _digest(log)
    if same:
        packed.unlink()
    else:
        set_aside(packed, _stamp())


def _sum_of(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            return _digest(file)
    except OSError:
        return ""


def _digest(file: IO[bytes]) -> str:
    sum_ = hashlib.sha256()
    while piece := file.read(_BLOCK):
        sum_.update(piece)
    return sum_.hexdigest()


def _stamp() -> str:
    return iso_time().replace(":", "")
