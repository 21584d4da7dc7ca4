"""What a restore needs of the conversation that goes back with it."""

from __future__ import annotations

from typing import Protocol

from ...messages import ConversationPreview, TaskId

__all__ = ["ConversationPart"]


class ConversationPart(Protocol):
    """One conversation, at the message a moment belongs to. It is the last to change, and the first to be put back."""

    @property
    def task_id(self) -> TaskId:
        """Whose it is."""

    async def preview(self) -> ConversationPreview | None:
        """What ``go_back`` (or, before an undo, ``undo``) would do; None is nothing."""

    async def go_back(self) -> str:
        """Go back to the message; the id of the mark that says so."""

    async def undo(self, mark_id: str) -> str:
        """Take that, or an earlier undo, back; the id of the new mark."""
