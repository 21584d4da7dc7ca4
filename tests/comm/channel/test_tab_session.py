from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from blockbuster import blockbuster_ctx

from hdsp_agent.comm._channel_limits import ChannelLimits
from hdsp_agent.comm._frame_encoding import body
from hdsp_agent.comm._frame_ring import Ring
from hdsp_agent.comm._tab_session import ConnectionLost, Session, StateSnapshot

from ..._helpers.timing import until

LOG = logging.getLogger("test")


class FakeSocket:
    """A socket whose other end reads only when told to."""

    def __init__(self) -> None:
        self.frames: list[dict[str, object]] = []
        self.messages = 0
        self.largest = 0
        self.closed_with: tuple[int, str] | None = None
        self.reads = asyncio.Event()
        self.reads.set()
        self.broken = False

    async def write(self, message: bytes) -> None:
        await self.reads.wait()
        if self.broken:
            raise ConnectionLost
        parsed = json.loads(message)
        self.messages += 1
        self.largest = max(self.largest, len(message))
        self.frames += parsed if isinstance(parsed, list) else [parsed]

    def close(self, code: int, reason: str) -> None:
        self.closed_with = (code, reason)

    @property
    def seen(self) -> list[object]:
        return [frame.get("seq") if frame["op"] == "msg" else frame["op"] for frame in self.frames]


class Tab:
    """A session with all it needs."""

    def __init__(self, **limits: float) -> None:
        self.limits = ChannelLimits(**{"pace_seconds": 0.0, **limits})  # type: ignore[arg-type]
        self.ring = Ring(max_frames=self.limits.ring_frames, max_bytes=self.limits.ring_bytes)
        self.socket = FakeSocket()
        self.states = 0
        self.session = Session(self.socket, self.ring, self.snapshot, limits=self.limits, log=LOG)

    def snapshot(self) -> StateSnapshot:
        self.states += 1
        return StateSnapshot(self.ring.newest, b'{"type":"state","state":{}}')

    def attach(self, last_seq: int | None = None) -> bool:
        return self.session.attach("tab", "comm", last_seq, lambda _: body("open", b"{}", self.ring.newest))

    def publish(self, size: int = 1) -> None:
        self.ring.append(body("msg", b'{"x":"%s"}' % (b"x" * size), self.ring.newest + 1))
        self.session.wake()


@asynccontextmanager
async def tab(**limits: float) -> AsyncIterator[Tab]:
    it = Tab(**limits)
    with blockbuster_ctx():
        yield it
        it.session.close(1000, "test over")
        await asyncio.wait([it.session.writer])


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0.001)


async def test_a_new_tab_gets_the_state_and_then_what_follows() -> None:
    async with tab() as it:
        it.publish()
        it.publish()
        assert it.attach() is False
        await settle()
        it.publish()
        await settle()
        assert it.socket.seen == ["open", 2, 3]
        assert it.states == 1
        assert it.session.stats.resyncs == 0


async def test_a_tab_that_comes_back_gets_exactly_what_it_missed() -> None:
    async with tab() as it:
        for _ in range(5):
            it.publish()
        assert it.attach(2) is True
        await settle()
        assert it.socket.seen == ["open", 3, 4, 5]
        assert it.states == 0


async def test_nothing_numbered_is_sent_before_the_tab_is_attached() -> None:
    async with tab() as it:
        it.publish()
        await it.session.send(body("ack", b"{}"))
        await settle()
        assert it.socket.seen == ["ack"]


async def test_frames_that_wait_travel_in_one_message_of_bounded_size() -> None:
    async with tab(batch_bytes=1000) as it:
        it.attach(0)
        await settle()
        it.socket.reads.clear()
        for _ in range(100):
            it.publish(20)
        await settle()
        it.socket.reads.set()
        await settle()
        assert it.socket.seen[1:] == list(range(1, 101))
        assert it.socket.messages < 20
        assert it.socket.largest < 1400


async def test_under_load_writes_are_paced() -> None:
    async with tab(pace_seconds=0.02) as it:
        it.attach(0)
        began = time.monotonic()
        for _ in range(100):
            it.publish()
            await asyncio.sleep(0.001)
        await until(lambda: it.socket.seen[1:] == list(range(1, 101)))
        # The opening is a message too, and so is the first frame, which waits for nothing.
        assert it.socket.messages <= (time.monotonic() - began) / 0.02 + 3


async def test_what_somebody_waits_for_goes_at_once_with_all_before_it() -> None:
    async with tab(pace_seconds=3600.0) as it:
        it.attach(0)
        await until(lambda: it.socket.seen == ["open"])
        for _ in range(3):
            it.publish()
            await it.session.send(body("ack", b"{}"))
            await it.session.send(body("msg", b"{}"), at_once=True)
        await until(lambda: len(it.socket.seen) == 10)
        assert it.socket.seen == ["open", 1, "ack", None, 2, "ack", None, 3, "ack", None]
        it.publish()
        await settle()
        assert it.socket.seen[-1] is None


async def test_a_tab_that_lags_beyond_the_ring_gets_the_state_instead() -> None:
    async with tab(ring_frames=10) as it:
        it.attach(0)
        it.publish()
        await settle()
        it.socket.reads.clear()
        for _ in range(100):
            it.publish()
            await asyncio.sleep(0)
        it.socket.reads.set()
        await settle()
        it.publish()
        await settle()
        numbers = [seen for seen in it.socket.seen if isinstance(seen, int)]
        assert it.states == it.session.stats.resyncs == 1
        assert numbers == sorted(set(numbers))
        assert numbers[-1] == 102
        state = next(frame for frame in it.socket.frames if '"state"' in json.dumps(frame.get("data")))
        assert state["seq"] == 101


