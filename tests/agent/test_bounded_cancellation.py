"""Work that does not heed being cancelled is let go of, and never lost."""

from __future__ import annotations

import asyncio

import pytest

from hdsp_agent.agent.task.cancellation import BoundedCancellation


async def test_work_is_waited_for_in_the_end_though_it_was_cancelled_twice() -> None:
    cancellation, began, may_end, ended = BoundedCancellation(), asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def deaf() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            await may_end.wait()
            ended.set()

    waits = asyncio.create_task(cancellation.run(deaf(), "Deaf work"))
    await began.wait()
    waits.cancel()
    # It has begun to wait for the work to end.
    await asyncio.sleep(0)
    waits.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waits
    may_end.set()
    await cancellation.gone(60)
    assert ended.is_set()
