"""The rows of a conversation that say to which moment one can go back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from ...checkpoints import Changed, CheckpointId, CheckpointRecord
from ...checkpoints.timeline import kind_of
from ...messages import ClineMessage, JsonObject
from ..conversation.conversation import Conversation

__all__ = ["ChangedSince", "CheckpointMessages"]

ChangedSince = Callable[[CheckpointId, CheckpointRecord], Awaitable[Changed | None]]
"""How much changed from a moment to another, if that can be told."""

_LOOKED_BACK: Final = 200
"""A row further back is not looked for: one more is no harm."""


class CheckpointMessages:
    """Says a row before what the agent does, where the workspace is another than at the row before."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._last: ClineMessage | None = None

    async def put(self, moment: CheckpointRecord, changed_since: ChangedSince, duration_ms: int) -> None:
        """The agent is about to do something; this is the moment before, which took so long to save. ``changed_since`` counts
        what is new in it."""
        last = await self._last_row()
        if last is not None and last.text == moment.commit:
            return
        # Where nothing has changed it is one that was there: whose note it has may be somebody else.
        reason = moment.reason if kind_of(moment) != "note" else "asked for"
        about: JsonObject = {"to": moment.commit, "id": moment.id, "reason": reason, "durationMs": duration_ms}
        if last is None:
            about["isFirst"] = True
        else:
            about["from"] = last.text
            earlier = (last.checkpoint or {}).get("id")
            changed = await changed_since(earlier, moment) if isinstance(earlier, str) else None
            if changed is not None:
                about["changed"] = changed.to_wire()
        ts = await self._conversation.say("checkpoint_saved", moment.commit, checkpoint=about)
        self._last = ClineMessage(ts=ts, type="say", say="checkpoint_saved", text=moment.commit, checkpoint=about)

    async def _last_row(self) -> ClineMessage | None:
        """The last one that was not taken back."""
        history = self._conversation.history
        if self._last is not None and self._last.ts in history.view.visible_ui:
            return self._last
        newest = await history.ui_page(limit=_LOOKED_BACK)
        return next((message for message in reversed(newest) if message.say == "checkpoint_saved"), None)
