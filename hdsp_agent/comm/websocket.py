"""The channel's WebSocket: who may open it, and how it meets Tornado."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import cast

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from tornado import ioloop, web, websocket

from ._channel_hub import ChannelHub
from ._tab_connection import TabConnection
from ._tab_session import ConnectionLost
from .identity import owner_of

__all__ = ["ChannelHandler"]

_TORNADO_LIMIT_FACTOR = 4

# Measured on streaming text: level 1 shrinks it 8 times for 1.4 µs a frame and 200 KiB a tab; level 6 takes 2.5 µs for 9
# times. What matters is a panel behind a slow line; on loopback the cost is below 1 % of a core at 2,000 frames/s.
_COMPRESSION: dict[str, object] = {"compression_level": 1, "mem_level": 5}


class ChannelHandler(WebSocketMixin, websocket.WebSocketHandler, JupyterHandler):
    """``GET /hdsp-agent/comm``: one tab's end of the channel.

    The order of the bases is that of Jupyter's own kernel socket: authentication, origin check and pings depend on it.
    """

    auth_resource = "hdsp_agent"
    _connection: TabConnection | None = None

    @property
    def hub(self) -> ChannelHub:
        """The channels of everybody, as the app built them."""
        hub: ChannelHub = self.settings["hdsp_agent_channels"]
        return hub

    @property
    def max_message_size(self) -> int:
        """Where Tornado closes the connection by itself.

        Well above our own limit: what is merely too large gets an error, and its sender keeps the connection.
        """
        return _TORNADO_LIMIT_FACTOR * self.hub.limits.max_frame_bytes

    def set_default_headers(self) -> None:
        """Leave out what makes no sense on an upgrade."""

    def get_compression_options(self) -> dict[str, object] | None:
        """What the operator chose for all of Jupyter's sockets, else light compression."""
        options: dict[str, object] | None = self.settings.get("websocket_compression_options")
        return _COMPRESSION if options is None else options

    @ws_authenticated
    async def get(self, *args: str, **kwargs: str) -> None:
        """Upgrade to a WebSocket, for those who may execute ``hdsp_agent``."""
        if not await ensure_async(
            self.authorizer.is_authorized(self, self.current_user, "execute", self.auth_resource)
        ):
            raise web.HTTPError(403)
        if self.hub.stopping:
            raise web.HTTPError(503, "HDSP Agent is stopping")
        self._refuse_other_sites()
        await self.hub.admit(owner_of(self))
        await super().get(*args, **kwargs)

    def _refuse_other_sites(self) -> None:
        """Tornado looks at this too, but only after the owner's screen would have been put back."""
        headers = self.request.headers
        origin = headers.get("Origin") or headers.get("Sec-Websocket-Origin")
        if origin is not None and not self.check_origin(origin):
            raise web.HTTPError(403, "Cross origin websockets not allowed")
        if headers.get("Upgrade", "").lower() != "websocket":
            raise web.HTTPError(400, 'Can "Upgrade" only to "WebSocket".')

    def open(self, *args: str, **kwargs: str) -> None:
        """Give the tab its session."""
        super().open(*args, **kwargs)
        # Else a small frame may wait for the acknowledgement of the one before.
        self.set_nodelay(True)
        self._connection = self.hub.connect(owner_of(self), _HandlerSocket(self), on_request=self._mark_activity)

    async def on_message(self, message: str | bytes) -> None:
        """Act on what the tab says; until this returns, nothing more is read from it."""
        if self._connection is not None:
            await self._connection.receive(message)

    def on_close(self) -> None:
        """Let the session go."""
        pings = cast("ioloop.PeriodicCallback | None", self.ping_callback)
        if pings is not None:
            pings.stop()
        if self._connection is not None:
            self._connection.lost()

    def _mark_activity(self) -> None:
        # What a person asks for keeps the server from being culled; an open tab and its heartbeats do not.
        self.settings["last_activity_times"]["hdsp_agent"] = datetime.now(UTC)


class _HandlerSocket:
    """A handler as a session sees it (a handler's own ``write`` belongs to HTTP)."""

    def __init__(self, handler: ChannelHandler) -> None:
        self._handler = handler

    async def write(self, message: bytes) -> None:
        try:
            # Bytes that are not marked as binary go out as text: the frames were encoded once for all tabs.
            # Shielded, because Tornado logs an error when the future of a write is cancelled.
            await asyncio.shield(self._handler.write_message(message))
        except websocket.WebSocketClosedError:
            raise ConnectionLost from None

    def close(self, code: int, reason: str) -> None:
        self._handler.close(code, reason)
