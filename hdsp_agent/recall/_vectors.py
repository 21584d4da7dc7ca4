"""Vectors of passages, and the passages whose vectors are nearest to a question's.

In memory is a shorter form of each vector, enough to choose some hundreds; those are compared with the whole vectors.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, Final

from ..persistence import SqlConnection, storable
from ._dialect import KeptVector, RecallDialect, SourceFilter, listed
from ._embedders import Embedder
from ._records import EmbedderAccess

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int64]

__all__ = ["VectorIndex", "count_unembedded", "passages_without_vector", "put_vectors"]

_MOST_KEPT: Final = 100
_CHOSEN: Final = 300
_SHORT: Final = 128
_ENOUGH_TO_SHORTEN: Final = 4_096
_MOST_OWNERS: Final = 8
_READ_AT_ONCE: Final = 4_096
_UNUSED_MODEL_DAYS: Final = 7
_DAY_MS: Final = 24 * 3600 * 1000


_UNSEEN: Final = """
    NOT EXISTS (
        SELECT 1 FROM recall_vectors AS known WHERE known.row = p.row
        AND known.model = (SELECT number FROM recall_models WHERE name = ?)
    )
"""


def passages_without_vector(
    connection: SqlConnection, dialect: RecallDialect, model: str, limit: int, access: EmbedderAccess
) -> list[tuple[int, str]]:
    """Some passages that this model may see and has not seen, the newest first, with their texts."""
    may_see = _may_see(dialect, access)
    return connection.execute(
        f"""
        SELECT p.row, texts.text FROM recall_passages AS p {dialect.joined} recall_sources AS s ON s.row = p.source
        {dialect.joined} recall_texts AS texts ON texts.row = p.row
        WHERE {may_see.sql} AND {_UNSEEN} ORDER BY p.row DESC LIMIT ?
        """,  # noqa: S608 - made of this module's own words; what came from outside is bound
        (*may_see.values, storable(model), limit),
    ).fetchall()


def count_unembedded(connection: SqlConnection, dialect: RecallDialect, model: str, access: EmbedderAccess) -> int:
    """How many passages this model may see and has not seen."""
    may_see = _may_see(dialect, access)
    counted = connection.execute(
        f"""
        SELECT count(*) FROM recall_sources AS s {dialect.joined} recall_passages AS p ON p.source = s.row
        WHERE {may_see.sql} AND {_UNSEEN}
        """,  # noqa: S608 - as above
        (*may_see.values, storable(model)),
    )
    return int(counted.fetchone()[0])


def _may_see(dialect: RecallDialect, access: EmbedderAccess) -> SourceFilter:
    where, values = dialect.visible()
    if access.is_elsewhere:
        where += " AND s.stays_here = 0"
    if access.owner is None:
        return SourceFilter(where, values)
    return SourceFilter(f"{where} AND s.owner = ?", (*values, storable(access.owner)))


def put_vectors(
    connection: SqlConnection, dialect: RecallDialect, model: str, rows: Sequence[int], vectors: Floats
) -> None:
    """Keep vectors of passages that are still there; those of models that nobody used for a week go."""
    now = int(time.time() * 1000)
    dialect.use_model(connection, storable(model), now)
    number = _model_number(connection, model)
    assert number is not None
    dialect.put_vectors(connection, number, zip(rows, vectors, strict=True))
    unused = connection.execute(
        "SELECT number FROM recall_models WHERE used < ?", (now - _UNUSED_MODEL_DAYS * _DAY_MS,)
    ).fetchall()
    for model_number in unused:
        # It looks through all vectors, which is why it is not asked for in vain.
        connection.execute("DELETE FROM recall_vectors WHERE model = ?", model_number)
        connection.execute("DELETE FROM recall_models WHERE number = ?", model_number)


def _model_number(connection: SqlConnection, model: str) -> int | None:
    known = connection.execute("SELECT number FROM recall_models WHERE name = ?", (storable(model),)).fetchone()
    return int(known[0]) if known else None


class VectorIndex:
    """The vectors of the owners who asked last, read when somebody asks and kept up to date from then on. For any thread."""

    def __init__(self, embedder: Embedder, dialect: RecallDialect) -> None:
        self.embedder = embedder
        self._dialect = dialect
        self._lock = threading.Lock()
        self._owners: OrderedDict[str, _OwnerVectors] = OrderedDict()
        self._generation = 0

    def nearest(
        self,
        connection: SqlConnection,
        question: Floats,
        owner: str,
        chosen: SourceFilter,
        *,
        by_words: Container[int],
        generation: int,
    ) -> dict[int, float]:
        """The passages whose vectors are nearest to the question's, with how far above the floor they are.

        ``by_words`` have a word of the question; others must be nearer.
        """
        model = _model_number(connection, self.embedder.name)
        if model is None:
            return {}
        best = self._dialect.nearest(connection, question, model, chosen, _MOST_KEPT)
        if best is None:
            best = self._compared(connection, question, owner, chosen, model, generation)
        lowest = max(self.embedder.floor, best[-1][1] if len(best) == _MOST_KEPT else -1.0)
        alike = {row: cosine for row, cosine in best if cosine > lowest}
        wordless = self.embedder.wordless_floor
        return {row: cosine - lowest for row, cosine in alike.items() if cosine > wordless or row in by_words}

    def _compared(
        self,
        connection: SqlConnection,
        question: Floats,
        owner: str,
        chosen: SourceFilter,
        model: int,
        generation: int,
    ) -> list[tuple[int, float]]:
        """The nearest with their cosines, found in memory and compared as they are kept."""
        import numpy as np

        with self._lock:
            if generation != self._generation:
                self._owners.clear()
                self._generation = generation
            vectors = self._owners.setdefault(owner, _OwnerVectors(self._dialect))
            self._owners.move_to_end(owner)
            while len(self._owners) > _MOST_OWNERS:
                self._owners.popitem(last=False)
            vectors.update(connection, owner, model, len(question))
            rows = vectors.likely(question, _allowed(connection, self._dialect, chosen))
        found = connection.execute(
            f"""
            SELECT known.row, {self._dialect.vector} FROM {self._dialect.numbers} AS wanted
            {self._dialect.joined} recall_vectors AS known ON known.row = wanted.value AND known.model = ?
            WHERE {self._dialect.dimensions} = ?
            """,  # noqa: S608 - as above
            (listed(rows), model, len(question)),
        ).fetchall()
        if not found:
            return []
        cosines = _products(_whole(self._dialect, found), question)
        return [(found[at][0], float(cosines[at])) for at in np.argsort(-cosines)[:_MOST_KEPT]]


def _whole(dialect: RecallDialect, vectors: Sequence[KeptVector]) -> Floats:
    """Some vectors as rows."""
    import numpy as np

    return np.frombuffer(b"".join(dialect.vector_bytes(vector) for _, vector in vectors), np.float32).reshape(
        len(vectors), -1
    )


def _products(rows: Floats, question: Floats) -> Floats:
    """The product of each row with the question, in this thread alone.

    ``@`` would be no faster, and the threads it leaves spinning take a processor from whatever comes next.
    """
    import numpy as np

    return np.asarray(np.einsum("ij,j->i", rows, question), np.float32)


def _allowed(connection: SqlConnection, dialect: RecallDialect, chosen: SourceFilter) -> set[int] | None:
    """The passages that a narrow question may see; None if it asks for all of the owner's."""
    if not chosen.is_narrow:
        return None
    rows = connection.execute(
        f"SELECT p.row FROM recall_sources AS s {dialect.joined} recall_passages AS p ON p.source = s.row WHERE {chosen.sql}",  # noqa: S608 - made of the module's own words; what came from outside is bound
        chosen.values,
    )
    return {row for (row,) in rows}


