"""What was acknowledged while the database was away: in a private file on this machine, until the database has it.

Each line names the transaction in which it is, or would have been, written. ``writers`` says which of a server's
transactions the database has, so no line is written twice, whoever replays it and however often that is interrupted.
A server that died leaves its file to the next one in the same folder. What the database cannot have stays in a file beside
it, with the reason in the log. Everything here blocks.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import psycopg

from ..._private_files import locked, make_private_folder, storage_error, sync_folder
from ...append_log.appender import Appender, append_durably
from ...errors import StorageUnavailable
from ...messages import TaskId
from .._kept_apart import REFUSED_SUFFIX
from .._pending_lines import MAX_PENDING_BYTES
from .._records import Stream
from ..tables._sql import STREAM_TABLES, SqlCursor
from ..tables._table_writer import TableLine, TaskTable
from ._connection import PostgresConnection

if TYPE_CHECKING:
    from filelock import BaseFileLock

__all__ = ["FORGET_WRITER", "MARK_WRITER", "Spool", "insert_lines", "replay_left_behind"]

logger = logging.getLogger(__name__)

MARK_WRITER: Final = (
    "INSERT INTO writers (id, wrote) VALUES (?, ?)"
    " ON CONFLICT (id) DO UPDATE SET wrote = excluded.wrote, wrote_at = excluded.wrote_at"
)
FORGET_WRITER: Final = "DELETE FROM writers WHERE id = ?"
# Waits for a transaction of that server's which is still being committed.
_WROTE: Final = "SELECT wrote FROM writers WHERE id = ? FOR UPDATE"
_SUFFIX: Final = ".spool"
_PORTION_BYTES: Final = 1024 * 1024
_BAD_LINE: Final = ("22", "23", "54", "P0")
"""What sqlstates begin with when it is the line that the database does not take."""
_STARTS: Final = "|".join(rf'{stream} \{{"{key}":\d' for stream, (_, key) in STREAM_TABLES.items())
_LINE: Final = re.compile(
    rb"(\d{1,18}) (\d{1,18}) ([!-~]+) ([!-~]+) (?=%s)([a-z]+) ([^\0]+\n)" % f"(?:{_STARTS})".encode(), re.DOTALL
)
_IS_THERE: Final = "SELECT 1 FROM tasks WHERE number = ?"
_REPLAY_PATIENCE_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class _SpooledLine:
    transaction: int
    task: int
    task_id: TaskId
    token: str
    stream: Stream
    data: bytes
    encoded: bytes


class Spool:
    """The lines that one server keeps for the database. Only the writer's thread uses it."""

    def __init__(self, folder: Path, writer: str, *, max_bytes: int = MAX_PENDING_BYTES) -> None:
        self.folder: Final = folder
        self._writer = writer
        self._files = 0
        self._bytes = 0
        self._appender: Appender | None = None
        self._lock: BaseFileLock | None = None
        self.max_bytes = max_bytes

    @property
    def is_empty(self) -> bool:
        """Whether the database has everything."""
        return not self._bytes

    @property
    def has_file(self) -> bool:
        """Whether a file is left, for which it must be known what the database has of it."""
        return self._appender is not None

    def has_room(self, lines: Sequence[TableLine]) -> bool:
        """Whether these lines may be kept, too."""
        return 0 < self.max_bytes >= self._bytes + sum(len(line.data) for line in lines)

    def add(self, transaction: int, lines: Sequence[TableLine]) -> None:
        """Keep the lines, which are on the disk when this returns. Raises ``StorageUnavailable`` if the disk refuses."""
        encoded = [_encoded(transaction, line) for line in lines if line.data]
        if not encoded:
            return
        try:
            appender = self._appender or self._new_file()
            _, refusal = appender.write(encoded)
            if refusal is None:
                appender.sync()
        except OSError as error:
            refusal = error
        if refusal is not None:
            if self._appender is not None:
                self._appender.take_back()
                if self.is_empty:
                    self._remove(self._appender.path)
            raise storage_error(self.folder, "write", refusal) from refusal
        size = sum(map(len, encoded))
        appender.confirm(size)
        self._bytes += size

    def replay(self, connection: PostgresConnection) -> None:
        """Give the database everything; what the driver raises leaves the rest for the next time."""
        if self._appender is not None:
            path = self._appender.path
            try:
                _replay(connection, path, self._writer, is_ours=True)
            except FileNotFoundError:
                logger.error("%s is gone, with %d bytes that the database does not have", path, self._bytes)
            except OSError as error:
                raise storage_error(path, "read", error) from error
            self._appender.close()
            self._bytes = 0
            self._remove(path)

    def close(self) -> None:
        """Leave what there is to the next server."""
        if self._appender is not None:
            self._appender.close()
        if self._lock is not None:
            _release(self._lock)
        self._appender = self._lock = None
        self._bytes = 0

    def _remove(self, path: Path) -> None:
        """Remove the file, of which the database has everything; one that cannot be removed is used again."""
        if _unlinked(path):
            self.close()

    def _new_file(self) -> Appender:
        self._files += 1
        make_private_folder(self.folder)
        # No name is used twice, so no other server can take a new file for one that it has just replayed.
        path = self.folder / f"{self._writer}-{self._files}{_SUFFIX}"
        self._lock = _acquire(path)
        self._appender = Appender(path)
        sync_folder(self.folder)
        return self._appender


