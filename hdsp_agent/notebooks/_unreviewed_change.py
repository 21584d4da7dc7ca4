"""One change of a cell that nobody has looked at."""

from __future__ import annotations

from ..messages import CellId, JsonObject, TaskId
from ..wire import WireModel
from ._line_changes import with_change

__all__ = ["RemovedCell", "UnreviewedChange", "merged"]


class RemovedCell(WireModel):
    """A cell that is gone, and where it was."""

    cell: JsonObject
    behind: CellId | None = None
    place: int


class UnreviewedChange(WireModel):
    """What a cell said before the agent changed it, and after; absent is no cell."""

    cell_id: CellId
    task_id: TaskId | None = None
    before: str | None = None
    after: str | None = None
    removed: RemovedCell | None = None

    @property
    def length(self) -> int:
        """In characters."""
        return len(self.before or "") + len(self.after or "")


def merged(earlier: UnreviewedChange | None, later: UnreviewedChange) -> UnreviewedChange | None:
    """Both as one; None if nothing is left of them. What the person typed in between is theirs, and stays in ``before``."""
    if earlier is not None:
        later = later.model_copy(update={"before": _known(earlier, later.before)})
    if later.before == later.after or (later.before is None and later.removed is not None):
        return None
    return later


def _known(earlier: UnreviewedChange, present: str | None) -> str | None:
    """What the person knew, and wrote themselves since an earlier change.

    Of a cell in which they wrote over that change: what it said then.
    """
    before, after = earlier.before, earlier.after
    if after is None or present is None or present == after:
        return before
    if before is None:
        return present
    known = with_change(after, present, before)
    return present if known is None else known
