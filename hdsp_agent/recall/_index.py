"""One search over conversations, memories and notebooks. What it keeps is a copy: whoever feeds it can do so again."""

from __future__ import annotations

import asyncio
import functools
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ..errors import Unavailable
from ..persistence import HistoryDatabase, SqlConnection, StateDatabase, storable
from ._candidates import find_period, first_passages, load_candidates
from ._dialect import PreparedPassage, RecallDialect, filter_of
from ._embedders import Embedder
from ._hits import arrange, read_hits
from ._periods import named_period
from ._ranking import RankingSignals, neighbours, rank_passages
from ._records import (
    EmbedderAccess,
    OutdatedSources,
    Passage,
    RecallHit,
    RecallKind,
    RecallQuery,
    RecallSource,
)
from ._schema import RECALL_SCHEMA
from ._sqlite_recall import SqliteRecall
from ._store import (
    compare_versions,
    find_revision,
    find_stale,
    is_current,
    prepare_passages,
    put_source,
    remove_sources,
)
from ._vectors import VectorIndex, count_unembedded, passages_without_vector, put_vectors
from ._words import QueryWords, query_words

if TYPE_CHECKING:
    from ._embedders import Vectors

__all__ = ["RecallIndex"]

logger = logging.getLogger(__name__)

_MOST_HITS: Final = 200
_EMBEDDED_AT_ONCE: Final = 16
_PAUSE_SECONDS: Final = 60.0
"""How long no question waits for an embedder that failed."""