def replay_left_behind(folder: Path, connect: Callable[[], PostgresConnection]) -> None:
    """Give the database what servers in this folder kept for it and did not live to give it themselves.

    While another process does the same this one waits: nobody may judge the tasks of a dead server before it is done.
    """
    if any(folder.glob(f"*{_SUFFIX}")):
        with locked(folder, _REPLAY_PATIENCE_SECONDS):
            _replay_left_behind(folder, connect)


def _replay_left_behind(folder: Path, connect: Callable[[], PostgresConnection]) -> None:
    connection: PostgresConnection | None = None
    try:
        for path in sorted(folder.glob(f"*{_SUFFIX}")):
            lock = _acquire(path)
            if lock is None:
                # Its server lives.
                continue
            try:
                if path.exists():
                    connection = connection or connect()
                    writer = path.name.partition("-")[0]
                    if _replay(connection, path, writer, is_ours=False) and _unlinked(path):
                        connection.execute(FORGET_WRITER, (writer,))
            finally:
                _release(lock)
    except OSError as error:
        raise storage_error(folder, "read", error) from error
    finally:
        if connection is not None:
            connection.close()


def insert_lines(connection: PostgresConnection, log: TaskTable, lines: Sequence[bytes]) -> SqlCursor:
    """Insert lines into a task that this server holds: it changed no rows if that is another's, or gone."""
    keys, records = zip(*map(log.row, lines), strict=True)
    # While the lock's row is held nobody takes the task over.
    return connection.execute(
        f"INSERT INTO {log.table} (task, {log.key}, record)"  # noqa: S608 -- our own names
        " SELECT held.task, line.key, line.record"
        " FROM (SELECT task FROM locks WHERE task = ? AND token = ? FOR KEY SHARE) AS held,"
        " unnest(?::bigint[], ?::text[]) WITH ORDINALITY AS line (key, record, place) ORDER BY line.place",
        (log.number, log.token, list(keys), list(records)),
    )


def _replay(connection: PostgresConnection, path: Path, writer: str, *, is_ours: bool) -> bool:
    """Give the database the lines of the file; False if they are another database's."""
    damaged: list[bytes] = []
    for portion in _portions(_lines(path, damaged)):
        connection.execute("BEGIN")
        try:
            known = connection.execute(_WROTE, (writer,)).fetchone()
            if known is None and not is_ours:
                connection.execute("ROLLBACK")
                logger.warning("%s has conversations of another database; it is left as it is", path)
                return False
            wrote = 0 if known is None else known[0]
            new = [line for line in portion if line.transaction > wrote]
            for log, lines in _by_table(new):
                _insert(connection, path, log, lines)
            if new:
                connection.execute(MARK_WRITER, (writer, new[-1].transaction))
            connection.execute("COMMIT")
        except BaseException:
            if not connection.is_lost:
                with suppress(psycopg.Error):
                    connection.execute("ROLLBACK")
            raise
    if damaged:
        _keep_refused(path, damaged, "they are damaged")
    return True


