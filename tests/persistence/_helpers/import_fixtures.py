"""Folders of other programs, written and brought in, and what a task then shows and sends."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import get_args

from hdsp_agent.config import MaskedKind
from hdsp_agent.messages import ApiMessage, ClineMessage, TaskId
from hdsp_agent.persistence import (
    ApiRecord,
    FileStore,
    TaskStore,
    effective_ui,
)
from hdsp_agent.persistence.exchange._import import TaskImportReport, import_tasks
from tests.persistence._helpers.effective_history import effective_api, whole_pairs

SAMPLES = Path(__file__).parents[1] / "samples"
ROO, ROO_CHILD = TaskId("11111111-aaaa-4aaa-8aaa-000000000001"), TaskId("11111111-aaaa-4aaa-8aaa-000000000002")
CLINE = TaskId("1700000000123")
CONTEXT = TaskId("22222222-bbbb-4bbb-8bbb-000000000001")
KINDS = get_args(get_args(MaskedKind)[0])


@asynccontextmanager
async def a_store(home: Path) -> AsyncIterator[FileStore]:
    store = FileStore(home)
    await store.start()
    try:
        yield store
    finally:
        await store.stop()


async def bring(source: Path, store: TaskStore, *, dry_run: bool = False) -> TaskImportReport:
    return await import_tasks(source, store, None, masker=None, dry_run=dry_run, may_work_in=anywhere)


def anywhere(folder: Path) -> bool:
    """Says of each folder that an imported conversation may work in it."""
    return True


def texts_of(record: ApiRecord | ApiMessage) -> str:
    content = record.content
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, sort_keys=True)


async def histories(store: TaskStore, task_id: TaskId) -> tuple[list[ClineMessage], list[ApiRecord]]:
    reader = await store.view(task_id)
    marks = [mark async for mark in reader.marks.iterate()]
    ui = [message async for message in reader.ui.iterate()]
    api = [record async for record in reader.api.iterate()]
    return effective_ui(ui, marks), effective_api(api, marks)


def roo_sends(messages: Sequence[dict[str, object]]) -> list[str]:
    """What Roo Code sends of its file, as reference/roo.md §2.5 says: from the last summary on, less what is truncated."""
    last = max((index for index, message in enumerate(messages) if message.get("isSummary")), default=0)
    shown = messages[last:]
    markers = {message.get("truncationId") for message in shown if message.get("isTruncationMarker")}
    kept = [m for m in shown if m.get("truncationParent") is None or m["truncationParent"] not in markers]
    records = [
        ApiRecord.model_validate(
            {"role": m["role"], "content": m["content"], "seq": 1, "timestamp": "", "token_count": 0}
        )
        for m in kept
    ]
    return [texts_of(record) for record in whole_pairs(records)]


def write_roo(folder: Path, *, ui: object = None, api: object = None, item: object = None) -> Path:
    folder.mkdir(parents=True)
    files = {"ui_messages.json": ui, "api_conversation_history.json": api, "history_item.json": item}
    for name, value in files.items():
        if value is not None:
            text = value if isinstance(value, str) else json.dumps(value)
            (folder / name).write_text(text, encoding="utf-8")
    return folder


def say(ts: int, text: str, **more: object) -> dict[str, object]:
    return {"ts": ts, "type": "say", "say": "text", "text": text, **more}


async def told_texts(store: TaskStore, task_id: TaskId) -> tuple[list[str | None], list[str]]:
    ui, api = await histories(store, task_id)
    return [message.text for message in ui], [texts_of(record) for record in api]
