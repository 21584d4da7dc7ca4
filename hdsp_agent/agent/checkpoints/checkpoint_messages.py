"""The rows of a conversation that say to which checkpoint one can go back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from ...checkpoints import Changed, CheckpointId, CheckpointRecord
from ...checkpoints.timeline import kind_of
from ...messages import ClineMessage, JsonObject
from ..conversation.conversation import Conversation

__all__ = ["ChangedSince", "CheckpointMessages"]

ChangedSince = Callable[[CheckpointId, CheckpointRecord], Awaitable[Changed | None]]
"""How much changed from a checkpoint to another, if that can be told."""

_LOOKED_BACK: Final = 200
"""A row further back is not looked for: one more is no harm."""


class CheckpointMessages:
    """Says a row before what the agent does, where the workspace is another than at the row before."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._last: ClineMessage | None = None

    async def put(self, checkpoint: CheckpointRecord, changed_since: ChangedSince, duration_ms: int) -> None:
        """The agent is about to do something; this is the checkpoint before, which took so long to save. ``changed_since`` counts
        what is new in it."""
        last = await self._last_row()
        if last is not None and last.text == checkpoint.commit:
            return
        # Where nothing has changed it is one that was there: whose note it has may be somebody else.
        reason = checkpoint.reason if kind_of(checkpoint) != "note" else "asked for"
        about: JsonObject = {"to": checkpoint.commit, "id": checkpoint.id, "reason": reason, "durationMs": duration_ms}
        if last is None:
            about["isFirst"] = True
        else:
            about["from"] = last.text
            earlier = (last.checkpoint or {}).get("id")
            changed = await changed_since(earlier, checkpoint) if isinstance(earlier, str) else None
            if changed is not None:
                about["changed"] = changed.to_wire()
        ts = await self._conversation.say("checkpoint_saved", checkpoint.commit, checkpoint=about)
        self._last = ClineMessage(ts=ts, type="say", say="checkpoint_saved", text=checkpoint.commit, checkpoint=about)

    async def _last_row(self) -> ClineMessage | None:
        """The last one that was not taken back."""
        history = self._conversation.history
        if self._last is not None and self._last.ts in history.view.visible_ui:
            return self._last
        newest = await history.ui_page(limit=_LOOKED_BACK)
        return next((message for message in reversed(newest) if message.say == "checkpoint_saved"), None)
