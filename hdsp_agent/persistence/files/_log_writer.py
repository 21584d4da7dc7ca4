"""The one thread of a process that appends to logs.

The event loop hands over lines and goes on; the thread gives them to the OS at once, file by file in the order they
came. Lines that must survive a power cut are synced by a few more threads at the same time, because a journaling file
system commits together what is synced together; what comes for that file meanwhile goes along with its next commit.
Where only lines that the OS has already are synced, others are written meanwhile.

When the disk refuses a line, every line for that file handed over before the refusal became known fails with it, so
that no later line takes the place of an earlier one; the next one is a new attempt.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from ..._private_files import storage_error
from ...append_log.appender import Appender
from ...errors import StorageUnavailable
from .._pending_lines import MAX_PENDING_BYTES, LineWriter, PendingLine, WrittenLog, stopped_store

__all__ = ["LogFile", "LogWriter"]

MAX_OPEN_FILES: Final = 256
_SYNC_THREADS: Final = 8


class LogFile(WrittenLog):
    """A file in the writer's care."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._in_thread = _ThreadSide(path)

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._in_thread.appender.path


class _ThreadSide:
    """What only the writer's thread touches."""

    def __init__(self, path: Path) -> None:
        self.appender = Appender(path)
        self.refused_attempt = -1
        self.refusal: StorageUnavailable | None = None
        self.held: list[_Line] = []
        self.waiting: list[_Line] = []
        self.refused_behind: tuple[list[_Line], OSError] | None = None

    def must_wait(self, lines: list[_Line]) -> bool:
        """Whether these lines wait for the sync under way: it may take back lines before them, or they need another one."""
        takes_back = any(line.data for line in self.held)
        return bool(takes_back or self.waiting or self.refused_behind or any(line.durable for line in lines))


@dataclass(slots=True)
class _Close:
    file: _ThreadSide
    closed: asyncio.Future[None]


@dataclass(slots=True)
class _Synced:
    file: _ThreadSide
    error: OSError | None


@dataclass(slots=True)
class _Stop:
    stopped: asyncio.Future[None]


_Line: TypeAlias = PendingLine[LogFile]
_Outcome = tuple[_Line, StorageUnavailable | None]


@dataclass(slots=True)
class _Outcomes:
    """What one pass of the thread has to tell each event loop."""

    by_loop: dict[asyncio.AbstractEventLoop, list[_Outcome]] = field(default_factory=dict)

    def add(self, line: _Line, error: StorageUnavailable | None) -> None:
        self.by_loop.setdefault(line.acknowledged.get_loop(), []).append((line, error))


class LogWriter(LineWriter[LogFile]):
    """Appends lines to files."""

    def __init__(self, *, max_pending_bytes: int = MAX_PENDING_BYTES, max_open_files: int = MAX_OPEN_FILES) -> None:
        super().__init__(max_pending_bytes)
        self._work: queue.SimpleQueue[_Line | _Close | _Synced | _Stop] = queue.SimpleQueue()
        self._files = _Files(self._work, max_open_files)
        self._thread: threading.Thread | None = None
        self._stopped = False

    async def close_file(self, log: LogFile) -> None:
        """Write and sync what was handed over, and let go of the file; it may be moved afterwards."""
        if self._thread is None or self._stopped:
            return
        closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._put(_Close(log._in_thread, closed))
        await closed

    async def stop(self) -> None:
        """Write and sync what was handed over, close all files and end the threads."""
        if self._stopped:
            return
        self._stopped = True
        if self._thread is not None:
            stopped: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._put(_Stop(stopped))
            await stopped

    def _hand_over(self, line: _Line) -> None:
        if self._stopped:
            raise stopped_store(line.log.path)
        self._put(line)

    def _put(self, work: _Line | _Close | _Stop) -> None:
        self._work.put(work)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="hdsp-agent log writer", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        stop: _Stop | None = None
        while stop is None or self._files.busy:
            outcomes = _Outcomes()
            work_taken = self._take()
            lines = self._files.take_deferred()
            for work in work_taken:
                match work:
                    case PendingLine():
                        lines.setdefault(work.log._in_thread, []).append(work)
                    case _Synced():
                        waited = self._files.after_sync(work, outcomes)
                        if waited:
                            lines[work.file] = waited + lines.get(work.file, [])
                    case _Close():
                        self._files.closing.append(work)
                    case _Stop():
                        stop = work
            for file, batch in lines.items():
                self._files.write(file, batch, outcomes)
            for loop, told in outcomes.by_loop.items():
                _on_loop(loop, self._deliver, told)
            self._files.close_as_asked()
        self._files.end()
        _on_loop(stop.stopped.get_loop(), _done, stop.stopped)

    def _take(self) -> list[_Line | _Close | _Synced | _Stop]:
        taken = [self._work.get()]
        with suppress(queue.Empty):
            while True:
                taken.append(self._work.get_nowait())
        return taken


