"""What of the person's was damaged: cells and files that the errand did not speak of, and cells that worked before."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.evals import Outcome, SeenCell

from ._errand import Errand

__all__ = ["damage"]


def damage(errand: Errand, outcome: Outcome, files: Mapping[str, str], *, done: bool) -> str | None:
    """What was damaged, in a few words; None if nothing was. ``files`` are those of the errand as they are now."""
    after = {cell.id: cell for cell in outcome.after}
    for number, cell in enumerate(outcome.before, 1):
        now = after.get(cell.id)
        if now is None or now.source.rstrip() != cell.source.rstrip():
            if number not in errand.may_change:
                return f"cell {number} is {'gone' if now is None else 'changed'}"
            if not done:
                return f"cell {number} is {'gone' if now is None else 'changed'}, and the errand is not done"
        elif _breaks(cell, now):
            return f"cell {number} worked and shows an error now"
    order = [cell.id for cell in outcome.after if cell.id in {one.id for one in outcome.before}]
    if order != [cell.id for cell in outcome.before if cell.id in after]:
        return "the cells are in another order"
    lost = [name for name, text in errand.task.tables.items() if files.get(name) != text]
    return f"{lost[0]} is gone or changed" if lost else None


def _breaks(before: SeenCell, now: SeenCell) -> bool:
    return now.failed and not before.failed
