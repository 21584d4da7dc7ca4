"""Short ways to make an index and fill it."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hdsp_agent.persistence import StateDatabase
from hdsp_agent.recall import Embedder, Passage, RecallHit, RecallIndex, RecallQuery, RecallSource
from hdsp_agent.recall._folder_place import FolderPlace
from hdsp_agent.recall._postgres_recall import PostgresRecall

from ..._helpers.stored_tasks import backend_under_test, storage_url

DAY = 24 * 3600 * 1000


@asynccontextmanager
async def recall(home: Path, embedder: Embedder | None = None) -> AsyncIterator[RecallIndex]:
    """An index in this folder, or in the database under test, of the server of this folder."""
    if backend_under_test() == "postgres":
        async with shared_recall(home, storage_url(), embedder) as index:
            yield index
        return
    database = StateDatabase(home / "state.db", poll_seconds=0.05)
    index = RecallIndex(database, embedder)
    async with database:
        yield index


@asynccontextmanager
async def shared_recall(home: Path, url: str, embedder: Embedder | None = None) -> AsyncIterator[RecallIndex]:
    """An index in PostgreSQL."""
    from hdsp_agent.persistence.postgres._postgres_database import PostgresDatabase
    from hdsp_agent.persistence.postgres._postgres_history import PostgresHistory

    database = PostgresDatabase(url)
    history = PostgresHistory(database)
    try:
        await history.join()
        yield RecallIndex(history, embedder, dialect=PostgresRecall(FolderPlace(home)))
    finally:
        await history.close()
        database.close()


def conversation(name: str, owner: str = "ana", *, stays_here: bool = False, **fields: str) -> RecallSource:
    return RecallSource(owner, "conversation", name, stays_here=stays_here, **fields)


def said(*texts: str, ts: int = 1_000) -> list[Passage]:
    """Messages, a millisecond apart."""
    return [Passage(text, str(place), ts + place) for place, text in enumerate(texts)]


async def found(index: RecallIndex, text: str, owner: str = "ana", limit: int = 10) -> list[str]:
    """The texts found, the best first."""
    return [hit.passage.text for hit in await index.search(RecallQuery(text, owner, limit=limit))]


def sources_of(hits: Sequence[RecallHit]) -> list[str]:
    return list(dict.fromkeys(hit.source.id for hit in hits))


class LetterEmbedder:
    """Texts of the same words have the same vector; ``twins`` are words that mean the same."""

    floor = 0.1
    wordless_floor = 0.1

    def __init__(self, name: str = "letters", twins: dict[str, str] | None = None, dimensions: int = 64) -> None:
        self.name = name
        self.embedded: list[str] = []
        self._twins = twins or {}
        self._dimensions = dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Count words by a digest of each."""
        self.embedded += texts
        vectors = np.zeros((len(texts), self._dimensions), np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                meant = self._twins.get(word, word)
                vectors[row, hashlib.sha256(meant.encode("utf-8", "replace")).digest()[0] % self._dimensions] += 1
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
