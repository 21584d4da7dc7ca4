"""Listening to what a kernel publishes, whoever asked for it. Nothing is ever sent to the kernel."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, cast

from jupyter_client.asynchronous.client import AsyncKernelClient

from ...messages import JsonObject
from ._transport import OUR_SESSIONS
from ._zmq import read_and_reconnect

if TYPE_CHECKING:
    import zmq.asyncio
    from jupyter_client.manager import KernelManager

__all__ = ["IopubListener", "Published", "PublishedKind"]

_log = logging.getLogger(__name__)

PublishedKind = Literal["status", "execute_input", "error", "shutdown_reply"]

_WANTED: Final = frozenset({b"status", b"execute_input", b"error", b"shutdown_reply"})
_KIND: Final = re.compile(rb'"msg_type"\s*:\s*"([a-z_]+)"')
_DELIMITER: Final = b"<IDS|MSG>"
_EVERYTHING: Final = b""
_IPYKERNEL: Final = b"kernel."
"""How the topics begin of all that ipykernel publishes itself but for what cells print and show.

Kernels in other languages that are built on it publish with no topic at all through ``send_response``; then the
delimiter comes first, and stands for the topic.
"""
_NO_TOPIC: Final = _DELIMITER[:4]
"""Not the whole delimiter: ipykernel welcomes a subscriber under the topic that was asked for, and everybody who hears
that would take such a topic for the delimiter.
"""


@dataclass(frozen=True)
class Published:
    """One message of a kernel to everybody."""

    kind: PublishedKind
    content: JsonObject
    parent_id: str = ""
    parent_kind: str = ""
    parent_session: str = ""

    @property
    def asked_by_us(self) -> bool:
        """Whether the agent asked for what it is about."""
        return self.parent_session.startswith(OUR_SESSIONS)


class IopubListener:
    """Hears runs and states. What cells print and show is not even sent here, as soon as the kernel is known to be
    one that tells it apart; of other kernels' messages only the kind is looked at.
    """

    def __init__(
        self, manager: KernelManager, context: zmq.asyncio.Context, hear: Callable[[Published], None], *, address: str
    ) -> None:
        client = AsyncKernelClient(parent=manager, context=context)
        client.load_connection_info(manager.get_connection_info())
        client.start_channels(shell=False, stdin=False, hb=False, control=False)
        self.address: Final = address
        self.taken = 0
        """Messages that came in here, wanted or not."""
        self._client = client
        self._socket: zmq.asyncio.Socket = client.iopub_channel.socket
        self._session = client.session
        self._hear = hear
        self._choosy = False
        self._reader = asyncio.ensure_future(read_and_reconnect(self._socket, self._connect, self._take))

    @property
    def hears(self) -> bool:
        """Whether anything can be heard just now."""
        return True

    async def close(self) -> None:
        """Hear nothing more."""
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)
        self._client.iopub_channel.stop()

    def _connect(self) -> zmq.asyncio.Socket:
        self._choosy = False
        self._socket = cast("zmq.asyncio.Socket", self._client.connect_iopub())
        return self._socket

    def _take(self, parts: list[bytes]) -> None:
        self.taken += 1
        try:
            header = parts[parts.index(_DELIMITER) + 2]
        except (ValueError, IndexError):
            return
        kind = _KIND.search(header)
        if kind is None or kind[1] not in _WANTED:
            return
        if not self._choosy and kind[1] == b"status" and parts[0].startswith(_IPYKERNEL):
            self._choose()
        try:
            published = self._read(parts)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            _log.warning("A message of a kernel cannot be read and is left out: %s", error)
            return
        try:
            self._hear(published)
        except Exception:  # noqa: BLE001 -- one message that cannot be worked with must not end the hearing
            _log.exception("A %s message of a kernel could not be worked with", published.kind)

    def _choose(self) -> None:
        # In this order nothing is missed in between.
        self._socket.subscribe(_IPYKERNEL)
        self._socket.subscribe(_NO_TOPIC)
        self._socket.unsubscribe(_EVERYTHING)
        self._choosy = True

    def _read(self, parts: list[bytes]) -> Published:
        _, rest = self._session.feed_identities(parts)
        message = self._session.deserialize(rest)
        parent = message["parent_header"]
        return Published(
            cast("PublishedKind", message["msg_type"]),
            message["content"],
            parent.get("msg_id", ""),
            parent.get("msg_type", ""),
            parent.get("session", ""),
        )
