"""What the states of a task are called on the command line, and how they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ..persistence import TaskStatus
    from ._terminal import Colour

__all__ = ["STATUSES", "STATUS_COLOURS"]

# Not taken from persistence: the help must not wait for its import. A test holds that they are the same.
STATUSES: Final[tuple[TaskStatus, ...]] = (
    "initializing", "processing", "compressing", "paused", "completing", "completed", "failed", "timeout",
)  # fmt: skip

STATUS_COLOURS: Final[dict[str, Colour]] = {
    "completed": "green",
    "failed": "red",
    "timeout": "red",
    "initializing": "yellow",
    "processing": "yellow",
    "compressing": "yellow",
    "paused": "yellow",
    "completing": "yellow",
}
