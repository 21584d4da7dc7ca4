"""One connection to a server, by the SDK. Loading this loads the SDK."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import httpx2
from mcp import Client, MCPError
from mcp_types import CONNECTION_CLOSED, Implementation

from ..._version import __version__
from ...errors import HdspAgentError
from ._bounded_messages import bounded
from ._http import http_client, http_transport
from ._server_log import ServerLog
from ._stdio import StdioTransport
from ._variables import FilledEntry

if TYPE_CHECKING:
    from mcp.client.session import ElicitationFnT, IncomingMessage

__all__ = ["ServerSession", "SessionParts", "connected", "innermost", "is_closed", "reason_of"]

_LONGEST_REASON: Final = 500

for _name in ("mcp.client", "client"):
    # It logs what strangers send, with where in the program, as often as they send it. What matters is in their own logs.
    logging.getLogger(_name).setLevel(logging.CRITICAL)

Era = Literal["auto", "legacy"]
"""Whether a server is asked what it speaks, or taken for one that knows the older handshake only."""


@dataclass(frozen=True)
class SessionParts:
    """What a connection needs of whoever makes it."""

    entry: FilledEntry
    folder: Path
    log: ServerLog
    elicit: ElicitationFnT
    on_changed: Callable[[], None]
    """The server lists something else now."""
    on_status: Callable[[int], None]
    """The status of every HTTP answer."""
    auth: httpx2.Auth | None = None


@dataclass(frozen=True)
class ServerSession:
    """An open connection."""

    client: Client
    stdio: StdioTransport | None = field(default=None)

    @property
    def ended(self) -> asyncio.Event | None:
        """Set when the server is gone; None where only a call shows it."""
        return None if self.stdio is None else self.stdio.ended

    @property
    def reason(self) -> str | None:
        """Why it is gone."""
        return None if self.stdio is None else self.stdio.reason


@asynccontextmanager
async def connected(parts: SessionParts, era: Era) -> AsyncIterator[ServerSession]:
    """Open a connection and agree on what is spoken. Raises what the SDK raises, and OSError where a process cannot begin."""
    stdio: StdioTransport | None = None
    if parts.entry.url is None:
        stdio = StdioTransport(parts.entry, parts.folder, parts.log)
        transport = bounded(stdio)
    else:
        # It reads the certificates that are trusted.
        web = await asyncio.to_thread(http_client, parts.entry.headers, parts.auth, parts.on_status)
        transport = bounded(http_transport(parts.entry, web))

    async def heard(message: IncomingMessage) -> None:
        if isinstance(message, Exception):
            parts.log.agent(f"A message was not understood: {reason_of(message)}")
        elif message.method.endswith("/list_changed"):
            parts.on_changed()
        elif message.method == "notifications/message":
            parts.log.server(f"{message.params.level}: {message.params.data}")

    client = Client(
        transport,
        mode=era,
        # What it lists is kept by us, and told anew when it says so.
        cache=None,
        message_handler=heard,
        elicitation_callback=parts.elicit,
        client_info=Implementation(name="hdsp-agent", title="HDSP Agent", version=__version__),
    )
    async with client:
        yield ServerSession(client, stdio)


def is_closed(error: BaseException) -> bool:
    """Whether this says that there is no connection any more."""
    found = innermost(error)
    if isinstance(found, MCPError):
        return found.error.code == CONNECTION_CLOSED or found.error.message == "ServerSession terminated"
    return isinstance(found, (httpx2.TransportError, OSError))


def reason_of(error: BaseException) -> str:
    """What went wrong, in words, without where in the program."""
    found = innermost(error)
    if isinstance(found, HdspAgentError):
        text = found.message
    elif isinstance(found, MCPError):
        text = found.error.message
    elif isinstance(found, FileNotFoundError):
        text = f"{found.filename}: there is no such program or folder"
    elif isinstance(found, httpx2.ConnectError):
        text = "Nothing answers at its address"
    elif isinstance(found, (httpx2.TimeoutException, TimeoutError)):
        text = "It did not answer in time"
    else:
        text = str(found) or type(found).__name__
    text = text.strip().partition("\n")[0][:_LONGEST_REASON]
    return text if text.endswith(".") else f"{text}."


def innermost(error: BaseException) -> BaseException:
    """Task groups wrap what went wrong in groups of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
