"""What others put into the index, ask of it, and get back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..persistence import Snippet

__all__ = [
    "EmbedderAccess",
    "OutdatedSources",
    "Passage",
    "PassageAuthor",
    "RecallHit",
    "RecallKind",
    "RecallQuery",
    "RecallSource",
    "SourceOvertaken",
]

RecallKind = Literal["conversation", "memory", "notebook"]
PassageAuthor = Literal["person", "agent"]


@dataclass(frozen=True)
class RecallSource:
    """What passages come from: a conversation, a memory file or a notebook. One owner has one source of a kind and id."""

    owner: str
    kind: RecallKind
    id: str
    title: str = ""
    workspace: str | None = None
    stays_here: bool = False
    """Whether its texts must not leave this machine."""


@dataclass(frozen=True)
class Passage:
    """A message, a section or a cell. ``place`` says where in its source it is, ``ts`` when it was written, in milliseconds."""

    text: str
    place: str
    ts: int
    author: PassageAuthor | None = None


@dataclass(frozen=True)
class RecallQuery:
    """What to look for. Only passages of ``owner`` are found. Times are milliseconds: ``since`` ≤ ts < ``until``.

    ``now`` is what "yesterday" in the text is counted from; without it such words are words like others.
    ``stays_here`` says that the text must not leave this machine.
    """

    text: str
    owner: str
    kinds: frozenset[RecallKind] | None = None
    workspace: str | None = None
    sources: frozenset[str] | None = None
    since: int | None = None
    until: int | None = None
    now: int | None = None
    limit: int = 10
    stays_here: bool = False


@dataclass(frozen=True)
class RecallHit:
    """A passage that was found. Scores can be compared within one search only."""

    source: RecallSource
    passage: Passage
    score: float
    snippet: Snippet


@dataclass(frozen=True)
class OutdatedSources:
    """Which sources must be put again, and which are in the index but exist no more."""

    stale: frozenset[str]
    gone: frozenset[str]


@dataclass(frozen=True)
class EmbedderAccess:
    """Which texts an embedder may read: those of one ``owner`` or of all, and on another machine none that stay here."""

    owner: str | None = None
    is_elsewhere: bool = False

    def allows(self, query: RecallQuery) -> bool:
        """Whether it may read the question."""
        return self.owner in (None, query.owner) and not (self.is_elsewhere and query.stays_here)


class SourceOvertaken(Exception):
    """Somebody put a source in, or removed it, while it was read to be put in. Nothing was changed."""
