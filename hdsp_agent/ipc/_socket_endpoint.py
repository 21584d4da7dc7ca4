"""Where a server listens and how a client gets there: the part that differs between systems, behind one interface."""

from __future__ import annotations

import asyncio
import logging
import sys
from pathlib import Path

from ._socket_files import SUFFIX, Connected, IpcServerInfo, SocketEndpoint, info_of

__all__ = ["Connected", "IpcServerInfo", "SocketEndpoint", "find_servers", "listen", "open_streams"]

logger = logging.getLogger(__name__)


async def listen(folder: Path, connected: Connected) -> SocketEndpoint:
    """Listen at a place of our own that this folder leads to; others than its owner are sent away."""
    if sys.platform == "win32":
        from . import _windows as system
    else:
        from . import _unix as system

    def admit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if system.is_same_person(writer):
            connected(reader, writer)
        else:
            logger.warning("Refused a client of the IPC socket: it belongs to another user")
            writer.transport.abort()

    return await system.listen(folder, admit)


async def open_streams(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to a server. Raises OSError."""
    if sys.platform == "win32":
        from . import _windows as system
    else:
        from . import _unix as system
    return await system.open_streams(address)


def find_servers(folder: Path) -> list[IpcServerInfo]:
    """The servers that this folder leads to and that answer. Blocks: call it in a thread."""
    if sys.platform == "win32":
        from . import _windows as system
    else:
        from . import _unix as system
    try:
        entries = sorted(entry for entry in folder.iterdir() if entry.suffix == SUFFIX)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [info_of(entry, system.address_of(entry)) for entry in entries if system.answers(entry)]
