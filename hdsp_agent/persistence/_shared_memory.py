"""Memory that all servers of a person share, as the part that works with it sees its database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from .tables._sql import SqlConnection, Work

__all__ = ["LARGEST_SHARED_FILE", "SharedFile", "SharedMemory", "SharedState"]

T = TypeVar("T")

LARGEST_SHARED_FILE: Final = 2_000_000
"""Bytes."""


@dataclass(frozen=True)
class SharedFile:
    """The newest version of a file, by the change that it came with; without content it was deleted."""

    path: str
    version: int
    content: bytes | None


@dataclass(frozen=True)
class SharedState:
    """How a person's files stand: ``place`` tells databases apart, and ``change`` counts what was done to them."""

    place: str
    change: int


class SharedMemory(Protocol):
    """The database. What takes a connection runs in a transaction of its caller; everything else begins one.

    ``generation`` and ``for_update`` are as the jobs of memory want them.
    """

    @property
    def generation(self) -> int: ...

    @property
    def for_update(self) -> str: ...

    async def read(self, work: Work[T], /) -> T: ...

    async def write(self, work: Work[T], /) -> T: ...

    def read_now(self, work: Work[T], /) -> T:
        """The same in this thread, which waits."""

    def write_now(self, work: Work[T], /) -> T:
        """The same in this thread, which waits."""

    def now(self, connection: SqlConnection, /) -> int: ...

    def hold_person(self, connection: SqlConnection, owner: str, /) -> None: ...

    def follow(self, on_change: Callable[[bool], None], /) -> None:
        """Have this called, in whatever thread, when something may be new; and whether later changes will be told."""

    def state(self, connection: SqlConnection, owner: str, /) -> SharedState | None:
        """How the files of a person stand; None if there never were any."""

    def files_since(self, connection: SqlConnection, owner: str, change: int, /) -> list[SharedFile]:
        """The newest versions of the files that were changed after this one."""

    def files(self, connection: SqlConnection, owner: str, paths: Sequence[str], /) -> list[SharedFile]:
        """The newest versions of these files, as far as there are any."""

    def pushed(self, connection: SqlConnection, owner: str, server: str, /) -> int:
        """The last change that this server wrote; 0 if there is none."""

    def add_versions(
        self, connection: SqlConnection, owner: str, server: str, files: Iterable[tuple[SharedFile, bool]], /
    ) -> None:
        """Add versions as the next change; the person is held. Of those with True older ones are deleted."""
