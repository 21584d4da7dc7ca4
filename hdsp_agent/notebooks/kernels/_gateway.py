"""Messages through Jupyter's kernel gateway, over the same WebSocket a browser would use."""

from __future__ import annotations

import asyncio
import json
import logging
import struct
import uuid
from datetime import UTC, datetime
from typing import Final, Literal, cast

from jupyter_server.gateway.gateway_client import GatewayClient
from jupyter_server.services.kernels.connection.base import deserialize_binary_message
from jupyter_server.utils import url_path_join
from tornado.escape import url_escape
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, WebSocketClosedError, websocket_connect

from ...messages import JsonObject
from ._transport import LARGEST_MESSAGE, OUR_SESSIONS, Channel, KernelMessage, Lost, Receive

__all__ = ["GatewayTransport"]

_log = logging.getLogger(__name__)

_PROTOCOL: Final = "5.3"
_PING_SECONDS: Final = 30.0
"""By it a connection is known to be broken also where nobody closes it, and proxies see that it is used."""


class GatewayTransport:
    """A WebSocket of the server's own loop. The gateway's client of Jupyter Server connects without the credentials,
    blocks the loop while it does, and then looks for messages without a pause.
    """

    # A kernel that dies soon after its start comes back at other ports, and a gateway leaves whoever connects meanwhile
    # at the old ones.
    silent_seconds = 10.0

    def __init__(self, socket: WebSocketClientConnection, session: str) -> None:
        self._socket = socket
        self._session = session
        self._reader: asyncio.Task[None] | None = None
        self._sending: set[asyncio.Future[None]] = set()

    @classmethod
    async def open(cls, kernel_id: str) -> GatewayTransport:
        """Connect to this kernel."""
        gateway = GatewayClient.instance()
        session = f"{OUR_SESSIONS}{uuid.uuid4()}"
        address = url_path_join(gateway.ws_url or "", gateway.kernels_endpoint, url_escape(kernel_id), "channels")
        how = gateway.load_connection_args()  # type: ignore[no-untyped-call]  # Jupyter Server leaves it untyped
        request = HTTPRequest(f"{address}?session_id={session}", **how)
        socket = await websocket_connect(request, max_message_size=LARGEST_MESSAGE, ping_interval=_PING_SECONDS)
        return cls(socket, session)

    def start(self, receive: Receive, lost: Lost) -> None:
        """Begin to hand over messages."""
        self._reader = asyncio.ensure_future(self._read(receive, lost))

    def send(
        self,
        channel: Literal["shell", "control"],
        kind: str,
        content: JsonObject,
        *,
        metadata: JsonObject | None = None,
    ) -> str:
        """Send a request; its id."""
        name = uuid.uuid4().hex
        header: JsonObject = {
            "msg_id": name,
            "msg_type": kind,
            "username": "hdsp-agent",
            "session": self._session,
            "date": datetime.now(tz=UTC).isoformat(),
            "version": _PROTOCOL,
        }
        message: JsonObject = {
            "channel": channel,
            "header": header,
            "parent_header": {},
            "metadata": metadata or {},
            "content": content,
            "buffers": [],
        }
        try:
            sent = asyncio.ensure_future(self._socket.write_message(json.dumps(message)))
        except WebSocketClosedError:
            # The reader finds the same out and says that the kernel is lost.
            return name
        self._sending.add(sent)
        sent.add_done_callback(self._sent)
        return name

    async def close(self) -> None:
        """Close the socket; the kernel goes on."""
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
        self._socket.close()
        await asyncio.gather(*self._sending, return_exceptions=True)

    def _sent(self, sent: asyncio.Future[None]) -> None:
        self._sending.discard(sent)
        if not sent.cancelled() and (error := sent.exception()) is not None:
            _log.debug("A message did not reach the gateway: %s", error)

    async def _read(self, receive: Receive, lost: Lost) -> None:
        while (raw := await self._socket.read_message()) is not None:
            heard = _parsed(raw)
            if heard is not None:
                receive(heard)
            # Messages that wait already come without giving way to anything else.
            await asyncio.sleep(0)
        lost("connection_lost")


def _parsed(raw: str | bytes) -> KernelMessage | None:
    try:
        message = cast("JsonObject", json.loads(raw) if isinstance(raw, str) else _with_buffers(raw))
        header, parent, content = message["header"], message.get("parent_header"), message["content"]
        if not isinstance(header, dict) or not isinstance(content, dict):
            raise ValueError("its header or its content is no object")  # noqa: TRY004 -- like other unreadable ones
        parent = parent if isinstance(parent, dict) else {}
        return KernelMessage(
            cast("Channel", message["channel"]),
            str(header["msg_type"]),
            str(parent.get("msg_id", "")),
            str(parent.get("msg_type", "")),
            len(raw),
            lambda: content,
        )
    except (ValueError, KeyError, struct.error) as error:
        _log.warning("A message of a remote kernel cannot be read and is left out: %s", error)
        return None


def _with_buffers(raw: bytes) -> object:
    message: object = deserialize_binary_message(raw)  # type: ignore[no-untyped-call]  # as above
    return message
