"""Puts artifacts until it is killed: ``python -m tests.persistence._helpers.killed_artifacts HOME DATABASE STORE MOMENT``.

It prints each artifact that was acknowledged, and ``now`` where it waits to be killed: before an object is put that was
begun (``before``), or after it was put and before its row is written (``after``).
"""

from __future__ import annotations

import asyncio
import itertools
import sys
import threading
from pathlib import Path

from hdsp_agent.persistence import NewTaskRecord
from hdsp_agent.persistence.objects._s3_store import S3Store
from hdsp_agent.persistence.postgres._postgres_store import PostgresStore

_ACKNOWLEDGED = 3


async def put_artifacts(home: Path, database: str, store_url: str, moment: str) -> None:
    store = PostgresStore(home, database, artifact_store_url=store_url)
    await store.start()
    log = await store.create(NewTaskRecord())
    put = S3Store.put
    times = itertools.count()

    def wait(self: S3Store, key: str, data: bytes) -> None:
        is_last = next(times) == _ACKNOWLEDGED
        if not is_last or moment == "after":
            put(self, key, data)
        if is_last:
            print("now", flush=True)
            threading.Event().wait()

    S3Store.put = wait  # type: ignore[method-assign]
    for number in itertools.count():
        print(await log.put_artifact(f"{home} {number}".encode() * 1_000), flush=True)


if __name__ == "__main__":
    asyncio.run(put_artifacts(Path(sys.argv[1]), *sys.argv[2:]))
