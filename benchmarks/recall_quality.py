"""How often the passages that answer a question are among the first found: by plain FTS5, and by recall."""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from hdsp_agent.persistence import StateDatabase
from hdsp_agent.recall import Embedder, RecallIndex, RecallQuery, split_text

from .recall_sets import Conversation, Evidence, Probe, ProbeSet

_LOOKED_AT: Final = 60
_PLACES: Final = (1, 5, 10)
_COMMON: Final = (
    "a an the of to in on at for and or is are was were be been do does did i you he she it they we my your his her their "
    "our what when where who which how why with that this as have has had"
)
_STOP_WORDS: Final = frozenset(_COMMON.split())

Answer = Callable[[Probe], list[Evidence]]
"""What was found for a probe, the best first, each place once."""
OpenIndex = Callable[[Path, Embedder | None], AbstractAsyncContextManager[RecallIndex]]
"""Opens an index of a folder."""


@dataclass
class Score:
    """Shares of probes, in per cent, and how often something outdated came before what replaced it."""

    probes: int = 0
    passages: dict[int, float] = field(default_factory=dict)
    sources: dict[int, float] = field(default_factory=dict)
    by_kind: dict[str, float] = field(default_factory=dict)
    """By kind of probe, among the first five."""
    outdated_first: int = 0


def plain_score(tested: ProbeSet) -> Score:
    """FTS5 as one sets it up at first: stems, any of the words, bm25; whole sessions for the sources' score."""
    messages, sessions = _PlainSearch(), _PlainSearch()
    for conversation in tested.conversations:
        owner, source = conversation.source.owner, conversation.source.id
        for message in conversation.messages:
            messages.add(owner, Evidence(source, message.place), message.text)
        sessions.add(owner, Evidence(source, ""), "\n".join(message.text for message in conversation.messages))
    score = _score(tested.probes, messages.answer)
    score.sources = _score(tested.probes, sessions.answer).sources
    return score


@asynccontextmanager
async def open_index(folder: Path, embedder: Embedder | None = None) -> AsyncIterator[RecallIndex]:
    """An index in ``state.db``, as a server opens it."""
    database = StateDatabase(folder / "state.db")
    index = RecallIndex(database, embedder)
    async with database:
        yield index


async def recall_score(
    tested: ProbeSet, folder: Path, embedder: Embedder | None = None, opened: OpenIndex = open_index
) -> Score:
    """The product's own index, filled as the product fills it; each owner has one, as each person's server does."""
    found: dict[int, list[Evidence]] = {}
    for number, owner in enumerate(dict.fromkeys(conversation.source.owner for conversation in tested.conversations)):
        (folder / str(number)).mkdir(parents=True)
        async with opened(folder / str(number), embedder) as index:
            await fill(index, [one for one in tested.conversations if one.source.owner == owner])
            while await index.embed_some(1024):
                pass
            for probe in tested.probes:
                if probe.owner == owner:
                    query = RecallQuery(probe.question, owner, now=probe.now, limit=_LOOKED_AT)
                    hits = await index.search(query)
                    found[id(probe)] = list(dict.fromkeys(Evidence(hit.source.id, hit.passage.place) for hit in hits))
    return _score(tested.probes, lambda probe: found[id(probe)])


async def fill(index: RecallIndex, conversations: Sequence[Conversation]) -> None:
    """Put conversations in, long messages in pieces."""
    for conversation in conversations:
        pieces = [
            replace(message, text=piece) for message in conversation.messages for piece in split_text(message.text)
        ]
        await index.put(conversation.source, pieces, "1")


def _score(probes: Sequence[Probe], answer: Answer) -> Score:
    score = Score(len(probes))
    kinds: dict[str, list[bool]] = defaultdict(list)
    passages = dict.fromkeys(_PLACES, 0)
    sources = dict.fromkeys(_PLACES, 0)
    for probe in probes:
        found = answer(probe)
        of_sources = list(dict.fromkeys(one.source for one in found))
        wanted = {one.source for one in probe.evidence}
        for place in _PLACES:
            passages[place] += not probe.evidence.isdisjoint(found[:place])
            sources[place] += not wanted.isdisjoint(of_sources[:place])
        kinds[probe.kind].append(not probe.evidence.isdisjoint(found[:5]))
        score.outdated_first += _outdated_first(probe, found)
    score.passages = {place: 100 * hits / len(probes) for place, hits in passages.items()}
    score.sources = {place: 100 * hits / len(probes) for place, hits in sources.items()}
    score.by_kind = {kind: 100 * sum(hits) / len(hits) for kind, hits in sorted(kinds.items())}
    return score


def _outdated_first(probe: Probe, found: Sequence[Evidence]) -> bool:
    """Whether the first of what is found about the probe's subject is no longer so, among what anybody looks at."""
    for one in found[:10]:
        if one in probe.evidence:
            return False
        if one in probe.outdated:
            return True
    return False


class _PlainSearch:
    """One FTS5 table an owner, in memory."""

    def __init__(self) -> None:
        self._tables: dict[str, sqlite3.Connection] = {}
        self._places: dict[str, list[Evidence]] = defaultdict(list)

    def add(self, owner: str, place: Evidence, text: str) -> None:
        if owner not in self._tables:
            self._tables[owner] = sqlite3.connect(":memory:", check_same_thread=False)
            self._tables[owner].execute("CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = 'porter unicode61')")
        self._places[owner].append(place)
        self._tables[owner].execute("INSERT INTO texts VALUES (?)", (text,))

    def answer(self, probe: Probe) -> list[Evidence]:
        words = [word for word in re.findall(r"\w+", probe.question.lower()) if word not in _STOP_WORDS]
        if not words:
            return []
        rows = self._tables[probe.owner].execute(
            "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?",
            (" OR ".join(f'"{word}"' for word in words), _LOOKED_AT),
        )
        return [self._places[probe.owner][row - 1] for (row,) in rows]
