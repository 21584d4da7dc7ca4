"""Recall in PostgreSQL: whether it finds what it finds in ``state.db``, how long that takes, and what a passage costs."""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from hdsp_agent.recall import Embedder, RecallIndex
from tests._helpers.postgres import PostgresCluster, TasksDatabase, postgres_cluster
from tests.recall._helpers.samples import shared_recall

from .recall_latency import latency, searches, sources
from .recall_probes import generate
from .recall_quality import OpenIndex, fill, recall_score
from .results import Result, result

_SEED: Final = 20
CONVERSATIONS: Final = 4_000
_QUESTIONS: Final = 100
_BYTES: Final = """
SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relname LIKE 'recall%'"""


def measure() -> list[Result]:
    """Both on the set that the ranking was tuned on, and many conversations."""
    with tempfile.TemporaryDirectory() as folder, postgres_cluster() as cluster:
        return asyncio.run(_measure(Path(folder), cluster))


async def _measure(folder: Path, cluster: PostgresCluster) -> list[Result]:
    tested = generate(_SEED, "tuned")
    tested = replace(tested, probes=tuple(probe for probe in tested.probes if probe.profile is None))
    here = await recall_score(tested, folder / "sqlite")
    there = await recall_score(tested, folder / "postgres", opened=_opened(cluster))
    results = [
        result(
            f"recall.postgres.own@{places}", f"{len(tested.probes)} questions of {tested.name}: the answer among the first {places}",
            found, "%", baseline=here.passages[places], goal="as in state.db", met=found >= here.passages[places],
            runs=len(tested.probes),
        )
        for places, found in there.passages.items()
    ]  # fmt: skip
    with cluster.database() as database:
        async with shared_recall(folder / "bytes", database.url()) as index:
            await fill(index, tested.conversations)
        passages, size = _size(database)
        each = size / passages
        about = f"a passage of {len(tested.conversations)} conversations of {tested.name}, with its words and indexes"
        results.append(
            result("recall.postgres.bytes", about, each, "bytes", goal="<= 4096 bytes", met=each <= 4096, runs=passages)
        )
    with cluster.database() as database:
        return results + await _times(folder / "times", database)


async def _times(folder: Path, database: TasksDatabase) -> list[Result]:
    tested = generate(_SEED, "tuned")
    texts = [message.text for one in tested.conversations for message in one.messages]
    questions = [probe.question for probe in tested.probes]
    random.Random(4).shuffle(questions)
    async with shared_recall(folder, database.url()) as index:
        putting = []
        for source, passages in sources(texts, CONVERSATIONS):
            started = time.perf_counter()
            await index.put(source, passages, "1")
            putting.append((time.perf_counter() - started) * 1000)
        spent = await searches(index, questions[:_QUESTIONS], int(time.time() * 1000))
    about = f"over {CONVERSATIONS:,} conversations in PostgreSQL"
    return [
        latency("recall.postgres.search", f"search by words {about}, p50", spent, 0.5, 30),
        latency("recall.postgres.search_p95", f"search by words {about}, p95", spent, 0.95, 75),
        latency("recall.postgres.put", f"putting in a conversation {about}, p50", putting, 0.5, 30),
    ]


def _opened(cluster: PostgresCluster) -> OpenIndex:
    @asynccontextmanager
    async def opened(folder: Path, embedder: Embedder | None) -> AsyncIterator[RecallIndex]:
        with cluster.database() as database:
            async with shared_recall(folder, database.url(), embedder) as index:
                yield index

    return opened


def _size(database: TasksDatabase) -> tuple[int, int]:
    with database.connect() as connection:
        size = connection.execute(_BYTES).fetchone()[0]
        return connection.execute("SELECT count(*) FROM recall_passages").fetchone()[0], int(size)
