"""Conversations for tests, kept by the real store of a real server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic

from hdsp_agent.comm import Owner
from hdsp_agent.comm.services import Services
from hdsp_agent.messages import ClineMessage, HistoryItem, NotebookRef, TaskId
from hdsp_agent.persistence import NewTaskRecord, TaskLog

__all__ = ["begin", "eventually", "keep"]


async def begin(
    services: Services,
    *texts: str,
    user: str | None = None,
    parent: TaskId | None = None,
    notebook: str | None = None,
    cost: float = 0.5,
    children: Sequence[str] = (),
    workspace: str | None = None,
) -> TaskLog:
    """A conversation that this process works on."""
    store = await services.storage.store()
    user = user or services.storage.person
    reference = NotebookRef(path=notebook) if notebook else None
    task = await store.create(NewTaskRecord(user=user, parent_task_id=parent, notebook=reference, workspace=workspace))
    first = 0
    for text in texts:
        first = first or task.next_ts()
        await task.put_ui(ClineMessage(ts=task.next_ts(), type="say", say="text", text=text))
    item = HistoryItem(
        id=task.task_id, number=1, ts=first, task=texts[0] if texts else "", tokens_in=10, tokens_out=5,
        total_cost=cost, parent_task_id=parent, notebook=reference, child_ids=list(children) or None,
    )  # fmt: skip
    task.update_state(history_item=item)
    await task.save_state()
    await services.history.put(Owner(user), item, text="\n".join(texts))
    return task


async def keep(services: Services, *texts: str, user: str | None = None, **more: object) -> TaskId:
    """A conversation that is finished."""
    task = await begin(services, *texts, user=user, **more)  # type: ignore[arg-type]  # passed on as they are
    await task.finish()
    return task.task_id


async def eventually(condition: Callable[[], object], seconds: float = 60) -> None:
    """Wait until the condition holds."""
    deadline = monotonic() + seconds
    while not condition():
        assert monotonic() < deadline, "it never came to hold"
        await asyncio.sleep(0.02)
