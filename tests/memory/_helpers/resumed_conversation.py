"""Going on with a conversation that was learned from already."""

from __future__ import annotations

from hdsp_agent.messages import ClineMessage, TaskId
from hdsp_agent.persistence import ApiDraft

from .memory_home import ME, MemoryHome

__all__ = ["says_more"]


async def says_more(at: MemoryHome, task_id: TaskId, text: str = "That was wrong. Forget about polars.") -> None:
    """The person comes back to a finished conversation, and it is over again."""
    log = await at.store.resume(task_id)
    await log.append_api(ApiDraft(role="user", content=text))
    message = await log.append_ui(ClineMessage(ts=1, type="say", say="user_feedback", text=text))
    known = log.state.history_item
    assert known is not None
    item = known.model_copy(update={"ts": message.ts})
    log.update_state(history_item=item)
    await log.finish("completed")
    await at.index.upsert(item, text=text, owner=ME)
