"""A task whose disk refuses, in a process of its own: ``python -m tests.persistence._helpers.refused_task HOME full|readonly``."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from hdsp_agent.errors import StorageUnavailable
from hdsp_agent.persistence import ApiDraft, FileStore, NewTaskRecord, TaskLog

from .killed_task import warm_up

NOBODY = 65534


async def until_refused(
    log: TaskLog, refuse: Callable[[], Awaitable[None]], allow: Callable[[], None]
) -> dict[str, object]:
    async def say(number: int) -> None:
        await log.append_api(ApiDraft(role="user", content=f"{number} " + "x" * 1000), durable=number % 3 == 0)

    said = 0
    for _ in range(10):
        await say(said)
        said += 1
    await refuse()
    refusal = ""
    for _ in range(100):
        try:
            await say(said)
            said += 1
        except StorageUnavailable as error:
            refusal = str(error)
            break
    paused = log.paused is not None
    allow()
    await say(said)
    said += 1
    held = [str(record.content).split()[0] async for record in log.api.iterate()]
    return {
        "refusal": refusal, "paused": paused, "paused after": log.paused is not None,
        "all there": held == [str(number) for number in range(said)],
    }  # fmt: skip


async def main(home: Path, how: str) -> None:
    store = FileStore(home)
    await store.start()
    log = await store.create(NewTaskRecord())
    folder = home / "contexts" / "running" / log.task_id
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    async def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))

    async def take_away() -> None:
        # The writer has the log open and could go on; it meets the change when it opens the log again.
        await log._close_files()
        os.chmod(folder / "messages.jsonl", 0o400)
        os.chmod(folder, 0o500)
        for step in (log.save_state, log.finish):
            try:
                await step()
            except StorageUnavailable:
                continue
            raise AssertionError("not refused")

    def give_back() -> None:
        os.chmod(folder, 0o700)
        os.chmod(folder / "messages.jsonl", 0o600)

    if how == "full":
        report = await until_refused(log, limit, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, before))
    else:
        report = await until_refused(log, take_away, give_back)
    await log.finish()
    await store.stop()
    print(json.dumps(report))


if __name__ == "__main__":
    if os.geteuid() == 0:
        # Nothing is refused to root. What is imported late may be out of reach of others.
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(warm_up(Path(folder)))
        os.makedirs(sys.argv[1], exist_ok=True)
        os.chown(sys.argv[1], NOBODY, NOBODY)
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
