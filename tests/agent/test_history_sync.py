"""A task's line in the history follows the task without being waited for."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field

import pytest

from hdsp_agent.agent.conversation.history_sync import HistorySync
from hdsp_agent.errors import StorageUnavailable
from hdsp_agent.messages import HistoryItem

from .._helpers.timing import until

LOG = logging.getLogger("test")


def line(cost: float, ts: int = 1) -> HistoryItem:
    return HistoryItem(id="a-task", number=1, ts=ts, task="Look", tokens_in=0, tokens_out=0, total_cost=cost)


@dataclass
class SlowHistory:
    """Puts when it is let; fails where it is told to."""

    put_so_far: list[tuple[float, str | None, str | None]] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    may_go_on: asyncio.Event = field(default_factory=asyncio.Event)
    fails_for: float | None = None

    async def put(self, item: HistoryItem, *, text: str | None = None, owner: str | None = None) -> HistoryItem:
        await self.may_go_on.wait()
        if item.total_cost == self.fails_for:
            raise StorageUnavailable("the disk is full", path="history", action="write", reason="full")
        self.put_so_far.append((item.total_cost, text, owner))
        self.times.append(item.ts)
        return item


async def test_of_what_was_told_meanwhile_only_the_newest_is_put_and_its_text_is_not_lost() -> None:
    history = SlowHistory()
    followed = HistorySync(history, "anna", LOG)
    followed.tell(line(1))
    await asyncio.sleep(0)
    followed.tell(line(2), text="Look at it")
    followed.tell(line(3))
    history.may_go_on.set()
    await followed.told()
    assert history.put_so_far == [(1, None, "anna"), (3, "Look at it", "anna")]
    followed.tell(line(4))
    await followed.told()
    assert history.put_so_far[-1] == (4, None, "anna")


async def test_a_history_that_cannot_be_written_is_logged_and_the_next_line_is_put(
    caplog: pytest.LogCaptureFixture,
) -> None:
    history = SlowHistory(fails_for=1)
    history.may_go_on.set()
    followed = HistorySync(history, None, LOG)
    followed.tell(line(1))
    await followed.told()
    assert "the disk is full" in caplog.text
    followed.tell(line(2))
    await followed.told()
    assert history.put_so_far == [(2, None, None)]


async def test_where_there_is_no_history_nothing_is_waited_for() -> None:
    followed = HistorySync(None, None, LOG)
    followed.tell(line(1))
    await followed.told()


async def test_that_a_task_did_something_later_is_put_once_for_several_times() -> None:
    history = SlowHistory()
    history.may_go_on.set()
    followed = HistorySync(history, None, LOG)
    followed.tell(line(1))
    await eventually_put(history, [1])
    for ts in range(2, 10):
        followed.tell(line(1, ts))
        await asyncio.sleep(0)
    assert history.times == [1]
    await eventually_put(history, [1, 9])
    followed.tell(line(1, 10))
    # What else changes takes it along at once.
    followed.tell(line(2, 11))
    await followed.told()
    assert history.times == [1, 9, 11]
    followed.tell(line(2, 12))
    await followed.told()
    assert history.times == [1, 9, 11, 12]


async def test_what_the_line_can_be_found_by_is_not_held_back_by_a_later_time() -> None:
    history = SlowHistory()
    history.may_go_on.set()
    followed = HistorySync(history, None, LOG)
    followed.tell(line(1), text="Look at it")
    followed.tell(line(1, 2))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert history.put_so_far == [(1, "Look at it", None)]
    assert history.times == [2]


async def eventually_put(history: SlowHistory, times: list[int]) -> None:
    await until(lambda: history.times == times)