async def test_what_is_for_this_tab_alone_does_not_overtake_what_all_were_sent_before() -> None:
    async with tab() as it:
        it.attach(0)
        it.socket.reads.clear()
        it.publish()
        await it.session.send(body("ack", b'{"n":1}'))
        it.publish()
        it.publish()
        await it.session.send(body("ack", b'{"n":2}'))
        it.publish()
        it.socket.reads.set()
        await settle()
        assert it.socket.seen == ["open", 1, "ack", 2, 3, "ack", 4]


async def test_a_full_outbox_makes_its_senders_wait_until_the_tab_reads() -> None:
    async with tab(outbox_frames=4) as it:
        it.attach(0)
        await settle()
        it.socket.reads.clear()
        sent = 0

        async def flood() -> None:
            nonlocal sent
            for _ in range(100):
                await it.session.send(body("ack", b"{}"))
                sent += 1

        flooding = asyncio.create_task(flood())
        await settle()
        assert sent < 10
        assert it.session.stats.waiting <= 4
        it.socket.reads.set()
        await flooding
        await settle()
        assert it.socket.seen.count("ack") == 100


async def test_many_senders_together_do_not_overfill_the_outbox() -> None:
    async with tab(outbox_frames=4) as it:
        it.attach(0)
        await settle()
        it.socket.reads.clear()
        senders = [asyncio.create_task(it.session.send(body("ack", b"{}"))) for _ in range(50)]
        for _ in range(10):
            await settle()
            assert it.session.stats.waiting <= 4
            it.socket.reads.set()
            await asyncio.sleep(0)
            it.socket.reads.clear()
        it.socket.reads.set()
        assert all(await asyncio.gather(*senders))


async def test_large_frames_fill_the_outbox_too() -> None:
    async with tab(outbox_bytes=1000) as it:
        it.attach(0)
        await settle()
        it.socket.reads.clear()
        await it.session.send(body("ack", b'"%s"' % (b"x" * 2000)))
        await settle()
        await it.session.send(body("ack", b'"%s"' % (b"x" * 2000)))
        waiting = asyncio.create_task(it.session.send(body("ack", b"{}")))
        await settle()
        assert not waiting.done()
        it.socket.reads.set()
        assert await waiting


async def test_a_write_that_does_not_finish_in_time_closes_the_tab() -> None:
    async with tab(write_seconds=0.05) as it:
        it.attach(0)
        it.socket.reads.clear()
        await until(lambda: it.session.closed)
        assert it.socket.closed_with == (1001, "too slow")


async def test_senders_to_a_tab_that_goes_learn_that_it_went() -> None:
    async with tab(outbox_frames=1) as it:
        it.attach(0)
        await settle()
        it.socket.reads.clear()
        results = [asyncio.create_task(it.session.send(body("ack", b"{}"))) for _ in range(5)]
        await settle()
        it.session.close(1001, "gone")
        assert False in await asyncio.gather(*results)
        assert await it.session.send(body("ack", b"{}")) is False


async def test_a_broken_connection_ends_the_session_quietly() -> None:
    async with tab() as it:
        it.socket.broken = True
        it.attach(0)
        await settle()
        assert it.session.closed


async def test_a_state_that_cannot_be_made_closes_the_tab_and_is_logged(caplog) -> None:  # type: ignore[no-untyped-def]
    async with tab() as it:

        def fail() -> StateSnapshot:
            raise RuntimeError("no state today")

        it.session._snapshot = fail
        it.attach(None)
        await settle()
        assert it.socket.closed_with == (1011, "internal error")
        assert "no state today" in caplog.text


async def test_the_last_frame_is_written_before_the_socket_is_closed() -> None:
    async with tab() as it:
        it.attach(0)
        it.publish()
        it.session.end(body("close", b'{"code":"version_mismatch"}'), 4001, "version_mismatch")
        it.publish()
        await settle()
        assert it.socket.seen[-1] == "close"
        assert it.socket.closed_with == (4001, "version_mismatch")
        assert await it.session.send(body("ack", b"{}")) is False


async def test_closing_before_the_first_step_still_closes_the_socket() -> None:
    async with tab() as it:
        it.session.close(1001, "gone")
        assert it.socket.closed_with == (1001, "gone")


async def test_a_heartbeat_is_sent_each_interval_and_a_silent_tab_is_closed() -> None:
    async with tab(heartbeat_seconds=0.1) as it:
        it.attach(0)
        began = time.monotonic()
        while it.socket.seen.count("ping") < 3:
            it.session.heard()
            it.session.beat()
            await asyncio.sleep(0.02)
        assert time.monotonic() - began >= 0.2
        lives = not it.session.closed
        assert lives
        while not it.session.closed:
            it.session.beat()
            await asyncio.sleep(0.02)
        assert it.socket.closed_with == (1001, "no sign of life")


async def test_a_socket_that_never_opens_the_channel_is_closed() -> None:
    async with tab(heartbeat_seconds=0.02) as it:
        await asyncio.sleep(0.1)
        it.session.beat()
        assert it.session.closed


async def test_what_was_sent_is_counted() -> None:
    async with tab() as it:
        it.attach(0)
        it.publish()
        it.publish()
        await settle()
        stats = it.session.stats
        assert stats.client_id == "tab"
        assert stats.frames_sent == 3
        assert stats.bytes_sent > 50
        assert stats.waiting == 0
