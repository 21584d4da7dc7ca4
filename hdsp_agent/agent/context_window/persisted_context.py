"""What a task's state keeps about its context, so that a restart builds the same requests."""

from __future__ import annotations

from typing import Final, cast

from pydantic import Field

from ...context import NoticeKind
from ...persistence import StateChange, StoredTaskState, TaskLog
from ...wire import WireModel

__all__ = ["ContextState", "PersistedContext", "Stub", "context_state"]

_FIELD: Final = "context"


class Stub(WireModel):
    """What is sent instead of a call's result. The call is named by its answer's number in the log and its place there."""

    seq: int
    place: int
    text: str


class ContextState(WireModel):
    """All of it. ``profile`` is whose model answered last."""

    stubs: list[Stub] = Field(default_factory=list)
    issued: list[NoticeKind] = Field(default_factory=list)
    profile: str | None = None
    without_pictures: bool = False
    without_blanks: bool = False
    thoughts_after: int = 0
    """Of answers up to this time no thoughts are sent: their provider refused them."""


def context_state(state: StoredTaskState) -> ContextState:
    """What a task's state keeps of it."""
    stored = (state.model_extra or {}).get(_FIELD)
    return ContextState() if stored is None else ContextState.model_validate(stored)


class PersistedContext:
    """Reads and writes this field of one task's state."""

    def __init__(self, log: TaskLog) -> None:
        self._log = log
        self.state = context_state(log.state)

    async def change(self, **changes: object) -> None:
        """Keep these fields; they are on the disk then."""
        self.state = self.state.model_copy(update=changes)
        # The store keeps fields it does not know.
        self._log.update_state(**cast("StateChange", {_FIELD: self.state.to_wire()}))
        await self._log.save_state()
