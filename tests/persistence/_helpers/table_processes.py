"""What befalls a database of tasks, in processes of their own: ``python -m tests.persistence._helpers.table_processes SCENARIO HOME …``.

``kill HOME ROUNDS SEED`` kills a busy task again and again, ``race HOME PROCESSES ROUNDS`` lets processes race for one
task, every fourth of which dies with it, ``full HOME`` takes the disk away from under a task, ``hold HOME`` keeps the database
locked until its input ends, ``migrate HOME TO_DATABASE`` moves tasks until it is killed, ``away HOME`` goes on recording after a
line of input says that PostgreSQL is away, until it is killed. Each prints what happened as JSON.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import resource
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from hdsp_agent._storage_dir import default_storage_url
from hdsp_agent.errors import Conflict
from hdsp_agent.messages import TaskId
from hdsp_agent.persistence import ApiDraft, DamageNotice, FileStore, NewTaskRecord, TaskStore, open_store
from hdsp_agent.persistence._backends import DATABASE_NAME
from hdsp_agent.persistence.exchange._migration import migrate
from hdsp_agent.persistence.files._state_keeper import HEARTBEAT_SECONDS

from . import killed_task
from .refused_task import until_refused

RACED = TaskId("raced")


def table_store(
    home: Path, *, heartbeat_seconds: float = HEARTBEAT_SECONDS, on_damage: Callable[[DamageNotice], None] | None = None
) -> TaskStore:
    """In the PostgreSQL database of the environment if it names one, else in SQLite's."""
    url = default_storage_url()
    return open_store(
        home, "postgres" if url else "sqlite", url=url, heartbeat_seconds=heartbeat_seconds, on_damage=on_damage
    )


def kill(home: Path, rounds: int, seed: int) -> dict[str, object]:
    random.seed(seed)
    # The scenario is the same as with files.
    killed_task.FileStore = table_store  # type: ignore[attr-defined, assignment]  # in place of files
    asyncio.run(killed_task.warm_up(home / "warm-up"))
    wrong: list[str] = []
    started = messages = 0
    for number in range(rounds):
        if number % killed_task.ROUNDS_PER_TASK == 0:
            acknowledged: killed_task.Acknowledged = {
                stream: {} for stream in ("api", "ui", "tools", "summaries", "marks")
            }
            there = False
        place = home / str(number // killed_task.ROUNDS_PER_TASK)
        for stream, key, text in killed_task.kill_one(place, f"round {number}", random.choice((0.005, 0.02, 0.05))):
            if stream == "start":
                started += 1
                there = True
            elif stream == "error":
                wrong.append(f"round {number}: {text}")
            else:
                acknowledged[str(stream)][int(str(key))] = str(text)
                messages += 1
        if there:
            wrong += [f"round {number}: {what}" for what in asyncio.run(killed_task.look(place, acknowledged))]
            if not default_storage_url():
                wrong += _damage(place, number)
    return {"wrong": wrong, "started": started, "messages": messages}


def _damage(place: Path, number: int) -> list[str]:
    with closing(sqlite3.connect(place / DATABASE_NAME)) as connection:
        is_whole = connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    return [] if is_whole else [f"round {number}: the database is damaged"]


async def race_once(home: Path, *, dies: bool) -> str:
    """What one racer saw: h(eld), b(usy), T(wo owners), and D for its death as the owner."""
    seen = ""
    store = table_store(home)
    await store.start()
    tries = 0
    while dies or tries < 6:
        tries += 1
        try:
            log = await store.resume(RACED)
        except Conflict:
            seen += "b"
            await asyncio.sleep(random.uniform(0, 0.002))
            continue
        try:
            os.close(os.open(home / "owner", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            await asyncio.sleep(random.uniform(0, 0.003))
            await log.save_state()
            os.unlink(home / "owner")
            seen += "h"
        except (FileExistsError, FileNotFoundError, Conflict) as error:
            seen += f"T[{error}]"
        if dies:
            return seen + "D"
        await log.close()
    await store.stop()
    return seen


async def prepare_race(home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    store = table_store(home)
    await store.start()
    await store.create(NewTaskRecord(task_id=RACED))
    await store.stop()


def race(home: Path, processes: int, rounds: int) -> dict[str, object]:
    asyncio.run(prepare_race(home))
    said: list[str] = []
    for _ in range(rounds):
        reading, writing = os.pipe()
        children = []
        for number in range(processes):
            child = os.fork()
            if child == 0:
                random.seed(os.getpid())
                try:
                    # The first of every four dies, however the race goes.
                    seen = asyncio.run(race_once(home, dies=number % 4 == 0))
                except BaseException as error:  # noqa: BLE001 -- all the parent hears of it
                    seen = f"E[{type(error).__name__}: {error}]"
                os.write(writing, seen.encode() + b"\n")
                os._exit(0)
            children.append(child)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            said += pipe.read().splitlines()
        for child in children:
            os.waitpid(child, 0)
    together = "".join(said)
    return {
        "wrong": [seen for seen in said if "T" in seen or "E" in seen],
        "held": together.count("h"), "busy": together.count("b"), "died": together.count("D"),
    }  # fmt: skip


async def full(home: Path) -> dict[str, object]:
    store = table_store(home)
    await store.start()
    log = await store.create(NewTaskRecord())
    other = await store.create(NewTaskRecord())
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    async def limit() -> None:
        size = (home / f"{DATABASE_NAME}-wal").stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20_000, before[1]))

    report = await until_refused(log, limit, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, before))
    await log.finish()
    await other.finish()
    await store.stop()
    return report


def hold(home: Path) -> dict[str, object]:
    connection = sqlite3.connect(home / DATABASE_NAME, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    print("held", flush=True)
    sys.stdin.read()
    connection.execute("ROLLBACK")
    connection.close()
    return {}


async def move(home: Path, to_database: int) -> dict[str, object]:
    files, database = FileStore(home), table_store(home)
    source, target = (files, database) if to_database else (database, files)
    await source.start()
    await target.start()

    def told(_: object, done: int, __: object) -> None:
        # Whoever reads this lets it go on, task by task.
        print(done, flush=True)
        sys.stdin.readline()

    report = await migrate(source, target, progress=told)
    await source.stop()
    await target.stop()
    return {"copied": len(report.copied), "already": len(report.already)}


async def away(home: Path) -> dict[str, object]:
    from hdsp_agent.persistence.postgres import _postgres_writer

    _postgres_writer._SPOOL_AFTER_SECONDS = 0.0  # type: ignore[misc]
    store = table_store(home)
    await store.start()
    log = await store.create(NewTaskRecord())
    print(log.task_id, flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    for number in itertools.count():
        record = await log.append_api(ApiDraft(role="user", content=f"message {number}"), durable=number % 2 == 0)
        print(record.content, flush=True)
    return {}


def main() -> None:
    scenario, home, numbers = sys.argv[1], Path(sys.argv[2]), [int(number) for number in sys.argv[3:]]
    began = time.monotonic()
    match scenario:
        case "kill":
            report = kill(home, *numbers)
        case "race":
            report = race(home, *numbers)
        case "full":
            report = asyncio.run(full(home))
        case "hold":
            report = hold(home)
        case "away":
            report = asyncio.run(away(home))
        case _:
            report = asyncio.run(move(home, *numbers))
    print(json.dumps({**report, "seconds": round(time.monotonic() - began, 1)}))


if __name__ == "__main__":
    main()
