"""How long a search takes in 20,000 conversations of 100,000 passages, each with a vector; and what filling costs.

The vectors are made at random around the words of a passage: what a model would give takes hours to make and none to compare.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hdsp_agent.persistence import StateDatabase
from hdsp_agent.recall import Embedder, Passage, RecallIndex, RecallQuery, RecallSource, bundled_embedder

from .recall_probes import generate
from .results import Result, percentile, result

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CONVERSATIONS: Final = 20_000
PASSAGES: Final = 5
_OWNER: Final = "ana"
_DIMENSIONS: Final = 512
_QUESTIONS: Final = 200
_PUT_AGAIN: Final = 100
_WARMING: Final = 5


def measure() -> list[Result]:
    """Fill an index in a folder that is thrown away, search it by words, then with vectors."""
    return asyncio.run(_measure())


async def _measure() -> list[Result]:
    tested = generate(20, "tuned")
    texts = [message.text for one in tested.conversations for message in one.messages]
    questions = [probe.question for probe in tested.probes]
    random.Random(4).shuffle(questions)
    now = int(time.time() * 1000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.db"
        filling = await _fill(path, texts)
        by_words = await _searches(path, None, questions[:_QUESTIONS], now)
        await _embed(path)
        first = (await _searches(path, _RandomEmbedder(), questions[:1], now, warm=False))[0]
        with_vectors = await _searches(path, _RandomEmbedder(), questions[:_QUESTIONS], now)
        putting = await _put_again(path, texts)
        megabytes = path.stat().st_size / 1e6
    about = f"over {CONVERSATIONS:,} conversations, {CONVERSATIONS * PASSAGES:,} passages"
    results = [
        latency("recall.search", f"search by words {about}, p50", by_words, 0.5, 20),
        latency("recall.search_p95", f"search by words {about}, p95", by_words, 0.95, 50),
        latency("recall.search_vectors", f"search with as many vectors {about}, p50", with_vectors, 0.5, 20),
        latency("recall.search_vectors_p95", f"search with as many vectors {about}, p95", with_vectors, 0.95, 50),
        result("recall.first_search", "the first search, which reads the vectors", first, "ms", goal="<= 5000 ms", met=first <= 5000, runs=1),
        result("recall.put", "putting in a conversation, mean", filling, "ms", goal="<= 10 ms", met=filling <= 10, runs=CONVERSATIONS),
        latency("recall.put_again_p95", "putting in one that has changed, p95", putting, 0.95, 50),
        result("recall.size", "state.db with its vectors", megabytes, "MB", goal="<= 500 MB", met=megabytes <= 500, runs=1),
    ]  # fmt: skip
    return results + _embedding()


@asynccontextmanager
async def _opened(path: Path, embedder: Embedder | None = None) -> AsyncIterator[RecallIndex]:
    """As a server opens it."""
    database = StateDatabase(path)
    index = RecallIndex(database, embedder)
    async with database:
        yield index


class _RandomEmbedder:
    """A direction for each text, the same one each time."""

    name = "random"
    floor = 0.0
    wordless_floor = 0.0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        seeds = [abs(hash(text)) % 2**32 for text in texts]
        vectors = np.stack([np.random.default_rng(seed).standard_normal(_DIMENSIONS) for seed in seeds])
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


async def _fill(path: Path, texts: Sequence[str]) -> float:
    async with _opened(path) as index:
        started = time.perf_counter()
        for source, passages in sources(texts, CONVERSATIONS):
            await index.put(source, passages, "1")
        return (time.perf_counter() - started) / CONVERSATIONS * 1000


def sources(texts: Sequence[str], count: int) -> Iterator[tuple[RecallSource, list[Passage]]]:
    """Conversations of sentences out of our probes, with words of their own so that no two are alike."""
    chance = random.Random(20_000)
    for number in range(count):
        ts = 1_700_000_000_000 + number * 1_000_000
        passages = [
            Passage(
                " ".join([*chance.sample(texts, 3), f"df_{chance.randrange(100_000)}"]),
                str(place),
                ts + place,
                "person",
            )
            for place in range(PASSAGES)
        ]
        yield RecallSource(_OWNER, "conversation", str(number), chance.choice(texts)[:60]), passages


async def _embed(path: Path) -> None:
    async with _opened(path, _RandomEmbedder()) as index:
        await index.embed_some(CONVERSATIONS * PASSAGES)


async def _searches(
    path: Path, embedder: Embedder | None, questions: Sequence[str], now: int, *, warm: bool = True
) -> list[float]:
    async with _opened(path, embedder) as index:
        return await searches(index, questions, now, warm=warm)


async def searches(index: RecallIndex, questions: Sequence[str], now: int, *, warm: bool = True) -> list[float]:
    """How many milliseconds each search takes."""
    spent = []
    for question in questions[:_WARMING] if warm else ():
        await index.search(RecallQuery(question, _OWNER, now=now))
    for question in questions:
        started = time.perf_counter()
        await index.search(RecallQuery(question, _OWNER, now=now))
        spent.append((time.perf_counter() - started) * 1000)
    return spent


async def _put_again(path: Path, texts: Sequence[str]) -> list[float]:
    chance = random.Random(5)
    spent = []
    async with _opened(path) as index:
        for _ in range(_PUT_AGAIN):
            source = RecallSource(_OWNER, "conversation", str(chance.randrange(CONVERSATIONS)))
            passages = [Passage(text, str(place), place) for place, text in enumerate(chance.sample(texts, PASSAGES))]
            started = time.perf_counter()
            await index.put(source, passages, "2")
            spent.append((time.perf_counter() - started) * 1000)
    return spent


def _embedding() -> list[Result]:
    """What the bundled model costs, if it is installed."""
    embedder = bundled_embedder()
    if embedder is None:
        return []
    texts = [message.text for one in generate(20, "tuned").conversations for message in one.messages][:512]
    started = time.perf_counter()
    embedder.embed(texts[:1])
    loading = (time.perf_counter() - started) * 1000
    started = time.perf_counter()
    embedder.embed(texts)
    each = (time.perf_counter() - started) / len(texts) * 1000
    question = []
    for text in texts[:50]:
        started = time.perf_counter()
        embedder.embed([text])
        question.append((time.perf_counter() - started) * 1000)
    return [
        result("recall.model_loading", "loading the bundled model", loading, "ms", goal="<= 1000 ms", met=loading <= 1000, runs=1),
        result("recall.embedding", "a vector of a message, in the background", each, "ms", goal="<= 10 ms", met=each <= 10, runs=len(texts)),
        latency("recall.question_vector", "the vector of a question, p50", question, 0.5, 10),
    ]  # fmt: skip


def latency(id_: str, what: str, spent: list[float], share: float, most: int) -> Result:
    """A share of what was measured, with the goal."""
    value = percentile(spent, share)
    return result(id_, what, value, "ms", goal=f"<= {most} ms", met=value <= most, runs=len(spent))
