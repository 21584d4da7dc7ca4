"""What the page may ask about the checkpoints of the conversation on screen."""

from __future__ import annotations

from typing import assert_never

from pydantic import JsonValue

from ..messages import CheckpointDiffRequest, CheckpointRestoreRequest, Parts
from ._dispatch import Dispatcher, RequestContext
from .checkpoint_access import CheckpointAccess, CheckpointPlace
from .history import History

__all__ = ["CheckpointRequests"]

_EVERYTHING = Parts(files=True, notebooks=True, variables=True, conversation=True)


class CheckpointRequests:
    """Handles them. A request that names no task means the one on screen."""

    def __init__(self, access: CheckpointAccess, history: History) -> None:
        self._access = access
        self._history = history

    def register(self, dispatcher: Dispatcher) -> None:
        """Take responsibility for these types of message."""
        dispatcher.handle_all(
            {
                "checkpointDiff": self.diff,
                "checkpointRestore": self.restore,
            }
        )

    async def diff(self, context: RequestContext, message: CheckpointDiffRequest) -> JsonValue:
        """What differs; the answer is the whole of it."""
        asked = message.payload
        task_id = self._history.meant(context.owner, message.task_id)
        folder, checkpoints = await self._access.at(CheckpointPlace(context.owner, task_id))
        match asked.mode:
            case "full":
                async with checkpoints.at(folder) as line:
                    found = await line.diff("beginning", "now")
            case "from-init":
                found = await checkpoints.diff(folder, asked.commit_hash, "beginning")
            case "to-current":
                found = await checkpoints.diff(folder, asked.commit_hash, "now")
            case "checkpoint":
                before = asked.previous_commit_hash
                found = await (
                    checkpoints.diff(folder, asked.commit_hash, before)
                    if before is not None
                    else checkpoints.step_before(folder, asked.commit_hash)
                )
            case _:
                assert_never(asked.mode)
        return found.to_wire()

    async def restore(self, context: RequestContext, message: CheckpointRestoreRequest) -> JsonValue:
        """What going back would do, or did. Of several checkpoints in one state, that of the message is meant."""
        asked, parts = message.payload, message.payload.parts or _EVERYTHING
        task_id = self._history.meant(context.owner, message.task_id)
        place = CheckpointPlace(context.owner, task_id)
        folder, checkpoints = await self._access.at(place)
        checkpoint = await checkpoints.told_at(folder, asked.commit_hash, task_id, asked.ts)
        if asked.mode == "preview":
            return (await self._access.preview(place, checkpoint, parts)).to_wire()
        return (await self._access.restore(place, checkpoint, parts)).to_wire()
