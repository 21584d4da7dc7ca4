"""How much the socket takes and holds, and how long it waits."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["IpcLimits"]


@dataclass(frozen=True)
class IpcLimits:
    """Every bound of the socket in one place."""

    max_frame_bytes: int = 32 * 1024 * 1024
    """Largest frame a client may send; a command can carry images."""
    outbox_bytes: int = 16 * 1024 * 1024
    """What may wait for a client that does not read; a larger frame goes alone. Beyond it the client is dropped."""
    clients: int = 100
    """Clients at a time, as many as node-ipc allows."""
    running: int = 64
    """Commands of one client that may run at a time; until one ends, reading from that client stops."""
    farewell_seconds: float = 2.0
    """What a client that is dropped gets to read the reason."""
    stop_seconds: float = 1.0
    """What clients and commands get to finish when the server stops."""
    heartbeat_seconds: float = 60.0
    """How often a server shows to other machines that share its folder that it lives."""
