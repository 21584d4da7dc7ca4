"""Forks the memory work, kills it at a random moment, and looks at what is left.

Run as ``python -m tests.memory._helpers.killed_memory FOLDER ROUNDS SEED``; prints what went wrong as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from hdsp_agent.memory.memory_folder import HANDBOOK, RAW_MEMORIES, SUMMARY
from hdsp_agent.providers import ModelRequest
from hdsp_agent.providers._scripted import Step, Turn

from .memory_home import ME, MemoryHome, extraction_answer, memory_home, writes_memory

_IDLE_HOURS = 7.0
_HOURS_A_ROUND = 1.5
"""A lease is over then, and a failure is tried again; all rounds take less than the 30 days after which nothing is learned."""


class Answers:
    """A model that learns, writes and finishes; what it is asked to learn from is noted before it answers."""

    def __init__(self, asked: Path) -> None:
        self._asked = asked
        self._writes = writes_memory()

    def turns(self) -> list[Turn]:
        return [self.answer] * 10_000

    def answer(self, request: ModelRequest) -> list[Step]:
        if any(tool.name == "save_memory" for tool in request.tools):
            said = str(request.messages[0].content)
            name = said[said.index("CONVERSATION-") :].split(".", 1)[0]
            with self._asked.open("a") as file:
                file.write(f"{name}\n")
            return extraction_answer(f"{name} taught this.", name.lower())
        turn = self._writes[0 if len(request.messages) == 1 else 1]
        assert callable(turn)
        return list(turn(request))


async def work(home: Path, hours: float) -> None:
    async with memory_home(home, Answers(home / "asked.txt").turns()) as at:
        at.later(hours)
        await at.pipeline.round(ME)


async def add(home: Path, number: int) -> str:
    async with memory_home(home) as at:
        return await at.conversation(
            said=f"CONVERSATION-{number}. Always use polars for churn.csv, ages are in months."
        )


async def learned(home: Path) -> dict[str, str]:
    """What was learned from, by the names of the conversations."""
    async with memory_home(home) as at:
        return {each.rollout_slug or "": each.task_id for each in at.extracted.all()}


def look(at: MemoryHome) -> list[str]:
    """What is not whole."""
    wrong: list[str] = []
    for path in at.folder.root.rglob("*"):
        if path.is_file() and path.suffix == ".json":
            try:
                json.loads(path.read_text())
            except ValueError:
                wrong.append(f"{path} is half written")
    summary, handbook = at.folder.text(SUMMARY), at.folder.text(HANDBOOK)
    if summary and not summary.endswith("- churn: cleaning\n"):
        wrong.append("the summary is not whole")
    if handbook and "### learnings" not in handbook:
        wrong.append("the handbook is not whole")
    return wrong


async def checked(home: Path) -> list[str]:
    async with memory_home(home) as at:
        return look(at)


def main(home: Path, rounds: int, seed: int) -> dict[str, object]:
    random.seed(seed)
    wrong: list[str] = []
    killed, longest = 0, 0.5
    asked = home / "asked.txt"
    for number in range(rounds):
        asyncio.run(add(home, number))
        known = asyncio.run(learned(home))
        before = asked.read_text().splitlines() if asked.exists() else []
        child = os.fork()
        if child == 0:
            try:
                asyncio.run(work(home, _IDLE_HOURS + _HOURS_A_ROUND * number))
            finally:
                os._exit(0)
        time.sleep(random.uniform(0, longest))
        os.kill(child, signal.SIGKILL)
        was_killed = os.waitpid(child, 0)[1] == signal.SIGKILL
        killed += was_killed
        longest *= 1.1 if was_killed else 0.7
        after = asked.read_text().splitlines() if asked.exists() else []
        again = {name.lower() for name in after[len(before) :]} & set(known)
        wrong += [f"{name} was learned from twice" for name in again]
        wrong += asyncio.run(checked(home))
    asyncio.run(work(home, _IDLE_HOURS + _HOURS_A_ROUND * (rounds + 2)))
    asyncio.run(work(home, _IDLE_HOURS + _HOURS_A_ROUND * (rounds + 4)))
    return {"wrong": wrong + asyncio.run(at_the_end(home, rounds)), "killed": killed}


async def at_the_end(home: Path, rounds: int) -> list[str]:
    async with memory_home(home) as at:
        wrong = look(at)
        lost = rounds - len(list(at.extracted.all()))
        if lost:
            wrong.append(f"{lost} conversations were lost")
        raw = at.folder.text(RAW_MEMORIES)
        wrong += [f"{each.task_id} is in no list" for each in at.extracted.all() if each.task_id not in raw]
        left = [path.name for path in at.folder.root.glob(".staging*")]
        return [*wrong, *(f"{name} was left" for name in left)]


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
