"""In what the databases that keep a history differ: how its texts are found, and some of its SQL."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, TypeVar

from ..tables._sql import SqlConnection, Work

__all__ = ["HistoryDatabase", "HistoryDialect", "Sql", "TextColumn", "Texts", "bounded", "pairs", "storable"]

T = TypeVar("T")

Texts = tuple[str, str, str]
"""Title, task and conversation, folded."""
TextColumn = Literal["title", "task"]


@dataclass(frozen=True)
class Sql:
    """A part of a statement, and what goes where its question marks are."""

    text: str
    values: tuple[object, ...] = ()


class HistoryDatabase(Protocol):
    """Where the tables of a history are. ``generation`` rises each time another database takes their place."""

    @property
    def generation(self) -> int: ...

    def listen(self, listener: Callable[[], Awaitable[None]], /) -> None: ...

    async def in_thread(self, call: Callable[[], T], /) -> T: ...

    async def read(self, work: Work[T], /) -> T: ...

    async def write(self, work: Work[T], /) -> T: ...


class HistoryDialect(ABC):
    """How the history is asked in one kind of database. What changes anything runs in a transaction of its caller."""

    joined_in_order: ClassVar[str]
    """Joins two tables; if the database can be told, in the order they are written in."""
    family: ClassVar[str]
    """Finds (id, cost, tokens) of the task with an id and of its subtasks at any depth.

    A task belongs to the parent it names; one that names none, to those that name it. A circle ends.
    """

    @abstractmethod
    def put_texts(self, connection: SqlConnection, row: int, texts: Texts, shown: str) -> bool:
        """Keep a task's texts, in place of those it had, and make them findable; False if it had these."""

    @abstractmethod
    def remove_texts(self, connection: SqlConnection, row: int) -> None:
        """Forget a task's texts."""

    @abstractmethod
    def having(self, terms: Sequence[str], column: TextColumn | None = None) -> Sql:
        """Finds the rows of the tasks that have every term, in one of the texts or in this one."""

    @abstractmethod
    def sharing(self, grams: Sequence[str]) -> Sql:
        """Finds (row, shared): how many of these the title or the task of each task has."""

    @abstractmethod
    def listed(self, ranks: Mapping[int, int]) -> Sql:
        """Finds these rows with their ranks."""

    @abstractmethod
    def problems(self, connection: SqlConnection) -> list[str]:
        """What a thorough look finds wrong with the database and the index of the texts."""


def storable(text: str) -> str:
    """The text as a column can hold it: half of a surrogate pair becomes a question mark, as does a null character."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "?")


def bounded(number: int) -> int:
    """The number as a column can hold it."""
    return max(-(2**63), min(number, 2**63 - 1))


def pairs(text: str) -> set[str]:
    """The different characters of a text and what two are next to each other, without spaces."""
    found = {first + second for first, second in itertools.pairwise(text) if first != " " != second}
    return found | set(text) - {" "}
