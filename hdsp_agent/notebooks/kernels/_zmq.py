"""Messages over ZeroMQ, for kernels of this machine."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, cast
from uuid import uuid4

import zmq
import zmq.asyncio
from jupyter_client.asynchronous.client import AsyncKernelClient
from pydantic import JsonValue

from ...messages import JsonObject
from ._transport import LARGEST_MESSAGE, OUR_SESSIONS, Channel, KernelMessage, Lost, Receive

if TYPE_CHECKING:
    from jupyter_client.manager import KernelManager

__all__ = ["ZmqTransport", "new_context", "read_and_reconnect"]

_log = logging.getLogger(__name__)

_SLICE_SECONDS: Final = 0.001
"""How long messages of a flood are read before everything else gets its turn."""
_PAUSE_SECONDS: Final = 0.001
"""How long that turn is at least. A loop that never sleeps is made to wait by the system when it should answer."""
_MOST_UNREAD: Final = 20_000
"""Messages held for us while we are slow; ZeroMQ's 1,000 would lose the end of a flood."""
_TRY_AGAIN_MS: Final = (10, 200)
"""How soon ZeroMQ tries again to connect, first and later. Most kernels begin to listen shortly after we try for the first time."""
_LOST_OUTPUT: Final = f"\n[Some output is missing: more than {LARGEST_MESSAGE // 1_048_576} MB came at once, or the connection broke off.]\n"
_SAME_TIME_MS: Final = 200
"""Within which all connections to a process break that ended."""
_ENDS: Final = ("restart", "dead")
"""What a manager calls a process that ended by itself: it starts the kernel anew, or gives it up."""


def new_context() -> zmq.asyncio.Context:
    """What all sockets of one owner live in."""
    context = zmq.asyncio.Context()
    context.setsockopt(zmq.RCVHWM, _MOST_UNREAD)
    # Who sends more at once is cut off; ``read_and_reconnect`` connects to it again.
    context.setsockopt(zmq.MAXMSGSIZE, LARGEST_MESSAGE)
    first, later = _TRY_AGAIN_MS
    context.setsockopt(zmq.RECONNECT_IVL, first)
    context.setsockopt(zmq.RECONNECT_IVL_MAX, later)
    return context


async def read_in_turns(socket: zmq.asyncio.Socket, take: Callable[[list[bytes]], None]) -> None:
    """Read messages until cancelled, many at a time, and let everything else have its turn in between.

    Reads are never cancelled halfway: a cancelled receive can swallow a message, a cancelled poll cannot.
    """
    plain: zmq.Socket[bytes] = zmq.Socket.shadow(socket.underlying)
    while True:
        # Without a time: it would wake us a thousand times a second.
        await socket.poll()
        until = time.monotonic() + _SLICE_SECONDS
        while True:
            try:
                parts = plain.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                break
            take(parts)
            if time.monotonic() > until:
                await asyncio.sleep(_PAUSE_SECONDS)
                until = time.monotonic() + _SLICE_SECONDS


async def read_and_reconnect(
    socket: zmq.asyncio.Socket,
    connect: Callable[[], zmq.asyncio.Socket],
    take: Callable[[list[bytes]], None],
    cut_off: Callable[[], Awaitable[None]] | None = None,
) -> None:
    """Read until cancelled, and close the socket; when the connection breaks, go on with another. ZeroMQ gives a connection up that was sent
    too much at once.

    Another socket, as ``disconnect`` on one that is read can end the whole process: it takes away the rest of a message.
    """
    while True:
        try:
            await _read_until_broken(socket, take)
        finally:
            socket.close(0)
        socket = connect()
        if cut_off is not None:
            # Before anything that comes now: that could be the end of what runs.
            await cut_off()


async def _read_until_broken(socket: zmq.asyncio.Socket, take: Callable[[list[bytes]], None]) -> None:
    monitor = socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
    reading = asyncio.ensure_future(read_in_turns(socket, take))
    broken = asyncio.ensure_future(monitor.recv_multipart())
    try:
        await asyncio.wait({reading, broken}, return_when=asyncio.FIRST_COMPLETED)
        if reading.done():
            await reading
    finally:
        reading.cancel()
        broken.cancel()
        await asyncio.gather(reading, broken, return_exceptions=True)
        socket.disable_monitor()
        monitor.close(0)
    for parts in _left(socket):
        take(parts)


def _left(socket: zmq.asyncio.Socket) -> Iterator[list[bytes]]:
    """What has come and was not read."""
    plain: zmq.Socket[bytes] = zmq.Socket.shadow(socket.underlying)
    with suppress(zmq.Again):
        while True:
            yield plain.recv_multipart(zmq.NOBLOCK)


