"""In what the databases that keep the index differ: how words are found, and some of their SQL."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..persistence import SqlConnection, bounded, storable
from ._records import Passage, PassageAuthor, RecallKind, RecallQuery, RecallSource
from ._words import QueryWords

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

__all__ = [
    "KeptVector",
    "KeywordMatches",
    "PassageCandidate",
    "Phrase",
    "PreparedPassage",
    "RecallDialect",
    "SourceFilter",
    "filter_of",
    "listed",
]

Phrase = tuple[str, ...]
"""Words that stand beside each other."""
PreparedPassage = tuple[Passage, str, str]
"""A passage, its indexed words and the concepts it is about."""
KeptVector = tuple[int, bytes]
"""The number of a passage and its vector."""


@dataclass(frozen=True)
class PassageCandidate:
    """A passage as ranking sees it: where it belongs, when and by whom it was written."""

    row: int
    source: int
    ts: int
    author: PassageAuthor | None


@dataclass(frozen=True)
class KeywordMatches:
    """Passages and titles of sources with their scores, the higher the better, and how rare each phrase is."""

    passages: Mapping[int, float]
    titles: Mapping[int, float]
    rarity: Mapping[Phrase, float]


@dataclass(frozen=True)
class SourceFilter:
    """A condition on ``recall_passages AS p`` joined with ``recall_sources AS s``, and its values."""

    sql: str
    values: tuple[str | int, ...]
    is_narrow: bool = False
    """Whether it leaves out anything of its owner's."""


class RecallDialect(ABC):
    """How the index is kept and asked in one kind of database. All runs in a transaction of its caller."""

    is_shared: ClassVar = False
    """Whether servers with other folders keep it, too."""
    joined: ClassVar[str]
    """Joins two tables; if the database can be told, in the order they are written in."""
    numbers: ClassVar[str]
    """A table of one column ``value``: the numbers of a JSON array."""
    texts: ClassVar[str]
    """The same of texts."""
    by_time: ClassVar[str]
    """After ``recall_passages AS p``: use the index of times, if the database can be told."""
    vector: ClassVar[str]
    """The column ``known.vector`` as ``vector_bytes`` takes it."""
    dimensions: ClassVar[str]
    """How many numbers ``known.vector`` has."""

    def visible(self) -> tuple[str, tuple[str, ...]]:
        """Which of ``recall_sources AS s`` this server searches."""
        return "1 = 1", ()

    def kept(self, kind: RecallKind) -> tuple[str, tuple[str, ...]]:
        """Which of the sources of a kind are this server's to put in and take out."""
        return "1 = 1", ()

    @abstractmethod
    def find_words(self, connection: SqlConnection, words: QueryWords, chosen: SourceFilter) -> KeywordMatches:
        """The best passages and titles by words alone."""

    @abstractmethod
    def read_words(self, connection: SqlConnection, rows: Sequence[int]) -> dict[int, tuple[str, str]]:
        """The indexed words of passages and their concepts."""

    @abstractmethod
    def put_source(
        self,
        connection: SqlConnection,
        source: RecallSource,
        prepared: Sequence[PreparedPassage],
        version: str,
        known: int | None,
    ) -> None:
        """Have this source, in place of the ``known`` one, whose vectors of the same texts stay."""

    @abstractmethod
    def remove_sources(self, connection: SqlConnection, rows: Sequence[int]) -> None:
        """Forget these sources."""

    @abstractmethod
    def use_model(self, connection: SqlConnection, name: str, used: int) -> None:
        """Note that a model was used."""

    @abstractmethod
    def put_vectors(self, connection: SqlConnection, model: int, vectors: Iterable[tuple[int, Floats]]) -> None:
        """Keep vectors of passages that are still there and have none of this model."""

    @abstractmethod
    def vector_bytes(self, vector: bytes) -> bytes:
        """The four bytes of each number, as numpy has them."""

    def nearest(
        self, connection: SqlConnection, question: Floats, model: int, chosen: SourceFilter, limit: int
    ) -> list[tuple[int, float]] | None:
        """The passages whose vectors are nearest, with their cosines; None if the database cannot compare vectors."""
        return None


def filter_of(query: RecallQuery, dialect: RecallDialect) -> SourceFilter:
    """What a query may see. Its owner is always part of it."""
    seen, seen_values = dialect.visible()
    wanted: list[tuple[str, tuple[str | int, ...]]] = []
    if query.kinds is not None:
        wanted.append((f"s.kind IN (SELECT value FROM {dialect.texts} AS kinds)", (listed(sorted(query.kinds)),)))  # noqa: S608 - our own names
    if query.workspace is not None:
        wanted.append(("s.workspace = ?", (storable(query.workspace),)))
    if query.sources is not None:
        ids = listed(storable(one) for one in sorted(query.sources))
        wanted.append((f"s.id IN (SELECT value FROM {dialect.texts} AS ids)", (ids,)))  # noqa: S608 - as above
    if query.since is not None:
        wanted.append(("p.ts >= ?", (bounded(query.since),)))
    if query.until is not None:
        wanted.append(("p.ts < ?", (bounded(query.until),)))
    return SourceFilter(
        " AND ".join(["s.owner = ?", seen, *(sql for sql, _ in wanted)]),
        (storable(query.owner), *seen_values, *(value for _, values in wanted for value in values)),
        is_narrow=bool(wanted),
    )


def listed(values: Iterable[str | int]) -> str:
    """The values as ``numbers`` and ``texts`` of a dialect take them."""
    return json.dumps(list(values))
