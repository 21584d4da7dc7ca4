"""The time-out of each event of a stream, kept by one timer for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from hdsp_agent.providers._model_error import ModelError
from hdsp_agent.providers._transport import Timeouts, events_of

NEVER = 3600.0
SHORT = 0.05


class Stream:
    """Events that come after pauses."""

    def __init__(self, pauses: Sequence[float]) -> None:
        self._pauses = pauses
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[object]:
        for number, pause in enumerate(self._pauses):
            await asyncio.sleep(pause)
            yield {"number": number}

    async def close(self) -> None:
        self.closed = True


async def read(stream: Stream, timeouts: Timeouts, *, thinking: float = 0.0) -> list[object]:
    async def opened() -> Stream:
        return stream

    heard: list[object] = []
    async for event in events_of(opened, timeouts, "openai"):
        heard.append(event["number"])
        await asyncio.sleep(thinking)
    return heard


async def test_events_may_take_longer_together_and_so_may_whoever_reads_them() -> None:
    stream = Stream([0.0] * 5)
    assert await read(stream, Timeouts(first=NEVER, idle=SHORT), thinking=2 * SHORT) == [0, 1, 2, 3, 4]
    assert stream.closed


@pytest.mark.parametrize(
    ("pauses", "timeouts", "said"),
    [
        ([NEVER], Timeouts(first=SHORT, idle=NEVER), "sent no event"),
        ([0.0, NEVER], Timeouts(first=NEVER, idle=SHORT), "sent no further event"),
        ([0.0, 0.0, NEVER], Timeouts(first=NEVER, idle=SHORT), "sent no further event"),
    ],
)
async def test_the_one_that_does_not_come_is_given_up(pauses: Sequence[float], timeouts: Timeouts, said: str) -> None:
    stream = Stream(pauses)
    with pytest.raises(ModelError, match=said) as raised:
        await read(stream, timeouts)
    assert raised.value.kind == "timeout" and stream.closed
    # The task itself goes on.
    await asyncio.sleep(0)


async def test_who_is_cancelled_while_waiting_is_cancelled() -> None:
    stream = Stream([0.0, NEVER])
    reading = asyncio.create_task(read(stream, Timeouts(first=NEVER, idle=NEVER)))
    await asyncio.sleep(SHORT)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert stream.closed
