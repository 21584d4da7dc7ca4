"""Forks a cleaning, a backup or a restoring, kills it at a random moment, and looks at what is left.

Run as ``python -m tests.persistence._helpers.killed_upkeep FOLDER clean|back_up|restore ROUNDS SEED``; prints what went wrong as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from hdsp_agent.errors import HdspAgentError
from hdsp_agent.messages import TaskId
from hdsp_agent.persistence.upkeep._backup import back_up, backups, restore_backup, verify_backup
from hdsp_agent.persistence.upkeep._doctor import examine
from hdsp_agent.persistence.upkeep._retention import RetentionRules, clean

from .old_tasks import contents, file_store, finished

RULES = RetentionRules(7, 30)
Kept = dict[TaskId, dict[str, list[str]]]


async def make_home(home: Path) -> Kept:
    async with file_store(home) as store:
        kept = [await finished(store, days, messages=40) for days in (1, 8, 9, 10)]
        await finished(store, 31)
        return {task_id: await contents(store, task_id) for task_id in kept}


class Killer:
    """Kills at any moment of the work, which it learns to last as long as the machine makes it last."""

    def __init__(self, longest: float) -> None:
        self.killed = 0
        self._longest = longest

    def kill_one(self, work: Callable[[], Awaitable[object]]) -> None:
        child = os.fork()
        if child == 0:
            try:
                asyncio.run(work())  # type: ignore[arg-type]  # a coroutine
            finally:
                os._exit(0)
        time.sleep(random.uniform(0, self._longest))
        os.kill(child, signal.SIGKILL)
        if os.waitpid(child, 0)[1] == signal.SIGKILL:
            self.killed += 1
            self._longest *= 1.1
        else:
            self._longest *= 0.7


async def look(home: Path, kept: Kept) -> list[str]:
    wrong: list[str] = []
    async with file_store(home) as store:
        for task_id, before in kept.items():
            try:
                if await contents(store, task_id) != before:
                    wrong.append(f"{task_id} says something else")
            except HdspAgentError as error:
                wrong.append(f"{task_id}: {error}")
        report = await examine(home, repair=True)
        wrong += [f"{finding.kind} {finding.path}: {finding.message}" for finding in report.problems]
    return wrong


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    began = time.monotonic()
    await work()
    return time.monotonic() - began


def kill_cleaning(folder: Path, rounds: int) -> tuple[int, list[str]]:
    origin, home = folder / "origin", folder / "home"
    kept = asyncio.run(make_home(origin))
    wrong: list[str] = []

    async def work() -> None:
        async with file_store(home) as store:
            await clean(store, RULES)

    shutil.copytree(origin, home)
    killer = Killer(asyncio.run(timed(work)))
    for number in range(rounds):
        shutil.rmtree(home)
        shutil.copytree(origin, home)
        killer.kill_one(work)
        wrong += [f"round {number}: {what}" for what in asyncio.run(look(home, kept))]
        asyncio.run(work())
        wrong += [f"round {number}, then cleaned: {what}" for what in asyncio.run(look(home, kept))]
        if len(os.listdir(home / "contexts" / "completed")) < 4:
            wrong.append(f"round {number}: too few tasks are left")
    return killer.killed, wrong


def kill_backups(folder: Path, rounds: int) -> tuple[int, list[str]]:
    home, target = folder / "home", folder / "backups"
    asyncio.run(make_home(home))
    wrong: list[str] = []
    killer = Killer(asyncio.run(timed(lambda: back_up(home, target, generations=3))))
    for number in range(rounds):
        killer.kill_one(lambda: back_up(home, target, generations=3))
        there = backups(target)
        if not 1 <= len(there) <= 4:
            wrong.append(f"round {number}: {len(there)} backups")
        for info in there:
            try:
                asyncio.run(verify_backup(info.path))
            except HdspAgentError as error:
                wrong.append(f"round {number}: {error}")
    asyncio.run(back_up(home, target, generations=3))
    left = {path.name for path in target.iterdir()} - {info.path.name for info in backups(target)}
    if left - {"backup.lock"} or len(backups(target)) != 3:
        wrong.append(f"left over: {left}")
    return killer.killed, wrong


def kill_restoring(folder: Path, rounds: int) -> tuple[int, list[str]]:
    origin, home, target = folder / "origin", folder / "home", folder / "backups"
    kept = asyncio.run(make_home(origin))
    archive = asyncio.run(back_up(origin, target)).backup.path
    other = asyncio.run(make_home(home))
    (home / "secrets.json").write_text("keys")
    wrong: list[str] = []
    killer = Killer(asyncio.run(timed(lambda: restore_backup(archive, folder / "timed"))))
    for number in range(rounds):
        shutil.rmtree(home)
        asyncio.run(make_home(home))
        ids = set(os.listdir(home / "contexts" / "completed"))
        (home / "secrets.json").write_text("keys")
        killer.kill_one(lambda: restore_backup(archive, home, overwrite=True))
        asyncio.run(restore_backup(archive, home, overwrite=True))
        wrong += [f"round {number}: {what}" for what in asyncio.run(look(home, kept))]
        aside = {path.name for path in home.glob("before-restore-*/contexts/completed/*")}
        if not ids <= aside or (home / "secrets.json").read_text() != "keys":
            wrong.append(f"round {number}: what was there before is gone")
    assert len(other) == len(kept)
    return killer.killed, wrong


def main() -> None:
    folder, what, rounds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    random.seed(int(sys.argv[4]))
    kill = {"clean": kill_cleaning, "back_up": kill_backups, "restore": kill_restoring}[what]
    killed, wrong = kill(folder, rounds)
    print(json.dumps({"killed": killed, "wrong": wrong}))


if __name__ == "__main__":
    main()
