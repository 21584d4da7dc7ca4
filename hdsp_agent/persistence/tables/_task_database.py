"""A database of tasks, read through a few connections. Everything here blocks."""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import ClassVar, Final, ParamSpec, TypeVar

from ...errors import StorageUnavailable
from ._sql import Dialect, SqlConnection, Work

__all__ = ["TaskDatabase"]

P = ParamSpec("P")
T = TypeVar("T")

_READERS: Final = 4


class TaskDatabase(ABC):
    """The database and those who read it; the one who writes to it is a ``TableWriter``."""

    dialect: ClassVar[Dialect]
    idle_readers: ClassVar = _READERS
    """How many connections stay open for those who read next."""

    def __init__(self) -> None:
        # Where readers wait for the database, nobody else of the server should wait for a thread.
        self._threads = ThreadPoolExecutor(_READERS, thread_name_prefix="hdsp-agent task reader")
        self._idle: list[SqlConnection] = []
        self._guard = threading.Lock()
        self._closed = False

    @property
    @abstractmethod
    def name(self) -> str:
        """Which database it is, for people."""

    @abstractmethod
    def refusal(self, error: Exception) -> StorageUnavailable:
        """What a person reads when the driver raises this."""

    @abstractmethod
    def problems(self, connection: SqlConnection) -> list[str]:
        """What a thorough look at the database itself finds wrong."""

    def has_tables(self) -> bool:
        """Whether anything was ever kept in it, as far as is known."""
        return True

    @abstractmethod
    def _connect_reader(self) -> SqlConnection:
        """A new connection to read with, to a database with this version's tables."""

    @abstractmethod
    def _is_of_use(self, reader: SqlConnection) -> bool:
        """Whether an idle connection still leads to the database."""

    async def in_thread(self, call: Callable[P, T], /, *arguments: P.args, **named: P.kwargs) -> T:
        """Call what reads, in one of the few threads for that."""
        with self._guard:
            if self._closed:
                raise self._stopped()
            done = self._threads.submit(call, *arguments, **named)
        return await asyncio.wrap_future(done)

    def read(self, work: Work[T]) -> T:
        """Do the work against one unchanging view of the tasks."""
        with self.snapshot() as connection:
            return work(connection)

    @contextmanager
    def snapshot(self) -> Iterator[SqlConnection]:
        """One unchanging view of the tasks; no writer holds it up."""
        try:
            reader = self._reader()
            try:
                reader.execute(self.dialect.begin_reading)
                yield reader
            finally:
                self._put_back(reader)
        except self.dialect.error as error:
            raise self.refusal(error) from error

    def close(self) -> None:
        """Let go of the database."""
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
        self._threads.shutdown(wait=False)
        for reader in idle:
            reader.close()

    def _reader(self) -> SqlConnection:
        while True:
            with self._guard:
                if self._closed:
                    raise self._stopped()
                if not self._idle:
                    break
                reader = self._idle.pop()
            if self._is_of_use(reader):
                return reader
            reader.close()
        return self._connect_reader()

    def _stopped(self) -> StorageUnavailable:
        return StorageUnavailable(
            f"{self.name} is closed because the store was stopped. Nothing was changed.",
            path=self.name, action="use", reason="stopped",
        )  # fmt: skip

    def _put_back(self, reader: SqlConnection) -> None:
        with suppress(self.dialect.error):
            reader.execute("ROLLBACK")
            with self._guard:
                if not self._closed and len(self._idle) < self.idle_readers:
                    self._idle.append(reader)
                    return
        reader.close()
