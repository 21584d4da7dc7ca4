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

    def take(self, raw: str) -> None:
        """A message that a page is sent; several pages are sent the same."""
        if _KIND.search(raw) is None:
            return
        try:
            message = cast("JsonObject", json.loads(raw))
            name, published = _read(message)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
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
        self._left: dict[str, list[Callable[[], None]]] = {}

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

    def heard_connections(self, base: type[GatewayWebSocketConnection]) -> type[GatewayWebSocketConnection]:
        """The same connections as these, but heard."""
        pages = self

        class HeardConnection(base):  # type: ignore[misc, valid-type]  # whichever class the operator has chosen
            """A page's connection to a kernel."""

            async def connect(self) -> None:
                pages.come(self)
                await super().connect()

            def handle_outgoing_message(self, incoming_msg: str, *args: object) -> None:
                super().handle_outgoing_message(incoming_msg, *args)
                pages.take(self.kernel_id, incoming_msg)

            def disconnect(self) -> None:
                # Without a code the page was cut off: it comes back, and the gateway keeps for it what it misses.
                is_closed = self.websocket_handler.close_code is not None
                pages.leave(self, super().disconnect, may_wait=is_closed)

        return HeardConnection

    def come(self, connection: GatewayWebSocketConnection) -> None:
        """A page connects to a kernel, or does again."""
        there = self._connections.setdefault(str(connection.kernel_id), [])
        if connection not in there:
            there.append(connection)

    def take(self, kernel_id: str, raw: str) -> None:
        """A page is sent this."""
        listener = self._listeners.get(kernel_id)
        if listener is not None:
            listener.take(raw)
            if not listener.runs and kernel_id in self._left:
                asyncio.get_running_loop().call_later(_NEXT_BEGINS_SECONDS, self._let_go_idle, listener)

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
            self._left.setdefault(kernel_id, []).append(go)
        else:
            go()

    def _let_go_idle(self, listener: PageListener) -> None:
        if not listener.runs:
            self._let_go(listener.kernel_id)

    def _let_go(self, kernel_id: str) -> None:
        for go in self._left.pop(kernel_id, ()):
            go()


def _read(message: JsonObject) -> tuple[str, Published | None]:
    header, parent, content = message["header"], message.get("parent_header"), message["content"]
    assert isinstance(header, dict) and isinstance(content, dict)
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
