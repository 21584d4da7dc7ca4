"""How much the channel holds, and how long it waits."""

from __future__ import annotations

from dataclasses import dataclass

from ..messages import DELTA_INTERVAL_MS, HEARTBEAT_SECONDS

__all__ = ["ChannelLimits"]


@dataclass(frozen=True)
class ChannelLimits:
    """Every bound of the channel in one place; the operator's traits fill in those they may want to change."""

    max_frame_bytes: int = 8 * 1024 * 1024
    """Largest WebSocket message a page may send. What it says goes to every tab, compressed on the
    event loop: a larger one would stop everybody for longer."""
    ring_frames: int = 4096
    """Messages kept for tabs that lag or lost their connection, per owner."""
    ring_bytes: int = 16 * 1024 * 1024
    """The same in bytes."""
    batch_bytes: int = 256 * 1024
    """What one WebSocket message to a tab carries at most (a single larger frame goes alone)."""
    pace_seconds: float = 0.016
    """Least time between two writes to a tab: under load frames travel together, after a pause one goes at once."""
    outbox_frames: int = 256
    """Frames for one tab alone that may wait; when it is full, reading from that tab stops."""
    outbox_bytes: int = 1024 * 1024
    """The same in bytes."""
    write_seconds: float = 30.0
    """A tab that takes nothing for this long is disconnected."""
    heartbeat_seconds: float = HEARTBEAT_SECONDS
    """Time between heartbeats; two and a half of them without a sign of life mean dead."""
    delta_seconds: float = DELTA_INTERVAL_MS / 1000
    """Streaming text of one message travels at most this often."""
    delta_chars: int = 64 * 1024
    """Streaming text that waits for its turn never grows beyond this."""
    running_requests: int = 64
    """Requests of one client that may run at a time."""
    request_patience_seconds: float = 2.0
    """How long a request beyond those waits, with reading stopped, before it is refused."""
    answers: int = 1024
    """Answers remembered per client, so that a request sent again is not done again."""
    answer_bytes: int = 4 * 1024 * 1024
    """The same in bytes."""
    remembered_clients: int = 64
    """Clients per owner whose answers are remembered after they have gone."""
    stop_seconds: float = 1.0
    """What handlers and tabs get to finish when the server stops."""
