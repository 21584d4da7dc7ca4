"""How messages go to and from one kernel, whatever carries them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from ...messages import JsonObject

__all__ = ["LARGEST_MESSAGE", "OUR_SESSIONS", "Channel", "KernelMessage", "Lost", "LostReason", "Receive", "Transport"]

OUR_SESSIONS: Final = "hdsp-agent-"
"""How the names of our clients' sessions begin: by it others' requests are told from ours."""

Channel = Literal["shell", "iopub", "control", "stdin"]
LostReason = Literal["kernel_died", "kernel_restarted", "kernel_gone", "connection_lost"]


@dataclass(frozen=True)
class KernelMessage:
    """One message of a kernel. Its content is unpacked only when somebody wants it."""

    channel: Channel
    kind: str
    parent_id: str
    parent_kind: str
    size: int
    """Bytes of its content."""
    load: Callable[[], JsonObject]


LARGEST_MESSAGE: Final = 256 * 1024 * 1024
"""Bytes. A kernel puts what a cell prints within a moment into one message, be it gigabytes; larger ones are not taken."""

Receive = Callable[[KernelMessage], None]
Lost = Callable[[LostReason], None]


class Transport(Protocol):
    """A connection to one kernel with a session of its own."""

    silent_seconds: float
    """How long a kernel may say nothing over a new connection before another one is tried."""

    def start(self, receive: Receive, lost: Lost) -> None:
        """Begin to hand over messages; ``lost`` is called when none can come any more of this life of the kernel."""

    def send(
        self,
        channel: Literal["shell", "control"],
        kind: str,
        content: JsonObject,
        *,
        metadata: JsonObject | None = None,
    ) -> str:
        """Send a request; its id."""

    async def close(self) -> None:
        """Give everything back. Messages on their way are not handed over any more."""
