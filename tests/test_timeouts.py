"""Waiting for a limited time."""

from __future__ import annotations

import asyncio

import pytest

from hdsp_agent._background_tasks import BackgroundTasks
from hdsp_agent._timeouts import wait_at_most
from hdsp_agent.errors import Unavailable


async def test_what_comes_in_time_is_returned() -> None:
    async def answered() -> int:
        return 7

    assert await wait_at_most(answered(), 60) == 7


async def test_what_takes_too_long_is_cancelled() -> None:
    ended = asyncio.Event()

    async def never() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with pytest.raises(TimeoutError):
        await wait_at_most(never(), 0.01)
    assert ended.is_set()


async def test_a_cancellation_that_comes_with_the_result_is_not_lost() -> None:
    """A server that stopped just then waited for ever for the task it had cancelled."""
    result: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    waiting = asyncio.create_task(wait_at_most(result, 60))
    await asyncio.sleep(0)
    result.set_result(7)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_who_is_cancelled_together_with_the_work_ends_cancelled() -> None:
    tasks = BackgroundTasks()
    waiting = asyncio.create_task(tasks.finish(asyncio.sleep(60)))
    await asyncio.sleep(0)
    tasks.cancel()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await tasks.drain(60)


async def test_who_waits_for_work_that_is_given_up_is_told() -> None:
    tasks = BackgroundTasks()
    waiting = asyncio.create_task(tasks.finish(asyncio.sleep(60)))
    # Two steps: the work begins in the second.
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    tasks.cancel()
    with pytest.raises(Unavailable):
        await waiting
