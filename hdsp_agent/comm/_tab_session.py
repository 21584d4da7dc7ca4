"""One connected tab: its place in the ring, what is addressed to it alone, and the one task that writes both."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Protocol

import anyio

from ..messages import DEAD_AFTER_HEARTBEATS
from ._channel_limits import ChannelLimits
from ._frame_encoding import batch, body, ending
from ._frame_ring import FramesGone, Ring
from ._tab_outbox import DirectedMessage, TabOutbox

__all__ = ["ConnectionLost", "Session", "SessionStats", "Socket", "StateSnapshot"]

GOING_AWAY = 1001
INTERNAL_ERROR = 1011

_NOWHERE = -1


class ConnectionLost(Exception):
    """The other end is not there any more."""


class Socket(Protocol):
    """What a session needs of a WebSocket."""

    async def write(self, message: bytes) -> None:
        """Send one text message; return when the system has taken it, raise :class:`ConnectionLost` if it cannot."""

    def close(self, code: int, reason: str) -> None:
        """Begin to close, without waiting."""


@dataclass(frozen=True)
class StateSnapshot:
    """An owner's state as one message, and the sequence number as of which it is the truth."""

    seq: int
    data: bytes


@dataclass(frozen=True)
class SessionStats:
    """What has gone to one tab."""

    client_id: str
    connected_seconds: float
    frames_sent: int
    bytes_sent: int
    resyncs: int
    waiting: int
    """Frames for this tab alone that are not written yet."""


