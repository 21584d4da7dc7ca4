"""What a person's server and the hub service say to each other about tasks and storage. Never a word of a conversation."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["MOST_TASKS", "ServerReport", "StopAnswer", "StopOrder", "StorageReport", "TaskReport", "TaskWork"]

MOST_TASKS: Final = 50
"""Named in one report; of the others it says how many there are."""
_MOST_ORDERS: Final = 100

TaskWork = Literal["running", "waiting", "paused"]
"""``waiting``: it cannot go on without the person's answer; ``paused``: it was stopped, or failed."""

_Id = Annotated[str, Field(pattern=r"\A[A-Za-z0-9_-]{1,100}\z")]
_Name = Annotated[str, Field(max_length=200, pattern=r"\A[^\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]*\z")]
"""Without what breaks a line or turns its direction."""
_Count = Annotated[int, Field(ge=0, le=10**15)]
_Bytes = Annotated[int, Field(ge=0, le=10**18)]
_Seconds = Annotated[float, Field(ge=0, le=10**9, allow_inf_nan=False)]


class _Told(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", defer_build=True)


class TaskReport(_Told):
    """A task that is worked on. ``seconds`` is for how long it has been at work, or paused."""

    id: _Id
    mode: _Name
    model: _Name
    work: TaskWork
    seconds: _Seconds
    tokens: _Count
    cost: Annotated[float, Field(ge=0, le=10**9, allow_inf_nan=False)]

    @property
    def is_at_work(self) -> bool:
        """Whether there is something to stop."""
        return self.work != "paused"


class StorageReport(_Told):
    """Bytes by what they are, as they were so many ``seconds`` ago; ``free`` is the room on the disk, where it is known."""

    conversations: _Bytes
    checkpoints: _Bytes
    memory: _Bytes
    other: _Bytes
    free: _Bytes | None
    seconds: _Seconds

    @property
    def total(self) -> int:
        """All of them."""
        return self.conversations + self.checkpoints + self.memory + self.other


class ServerReport(_Told):
    """How a person's server stands. Whose it is, its token says."""

    instance: _Id
    """Another one each time it starts."""
    server: _Name
    """Its name at the hub; empty for the one without."""
    tasks: Annotated[tuple[TaskReport, ...], Field(max_length=MOST_TASKS)]
    more: _Count
    """Tasks that are not among them."""
    storage: StorageReport | None
    next_seconds: Annotated[float, Field(gt=0, le=600, allow_inf_nan=False)]
    """The next report comes before then."""
    hold: bool
    """Whether the answer may wait until there is something to do."""
    done: Annotated[tuple[_Id, ...], Field(max_length=_MOST_ORDERS)]
    """The orders that were followed since the last answer."""
    ended: bool = False
    """Whether the server stops now."""


class _Answered(BaseModel):
    # A newer service may say more than this version understands.
    model_config = ConfigDict(frozen=True, strict=True, defer_build=True)


class StopOrder(_Answered):
    """An administrator wants a task stopped."""

    order: _Id
    task: _Id


class StopAnswer(_Answered):
    """What the service answers to a report."""

    stop: Annotated[tuple[StopOrder, ...], Field(max_length=_MOST_ORDERS)]
