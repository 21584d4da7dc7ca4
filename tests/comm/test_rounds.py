"""What is done again and again in the background can be had sooner."""

from __future__ import annotations

import asyncio
import logging

from hdsp_agent.comm._rounds import Rounds, Times


async def test_a_round_that_is_wanted_sooner_follows_the_one_before() -> None:
    rounds_done: asyncio.Queue[None] = asyncio.Queue()

    async def look() -> None:
        rounds_done.put_nowait(None)

    times = Times(first_after_seconds=0, every_seconds=10_000)
    rounds = Rounds("test", look, times, failure="It failed", log=logging.getLogger(__name__))
    rounds.start()
    try:
        await rounds_done.get()
        for _ in range(2):
            rounds.hurry()
            await rounds_done.get()
        assert rounds_done.empty()
    finally:
        await rounds.stop()


async def test_what_is_wanted_while_one_is_under_way_is_done_after_it() -> None:
    began: asyncio.Queue[None] = asyncio.Queue()
    may_end = asyncio.Event()

    async def look() -> None:
        began.put_nowait(None)
        await may_end.wait()

    times = Times(first_after_seconds=0, every_seconds=10_000)
    rounds = Rounds("test", look, times, failure="It failed", log=logging.getLogger(__name__))
    rounds.start()
    try:
        await began.get()
        rounds.hurry()
        may_end.set()
        await began.get()
    finally:
        await rounds.stop()
