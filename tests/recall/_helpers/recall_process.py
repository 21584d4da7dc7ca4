"""Another server on the same home: a process that puts sources in as it is told. Started by the tests."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from .samples import conversation, recall, said


async def main(home: Path, name: str, count: int) -> None:
    """Say that it is there, wait for a line, then put, replace and remove."""
    async with recall(home) as index:
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        for number in range(count):
            source = conversation(f"{name}{number}")
            await index.put(source, said(f"a draft by {name}"), "1")
            await index.put(source, said(f"the figures of {name}", f"number {number}"), "2")
            await index.put(conversation("shared"), said(f"common knowledge from {name}"), f"{name}{number}")
            if number % 5 == 4:
                await index.remove("conversation", [f"{name}{number}"])
        print("done", flush=True)
        await asyncio.to_thread(sys.stdin.readline)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
