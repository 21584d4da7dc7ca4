"""The history search of a team's PostgreSQL, over a million messages of one person; beside them somebody who has few.

The conversations are made as those of ``history`` are, of 40 messages each: so many of a conversation can be found. The index
of the texts is made at the end, as after a restore: what is put in afterwards, as people work, costs what ``upsert`` says.
There are two people; thousands of them in one database were not tried.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import random
import sys
import time
from collections.abc import Iterator
from itertools import cycle, islice
from typing import TYPE_CHECKING, Final

from hdsp_agent.messages import HistoryItem
from hdsp_agent.persistence.history._index import HistoryRecord
from hdsp_agent.persistence.history._query import HistoryQuery
from tests._helpers.postgres import TasksDatabase, postgres_cluster

from .history import QUERIES, ROUNDS, sentences, timed
from .results import Result, percentile, result

if TYPE_CHECKING:
    from hdsp_agent.persistence import HistoryIndex

_MESSAGES: Final = 1_000_000
_IN_ONE: Final = 40
_OF_THE_OTHER: Final = 50
_GOAL_MS: Final = 30.0
_UPSERTS: Final = 200
_INDEX: Final = "history_grams_by_gram"


def measure(messages: int = _MESSAGES) -> list[Result]:
    """Fill a new database, and search it as both people."""
    with postgres_cluster() as cluster, cluster.database() as database:
        return asyncio.run(_measure(database, messages // _IN_ONE))


async def _measure(database: TasksDatabase, conversations: int) -> list[Result]:
    from hdsp_agent.persistence.postgres._postgres_database import PostgresDatabase
    from hdsp_agent.persistence.postgres._postgres_history import PostgresHistoryIndex

    records = _records(conversations)
    servers = [PostgresDatabase(database.url(role)) for role in ("ada", "bob")]
    try:
        async with PostgresHistoryIndex(servers[0]) as hers, PostgresHistoryIndex(servers[1]) as his:
            few = list(islice(records, _OF_THE_OTHER))
            await his.rebuild(few)
            await asyncio.to_thread(_drop_index, database)
            await hers.rebuild(itertools.chain(few, records))
            print(f"{conversations:,} conversations are in; the index of their texts is being made", file=sys.stderr)
            megabytes = await asyncio.to_thread(_make_index, database)
            relevant = await _searches(hers)
            beside = await _searches(his)
            putting = [
                await _put_again(hers, record, number) for number, record in enumerate(islice(cycle(few), _UPSERTS))
            ]
    finally:
        for server in servers:
            server.close()
    few_middle = percentile(list(itertools.chain(*beside.values())), 0.5)
    slowest = max(percentile(took, 0.5) for took in relevant.values())
    about = f"over {conversations * _IN_ONE:,} messages in {conversations:,} conversations of one person"
    spent = list(itertools.chain(*relevant.values()))
    middle, slow = percentile(spent, 0.5), percentile(spent, 0.95)
    return [
        result(
            "hub.search.p50", f"search by relevance in PostgreSQL, with snippets, {about}, p50", middle, "ms",
            goal=f"<= {_GOAL_MS:g} ms", met=middle <= _GOAL_MS, runs=len(spent),
        ),
        result(
            "hub.search.p95", "the same, p95", slow, "ms", goal="none", met=True, runs=len(spent)
        ),
        result(
            "hub.search.slowest", "the same of the slowest of the queries, p50", slowest, "ms", goal="none", met=True,
            runs=ROUNDS,
        ),
        result(
            "hub.search.beside", f"the same search by somebody with {_OF_THE_OTHER} conversations beside those, p50",
            few_middle, "ms", goal=f"<= {_GOAL_MS:g} ms", met=few_middle <= _GOAL_MS, runs=sum(map(len, beside.values())),
        ),
        result(
            "hub.search.upsert", "putting a conversation in again with new text, p95", percentile(putting, 0.95), "ms",
            goal="none", met=True, runs=len(putting),
        ),
        result("hub.search.size", "size of the history in the database", megabytes, "MB", goal="none", met=True, runs=1),
    ]  # fmt: skip


def _drop_index(database: TasksDatabase) -> None:
    with database.connect() as admin:
        (made,) = admin.execute("SELECT indexdef FROM pg_indexes WHERE indexname = ?", (_INDEX,)).fetchone()
        admin.execute("CREATE TABLE public.kept AS SELECT ?::text AS made", (made,))
        admin.execute(f"DROP INDEX {_INDEX}")


def _make_index(database: TasksDatabase) -> float:
    with database.connect() as admin:
        admin.execute("SET statement_timeout = 0")
        admin.execute("SET maintenance_work_mem = '512MB'")
        admin.execute(admin.execute("SELECT made FROM public.kept").fetchone()[0])
        admin.execute("VACUUM ANALYZE")
        (size,) = admin.execute(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relname LIKE 'history%' AND relkind = 'r'"
        ).fetchone()
        return float(size) / 1e6


def _records(count: int) -> Iterator[HistoryRecord]:
    chance = random.Random(1_000_000)
    korean, english = sentences("ko_KR")
    japanese, more_english = sentences("ja_JP")
    english = sorted({*english, *more_english})
    for number, own in enumerate(islice(cycle((korean, japanese, english)), count)):
        lines = [chance.choice(own if chance.random() < 0.8 else english) for _ in range(_IN_ONE)]
        lines[chance.randrange(_IN_ONE)] += f" df_{chance.randrange(100_000)} 📊"
        yield HistoryRecord(
            HistoryItem(
                id=f"{number:08x}-0000-4000-8000-{chance.getrandbits(48):012x}", number=number + 1,
                ts=1_700_000_000_000 + chance.randrange(10**10), task=" ".join(chance.sample(own, 2)),
                workspace=f"/home/w{number % 7}", tokens_in=chance.randrange(10**6), tokens_out=chance.randrange(10**4),
                total_cost=chance.random(), mode="code", title=chance.choice(own)[:60] if number % 5 == 0 else None,
            ),
            "\n".join(lines),
            "ada",
        )  # fmt: skip


async def _searches(index: HistoryIndex) -> dict[str, list[float]]:
    """How long each query took, each time."""
    spent = {}
    for text in QUERIES:
        search = functools.partial(index.search, HistoryQuery(text, sort="mostRelevant"))
        await search()
        took = spent[text] = await timed(search, ROUNDS)
        print(f"{percentile(took, 0.5):8.1f} ms  {(await search()).total:6}  {text}", file=sys.stderr)
    return spent


async def _put_again(index: HistoryIndex, record: HistoryRecord, number: int) -> float:
    started = time.perf_counter()
    await index.upsert(record.item, text=f"{record.text}\n{number}")
    return (time.perf_counter() - started) * 1000
