"""One of several processes that claim the same jobs: ``python -m tests.memory._helpers.claiming_process DATABASE JOBS SEED``.

Waits for a line, then prints each job that it got.
"""

from __future__ import annotations

import asyncio
import random
import sys
from functools import partial
from pathlib import Path

from hdsp_agent.memory import MEMORY_SCHEMA
from hdsp_agent.memory.job_table import (
    JobClaim,
    claim_consolidation,
    claim_extraction,
    enqueue_consolidation,
    finish_job,
)
from hdsp_agent.persistence import StateDatabase

NOW = 1_800_000_000


async def main(path: Path, jobs: int, seed: int) -> None:
    chance = random.Random(seed)
    database = StateDatabase(path, busy_seconds=60.0)
    database.add(MEMORY_SCHEMA)
    async with database:
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        order = list(range(jobs))
        chance.shuffle(order)
        for number in order:
            claim = await database.write(
                partial(claim_extraction, task_id=f"t-{number}", owner="me", watermark=7, most_running=8, now=NOW)
            )
            if isinstance(claim, JobClaim):
                print("extract", number, flush=True)
                await asyncio.sleep(chance.random() / 200)
                await database.write(partial(_end, claim=claim, fails=chance.random() < 0.3))
        for _ in range(5):
            whole = await database.write(partial(claim_consolidation, owner="me", now=NOW, is_asked_for=True))
            if isinstance(whole, JobClaim):
                print("consolidate", whole.watermark, flush=True)
                await database.write(partial(finish_job, claim=whole, now=NOW))


def _end(connection, *, claim: JobClaim, fails: bool) -> None:  # type: ignore[no-untyped-def]  # a connection of sqlite3
    assert finish_job(connection, claim, now=NOW, error="no" if fails else None)
    if not fails:
        enqueue_consolidation(connection, "me", 7)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
