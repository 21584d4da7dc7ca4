"""A task together with its subtasks under way and those that wait for it: on the screen they are one conversation."""

from __future__ import annotations

from contextlib import suppress

from ..errors import UnknownTask
from ..messages import HistoryItem
from ._owner import Owner
from .history import History
from .task_view import ItemChange

__all__ = ["change_chain"]


async def change_chain(history: History, owner: Owner, task_id: str, change: ItemChange) -> HistoryItem:
    """Change a task and all that is one conversation with it; returns the task's own history item."""
    changed = await history.change(owner, task_id, change)
    for other in await _others_of(history, owner, task_id):
        await history.change(owner, other, change)
    return changed


async def _others_of(history: History, owner: Owner, task_id: str) -> list[str]:
    """The other tasks that wait for this one, or that it waits for, however far up or down."""
    item = await history.item(owner, task_id)
    chain = [item.id]
    child = item
    # What was deleted meanwhile, or imported without its parent, ends the chain.
    with suppress(UnknownTask):
        while (next_id := child.awaiting_child_id) is not None and next_id not in chain:
            child = await history.item(owner, next_id)
            chain.append(child.id)
    with suppress(UnknownTask):
        while (next_id := item.parent_task_id) is not None and next_id not in chain:
            parent = await history.item(owner, next_id)
            if parent.awaiting_child_id != item.id:
                break
            item = parent
            chain.append(item.id)
    return [other for other in chain if other != task_id]
