"""What a gateway's kernels publish, heard where it passes on its way to the pages.

A connection of our own would do harm: a gateway culls no kernel that has one, and keeps what a kernel says for a page whose
network broke only while nobody else is connected.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, cast

from ...messages import JsonObject
from ._iopub_listener import Published, PublishedKind

if TYPE_CHECKING:
    from jupyter_server.gateway.connections import GatewayWebSocketConnection

__all__ = ["PageListener", "PageMessages"]

_log = logging.getLogger(__name__)

_KIND: Final = re.compile(r'"msg_type"\s*:\s*"(?:status|execute_input|error|shutdown_reply)"')
_REMEMBERED: Final = 200
_NEXT_BEGINS_SECONDS: Final = 2.0
"""After a cell, within which the next of those begins that the person has queued."""


class PageListener:
    """Hears runs and states of one kernel as long as a page is connected to it, and until what runs then has ended."""

    def __init__(self, kernel_id: str, pages: PageMessages, hear: Callable[[Published], None]) -> None:
        self.kernel_id: Final = kernel_id
        self.runs = False
        """Whether a cell runs, as far as was heard."""
        self._pages = pages
        self._hear = hear
        self._known: OrderedDict[str, None] = OrderedDict()

    @property
    def hears(self) -> bool:
        """Whether anything can be heard just now."""
        return self._pages.are_there(self.kernel_id)

    async def close(self) -> None:
        """Hear nothing more."""
        self._pages.forget(self)

    def missed_end(self) -> None:
        """Nothing runs, as Jupyter has it: a kept connection whose end of a run got lost would keep the kernel for ever."""
        if self.runs and self._pages.keeps(self.kernel_id):
            self.runs = False
            self._pages.let_go_soon(self)

    def take(self, raw: str) -> None:
        """A message that a page is sent; several pages are sent the same."""
        if _KIND.search(raw) is None:
            return
        try:
            message = cast("JsonObject", json.loads(raw))
            name, published = _read(message)
        except Exception as error:  # noqa: BLE001 -- the page must get its message, whatever is in it
            _log.warning("A message of a remote kernel cannot be read and is left out: %s", error)
            return
        if published is None or name in self._known:
            return
        self._known[name] = None
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        if published.kind == "status" and published.parent_kind == "execute_request":
            self.runs = published.content.get("execution_state") == "busy"
        elif published.kind == "shutdown_reply" or published.content.get("execution_state") in ("restarting", "dead"):
            self.runs = False
        try:
            self._hear(published)
        except Exception:  # noqa: BLE001 -- the page must get its message all the same
            _log.exception("A %s message of a kernel could not be worked with", published.kind)


class PageMessages:
    """The pages' connections to a gateway's kernels."""

    def __init__(self) -> None:
        self._listeners: dict[str, PageListener] = {}
        self._connections: dict[str, list[GatewayWebSocketConnection]] = {}
        self._kept: dict[str, tuple[GatewayWebSocketConnection, Callable[[], None]]] = {}
        """By kernel, the connection of a page that has left, and what lets go of it."""

    def listen(self, kernel_id: str, hear: Callable[[Published], None]) -> PageListener:
        """Hear one kernel."""
        listener = self._listeners[kernel_id] = PageListener(kernel_id, self, hear)
        return listener

    def forget(self, listener: PageListener) -> None:
        """It hears nothing more."""
        if self._listeners.get(listener.kernel_id) is listener:
            del self._listeners[listener.kernel_id]
            self._let_go(listener.kernel_id)

    def are_there(self, kernel_id: str) -> bool:
        """Whether a page is connected to this kernel, or its connection is kept for what still runs."""
        return bool(self._connections.get(kernel_id))

    def keeps(self, kernel_id: str) -> bool:
        """Whether a connection to this kernel is kept, whose page has left."""
        return kernel_id in self._kept

    def heard_connections(self, base: type[GatewayWebSocketConnection]) -> type[GatewayWebSocketConnection]:
        """The same connections as these, but heard."""
        pages = self

        class HeardConnection(base):  # type: ignore[misc, valid-type]  # whichever class the operator has chosen
            """A page's connection to a kernel."""

            is_closed = False
            """Whether the page closed it. One that was cut off comes back, and the gateway keeps for it what it misses."""

            async def connect(self) -> None:
                if self.disconnected:
                    # The page has left while the gateway was to be tried again.
                    return
                if pages.come(self):
                    self._heed_closing()
                await super().connect()

            def _heed_closing(self) -> None:
                """JupyterLab closes without a code, and Tornado tells that like a connection that was cut off."""
                socket = self.websocket_handler.ws_connection
                close = socket.close

                def answer(code: int | None = None, reason: str | None = None) -> None:
                    if socket.client_terminated and not socket.stream.closed():
                        self.is_closed = True
                    close(code, reason)

                socket.close = answer

            def handle_outgoing_message(self, incoming_msg: str, *args: object) -> None:
                super().handle_outgoing_message(incoming_msg, *args)
                pages.take(self.kernel_id, incoming_msg)

            def disconnect(self) -> None:
                pages.leave(self, super().disconnect, may_wait=self.is_closed)

        return HeardConnection

    def come(self, connection: GatewayWebSocketConnection) -> bool:
        """A page connects to a kernel, or does again; returns whether it is new."""
        kernel_id = str(connection.kernel_id)
        kept = self._kept.get(kernel_id)
        if kept is not None and kept[0] is not connection and kept[0].session_id == connection.session_id:
            # The gateway allows one connection of a session.
            self._let_go(kernel_id)
        there = self._connections.setdefault(kernel_id, [])
        if connection in there:
            return False
        there.append(connection)
        return True

    def take(self, kernel_id: str, raw: str) -> None:
        """A page is sent this."""
        listener = self._listeners.get(kernel_id)
        if listener is not None:
            listener.take(raw)
            if not listener.runs and kernel_id in self._kept:
                self.let_go_soon(listener)

    def leave(self, connection: GatewayWebSocketConnection, disconnect: Callable[[], None], *, may_wait: bool) -> None:
        """A page has gone. Its connection stays until what runs has ended, if it ``may_wait`` and nobody else hears that."""
        kernel_id = str(connection.kernel_id)
        listener = self._listeners.get(kernel_id)
        is_last = self._connections.get(kernel_id) == [connection]

        def go() -> None:
            there = self._connections.get(kernel_id, [])
            if connection in there:
                there.remove(connection)
            if not there:
                self._connections.pop(kernel_id, None)
            disconnect()

        if may_wait and is_last and listener is not None and listener.runs:
            self._kept[kernel_id] = connection, go
        else:
            go()

    def let_go_soon(self, listener: PageListener) -> None:
        """Keep no connection to this kernel, unless something more runs."""
        asyncio.get_running_loop().call_later(_NEXT_BEGINS_SECONDS, self._let_go_idle, listener)

    def _let_go_idle(self, listener: PageListener) -> None:
        if not listener.runs:
            self._let_go(listener.kernel_id)

    def _let_go(self, kernel_id: str) -> None:
        if (kept := self._kept.pop(kernel_id, None)) is not None:
            kept[1]()


def _read(message: JsonObject) -> tuple[str, Published | None]:
    header, parent, content = message["header"], message.get("parent_header"), message["content"]
    if not isinstance(header, dict) or not isinstance(content, dict):
        raise TypeError("its header or its content is no object")
    if message.get("channel") != "iopub" or header["msg_type"] not in (
        "status",
        "execute_input",
        "error",
        "shutdown_reply",
    ):
        return "", None
    parent = parent if isinstance(parent, dict) else {}
    return str(header["msg_id"]), Published(
        cast("PublishedKind", header["msg_type"]),
        content,
        str(parent.get("msg_id", "")),
        str(parent.get("msg_type", "")),
        str(parent.get("session", "")),
    )
