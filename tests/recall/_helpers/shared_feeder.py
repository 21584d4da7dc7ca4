"""A server that puts one source in again and again, and says of each round when it is done. Started by the tests."""

from __future__ import annotations

import asyncio
import itertools
import sys
from pathlib import Path

from .samples import conversation, said, shared_recall


async def main(home: Path, url: str, first: int) -> None:
    """Go on until somebody ends the process."""
    async with shared_recall(home, url) as index:
        for number in itertools.count(first):
            await index.put(
                conversation("t"), said(*(f"figure {at} of round {number}" for at in range(50))), str(number)
            )
            print(number, flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