class RecallIndex:
    """Passages put in by others, found by words and, with an ``embedder``, by meaning. Make it before the database starts.

    It is in ``state.db``, or in another database that has the tables of the ``dialect``.
    """

    def __init__(
        self, database: HistoryDatabase, embedder: Embedder | None = None, *, dialect: RecallDialect | None = None
    ) -> None:
        self._database = database
        self._dialect = dialect or SqliteRecall()
        self._vectors = VectorIndex(embedder, self._dialect) if embedder is not None else None
        self._access = EmbedderAccess()
        self._failure: Unavailable | None = None
        self._failed_at = 0.0
        if isinstance(database, StateDatabase):
            database.add(RECALL_SCHEMA)

    @property
    def generation(self) -> int:
        """Rises when the file was lost or replaced: then everything is to be put in again."""
        return self._database.generation

    @property
    def is_shared(self) -> bool:
        """Whether servers with other folders and settings put in conversations, too."""
        return self._dialect.is_shared

    @property
    def failure(self) -> Unavailable | None:
        """Why there are no vectors just now, if the embedder failed last."""
        return self._failure

    def use(self, embedder: Embedder | None, access: EmbedderAccess | None = None) -> None:
        """Search by this one's vectors from now on, or by words alone. Without ``access`` it may read everything."""
        self._failure = None
        self._access = access or EmbedderAccess()
        if embedder is not None and self._vectors is not None and self._vectors.embedder.name == embedder.name:
            # Another key, say. What was read stays.
            self._vectors.embedder = embedder
        else:
            self._vectors = VectorIndex(embedder, self._dialect) if embedder is not None else None

    async def put(self, source: RecallSource, passages: Iterable[Passage], version: str) -> bool:
        """Have exactly these passages of a source, in their order; False if this version is there already."""
        if await self._database.read(lambda connection: is_current(connection, self._dialect, source, version)):
            return False
        prepared: list[PreparedPassage] = await asyncio.to_thread(lambda: prepare_passages(passages))

        def put_in(connection: SqlConnection) -> None:
            known = find_revision(connection, self._dialect, source.kind, source.owner, source.id)
            put_source(connection, self._dialect, source, prepared, version, known)

        await self._database.write(put_in)
        return True

    async def replace(
        self, source: RecallSource, passages: Iterable[Passage], version: str, *, known: int | None
    ) -> None:
        """Have exactly these passages, whatever version is there, unless somebody put the source in after ``known``.

        ``known`` is the source's ``revision`` from before the passages were read. Raises SourceOvertaken.
        """
        prepared: list[PreparedPassage] = await asyncio.to_thread(lambda: prepare_passages(passages))
        await self._database.write(
            lambda connection: put_source(connection, self._dialect, source, prepared, version, known)
        )

    async def revision(self, kind: RecallKind, owner: str, id: str) -> int | None:
        """A number that differs each time the source is put in; None if it is not there."""
        return await self._database.read(lambda connection: find_revision(connection, self._dialect, kind, owner, id))

    async def remove(self, kind: RecallKind, ids: Iterable[str], *, owner: str | None = None) -> int:
        """Forget these sources, of one owner or of whoever has them; how many there were. They are never found again."""
        wanted = list(ids)
        return await self._database.write(
            lambda connection: remove_sources(connection, self._dialect, kind, wanted, owner)
        )

    async def outdated(self, kind: RecallKind, versions: Mapping[str, str], *, owner: str) -> OutdatedSources:
        """What must be put again or removed, given all of an owner's sources of a kind and the versions they have now."""
        return await self._database.read(
            lambda connection: compare_versions(connection, self._dialect, kind, versions, owner)
        )

    async def stale(self, kind: RecallKind, versions: Mapping[str, str], *, owner: str) -> frozenset[str]:
        """Which of these sources of an owner must be put again, given the versions they have now. Others may be there, too."""
        return await self._database.read(
            lambda connection: find_stale(connection, self._dialect, kind, versions, owner)
        )

    async def search(self, query: RecallQuery) -> tuple[RecallHit, ...]:
        """The passages that answer best. Any text is a question; one that says nothing finds nothing."""
        period = named_period(query.text, query.now) if query.now is not None else None
        text = period.text if period is not None else query.text
        words = query_words(text)
        if not words.phrases and period is None:
            return ()
        vectors = self._vectors if not words.says_nothing and self._access.allows(query) else None
        question = None if vectors is None else await self._question(vectors, text)
        span = (period.since, period.until) if period is not None else None
        return await self._database.read(
            functools.partial(self._search, query=query, words=words, vectors=vectors, question=question, period=span)
        )

    async def embed_some(self, budget: int) -> int:
        """Make vectors of at most so many passages that have none, the newest first; how many. For the background.

        Raises Unavailable if the embedder fails.
        """
        vectors = self._vectors
        if vectors is None or budget < 1:
            return 0
        embedder, generation = vectors.embedder, self._database.generation
        waiting = await self._database.read(
            functools.partial(
                passages_without_vector,
                dialect=self._dialect,
                model=embedder.name,
                limit=budget,
                access=self._access,
            )
        )
        done = 0
        for at in range(0, len(waiting), _EMBEDDED_AT_ONCE):
            if self._vectors is not vectors or vectors.embedder is not embedder:
                # Somebody chose another meanwhile, or none: this one gets nothing more to read.
                break
            rows, texts = zip(*waiting[at : at + _EMBEDDED_AT_ONCE], strict=True)
            made = await self._embed(vectors, texts)
            await self._database.write(
                functools.partial(
                    self._put_vectors, generation=generation, model=embedder.name, rows=rows, vectors=made
                )
            )
            done += len(rows)
        return done

    async def count_unembedded(self) -> int:
        """How many passages that the embedder may read have no vector yet."""
        if self._vectors is None:
            return 0
        name, access = self._vectors.embedder.name, self._access
        return await self._database.read(lambda connection: count_unembedded(connection, self._dialect, name, access))

    async def try_embedder(self) -> None:
        """Have the embedder make one vector, even if it failed just now. Raises Unavailable."""
        if self._vectors is not None:
            await self._embed(self._vectors, ["test"])

    def _put_vectors(
        self, connection: SqlConnection, *, generation: int, model: str, rows: Sequence[int], vectors: Vectors
    ) -> None:
        # In a file that took the place of the one that was read, the same numbers are other passages.
        if self._database.generation == generation:
            put_vectors(connection, self._dialect, model, rows, vectors)

    async def _question(self, vectors: VectorIndex, text: str) -> Vectors | None:
        """The question's vector; None with an embedder that fails: words alone find most."""
        if self._failure is not None and time.monotonic() - self._failed_at < _PAUSE_SECONDS:
            return None
        try:
            made = await self._embed(vectors, [storable(text)])
        except Unavailable:
            return None
        return made[:1].reshape(-1)

    async def _embed(self, vectors: VectorIndex, texts: Sequence[str]) -> Vectors:
        embedder = vectors.embedder
        try:
            made: Vectors = await asyncio.to_thread(embedder.embed, texts)
        except Unavailable as error:
            if vectors is self._vectors and embedder is vectors.embedder:
                # Once, not with every letter that somebody types.
                if self._failure is None:
                    logger.warning("Searching by words only: %s", error)
                self._failure, self._failed_at = error, time.monotonic()
            raise
        if vectors is self._vectors and embedder is vectors.embedder:
            self._failure = None
        return made

    def _search(
        self,
        connection: SqlConnection,
        *,
        query: RecallQuery,
        words: QueryWords,
        vectors: VectorIndex | None,
        question: Vectors | None,
        period: tuple[int, int] | None,
    ) -> tuple[RecallHit, ...]:
        dialect = self._dialect
        chosen = filter_of(query, dialect)
        if period is not None and words.says_nothing:
            found = find_period(connection, dialect, period, chosen)
        else:
            found = dialect.find_words(connection, words, chosen)
        meaning: dict[int, float] = {}
        if question is not None and vectors is not None:
            generation = self._database.generation
            meaning = vectors.nearest(
                connection, question, query.owner, chosen, by_words=found.passages, generation=generation
            )
        matching = {*found.passages, *meaning, *first_passages(connection, dialect, found.titles)}
        beside = {row for match in matching for row in neighbours(match)}
        candidates = load_candidates(connection, dialect, matching | beside, chosen)
        signals = RankingSignals(found.passages, meaning, found.titles, period)
        ranked = rank_passages(candidates, signals)
        # Who names a time asks for what was so then.
        ranked = arrange(connection, dialect, ranked, found.rarity, newest_first=period is None)
        return read_hits(connection, dialect, ranked[: max(1, min(query.limit, _MOST_HITS))], words)
