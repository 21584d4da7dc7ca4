"""Which restores are in force: an undo takes one back, and can be taken back itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...errors import InvalidInput, NotFound
from .records import CheckpointId, OperationRecord

__all__ = ["restore_to_undo", "restores_in_force"]


def restores_in_force(operations: Sequence[OperationRecord]) -> Mapping[CheckpointId, OperationRecord]:
    """The restores and undos that have not been taken back, oldest first."""
    in_force: dict[CheckpointId, OperationRecord] = {}
    undone: dict[CheckpointId, OperationRecord] = {}
    for done in operations:
        if done.status != "done" or done.kind not in ("restore", "undo"):
            continue
        in_force[done.id] = done
        taken_back = in_force.pop(done.undo_of, None) if done.undo_of is not None else None
        if taken_back is not None:
            undone[taken_back.id] = taken_back
            if taken_back.undo_of is not None and taken_back.undo_of in undone:
                in_force[taken_back.undo_of] = undone.pop(taken_back.undo_of)
    return in_force


def restore_to_undo(operations: Sequence[OperationRecord], wanted: CheckpointId | None) -> OperationRecord:
    """The restore that this id names, or the newest in force; raises if there is nothing to undo."""
    in_force = restores_in_force(operations)
    if wanted is None:
        found = next((done for done in reversed(list(in_force.values())) if done.kind == "restore"), None)
        if found is None:
            raise NotFound("There is no restore to undo.", why="nothing_to_undo")
        return found
    if wanted in in_force:
        return in_force[wanted]
    if not any(done.id == wanted for done in operations):
        raise NotFound(
            f"There is no operation {wanted}. Choose another one in the timeline.", id=wanted, why="unknown_operation"
        )
    raise InvalidInput(
        f"Operation {wanted} is not a restore that is still in effect, so there is nothing to undo.",
        id=wanted,
        why="not_in_force",
    )
