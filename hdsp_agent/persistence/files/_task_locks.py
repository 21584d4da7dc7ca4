"""Who works on a task: a ``.lock`` in its folder, held as a lock of the OS and saying whose it is.

The OS lock is the truth among processes that share a kernel: it goes with its process. The record is for people, for
other hosts and for file systems without such locks. A lock is put in place complete and already held, by a link or a
rename, so nobody ever sees half of one; whoever gets an OS lock checks that the file is still the one in place.
Everything here blocks.
"""

from __future__ import annotations

import errno
import os
import secrets
import socket
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from ..._iso_time import iso_time, parse_iso_time
from ..._private_files import storage_error
from ..._private_open import open_private
from ...errors import Conflict
from ...messages import TaskId
from .._records import LockRecord
from ._processes import is_gone, process_started

__all__ = ["LOCK_NAME", "STALE_SECONDS", "LockWatch", "TaskLock", "held_by", "is_held", "own_record", "read_lock"]

LOCK_NAME: Final = ".lock"
_CLAIM_NAME: Final = ".lock.claim"
STALE_SECONDS: Final = 60.0
_ATTEMPTS: Final = 100
_UNSUPPORTED: Final = {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL}


@dataclass
class LockWatch:
    """Remembers how long locks have stood still, by a clock that nobody can set.

    What is seen once can only be judged by the clocks of two machines; ``patient`` waits until it was seen twice.
    """

    patient: bool = False
    _seen: dict[tuple[str, int], float] = field(default_factory=dict)

    def stands_still(self, folder: Path, record: LockRecord) -> bool:
        """Whether this heartbeat is older than a minute."""
        now = time.monotonic()
        first_seen = self._seen.setdefault((record.token, record.beats), now)
        if now - first_seen >= STALE_SECONDS:
            return True
        if self.patient:
            return False
        beat = parse_iso_time(record.heartbeat_at)
        said = STALE_SECONDS if beat is None else (datetime.now(tz=UTC) - beat).total_seconds()
        # Both the holder's clock and the file system's must agree that it is old: one of them may have been set.
        return said >= STALE_SECONDS and _age_by_its_own_clock(folder) >= STALE_SECONDS

    def forget_all_but(self, records: Iterable[LockRecord]) -> None:
        """Keep only what was seen of these locks."""
        alive = {(record.token, record.beats) for record in records}
        self._seen = {key: seen for key, seen in self._seen.items() if key in alive}


