"""Finished tasks of any age, for the tests of upkeep."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hdsp_agent.messages import ClineMessage, TaskId
from hdsp_agent.persistence import (
    ApiDraft,
    FileStore,
    NewTaskRecord,
    StoredTaskState,
    SummaryDraft,
    TaskStore,
    ToolDraft,
    iso_time,
)

from ..._helpers.stored_tasks import make_store
from .history_samples import task

TEXT = "こんにちは 안녕 hello "


@asynccontextmanager
async def file_store(home: Path) -> AsyncIterator[FileStore]:
    store = FileStore(home)
    await store.start()
    try:
        yield store
    finally:
        await store.stop()


@asynccontextmanager
async def kept_store(home: Path) -> AsyncIterator[TaskStore]:
    """The store of the backend under test."""
    store = make_store(home)
    await store.start()
    try:
        yield store
    finally:
        await store.stop()


def days_ago(days: float) -> str:
    return iso_time(datetime.now(tz=UTC) - timedelta(days=days))


async def finished(
    store: TaskStore, days: float = 0, *, task_id: str | None = None, messages: int = 5, favorite: bool = False,
    pinned: bool = False, parent: str | None = None, user: str | None = None, model: str | None = None,
    outcome: str = "completed",
) -> TaskId:  # fmt: skip
    """A finished task whose last activity was so long ago."""
    new = NewTaskRecord(
        task_id=TaskId(task_id) if task_id else None, user=user, config={"model": model} if model else {},
        parent_task_id=TaskId(parent) if parent else None,
    )  # fmt: skip
    log = await store.create(new)
    for number in range(messages):
        ts = log.next_ts()
        partial = ClineMessage(ts=ts, type="say", say="text", text=f"{number}", partial=True)
        await log.put_ui(partial)
        await log.put_ui(partial.model_copy(update={"text": f"{number} {TEXT * 20}", "partial": False}))
        await log.append_api(ApiDraft(role="user", content=f"{number} {TEXT}"))
    await log.append_tool(ToolDraft(tool_name="read_file", arguments={}, status="success", duration_ms=1))
    await log.append_summary(SummaryDraft(start_seq=1, end_seq=2, summary="s", original_tokens=100, summary_tokens=25))
    item = task(log.task_id, is_favorited=favorite or None, parent_task_id=parent, total_cost=0.5)
    log.update_state(llm_call_count=3, total_tokens_used=700, pinned=pinned, history_item=item)
    await log.finish(outcome)  # type: ignore[arg-type]  # one of them

    def age(state: StoredTaskState) -> StoredTaskState:
        when = days_ago(days)
        return state.model_copy(update={"updated_at": when, "completed_at": when})

    await store.amend(log.task_id, age)
    return log.task_id


async def contents(store: TaskStore, task_id: TaskId) -> dict[str, list[str]]:
    """Everything a task says, whatever form it has."""
    reader = await store.view(task_id)
    return {
        "ui": [message.to_json() async for message in reader.ui.iterate()],
        "api": [record.to_json() async for record in reader.api.iterate()],
        "tools": [record.to_json() async for record in reader.tools.iterate()],
        "summaries": [record.to_json() async for record in reader.summaries.iterate()],
        "marks": [mark.model_dump_json() async for mark in reader.marks.iterate()],
    }
