"""Sources and their passages: put, taken out, compared with what there is. Called within a transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..persistence import SqlConnection, storable
from ._concepts import passage_concepts
from ._dialect import PreparedPassage, RecallDialect, listed
from ._records import OutdatedSources, Passage, RecallKind, RecallSource, SourceOvertaken
from ._words import EVERY_PASSAGE, indexed_words

__all__ = [
    "compare_versions",
    "find_revision",
    "find_stale",
    "is_current",
    "prepare_passages",
    "put_source",
    "remove_sources",
]


def prepare_passages(passages: Iterable[Passage]) -> list[PreparedPassage]:
    """The passages that say anything, with their words: the part of the work that needs no database."""
    return [
        (passage, " ".join(indexed_words(passage.text)), " ".join([EVERY_PASSAGE, *passage_concepts(passage.text)]))
        for passage in passages
        if passage.text.strip()
    ]


def is_current(connection: SqlConnection, dialect: RecallDialect, source: RecallSource, version: str) -> bool:
    """Whether this version of the source, under this title, is what the index has."""
    condition, values = _of_source(dialect, source.kind, source.owner, source.id)
    known = connection.execute(
        f"SELECT version, title, workspace FROM recall_sources WHERE {condition}",  # noqa: S608 - the module's own words; what came from outside is bound
        values,
    ).fetchone()
    wanted = (storable(version), storable(source.title), _optional(source.workspace))
    return known is not None and tuple(known) == wanted


def find_revision(
    connection: SqlConnection, dialect: RecallDialect, kind: RecallKind, owner: str, id: str
) -> int | None:
    """The number under which a source was put in last. No number is given twice."""
    condition, values = _of_source(dialect, kind, owner, id)
    known = connection.execute(f"SELECT row FROM recall_sources WHERE {condition}", values).fetchone()  # noqa: S608 - as above
    return int(known[0]) if known is not None else None


def put_source(
    connection: SqlConnection,
    dialect: RecallDialect,
    source: RecallSource,
    prepared: Sequence[PreparedPassage],
    version: str,
    replaces: int | None,
) -> None:
    """Have exactly these passages of the source, in place of those put in under this number. Raises SourceOvertaken."""
    known = find_revision(connection, dialect, source.kind, source.owner, source.id)
    if known != replaces:
        raise SourceOvertaken
    dialect.put_source(connection, source, prepared, version, known)


def remove_sources(
    connection: SqlConnection, dialect: RecallDialect, kind: RecallKind, ids: Iterable[str], owner: str | None
) -> int:
    """Forget these sources, of one owner or of whoever has them; how many there were."""
    whose, values = ("", ()) if owner is None else ("AND owner = ?", (storable(owner),))
    kept, kept_values = dialect.kept(kind)
    found = connection.execute(
        f"""
        SELECT row FROM recall_sources
        WHERE kind = ? AND {kept} {whose} AND id IN (SELECT value FROM {dialect.texts} AS ids)
        """,  # noqa: S608 - as above
        (kind, *kept_values, *values, listed(storable(one) for one in ids)),
    )
    rows = [row for (row,) in found]
    if rows:
        dialect.remove_sources(connection, rows)
    return len(rows)


def compare_versions(
    connection: SqlConnection, dialect: RecallDialect, kind: RecallKind, versions: Mapping[str, str], owner: str
) -> OutdatedSources:
    """What of an owner's sources of a kind must be put again or removed, given the versions they have now."""
    kept, values = dialect.kept(kind)
    found = connection.execute(
        f"SELECT id, version FROM recall_sources WHERE kind = ? AND {kept} AND owner = ?",  # noqa: S608 - as above
        (kind, *values, storable(owner)),
    )
    known = {id: version for id, version in found}
    stale = frozenset(one for one, version in versions.items() if known.get(storable(one)) != storable(version))
    return OutdatedSources(stale, frozenset(known) - {storable(one) for one in versions})


def find_stale(
    connection: SqlConnection, dialect: RecallDialect, kind: RecallKind, versions: Mapping[str, str], owner: str
) -> frozenset[str]:
    """Which of these sources the index does not have in this version."""
    kept, values = dialect.kept(kind)
    found = connection.execute(
        f"""
        SELECT id, version FROM recall_sources
        WHERE kind = ? AND {kept} AND owner = ? AND id IN (SELECT value FROM {dialect.texts} AS ids)
        """,  # noqa: S608 - as above
        (kind, *values, storable(owner), listed(storable(one) for one in versions)),
    )
    known = {(id, version) for id, version in found}
    return frozenset(one for one, version in versions.items() if (storable(one), storable(version)) not in known)


def _of_source(dialect: RecallDialect, kind: RecallKind, owner: str, id: str) -> tuple[str, tuple[str, ...]]:
    kept, values = dialect.kept(kind)
    return f"owner = ? AND kind = ? AND id = ? AND {kept}", (storable(owner), kind, storable(id), *values)


def _optional(text: str | None) -> str | None:
    return None if text is None else storable(text)