class TaskLock:
    """A task's lock, held by this process until ``release`` or its end."""

    def __init__(self, folder: Path, descriptor: int, record: LockRecord) -> None:
        self._folder = folder
        self._descriptor: int | None = descriptor
        self._record = record

    @property
    def record(self) -> LockRecord:
        """What the lock says."""
        return self._record

    @classmethod
    def acquire(cls, folder: Path, watch: LockWatch | None = None) -> TaskLock:
        """Take the lock of the task in this folder, from a dead process if need be.

        A ``Conflict`` says who holds it; ``FileNotFoundError`` says that the folder is not there any more.
        """
        judge = watch or LockWatch()
        try:
            for attempt in range(_ATTEMPTS):
                try:
                    lock = cls._publish(folder) if not _exists(folder) else cls._take_over(folder, judge)
                except FileNotFoundError:
                    # Was it the folder that vanished, or only something that another process tidied away?
                    os.stat(folder)
                    lock = None
                if lock is not None:
                    return lock
                time.sleep(min(0.001 * attempt, 0.02))
        except FileNotFoundError:
            raise
        except OSError as error:
            raise storage_error(folder / LOCK_NAME, "lock", error) from error
        raise held_by(TaskId(folder.name), read_lock(folder))

    def beat(self) -> LockRecord:
        """Show that the holder lives. A ``Conflict`` says that somebody else took the lock meanwhile."""
        path = self._folder / LOCK_NAME
        if self._descriptor is None or not _is_in_place(path, self._descriptor):
            raise held_by(TaskId(self._folder.name), read_lock(self._folder))
        self._record = self._record.model_copy(update={"heartbeat_at": iso_time(), "beats": self._record.beats + 1})
        try:
            _write_record(self._descriptor, self._record)
        except OSError as error:
            raise storage_error(path, "write", error) from error
        return self._record

    def moved(self, folder: Path) -> None:
        """The task's folder has another name now; the lock moved along."""
        self._folder = folder

    def release(self) -> None:
        """Give the lock up. Nothing happens if it was given up or lost already."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            return
        path = self._folder / LOCK_NAME
        try:
            if sys.platform == "win32":
                os.close(descriptor)
                descriptor = -1
                record = read_lock(self._folder)
                if record is not None and record.token == self._record.token:
                    path.unlink(missing_ok=True)
            elif _is_in_place(path, descriptor):
                os.unlink(path)
        except OSError:
            # The process is alive, so others would believe a lock that says so; let it say that it is over.
            with suppress(OSError):
                _write_record(descriptor, self._record.model_copy(update={"process_id": 0}))
        finally:
            if descriptor >= 0:
                os.close(descriptor)

    @classmethod
    def _publish(cls, folder: Path) -> TaskLock | None:
        """Put a lock where none is; None if somebody was faster."""
        path = folder / LOCK_NAME
        if sys.platform == "win32":
            return cls._publish_open(folder)
        temporary, descriptor, record = _make_held(folder)
        try:
            os.link(temporary, path)
        except BaseException as error:
            os.close(descriptor)
            if isinstance(error, FileExistsError):
                return None
            raise
        finally:
            _remove(temporary)
        return cls(folder, descriptor, record)

    @classmethod
    def _publish_open(cls, folder: Path) -> TaskLock | None:
        """The same where open files cannot be renamed: its reader may meet it empty, but held."""
        try:
            descriptor = open_private(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            return None
        return cls._own(folder, descriptor)

    @classmethod
    def _own(cls, folder: Path, descriptor: int) -> TaskLock | None:
        try:
            if _lock_descriptor(descriptor) is False:
                os.close(descriptor)
                return None
            record = own_record()
            _write_record(descriptor, record)
        except BaseException:
            os.close(descriptor)
            raise
        return cls(folder, descriptor, record)

    @classmethod
    def _take_over(cls, folder: Path, judge: LockWatch) -> TaskLock | None:
        """Take the lock that is there from whoever is dead; None if it changed meanwhile."""
        path = folder / LOCK_NAME
        try:
            old = open_private(path, os.O_RDWR)
        except FileNotFoundError:
            return None
        keep = False
        try:
            os_lock = _lock_descriptor(old)
            if os_lock is False:
                raise held_by(TaskId(folder.name), read_lock(folder))
            if not _is_in_place(path, old):
                return None
            record = _read_record(old)
            if not _is_dead(folder, record, judge, os_lock_was_free=os_lock is True):
                raise held_by(TaskId(folder.name), record)
            if sys.platform == "win32":
                own = own_record()
                _write_record(old, own)
                keep = True
                return cls(folder, old, own)
            return cls._replace(folder, old, record, judge)
        finally:
            if not keep:
                os.close(old)

    @classmethod
    def _replace(cls, folder: Path, old: int, record: LockRecord | None, judge: LockWatch) -> TaskLock | None:
        # Hosts that do not share OS locks meet here: making a name that must not exist is atomic everywhere.
        path, claim = folder / LOCK_NAME, folder / _CLAIM_NAME
        temporary, descriptor, own = _make_held(folder)
        taken = False
        try:
            try:
                os.link(temporary, claim)
            except FileExistsError:
                _clear_dead_claim(folder, claim, judge)
                return None
            if not _is_in_place(path, old) or _read_record(old) != record:
                os.unlink(claim)
                return None
            os.replace(claim, path)
            taken = True
        finally:
            if not taken:
                os.close(descriptor)
            _remove(temporary)
        return cls(folder, descriptor, own)


def is_held(folder: Path) -> bool:
    """Whether somebody who lives holds the task's lock; asking leaves it as it is."""
    try:
        descriptor = open_private(folder / LOCK_NAME, os.O_RDWR)
    except OSError:
        return False
    try:
        os_lock = _lock_descriptor(descriptor)
        if os_lock is False:
            return True
        return not _is_dead(folder, _read_record(descriptor), LockWatch(), os_lock_was_free=os_lock is True)
    finally:
        os.close(descriptor)


def read_lock(folder: Path) -> LockRecord | None:
    """What the task's lock says; None if there is none or it says nothing."""
    try:
        descriptor = open_private(folder / LOCK_NAME, os.O_RDONLY)
    except OSError:
        return None
    try:
        return _read_record(descriptor)
    finally:
        os.close(descriptor)


