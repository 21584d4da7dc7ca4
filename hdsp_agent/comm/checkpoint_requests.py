"""What the page may ask about the checkpoints of the conversation on screen."""

from __future__ import annotations

from typing import NoReturn, assert_never

from pydantic import JsonValue

from ..messages import CheckpointDiffRequest, CheckpointRestoreRequest, Parts
from ._dispatch import Dispatcher, Handler, RequestContext
from .checkpoint_service import CheckpointPlace, CheckpointService
from .history import History

__all__ = ["CheckpointRequests"]

_EVERYTHING = Parts(files=True, notebooks=True, variables=True, conversation=True)


class CheckpointRequests:
    """Handles them. A request that names no task means the one on screen."""

    def __init__(self, travel: CheckpointService, history: History) -> None:
        self._travel = travel
        self._history = history

    def register(self, dispatcher: Dispatcher) -> None:
        """Take responsibility for these types of message."""
        handlers: dict[str, Handler[NoReturn]] = {
            "checkpointDiff": self.diff,
            "checkpointRestore": self.restore,
        }
        for message_type, handler in handlers.items():
            dispatcher.handle(message_type, handler)

    async def diff(self, context: RequestContext, message: CheckpointDiffRequest) -> JsonValue:
        """What differs; the answer is the whole of it."""
        asked = message.payload
        place = CheckpointPlace(context.owner, self._history.meant(context.owner, message.task_id))
        match asked.mode:
            case "full":
                found = await self._travel.since_beginning(place)
            case "from-init":
                found = await self._travel.diff(place, asked.commit_hash, "beginning")
            case "to-current":
                found = await self._travel.diff(place, asked.commit_hash, "now")
            case "checkpoint":
                before = asked.previous_commit_hash
                found = await (
                    self._travel.diff(place, asked.commit_hash, before)
                    if before is not None
                    else self._travel.step_before(place, asked.commit_hash)
                )
            case _:
                assert_never(asked.mode)
        return found.to_wire()

    async def restore(self, context: RequestContext, message: CheckpointRestoreRequest) -> JsonValue:
        """What going back would do, or did. Of several checkpoints in one state, that of the message is meant."""
        asked, parts = message.payload, message.payload.parts or _EVERYTHING
        task_id = self._history.meant(context.owner, message.task_id)
        place = CheckpointPlace(context.owner, task_id)
        checkpoint = await self._travel.told_at(context.owner, task_id, asked.commit_hash, asked.ts)
        if asked.mode == "preview":
            return (await self._travel.preview(place, checkpoint, parts)).to_wire()
        return (await self._travel.restore(place, checkpoint, parts)).to_wire()
