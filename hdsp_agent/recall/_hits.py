"""Found passages as they are shown, and which of them bring others up to date."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ..persistence import Snippet, SnippetPart, SqlConnection, cut_snippet, fold, tidy
from ._concepts import CHANGED, QUESTION
from ._dialect import Phrase, RecallDialect, listed
from ._ranking import RankedPassage, Statement, compared_with_each_other, updates_first
from ._records import Passage, RecallHit, RecallSource
from ._words import COMMON_WORDS, EVERY_PASSAGE, QueryWords

__all__ = ["arrange", "read_hits"]

_LOOKED_AT: Final = 40
_COMPARED: Final = 20
_SNIPPET_CHARACTERS: Final = 160
_SHOWN_CHARACTERS: Final = 4_000
_SHORTEST_TERM: Final = 2
_ENDINGS: Final = ("ing", "ed", "es", "s", "e")


def arrange(
    connection: SqlConnection,
    dialect: RecallDialect,
    ranked: Sequence[RankedPassage],
    rarity: Mapping[Phrase, float],
    *,
    newest_first: bool,
) -> list[RankedPassage]:
    """The same passages with what says the same as another at the end, and what is up to date before what is not."""
    said = dialect.read_words(connection, [one.candidate.row for one in ranked[:_LOOKED_AT]])
    statements = {row: _statement(words, concepts) for row, (words, concepts) in said.items()}
    weights = {_root(word): weight for phrase, weight in rarity.items() for word in phrase}
    order = compared_with_each_other(ranked, statements, weights)
    order = _repeated_last(order, {row: words for row, (words, _) in said.items()})
    if not newest_first:
        return order
    first = {one.candidate.row for one in order[:_COMPARED]}
    return updates_first(order, {row: one for row, one in statements.items() if row in first}, weights)


def _repeated_last(ranked: Sequence[RankedPassage], texts: Mapping[int, str]) -> list[RankedPassage]:
    seen: set[str] = set()
    first: list[RankedPassage] = []
    repeated: list[RankedPassage] = []
    for one in ranked:
        text = texts.get(one.candidate.row)
        (repeated if text in seen else first).append(one)
        if text is not None:
            seen.add(text)
    return first + repeated


def _statement(words: str, concepts: str) -> Statement:
    about = frozenset(concepts.split()) - {EVERY_PASSAGE, CHANGED, QUESTION}
    about = about.union(map(_root, set(words.split()) - COMMON_WORDS))
    return Statement(about, changes=CHANGED in concepts, asks=QUESTION in concepts)


def read_hits(
    connection: SqlConnection, dialect: RecallDialect, ranked: Sequence[RankedPassage], words: QueryWords
) -> tuple[RecallHit, ...]:
    """What is known of these passages."""
    texts = _read_texts(connection, dialect, (one.candidate.row for one in ranked))
    sources = _read_sources(connection, dialect, {one.candidate.source for one in ranked})
    hits = []
    for one in ranked:
        place, text = texts[one.candidate.row]
        passage = Passage(text, place, one.candidate.ts, one.candidate.author)
        hits.append(RecallHit(sources[one.candidate.source], passage, one.score, _snippet(text, words)))
    return tuple(hits)


def _read_texts(connection: SqlConnection, dialect: RecallDialect, rows: Iterable[int]) -> dict[int, tuple[str, str]]:
    found = connection.execute(
        f"SELECT row, place, text FROM recall_texts WHERE row IN (SELECT value FROM {dialect.numbers} AS wanted)",  # noqa: S608 - our own names
        (listed(rows),),
    )
    return {row: (place, text) for row, place, text in found}


def _read_sources(connection: SqlConnection, dialect: RecallDialect, rows: Iterable[int]) -> dict[int, RecallSource]:
    found = connection.execute(
        f"""
        SELECT row, owner, kind, id, title, workspace, stays_here FROM recall_sources
        WHERE row IN (SELECT value FROM {dialect.numbers} AS wanted)
        """,  # noqa: S608 - as above
        (listed(rows),),
    )
    return {
        row: RecallSource(owner, kind, id, title, workspace, bool(stays_here))
        for row, owner, kind, id, title, workspace, stays_here in found
    }


def _snippet(text: str, words: QueryWords) -> Snippet:
    shown = tidy(text, _SHOWN_CHARACTERS)
    folded = fold(shown)
    terms = [found for term in words.shown if (found := _as_written(term, folded))]
    snippet = cut_snippet((("text", shown, folded),), terms) if terms else None
    if snippet is not None:
        return snippet
    rest = "…" if len(shown) > _SNIPPET_CHARACTERS else ""
    return Snippet("text", (SnippetPart(shown[:_SNIPPET_CHARACTERS] + rest, False),))


def _as_written(term: str, folded: str) -> str:
    """As much of a term as the text has: words are found in other forms, and Korean nouns with other particles."""
    shortest = _SHORTEST_TERM if not term.isascii() else max(_SHORTEST_TERM, len(term) - 3)
    for length in range(len(term), shortest - 1, -1):
        if term[:length] in folded:
            return term[:length]
    return ""


@functools.lru_cache(32_768)
def _root(word: str) -> str:
    """A word without the ending that most often differs; only for comparing."""
    if word.isascii() and len(word) > 4:
        for ending in _ENDINGS:
            if word.endswith(ending):
                return word.removesuffix(ending)
    return word
