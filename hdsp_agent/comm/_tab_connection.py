"""What one tab says, from the text that arrives to what becomes of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, assert_never

from packaging.version import InvalidVersion, Version

from ..errors import HdspAgentError, InvalidInput, MalformedFrame, VersionMismatch
from ..messages import (
    COMM_TARGET,
    PROTOCOL_VERSION,
    AckFailed,
    ClientClose,
    ClientFrame,
    ClientMsg,
    ClientOpen,
    ClientPing,
    ClientPong,
    RequestId,
    ServerClosing,
    ServerHello,
    error_body,
    parse_client_frame,
    request_id_of,
    split_frames,
)
from ._bad_input_log import BadInputLog
from ._frame_encoding import body
from ._tab_session import Socket

if TYPE_CHECKING:
    from ._channel import Channel

__all__ = ["TabConnection"]

VERSION_MISMATCH = 4001
_NORMAL = 1000
_FRAMES_BETWEEN_PAUSES = 50


class TabConnection:
    """One tab's end of the conversation. Whatever it sends that is wrong concerns nobody else, and ends nothing."""

    def __init__(
        self,
        channel: Channel,
        socket: Socket,
        *,
        version: str,
        on_request: Callable[[], None],
        complaints: BadInputLog,
    ) -> None:
        self._channel = channel
        self._version = version
        self._on_request = on_request
        self._complaints = complaints
        self._session = channel.join(socket)

    async def receive(self, message: str | bytes) -> None:
        """Act on one WebSocket message; return when the next may be read."""
        if self._session.closed:
            # The closing handshake takes a little; nobody would hear an answer any more.
            return
        self._session.heard()
        try:
            if isinstance(message, bytes):
                raise MalformedFrame("A binary message arrived on the channel. Send frames as JSON text.")
            frames = split_frames(message, max_bytes=self._channel.limits.max_frame_bytes)
        except HdspAgentError as error:
            await self._refuse(error, None)
            return
        for number, frame in enumerate(frames, start=1):
            await self._take(frame)
            if number % _FRAMES_BETWEEN_PAUSES == 0:
                await asyncio.sleep(0)

    def lost(self) -> None:
        """The socket is closed. What was asked for goes on, and its answers are kept."""
        self._complaints.summarise(self._session.client_id)
        self._channel.leave(self._session)

    async def _take(self, frame: object) -> None:
        if self._session.closed:
            # It was closed by a frame before this one, or while that one waited.
            return
        try:
            await self._act(parse_client_frame(frame))
        except HdspAgentError as error:
            await self._refuse(error, request_id_of(frame))

    async def _refuse(self, error: HdspAgentError, request_id: RequestId | None) -> None:
        self._complaints.add(self._session.client_id, error.code, error.message)
        ack = AckFailed(request_id=request_id, error=error_body(error))
        await self._session.send(body("ack", ack.to_json().encode()))

    async def _act(self, frame: ClientFrame) -> None:
        if isinstance(frame, ClientOpen):
            self._open(frame)
            return
        if not self._session.attached:
            raise InvalidInput("The first frame on a connection must be open.")
        if frame.comm_id != self._session.comm_id:
            raise InvalidInput(
                f"This connection was opened with the commId {self._session.comm_id!r}; use it in every frame.",
                field="commId",
            )
        match frame:
            case ClientMsg(data=request):
                self._on_request()
                await self._channel.request(self._session, request, self._complaints)
            case ClientPing():
                await self._session.send(body("pong"))
            case ClientPong():
                pass
            case ClientClose():
                self._session.end(None, _NORMAL, "closed by the page")
            case _:
                assert_never(frame)

    def _open(self, frame: ClientOpen) -> None:
        hello = frame.data
        if self._session.attached:
            raise InvalidInput("This connection is open already. Open another connection for another panel.")
        if hello.target != COMM_TARGET:
            raise InvalidInput(f"There is no target {hello.target!r} here, only {COMM_TARGET!r}.", field="target")
        if hello.protocol != PROTOCOL_VERSION or not _same_version(hello.version, self._version):
            self._close_for_version(frame)
            return
        self._channel.attach(self._session, frame.comm_id, hello, self._hello)

    def _hello(self, resumed: bool) -> bytes:
        hello = ServerHello(
            epoch=self._channel.epoch,
            version=self._version,
            protocol=PROTOCOL_VERSION,
            resumed=resumed,
            heartbeat_seconds=self._channel.limits.heartbeat_seconds,
            max_frame_bytes=self._channel.limits.max_frame_bytes,
            now=time.time_ns() // 1_000_000,
        )
        return body("open", hello.to_json().encode(), self._channel.newest)

    def _close_for_version(self, frame: ClientOpen) -> None:
        error = VersionMismatch(
            f"This page has version {frame.data.version}, but the server has version {self._version}. Reload the page. "
            "If that does not help, restart the server or reinstall HDSP Agent.",
            page=frame.data.version,
            server=self._version,
        )
        self._complaints.add(frame.data.client_id, error.code, error.message)
        closing = ServerClosing(code=error.code, message=error.message, params=error.params)
        self._session.comm_id = frame.comm_id
        self._session.end(body("close", closing.to_json().encode()), VERSION_MISMATCH, error.code)


def _same_version(page: str, server: str) -> bool:
    """Whether the two name one release: the page's version is npm's, the server's is Python's way of writing it."""
    try:
        return page == server or Version(page) == Version(server)
    except InvalidVersion:
        return False
