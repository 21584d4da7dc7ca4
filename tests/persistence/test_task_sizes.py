"""How many bytes tasks have, looked up seldom while they are at work."""

from __future__ import annotations

from pathlib import Path

from hdsp_agent.messages import HistoryItem
from hdsp_agent.persistence import FileStore, NewTaskRecord, TaskSizes

from ._helpers.store_contract import asked


async def test_a_task_at_work_is_measured_seldom_and_one_at_rest_each_time(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    await store.start()
    log = await store.create(NewTaskRecord())
    active = HistoryItem(
        id=log.task_id, number=1, ts=1, task="x", tokens_in=0, tokens_out=0, total_cost=0, status="active"
    )
    sizes = TaskSizes()
    first = await sizes.of(active, store)
    await log.append_api(asked("hi"))
    assert await sizes.of(active, store) == first
    assert await sizes.of(active.model_copy(update={"status": "completed"}), store) > first
    assert await sizes.of(active, store) > first
    await log.close()
    await store.stop()
