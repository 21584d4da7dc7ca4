"""What holds for a conversation because it was given what another one says."""

from __future__ import annotations

from ...errors import HdspAgentError
from ...memory.conversation_text import has_external_content
from ...messages import TaskId
from ...persistence import TaskLog, TaskStore

__all__ = ["inherit_marks"]


async def inherit_marks(log: TaskLog, store: TaskStore, source: TaskId) -> None:
    """What the other one heard of strangers, and of a model on this machine, may be in what is taken over from it."""
    try:
        reader = await store.view(source)
        is_external = await has_external_content(reader)
        state = await reader.read_state()
        used_local_model = state.used_local_model
        if state.history_item is not None and state.history_item.memory_off:
            # Nothing is to be learned from it, here either.
            is_external = True
    except HdspAgentError:
        # Nobody knows: then it stays here, and is not learned from.
        is_external = used_local_model = True
    if is_external:
        log.update_state(has_external_content=True)
    if used_local_model:
        log.update_state(used_local_model=True)
