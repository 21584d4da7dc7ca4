"""One person's memory folder, brought in line with the database that all their servers share. Everything here blocks.

The files stay what everybody reads and changes here. What other servers changed is put into them first, joined with what
was changed here; then what differs from the database is added to it, as one transaction, whole or not at all.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from ..._private_files import Identity, locked, make_private_folder, read_with_identity, replace_file, storage_error
from ...errors import StorageUnavailable
from ...persistence import LARGEST_SHARED_FILE, SharedFile, SharedMemory, SqlConnection
from ..memory_folder import ASIDE_FOLDER, CONSOLIDATED
from .file_join import JoinedFile, joined_file
from .publication_join import PublicationJoin
from .shared_names import RECORD, is_shared_name, lock_of, shared_names
from .sync_record import CommonFile, PushedFiles, SyncRecord, hash_of, load_record, save_record

__all__ = ["SharedFolder", "SyncReport"]

logger = logging.getLogger(__name__)
T = TypeVar("T")

_LOCK_SECONDS: Final = 30.0
_MOST_ATTEMPTS: Final = 20
_LOOK_AT_ALL_AFTER: Final = 30 * 24 * 3600.0
"""Seconds. The database knows for longer than that which files were deleted."""
_NOTE_LOOK_AFTER: Final = 24 * 3600.0


@dataclass
class SyncReport:
    """What was done: files that were ``taken`` from the database and ``given`` to it.

    ``twice`` counts what now stands twice in a file, since two servers changed it, and ``aside`` are versions kept apart.
    ``left_out`` are files that are not shared: they are too large, too many, links, or cannot be read.
    """

    taken: int = 0
    given: int = 0
    twice: int = 0
    aside: list[str] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class _Step:
    """What a file is to say, if it still is as it was read."""

    name: str
    before: bytes | None
    joined: JoinedFile
    common: CommonFile


class SharedFolder:
    """The folder of one person. Any number of processes may work with it."""

    def __init__(self, root: Path, owner: str, database: SharedMemory) -> None:
        self._root: Final = root
        self._owner: Final = owner
        self._database: Final = database
        self._hashes: dict[str, tuple[Identity, str]] = {}

    def sync(self) -> SyncReport:
        """Bring both in line. Raises StorageUnavailable, and then the files are as good as before."""
        with self._alone() as (record, report):
            for _ in range(_MOST_ATTEMPTS):
                behind = self._database.read_now(lambda connection: self._take_in(connection, record, report))
                if behind:
                    continue
                changed = self._changed(record, report)
                if not changed:
                    break
                if self._database.write_now(partial(self._give, record=record, changed=changed)):
                    self._gave(record)
                    report.given += len(changed)
                    break
            return report

    def written_in(
        self, connection: SqlConnection, work: Callable[[], T], gone: Iterable[str] = ()
    ) -> tuple[T, SyncReport]:
        """Do the work on the newest files; what it changes is a part of this transaction.

        ``gone`` are files that no server has any more, whether this one ever had them.
        """
        lost = list(gone)
        with self._alone() as (record, report):
            self._take_all(connection, record, report)
            result = work()
            self._database.hold_person(connection, self._owner)
            for _ in range(_MOST_ATTEMPTS):
                self._take_all(connection, record, report)
                changed = self._changed(record, report)
                for name in lost:
                    if name not in record.files:
                        changed.setdefault(name, None)
                if not changed or self._give(connection, record=record, changed=changed):
                    report.given += len(changed)
                    return result, report
            raise self._restless()

    @contextmanager
    def _alone(self) -> Iterator[tuple[SyncRecord, SyncReport]]:
        make_private_folder(self._root)
        with locked(self._root / RECORD, _LOCK_SECONDS):
            yield load_record(self._root), SyncReport()

    # ---- from the database

    def _take_all(self, connection: SqlConnection, record: SyncRecord, report: SyncReport) -> None:
        for _ in range(_MOST_ATTEMPTS):
            if not self._take_in(connection, record, report):
                return
        raise self._restless()

    def _take_in(self, connection: SqlConnection, record: SyncRecord, report: SyncReport) -> bool:
        """Put what is new into the files; whether some of them changed meanwhile, so that it is to be done again."""
        change, behind, was_cut_off = record.change, record.behind, bool(record.taking) or record.pushing is not None
        state = self._database.state(connection, self._owner)
        self._settle(connection, record, None if state is None else state.place)
        if state is None or state.place != record.place or state.change < record.change:
            # Another database, or one that was restored: nobody knows what it and the folder have in common.
            record.place, record.change, record.files, record.behind = "", 0, {}, []
        if state is None:
            return False
        record.place = state.place
        news = self._news(connection, record, state.change)
        record.behind = []
        steps = list(self._steps(connection, record, news))
        is_behind = bool(steps) and not self._put_all(steps, record, report)
        if not is_behind:
            record.change = state.change
        is_old = time.time() - record.looked_at > _NOTE_LOOK_AFTER
        if steps or was_cut_off or is_old or (record.change, record.behind) != (change, behind):
            record.looked_at = time.time()
            save_record(self._root, record)
        return is_behind

    def _news(self, connection: SqlConnection, record: SyncRecord, change: int) -> list[SharedFile]:
        """The versions that the folder does not have."""
        is_old = time.time() - record.looked_at > _LOOK_AT_ALL_AFTER
        files = self._database.files_since(connection, self._owner, 0 if is_old else record.change)
        if is_old:
            files += _vanished(record, files, change)
        if behind := set(record.behind) - {file.path for file in files}:
            files += self._database.files(connection, self._owner, sorted(behind))
        return [file for file in files if _is_news(record, file)]

    def _put_all(self, steps: Sequence[_Step], record: SyncRecord, report: SyncReport) -> bool:
        """Whether all files were as they were read, and say the other thing now."""
        record.taking = {step.name: step.common for step in steps}
        save_record(self._root, record)
        are_whole = True
        for step in steps:
            if self._put(step, report):
                record.files[step.name] = step.common
            else:
                are_whole = False
        record.taking = {}
        return are_whole

    def _settle(self, connection: SqlConnection, record: SyncRecord, place: str | None) -> None:
        """Find out what became of what was under way when whoever did it was killed."""
        for name, common in record.taking.items():
            if self._hash(name) == common.hash:
                record.files[name] = common
        record.taking = {}
        pushing, record.pushing = record.pushing, None
        if (
            pushing is not None
            and place == record.place
            and self._database.pushed(connection, self._owner, record.server) == pushing.change
        ):
            record.files.update(pushing.files)

    def _steps(self, connection: SqlConnection, record: SyncRecord, news: Sequence[SharedFile]) -> Iterator[_Step]:
        by_name = {file.path: file for file in news}
        publication = self._publication(record, by_name)
        if publication is not None:
            names = [name for name in self._changed(record, SyncReport()) if publication.covers(name)]
            heads = {file.path: file for file in self._database.files(connection, self._owner, names)}
            by_name = {**{name: heads.get(name, SharedFile(name, 0, None)) for name in names}, **by_name}
        for name, file in by_name.items():
            try:
                mine = self._content(name)
            except StorageUnavailable:
                # A link, or a file that cannot be read, is the person's own affair for now.
                record.behind.append(name)
                continue
            known = record.files.get(name, CommonFile())
            common = CommonFile.of(name, file.version, file.content)
            here = None if mine is None else hash_of(mine)
            if here in (known.hash, common.hash):
                joined = JoinedFile(file.content)
            elif publication is not None and publication.covers(name):
                joined = publication.joined(name, known.lines, mine, file.content)
            else:
                joined = joined_file(name, known.lines, known.counts, mine, file.content)
            yield _Step(name, mine, joined, common)

    def _publication(self, record: SyncRecord, news: dict[str, SharedFile]) -> PublicationJoin | None:
        """How to join what was consolidated on two servers, if it was."""
        theirs = news.get(CONSOLIDATED)
        mine = self._content(CONSOLIDATED) if theirs is not None else None
        if theirs is None or mine is None or mine == theirs.content:
            return None
        known = record.files.get(CONSOLIDATED)
        if known is not None and known.hash == hash_of(mine):
            return None
        return PublicationJoin(self._root, mine, never_met=known is None)

    def _put(self, step: _Step, report: SyncReport) -> bool:
        """Whether the file was as it was read, and says the other thing now."""
        joined = step.joined
        if joined.content != step.before:
            path = self._root / step.name
            self._refuse_link(step.name, "write")
            make_private_folder(path.parent)
            lock = lock_of(step.name)
            with nullcontext() if lock is None else locked(self._root / lock, _LOCK_SECONDS):
                if self._content(step.name) != step.before:
                    return False
                if joined.aside is not None:
                    self._set_aside(step.name, joined.aside, report)
                if joined.content is None:
                    path.unlink(missing_ok=True)
                else:
                    replace_file(path, joined.content)
            report.taken += 1
        report.twice += joined.twice
        return True

    def _set_aside(self, name: str, content: bytes, report: SyncReport) -> None:
        aside = f"{ASIDE_FOLDER}/{hash_of(content)[:8]}-{name.replace('/', '-')}"
        self._refuse_link(aside, "write")
        make_private_folder(self._root / ASIDE_FOLDER)
        replace_file(self._root / aside, content)
        report.aside.append(aside)

    # ---- to the database

    def _changed(self, record: SyncRecord, report: SyncReport) -> dict[str, bytes | None]:
        """What the files say that the database does not; None of one that is gone."""
        try:
            names = shared_names(self._root)
        except OSError as error:
            raise storage_error(self._root, "read", error) from error
        report.left_out |= names.left_out
        changed: dict[str, bytes | None] = {}
        for name, identity in names.items():
            seen = self._hashes.get(name)
            known = record.files.get(name, CommonFile())
            if seen is not None and seen == (identity, known.hash):
                continue
            try:
                content = self._content(name)
            except StorageUnavailable:
                report.left_out.add(name)
                continue
            if content is None or len(content) > LARGEST_SHARED_FILE:
                continue
            self._hashes[name] = identity, hash_of(content)
            if hash_of(content) != known.hash:
                changed[name] = content
        for name, known in record.files.items():
            if known.hash is None or name in names or name in report.left_out:
                continue
            if self._link(name) is not None:
                report.left_out.add(name)
            elif not (self._root / name).is_file():
                changed[name] = None
        return changed

    def _give(self, connection: SqlConnection, *, record: SyncRecord, changed: dict[str, bytes | None]) -> bool:
        """Add these versions; False if another server was first, and what it did is to be taken in before."""
        self._database.hold_person(connection, self._owner)
        state = self._database.state(connection, self._owner)
        assert state is not None
        if (record.place or state.change) and (state.place, state.change) != (record.place, record.change):
            return False
        newest = {file.path: file.version for file in self._database.files(connection, self._owner, list(changed))}
        unknown = [name for name, version in newest.items() if version > _version(record, name)]
        if unknown:
            record.behind += unknown
            return False
        versions = [SharedFile(name, state.change + 1, content) for name, content in changed.items()]
        commons = {file.path: CommonFile.of(file.path, file.version, file.content) for file in versions}
        record.place, record.change = state.place, state.change
        record.pushing = PushedFiles(change=state.change + 1, files=commons)
        save_record(self._root, record)
        self._database.add_versions(
            connection,
            self._owner,
            record.server,
            [(file, _takes_out(record.files.get(file.path), commons[file.path])) for file in versions],
        )
        return True

    def _gave(self, record: SyncRecord) -> None:
        assert record.pushing is not None
        record.files.update(record.pushing.files)
        record.change, record.pushing, record.looked_at = record.pushing.change, None, time.time()
        save_record(self._root, record)

    # ---- the files

    def _content(self, name: str) -> bytes | None:
        """What a file says; None if there is none. Raises StorageUnavailable of a link, and of what is behind one, too."""
        self._refuse_link(name, "read")
        found = read_with_identity(self._root / name)
        return None if found is None else found[0]

    def _refuse_link(self, name: str, action: str) -> None:
        if (path := self._link(name)) is not None:
            raise StorageUnavailable(f"{path} is a link.", path=str(path), action=action, reason="link")

    def _link(self, name: str) -> Path | None:
        """The file, or the first folder on the way to it, that is a link."""
        path = self._root
        for part in name.split("/"):
            path /= part
            if path.is_symlink():
                return path
        return None

    def _hash(self, name: str) -> str | None:
        with suppress(StorageUnavailable):
            content = self._content(name)
            return None if content is None else hash_of(content)
        return ""

    def _restless(self) -> StorageUnavailable:
        return StorageUnavailable(
            f"The files in {self._root} change all the time. Nothing was shared. Try again in a moment.",
            path=str(self._root), action="share", reason="busy",
        )  # fmt: skip


def _version(record: SyncRecord, name: str) -> int:
    known = record.files.get(name)
    return 0 if known is None else known.version


def _is_news(record: SyncRecord, file: SharedFile) -> bool:
    return is_shared_name(file.path) and _version(record, file.path) < file.version


def _vanished(record: SyncRecord, files: Sequence[SharedFile], change: int) -> list[SharedFile]:
    """Those that were deleted so long ago that the database has forgotten it."""
    there = {file.path for file in files}
    return [
        SharedFile(name, change, None)
        for name, known in record.files.items()
        if name not in there and known.hash is not None
    ]


def _takes_out(known: CommonFile | None, now: CommonFile) -> bool:
    """Whether older versions may say what this one does not: somebody may want to have it forgotten."""
    if known is None or known.hash is None:
        return True
    return not known.lines or not set(known.lines) <= set(now.lines)
