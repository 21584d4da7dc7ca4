"""What people write on a time line that several share is for themselves alone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ..checkpoints import CheckpointId
from ..checkpoints.timeline import CheckpointView, OperationView, RestorePreview, RestoreResult, TimelineView

__all__ = ["PrivateNotes"]


@dataclass(frozen=True)
class PrivateNotes:
    """Takes the notes out of what a person is told; ``hidden`` are the checkpoints that have another's."""

    hidden: Collection[CheckpointId]

    def without_note(self, checkpoint: CheckpointView) -> CheckpointView:
        """A checkpoint; that somebody asked for it is no secret."""
        if checkpoint.id not in self.hidden:
            return checkpoint
        return checkpoint.model_copy(update={"reason": "asked for", "kind": "asked_for"})

    def without_notes(self, view: TimelineView) -> TimelineView:
        """A page of the time line."""
        return view.model_copy(
            update={
                "here": None if view.here is None else self.without_note(view.here),
                "operations": tuple(self._operation(done) for done in view.operations),
                "interrupted": None if view.interrupted is None else self._operation(view.interrupted),
            }
        )

    def in_preview(self, preview: RestorePreview) -> RestorePreview:
        """What a restore would do."""
        return preview.model_copy(update={"target": self.without_note(preview.target)})

    def in_result(self, result: RestoreResult) -> RestoreResult:
        """What a restore did."""
        return result.model_copy(update={"operation": self._operation(result.operation)})

    def _operation(self, done: OperationView) -> OperationView:
        return (
            done
            if done.checkpoint is None
            else done.model_copy(update={"checkpoint": self.without_note(done.checkpoint)})
        )
