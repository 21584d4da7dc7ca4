"""What a restore needs of the conversation that goes back with it."""

from __future__ import annotations

from typing import Protocol

from ...messages import ConversationPreview, TaskId

__all__ = ["ConversationPart"]


class ConversationPart(Protocol):
    """One conversation, at the message a checkpoint belongs to. It is the last to change, and the first to be put back."""

    @property
    def task_id(self) -> TaskId:
        """Whose it is."""

    async def preview(self) -> ConversationPreview | None:
        """What ``go_back`` (or, before an undo, ``undo``) would do; None is nothing."""

    async def go_back(self, mark_id: str) -> None:
        """Go back to the message; the mark that says so gets this id, which the restore's log knew before."""

    async def undo(self, mark_id: str, as_mark: str) -> None:
        """Take that, or an earlier undo, back; the new mark gets the id ``as_mark``."""

    async def put_back(self, mark_id: str) -> None:
        """The restore failed, or was cut short: undo this mark if it was made and still counts. A conversation that went on
        since stays as it is."""