class ZmqTransport:
    """A client of its own: ``manager.client()`` shares the manager's session, and two of those take each other's
    replies.
    """

    silent_seconds = math.inf

    def __init__(self, manager: KernelManager, context: zmq.asyncio.Context) -> None:
        factory = manager.client_factory
        # A blocking manager makes blocking clients.
        kind = factory if issubclass(factory, AsyncKernelClient) else AsyncKernelClient
        client = kind(parent=manager, context=context)
        client.load_connection_info(manager.get_connection_info())
        client.session.session = f"{OUR_SESSIONS}{uuid4()}"
        client.start_channels(stdin=False, hb=False)
        self._manager = manager
        self._client = client
        self._session = client.session
        self._sockets: dict[Channel, zmq.asyncio.Socket] = {
            "shell": client.shell_channel.socket,
            "control": client.control_channel.socket,
            "iopub": client.iopub_channel.socket,
        }
        self._readers: list[asyncio.Task[None]] = []
        self._unsent: set[asyncio.Future[object]] = set()
        self._died: Callable[[], None] | None = None
        self._running: dict[str, None] = {}
        """The requests to run code whose end was not heard, the oldest first."""
        self._shell_monitor = self._sockets["shell"].get_monitor_socket(zmq.EVENT_DISCONNECTED)

    def start(self, receive: Receive, lost: Lost) -> None:
        """Begin to hand over messages. Such a connection is not lost by itself: ZeroMQ connects again, to another life."""
        # Told before the manager starts the kernel anew: afterwards it looks like a restart that somebody asked for.
        self._died = partial(lost, "kernel_died")
        for event in _ENDS:
            self._manager.add_restart_callback(self._died, event)
        for channel, socket in self._sockets.items():
            take = partial(self._hand_over, channel, receive)
            if channel == "iopub":
                reading = read_and_reconnect(socket, self._connect_iopub, take, partial(self._tell_loss, receive))
            else:
                reading = read_in_turns(socket, take)
            self._readers.append(asyncio.ensure_future(reading))

    def send(
        self,
        channel: Literal["shell", "control"],
        kind: str,
        content: JsonObject,
        *,
        metadata: JsonObject | None = None,
    ) -> str:
        """Send a request; its id."""
        message = self._session.msg(kind, content, metadata=metadata)
        parts = self._session.serialize(message)
        # Not Session.send: it goes around the asyncio socket, whose reader may then miss that something came.
        sent = cast("asyncio.Future[object]", self._sockets[channel].send_multipart(parts))
        if not sent.done():
            self._unsent.add(sent)
            sent.add_done_callback(self._unsent.discard)
        sent_as = cast("str", message["header"]["msg_id"])
        if kind == "execute_request":
            self._running[sent_as] = None
        return sent_as

    async def close(self) -> None:
        """Stop reading, then close the sockets."""
        if self._died is not None:
            for event in _ENDS:
                with suppress(ValueError):
                    self._manager.remove_restart_callback(self._died, event)
        for reader in self._readers:
            reader.cancel()
        await asyncio.gather(*self._readers, return_exceptions=True)
        self._readers.clear()
        for sent in list(self._unsent):
            sent.cancel()
        with suppress(zmq.ZMQError):
            self._sockets["shell"].disable_monitor()
        self._shell_monitor.close(0)
        for channel in (self._client.shell_channel, self._client.control_channel, self._client.iopub_channel):
            channel.stop()

    def _connect_iopub(self) -> zmq.asyncio.Socket:
        return cast("zmq.asyncio.Socket", self._client.connect_iopub())

    async def _tell_loss(self, receive: Receive) -> None:
        """Say in the outputs of what runs that some are missing, once; of what is over, none is. A kernel that died has let go
        of everything, and others say so."""
        running = next(iter(self._running), None)
        if running is None or await self._shell_monitor.poll(_SAME_TIME_MS):
            return
        self._running.pop(running, None)
        load = partial(dict[str, JsonValue], name="stderr", text=_LOST_OUTPUT)
        receive(KernelMessage("iopub", "stream", running, "execute_request", len(_LOST_OUTPUT), load))

    def _hand_over(self, channel: Channel, receive: Receive, parts: list[bytes]) -> None:
        try:
            _, rest = self._session.feed_identities(parts)
            message = self._session.deserialize(rest, content=False)
            parent = message["parent_header"]
            unpack: Callable[[bytes], JsonObject] = self._session.unpack
            packed: bytes = message["content"]
            heard = KernelMessage(
                channel,
                message["msg_type"],
                parent.get("msg_id", ""),
                parent.get("msg_type", ""),
                len(packed),
                partial(unpack, packed),
            )
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            _log.warning("A message of a kernel cannot be read and is left out: %s", error)
            return
        if heard.parent_id in self._running and _is_end(heard):
            del self._running[heard.parent_id]
        receive(heard)


def _is_end(message: KernelMessage) -> bool:
    """Whether no output of what it is about follows."""
    return message.kind == "status" and message.load().get("execution_state") == "idle"