def _insert(connection: PostgresConnection, path: Path, log: TaskTable, lines: Sequence[_SpooledLine]) -> None:
    """Insert the lines of one task, but for those that the database cannot have any more."""
    connection.execute("SAVEPOINT spooled")
    try:
        is_there = insert_lines(connection, log, [line.data for line in lines]).rowcount > 0
        connection.execute("RELEASE spooled")
    except psycopg.Error as error:
        if not (error.sqlstate or "").startswith(_BAD_LINE):
            raise
        connection.execute("ROLLBACK TO spooled")
        connection.execute("RELEASE spooled")
        if len(lines) == 1:
            _keep_refused(path, [lines[0].encoded], f"of task {log.task_id}: {error}")
        else:
            for line in lines:
                _insert(connection, path, log, [line])
        return
    if is_there:
        return
    if connection.execute(_IS_THERE, (log.number,)).fetchone() is None:
        logger.info("Task %s was deleted while the database was away; %d lines of it go, too", log.task_id, len(lines))
    else:
        _keep_refused(path, [line.encoded for line in lines], f"of task {log.task_id}: another server took it over")


def _keep_refused(path: Path, lines: Sequence[bytes], why: str) -> None:
    """Keep what the database cannot have, as it is in the spool: with the task's number, id and stream."""
    place, whole = path.with_suffix(REFUSED_SUFFIX), path.with_name(path.name + REFUSED_SUFFIX)
    if whole.exists():
        return
    try:
        # A replay that was interrupted may have kept them already.
        known = set(place.read_bytes().splitlines(keepends=True)) if place.exists() else set()
        if missing := b"".join(line for line in lines if line not in known):
            append_durably(place, missing)
    except StorageUnavailable:
        # A full disk has room for another name of the whole file.
        os.link(path, whole)
        place = whole
    logger.error("Messages could not be put into the database, %s. They are in %s", why, place)


def _by_table(lines: Sequence[_SpooledLine]) -> Iterator[tuple[TaskTable, list[_SpooledLine]]]:
    tables: dict[tuple[str, Stream], list[_SpooledLine]] = {}
    for line in lines:
        tables.setdefault((line.token, line.stream), []).append(line)
    for found in tables.values():
        yield TaskTable(found[0].task_id, found[0].task, found[0].token, found[0].stream), found


def _portions(lines: Iterator[_SpooledLine]) -> Iterator[list[_SpooledLine]]:
    """Whole transactions, some of them at a time."""
    portion: list[_SpooledLine] = []
    for _, transaction in groupby(lines, lambda line: line.transaction):
        portion += transaction
        if sum(len(line.data) for line in portion) >= _PORTION_BYTES:
            yield portion
            portion = []
    if portion:
        yield portion


def _encoded(transaction: int, line: TableLine) -> bytes:
    log = line.log
    return b"%d %d %s %s %s " % (
        transaction, log.number, log.task_id.encode(), log.token.encode(), log.stream.encode(),
    ) + line.data  # fmt: skip


def _lines(path: Path, damaged: list[bytes]) -> Iterator[_SpooledLine]:
    with path.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                # Half of it, as a crash leaves it, was never acknowledged.
                return
            if (found := _parsed(line)) is None:
                damaged.append(line)
            else:
                yield found


def _parsed(line: bytes) -> _SpooledLine | None:
    """The line, unless it is damaged."""
    found = _LINE.fullmatch(line)
    try:
        line.decode()
    except UnicodeDecodeError:
        return None
    if found is None:
        return None
    transaction, task, task_id, token, stream, data = found.groups()
    return _SpooledLine(
        int(transaction), int(task), TaskId(task_id.decode()), token.decode(), cast(Stream, stream.decode()), data, line
    )


def _unlinked(path: Path) -> bool:
    """Remove a file of which the database has everything; False if it stays, to be replayed again in vain."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        logger.warning("%s could not be removed: %s. The database has what is in it", path, error)
        return False
    return True


def _acquire(path: Path) -> BaseFileLock | None:
    """The file's lock, which ends with its holder; None if that lives."""
    import filelock  # 20 ms, and only who lost the database needs it

    lock = filelock.FileLock(f"{path}.lock", mode=0o600, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        return None
    return lock


def _release(lock: BaseFileLock) -> None:
    lock.release()
    with suppress(OSError):
        Path(lock.lock_file).unlink()