class Session:
    """A tab from the moment its socket is open; :meth:`attach` gives it its place in the ring.

    It holds no queue of what all tabs get: a tab that lags costs nothing, and one whose place has fallen off the ring is
    told the state instead. A frame for this tab alone never overtakes what all tabs were sent before it.
    """

    def __init__(
        self,
        socket: Socket,
        ring: Ring,
        snapshot: Callable[[], StateSnapshot],
        *,
        limits: ChannelLimits,
        log: logging.Logger | logging.LoggerAdapter[logging.Logger],
    ) -> None:
        self.client_id = ""
        self.comm_id = ""
        self._socket = socket
        self._ring = ring
        self._snapshot = snapshot
        self._limits = limits
        self._log = log
        self._outbox = TabOutbox(max_frames=limits.outbox_frames, max_bytes=limits.outbox_bytes)
        self._wake = asyncio.Event()
        self._hurry = asyncio.Event()
        self._cursor: int | None = None
        self._closing: tuple[int, str] | None = None
        self._last_seq: int | None = None
        self._shut_down = False
        self._connected_at = self._last_heard = self._last_ping = monotonic()
        self._frames_sent = 0
        self._bytes_sent = 0
        self._resyncs = 0
        self._writer = asyncio.create_task(self._write_all(), name="hdsp-agent tab")

    @property
    def attached(self) -> bool:
        """Whether the tab takes part in the conversation."""
        return self._cursor is not None

    @property
    def closed(self) -> bool:
        """Whether nothing more will be written."""
        return self._shut_down

    @property
    def writer(self) -> asyncio.Task[None]:
        """The task that writes; it ends when the session does."""
        return self._writer

    @property
    def stats(self) -> SessionStats:
        """What has gone to this tab."""
        return SessionStats(
            client_id=self.client_id,
            connected_seconds=monotonic() - self._connected_at,
            frames_sent=self._frames_sent,
            bytes_sent=self._bytes_sent,
            resyncs=self._resyncs,
            waiting=len(self._outbox),
        )

    def attach(self, client_id: str, comm_id: str, last_seq: int | None, answer: Callable[[bool], bytes]) -> bool:
        """Take the place after ``last_seq`` if the ring still has all that follows, else begin with the state.

        ``answer(resumed)`` makes the frame that precedes either. Returns whether the tab resumed.
        """
        resumed = last_seq is not None and not isinstance(self._ring.since(last_seq, until=last_seq), FramesGone)
        self.client_id = client_id
        self.comm_id = comm_id
        self._cursor = last_seq if resumed and last_seq is not None else _NOWHERE
        self._outbox.add(DirectedMessage(self._cursor, answer(resumed)))
        self._wake.set()
        return resumed

    async def send(self, frame: bytes, *, at_once: bool = False) -> bool:
        """Queue a frame for this tab alone, waiting for room; False when the tab has gone and will not get it.

        One that goes ``at_once``, with what waits before it, is not held back for others to travel along.
        """
        if not await self._outbox.wait_for_room() or self._closing is not None:
            return False
        self._add(frame)
        if at_once:
            self._hurry.set()
        return True

    def wake(self) -> None:
        """There is something new in the ring."""
        if self._cursor is not None:
            self._wake.set()

    def heard(self) -> None:
        """The tab gave a sign of life."""
        self._last_heard = monotonic()

    def beat(self) -> None:
        """Ask for a sign of life when it is time; give up on a tab that has been silent for too long."""
        now = monotonic()
        interval = self._limits.heartbeat_seconds
        if now - self._last_heard > DEAD_AFTER_HEARTBEATS * interval:
            self._log.info("Closing tab %r: no answer for %.1f s", self.client_id, now - self._last_heard)
            self.close(GOING_AWAY, "no sign of life")
        elif self.attached and now - self._last_ping >= interval and self._outbox.has_room:
            self._last_ping = now
            self._add(body("ping"))

    def end(self, frame: bytes | None, code: int, reason: str) -> None:
        """Write what waits, then ``frame`` if any, and close the socket; nothing further is accepted."""
        if self._closing is None:
            if frame is not None:
                self._add(frame)
            self._closing = (code, reason)
            self._last_seq = self._ring.newest
            self._wake.set()

    def close(self, code: int, reason: str) -> None:
        """Close at once; whatever waits is dropped."""
        self._closing = self._closing or (code, reason)
        self._writer.cancel()
        # Not left to the writer: cancelled before its first step, it never gets there.
        self._shut(code, reason)

    def _add(self, frame: bytes) -> None:
        self._outbox.add(DirectedMessage(self._ring.newest if self.attached else _NOWHERE, frame))
        self._wake.set()

    async def _write_all(self) -> None:
        code, reason = INTERNAL_ERROR, "internal error"
        try:
            await self._write_until_closing()
        except ConnectionLost:
            self._log.debug("Tab %r is gone", self.client_id)
        except TimeoutError:
            self._log.warning("Closing tab %r: it read nothing for %.1f s", self.client_id, self._limits.write_seconds)
            code, reason = GOING_AWAY, "too slow"
        except Exception:  # noqa: BLE001 -- logged; whatever made the state fail, the tab must not hang
            self._log.exception("Closing tab %r: the state could not be sent", self.client_id)
        finally:
            self._shut(code, reason)

    def _shut(self, code: int, reason: str) -> None:
        if not self._shut_down:
            self._shut_down = True
            self._outbox.close()
            self._socket.close(*(self._closing or (code, reason)))

    async def _write_until_closing(self) -> None:
        while True:
            self._wake.clear()
            self._hurry.clear()
            bodies = self._next()
            if bodies:
                message = batch(bodies, ending(self.comm_id))
                with anyio.fail_after(self._limits.write_seconds):
                    await self._socket.write(message)
                self._frames_sent += len(bodies)
                self._bytes_sent += len(message)
                await self._pause()
            elif self._closing is not None:
                return
            else:
                await self._wake.wait()

    async def _pause(self) -> None:
        """Let frames come together, unless one of them is not to wait."""
        with anyio.move_on_after(self._limits.pace_seconds):
            await self._hurry.wait()

    def _next(self) -> list[bytes]:
        """The frames to write now: what all tabs get and what this one gets, in the order in which they came about."""
        bodies: list[bytes] = []
        room = self._limits.batch_bytes
        while room > 0:
            directed = self._outbox.first()
            if directed is not None:
                until = directed.after
            else:
                until = self._ring.newest if self._last_seq is None else self._last_seq
            if self._cursor is not None and self._cursor < until:
                news = self._advance(until, room)
            elif directed is not None:
                news = [self._outbox.pop().frame]
            else:
                break
            bodies += news
            room -= sum(map(len, news))
        return bodies

    def _advance(self, until: int, room: int) -> list[bytes]:
        """Move on in the ring, or past it by telling the state."""
        if self._cursor is None:
            return []
        news = self._ring.since(self._cursor, until=until, max_bytes=room)
        if not isinstance(news, FramesGone):
            self._cursor += len(news)
            return news
        if self._cursor != _NOWHERE:
            self._resyncs += 1
        state = self._snapshot()
        self._cursor = state.seq
        return [body("msg", state.data, state.seq)]
