"""Another server on the same home: a process that writes to the history as it is told. Started by the tests."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from .history_samples import history, task


async def main(home: Path, name: str, count: int) -> None:
    """Say that it is there, wait for a line, then write, and end when told to."""
    async with history(home) as index:
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        for number in range(count):
            await index.upsert(
                task(f"{name}{number}", ts=number, task=f"{name}의 과제"), text=f"{name}이 쓴 글 {number}"
            )
            await index.upsert(task("shared", task="함께", **{_own_field(name): name}))
            if number % 10 == 9:
                await index.delete(f"{name}{number}")
        print("done", flush=True)
        await asyncio.to_thread(sys.stdin.readline)


def _own_field(name: str) -> str:
    return {"one": "mode", "two": "workspace"}.get(name, "api_config_name")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