class _Files:
    """The files the writer's thread has open, and the threads that sync them."""

    def __init__(self, work: queue.SimpleQueue[_Line | _Close | _Synced | _Stop], max_open_files: int) -> None:
        self.closing: list[_Close] = []
        self._work = work
        self._max_open_files = max_open_files
        self._open: OrderedDict[_ThreadSide, None] = OrderedDict()
        self._syncing: set[_ThreadSide] = set()
        self._to_sync: queue.SimpleQueue[_ThreadSide | None] = queue.SimpleQueue()
        self._syncers: list[threading.Thread] = []
        self._deferred: dict[_ThreadSide, list[_Line]] = {}

    @property
    def busy(self) -> bool:
        """Whether a file is being synced; others may wait for that."""
        return bool(self._syncing)

    def take_deferred(self) -> dict[_ThreadSide, list[_Line]]:
        """The lines that waited because too many files were open."""
        deferred, self._deferred = self._deferred, {}
        return deferred

    def write(self, file: _ThreadSide, lines: list[_Line], outcomes: _Outcomes) -> None:
        if file in self._syncing and file.must_wait(lines):
            file.waiting += lines
            return
        if not self._has_place_for(file):
            self._deferred.setdefault(file, []).extend(lines)
            return
        fresh = [line for line in lines if line.attempt > file.refused_attempt]
        if len(fresh) < len(lines):
            for line in lines:
                if line.attempt <= file.refused_attempt:
                    outcomes.add(line, file.refusal)
        if not fresh:
            return
        whole, error = file.appender.write([line.data for line in fresh])
        self._settle(file, fresh[:whole], outcomes)
        if error is not None and file in self._syncing:
            # Told after those before it, which are still on their way to the disk.
            file.refused_behind = (fresh[whole:], error)
            file.refused_attempt = fresh[whole].attempt
        elif error is not None:
            _refuse(file, fresh[whole:], error, outcomes)
        self._open[file] = None
        self._open.move_to_end(file)

    def _settle(self, file: _ThreadSide, written: list[_Line], outcomes: _Outcomes) -> None:
        """Acknowledge what the OS has up to the first line that must be durable; that and the rest await the disk."""
        held: list[_Line] = []
        for index, line in enumerate(written):
            if line.durable and line.data:
                held += written[index:]
                break
            if line.durable:
                held.append(line)
                continue
            file.appender.confirm(len(line.data))
            outcomes.add(line, None)
        file.held += held
        if file.held and file not in self._syncing:
            self._syncing.add(file)
            if len(self._syncers) < min(_SYNC_THREADS, len(self._syncing)):
                self._syncers.append(threading.Thread(target=self._sync, name="hdsp-agent log sync", daemon=True))
                self._syncers[-1].start()
            self._to_sync.put(file)

    def _sync(self) -> None:
        while (file := self._to_sync.get()) is not None:
            error: OSError | None = None
            try:
                file.appender.sync()
            except OSError as refusal:
                error = refusal
            self._work.put(_Synced(file, error))

    def after_sync(self, synced: _Synced, outcomes: _Outcomes) -> list[_Line]:
        """Acknowledge or refuse what was held; returns what has waited for that."""
        file = synced.file
        self._syncing.discard(file)
        held, file.held = file.held, []
        waited, file.waiting = file.waiting, []
        if synced.error is None:
            for line in held:
                file.appender.confirm(len(line.data))
                outcomes.add(line, None)
        else:
            file.appender.take_back()
            _refuse(file, held, synced.error, outcomes)
        if file.refused_behind is not None:
            _refuse(file, *file.refused_behind, outcomes)
            file.refused_behind = None
        return waited

    def close_as_asked(self) -> None:
        """Close the files that nobody writes any more."""
        for close in self.closing:
            if close.file not in self._syncing and close.file not in self._deferred:
                close.file.appender.finish()
                self._open.pop(close.file, None)
                _on_loop(close.closed.get_loop(), _done, close.closed)
        self.closing = [close for close in self.closing if close.file in self._syncing or close.file in self._deferred]

    def end(self) -> None:
        """Close everything and end the syncing threads."""
        for file in list(self._open):
            file.appender.finish()
        for _ in self._syncers:
            self._to_sync.put(None)
        for syncer in self._syncers:
            syncer.join()

    def _has_place_for(self, file: _ThreadSide) -> bool:
        """Whether the file is open or may be; of the others, those not used for longest are closed."""
        if file in self._open:
            return True
        idle = (other for other in list(self._open) if other not in self._syncing)
        while len(self._open) >= self._max_open_files:
            oldest = next(idle, None)
            if oldest is None:
                return False
            self._close(oldest)
        return True

    def _close(self, file: _ThreadSide) -> None:
        file.appender.close()
        self._open.pop(file, None)


def _refuse(file: _ThreadSide, lines: list[_Line], error: OSError, outcomes: _Outcomes) -> None:
    refusal = storage_error(file.appender.path, "write", error)
    file.refusal = refusal
    for line in lines:
        file.refused_attempt = max(file.refused_attempt, line.attempt)
        outcomes.add(line, refusal)


def _done(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _on_loop(loop: asyncio.AbstractEventLoop, call: Callable[..., None], *arguments: object) -> None:
    # A loop that was closed has nobody left who waits.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(call, *arguments)
