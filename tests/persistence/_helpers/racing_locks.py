"""Lets processes race for one lock, round after round, and counts how often two had it at once.

Run as ``python -m tests.persistence._helpers.racing_locks FOLDER PROCESSES ROUNDS``; prints what happened as JSON. Who gets the
lock makes a file that must not be there, waits a moment and removes it again; then it gives the lock up or dies with it,
so that the next round has to take it from a dead process.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from hdsp_agent.errors import Conflict
from hdsp_agent.persistence import TaskLock


def race(folder: Path) -> tuple[str, bool]:
    """What one racer saw, h(eld), b(usy) or T(wo owners) for each of its attempts; and whether it dies with the lock."""
    seen = ""
    for _ in range(3):
        try:
            lock = TaskLock.acquire(folder)
        except Conflict:
            seen += "b"
            time.sleep(random.uniform(0, 0.001))
            continue
        owner = folder / "owner"
        try:
            os.close(os.open(owner, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            time.sleep(random.uniform(0, 0.0005))
            lock.beat()
            os.unlink(owner)
            seen += "h"
        except (FileExistsError, FileNotFoundError, Conflict) as error:
            seen += f"T[{type(error).__name__}]"
        if random.random() < 0.2:
            return seen, True
        lock.release()
    return seen, False


@dataclass
class Racer:
    """A process that races once for each byte it gets."""

    process: int
    go: int


def start_racer(folder: Path, answers: int, others: list[Racer]) -> Racer:
    start, go = os.pipe()
    process = os.fork()
    if process == 0:
        for descriptor in (go, *(racer.go for racer in others)):
            os.close(descriptor)
        random.seed(os.getpid())
        dead = False
        while not dead and os.read(start, 1):
            try:
                seen, dead = race(folder)
            except BaseException as error:  # noqa: BLE001 -- all the parent hears of it
                seen, dead = f"E[{type(error).__name__}:{str(error).replace(' ', '_')}]", True
            os.write(answers, f"{os.getpid()} {seen} {int(dead)}\n".encode())
        os._exit(0)
    os.close(start)
    return Racer(process, go)


def main() -> None:
    folder, processes, rounds = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    TaskLock.acquire(folder).release()
    answers, answer = os.pipe()
    racers: list[Racer] = []
    seen: list[str] = []
    idle = 0
    with os.fdopen(answers) as pipe:
        for _ in range(rounds):
            while len(racers) < processes:
                racers.append(start_racer(folder, answer, racers))
            for racer in racers:
                os.write(racer.go, b"!")
            said = [pipe.readline().split() for _ in racers]
            for process, _, dead in said:
                if dead == "1":
                    os.waitpid(int(process), 0)
                    (gone,) = [racer for racer in racers if racer.process == int(process)]
                    os.close(gone.go)
                    racers.remove(gone)
            idle += not any("h" in what for _, what, _ in said)
            seen += [what for _, what, _ in said]
        for racer in racers:
            os.close(racer.go)
            os.waitpid(racer.process, 0)
    together = "".join(seen)
    print(
        json.dumps(
            {
                "held": together.count("h"), "busy": together.count("b"), "rounds without owner": idle,
                "wrong": [what for what in seen if "T" in what or "E" in what],
                "left": sorted(path.name for path in folder.iterdir()),
            }
        )
    )  # fmt: skip


if __name__ == "__main__":
    main()