def own_record() -> LockRecord:
    """What a new lock of this process says."""
    now = iso_time()
    return LockRecord(
        process_id=os.getpid(), hostname=socket.gethostname(), acquired_at=now, heartbeat_at=now,
        process_started=process_started(os.getpid()), token=secrets.token_hex(8),
    )  # fmt: skip


def _make_held(folder: Path) -> tuple[Path, int, LockRecord]:
    """A complete lock under a name of its own, with its OS lock taken."""
    record = own_record()
    temporary = folder / f"{LOCK_NAME}.{record.token}"
    descriptor = open_private(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL)
    try:
        _lock_descriptor(descriptor)
        _write_record(descriptor, record)
    except BaseException:
        os.close(descriptor)
        _remove(temporary)
        raise
    return temporary, descriptor, record


def _remove(temporary: Path) -> None:
    # One that stays is removed by whoever finishes the task.
    with suppress(OSError):
        os.unlink(temporary)


def _is_dead(folder: Path, record: LockRecord | None, judge: LockWatch, *, os_lock_was_free: bool) -> bool:
    if record is None:
        return os_lock_was_free or _age_by_its_own_clock(folder) >= STALE_SECONDS
    if record.process_id == 0:
        return True
    if record.hostname != socket.gethostname():
        return judge.stands_still(folder, record)
    if record.process_id == os.getpid() and os_lock_was_free:
        # Our own, or that of a former process with our id: were it in use, its OS lock would be held.
        return True
    if not is_gone(record.process_id, record.process_started):
        # Alive, yet without its OS lock: it has let go of it, or this file system knows no such locks.
        return os_lock_was_free and judge.stands_still(folder, record)
    return os_lock_was_free or judge.stands_still(folder, record)


def _clear_dead_claim(folder: Path, claim: Path, judge: LockWatch) -> None:
    try:
        descriptor = open_private(claim, os.O_RDWR)
    except FileNotFoundError:
        return
    try:
        os_lock = _lock_descriptor(descriptor)
        if os_lock is not False and _is_dead(folder, _read_record(descriptor), judge, os_lock_was_free=os_lock is True):
            with suppress(FileNotFoundError):
                if _is_in_place(claim, descriptor):
                    os.unlink(claim)
    finally:
        os.close(descriptor)


def _exists(folder: Path) -> bool:
    try:
        os.stat(folder / LOCK_NAME)
    except FileNotFoundError:
        os.stat(folder)
        return False
    return True


def _is_in_place(path: Path, descriptor: int) -> bool:
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    held = os.fstat(descriptor)
    return (there.st_dev, there.st_ino) == (held.st_dev, held.st_ino)


def _read_record(descriptor: int) -> LockRecord | None:
    # A heartbeat is one write of the same length, but no file system promises that a reader sees it whole.
    for _ in range(3):
        os.lseek(descriptor, 0, os.SEEK_SET)
        try:
            return LockRecord.model_validate_json(os.read(descriptor, 4096))
        except ValueError:
            time.sleep(0.001)
    return None


def _write_record(descriptor: int, record: LockRecord) -> None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, record.to_json().encode().ljust(1023) + b"\n")


def _age_by_its_own_clock(folder: Path) -> float:
    """How old the lock is by the clock of the file system it is on, which may be another machine's."""
    probe = folder / f"{LOCK_NAME}.{secrets.token_hex(8)}"
    try:
        os.close(open_private(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        age = os.stat(probe).st_mtime - os.stat(folder / LOCK_NAME).st_mtime
        os.unlink(probe)
    except OSError:
        return 0.0
    return age


def held_by(task_id: TaskId, record: LockRecord | None) -> Conflict:
    """The error that says who works on the task."""
    who = f"process {record.process_id} on {record.hostname}" if record else "another process"
    return Conflict(
        f"Task {task_id} is in use by {who}. Continue it there, or end that process and try again.",
        task=task_id,
        process=record.process_id if record else None,
        host=record.hostname if record else None,
    )


if sys.platform == "win32":
    import msvcrt

    _FAR: Final = 1 << 30

    def _lock_descriptor(descriptor: int) -> bool | None:
        """Take the OS lock: True if it was free, False if held, None if there is no such thing here."""
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EDEADLK):
                return False
            return None
        return True

else:
    import fcntl

    def _lock_descriptor(descriptor: int) -> bool | None:
        """Take the OS lock: True if it was free, False if held, None if there is no such thing here."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _UNSUPPORTED:
                return None
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                return False
            raise
        return True
