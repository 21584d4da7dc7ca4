"""Conversations that have been going on for long, as a server finds them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from hdsp_agent.messages import ClineMessage, HistoryItem, JsonObject, TaskId
from hdsp_agent.persistence import ApiDraft, FileStore, NewTaskRecord, TaskLog

__all__ = ["LONG", "SHORT", "stored_conversations"]

SHORT: Final = 10
LONG: Final = 10_000

_AT_ONCE: Final = 100
_SENTENCE: Final = "The table of part {number} has seven columns, and the second of them is empty in most of its rows. "


def stored_conversations(home: Path, workspace: str) -> dict[int, TaskId]:
    """One of each length, by its length in messages, of which the model sees as many."""
    return asyncio.run(_stored(home, workspace))


async def _stored(home: Path, workspace: str) -> dict[int, TaskId]:
    store = FileStore(home)
    await store.start()
    made = {size: await _conversation(store, size, workspace) for size in (SHORT, LONG)}
    await store.stop()
    return made


async def _conversation(store: FileStore, size: int, workspace: str) -> TaskId:
    log = await store.create(NewTaskRecord(workspace=workspace, mode="code"))
    for first in range(0, size, _AT_ONCE):
        numbers = range(first, min(size, first + _AT_ONCE))
        await asyncio.gather(*(log.put_ui(_shown(log, number)) for number in numbers))
        await asyncio.gather(*(log.append_api(_sent(log, number)) for number in numbers))
    item = HistoryItem(
        id=log.task_id, number=1, ts=log.last_ui_ts, task=f"A conversation of {size} messages", tokens_in=0,
        tokens_out=0, total_cost=0.0, status="active", mode="code", workspace=workspace,
    )  # fmt: skip
    log.update_state(status="processing", history_item=item)
    await log.save_state()
    await log.close()
    return log.task_id


def _shown(log: TaskLog, number: int) -> ClineMessage:
    return ClineMessage(ts=log.next_ts(), type="say", say="text", text=_SENTENCE.format(number=number) * 3)


def _sent(log: TaskLog, number: int) -> ApiDraft:
    """Calls and their results in turns, as work with tools looks."""
    said = _SENTENCE.format(number=number // 2)
    call = f"call_{number // 2}"
    answer: list[JsonObject] = [
        {"type": "text", "text": said},
        {"type": "tool_use", "id": call, "name": "read_file", "input": {"path": f"part-{number // 2}.csv"}},
    ]
    result: list[JsonObject] = [{"type": "tool_result", "tool_use_id": f"call_{number // 2 - 1}", "content": said * 5}]
    if number == 0:
        return ApiDraft(role="user", content="Look at all parts.", ts=log.next_ts())
    return ApiDraft(
        role="assistant" if number % 2 else "user", content=answer if number % 2 else result, ts=log.next_ts()
    )
