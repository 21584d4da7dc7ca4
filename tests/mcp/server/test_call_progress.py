"""Progress goes out when something is new, and often enough however long a call takes."""

from __future__ import annotations

import asyncio
from itertools import pairwise

from hdsp_agent.mcp.server._call_progress import CallProgress


class HandedClock:
    """Time that passes when something is waited for."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> float:
        return self.seconds

    async def wait(self, event: asyncio.Event, seconds: float) -> None:
        await asyncio.sleep(0)
        if not event.is_set():
            self.seconds += seconds


async def test_a_day_long_call_is_never_silent_for_twenty_seconds() -> None:
    clock = HandedClock()
    sent: list[tuple[float, float, str]] = []
    over = asyncio.Event()

    async def send(count: float, text: str) -> None:
        sent.append((clock.seconds, count, text))
        if clock.seconds > 24 * 3600:
            over.set()

    progress = CallProgress(send, clock)
    await progress.tell("Cell 3 is running")
    running = asyncio.ensure_future(progress.run())
    await over.wait()
    running.cancel()
    times = [0.0, *(at for at, _, _ in sent)]
    assert max(later - earlier for earlier, later in pairwise(times)) <= 20
    # Often enough is not as often as possible.
    assert len(sent) < 24 * 3600 / 10
    counts = [count for _, count, _ in sent]
    assert counts == sorted(set(counts))
    assert {text for _, _, text in sent} == {"Cell 3 is running"}


async def test_news_goes_out_before_the_next_heartbeat_and_the_newest_wins() -> None:
    clock = HandedClock()
    sent: list[tuple[float, str]] = []
    heard = asyncio.Event()

    async def send(count: float, text: str) -> None:
        sent.append((clock.seconds, text))
        heard.set()

    progress = CallProgress(send, clock)
    for number in range(1000):
        await progress.tell(f"Line {number}")
    running = asyncio.ensure_future(progress.run())
    await heard.wait()
    running.cancel()
    assert sent[0] == (0.0, "Line 999")


async def test_a_program_that_does_not_read_holds_up_nobody() -> None:
    async def send(count: float, text: str) -> None:
        await asyncio.Event().wait()

    progress = CallProgress(send, HandedClock())
    running = asyncio.ensure_future(progress.run())
    for number in range(10):
        await progress.tell(f"Line {number}")
        await asyncio.sleep(0)
    running.cancel()
