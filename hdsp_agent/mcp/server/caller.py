"""Who sent an HTTP request, as the endpoint knows it before the protocol is spoken; and how requests get to it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Final

__all__ = ["CALLER", "FOLDER_HEADER", "AsgiMessage", "AsgiReceive", "AsgiSend", "Caller"]

AsgiMessage = MutableMapping[str, Any]
AsgiReceive = Callable[[], Awaitable[AsgiMessage]]
AsgiSend = Callable[[AsgiMessage], Awaitable[None]]

CALLER: Final = "hdsp_agent.caller"
"""Where the ASGI scope has it."""

FOLDER_HEADER: Final = "X-HDSP-Agent-Folder"
"""In which the proxy says where its program works, percent-encoded."""


@dataclass(frozen=True)
class Caller:
    """The person an authenticated request is from, and what it may do."""

    owner: str | None
    may_write: bool
    """Else only tools that change nothing."""
    folder: str | None = None
    """The folder the program works in, inside the server's root."""
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when nobody waits for the answer any more."""