class _OwnerVectors:
    """One owner's vectors, shortened once there are many."""

    def __init__(self, dialect: RecallDialect) -> None:
        self._dialect = dialect
        self._seen = 0
        self._kind = (0, 0)
        self._read_at_first = 0
        self._rows: Numbers | None = None
        self._short: Floats | None = None
        self._axes: Floats | None = None

    def update(self, connection: SqlConnection, owner: str, model: int, dimensions: int) -> None:
        """Read what was added. What was deleted stays for a while; it is never found again, for its passage is gone."""
        import numpy as np

        if self._kind != (model, dimensions) or self._is_mostly_stale():
            self._kind = model, dimensions
            self._seen, self._rows, self._short, self._axes = 0, None, None, None
        newest = connection.execute("SELECT max(number) FROM recall_vectors").fetchone()[0] or 0
        if newest <= self._seen:
            return
        is_first = self._seen == 0
        seen, seen_values = self._dialect.visible()
        # Page by page: PostgreSQL's client has all rows of an answer at once.
        page = f"""
            SELECT known.row, {self._dialect.vector}, known.number FROM recall_vectors AS known
            {self._dialect.joined} recall_passages AS p ON p.row = known.row
            {self._dialect.joined} recall_sources AS s ON s.row = p.source
            WHERE known.number > ? AND known.number <= ? AND known.model = ? AND {self._dialect.dimensions} = ?
            AND s.owner = ? AND {seen} ORDER BY known.number LIMIT ?
            """  # noqa: S608 - as above
        values = (newest, model, dimensions, storable(owner), *seen_values, _READ_AT_ONCE)
        while batch := connection.execute(page, (self._seen, *values)).fetchall():
            rows = np.fromiter((row for row, _, _ in batch), np.int64, len(batch))
            self._append(rows, _whole(self._dialect, [(row, vector) for row, vector, _ in batch]))
            self._seen = batch[-1][2]
        if is_first and self._rows is not None:
            self._read_at_first = len(self._rows)
        self._seen = newest

    def _is_mostly_stale(self) -> bool:
        """Whether so much was added that most of it may have taken the place of something deleted."""
        return self._rows is not None and len(self._rows) > 2 * self._read_at_first + _ENOUGH_TO_SHORTEN

    def likely(self, question: Floats, allowed: set[int] | None) -> list[int]:
        """Some hundreds of passages whose vectors may be the nearest."""
        import numpy as np

        if self._rows is None or self._short is None:
            return []
        scores = _products(self._short, question if self._axes is None else _products(self._axes.T, question))
        rows = self._rows
        if allowed is not None:
            keep = np.isin(rows, np.fromiter(allowed, np.int64, len(allowed)))
            scores, rows = scores[keep], rows[keep]
        if len(rows) > _CHOSEN:
            rows = rows[np.argpartition(-scores, _CHOSEN)[:_CHOSEN]]
        return [int(row) for row in rows]

    def _append(self, rows: Numbers, whole: Floats) -> None:
        import numpy as np

        if self._rows is None or self._short is None:
            self._rows, self._short = rows, whole.copy()
        else:
            added = whole if self._axes is None else whole @ self._axes
            self._rows, self._short = np.concatenate([self._rows, rows]), np.concatenate([self._short, added])
        if self._axes is None and len(self._rows) >= _ENOUGH_TO_SHORTEN and self._short.shape[1] > _SHORT:
            # The directions in which these vectors differ most: their principal components, not centred.
            _, directions = np.linalg.eigh(self._short.T @ self._short)
            self._axes = np.ascontiguousarray(directions[:, -_SHORT:])
            self._short = self._short @ self._axes
