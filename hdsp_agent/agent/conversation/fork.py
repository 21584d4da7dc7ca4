"""Going on in a copy: a new task that begins with a part of another one and needs nothing of it any more."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from ...errors import InvalidInput, NotFound
from ...memory.conversation_text import has_external_content
from ...messages import ClineMessage, TaskId
from ...persistence import (
    ApiRecord,
    Fork,
    NewTaskRecord,
    StoredTaskState,
    TaskKey,
    TaskLog,
    TaskMetadata,
    TaskReader,
    fork_at,
)
from .._agent_services import AgentServices
from ..environment import renumbered
from ..task.task_metadata import model_of
from .history_items import TaskConfig, fresh_item

__all__ = ["fork_task"]

_ARTIFACT: Final = re.compile(r"(?<![0-9a-fA-F])[0-9a-f]{64}(?![0-9a-fA-F])")


async def fork_task(services: AgentServices, reader: TaskReader, ts: int) -> TaskId:
    """Make a task of the conversation up to and with the message ``ts``; its id. Half a fork is no task."""
    ui = [message async for message in reader.ui.iterate()]
    api = [record async for record in reader.api.iterate()]
    marks = [mark async for mark in reader.marks.iterate()]
    fork = fork_at(ui, api, marks, ts, renumber=renumbered)
    metadata, state = reader.metadata, await reader.read_state()
    item = state.history_item
    log = await services.store.create(
        NewTaskRecord(
            task_key=_key_of_fork(metadata),
            config={
                **model_of(metadata.config),
                **TaskConfig(TaskConfig.of(metadata.config).overrides, forked_at=ts).to_json(),
            },
            user=metadata.user,
            forked_from=reader.task_id,
            workspace=metadata.workspace,
            notebook=metadata.notebook,
            mode=item.mode if item else metadata.mode,
        )
    )
    whole = False
    try:
        await _copy(reader, log, fork)
        await _list(services, log, state, is_external=await has_external_content(reader))
        whole = True
    finally:
        await log.close()
        if not whole:
            await services.store.delete(log.task_id)
    return log.task_id


def _key_of_fork(metadata: TaskMetadata) -> TaskKey:
    """Where a copy comes from: whatever program began the original, our own agent goes on with it."""
    own = {} if TaskConfig.of(metadata.config).external_agent is None else {"task_source": TaskKey().task_source}
    return metadata.task_key.model_copy(update={"task_id": None, **own})


async def _copy(reader: TaskReader, log: TaskLog, fork: Fork) -> None:
    # What messages refer to comes first: a fork never names what it does not have.
    for name in _artifacts_named(fork.ui, fork.api):
        # Not every hash in a text is an artifact's name, and one may have been cleaned up.
        with suppress(NotFound, InvalidInput):
            await log.put_artifact(await reader.read_artifact(name))
    for message in fork.ui:
        await log.put_ui(message)
    for record in fork.api:
        await log.append_api(record)
    for mark in fork.marks:
        await log.append_mark(mark)
    await log.sync()


def _artifacts_named(ui: Iterable[ClineMessage], api: Iterable[ApiRecord]) -> list[str]:
    names: dict[str, None] = {}
    for said in ui:
        names.update(dict.fromkeys(_ARTIFACT.findall(said.to_json())))
    for record in api:
        names.update(dict.fromkeys(_ARTIFACT.findall(record.to_json())))
    return list(names)


async def _list(services: AgentServices, log: TaskLog, state: StoredTaskState, *, is_external: bool) -> None:
    item = fresh_item(log.metadata)
    original = state.history_item
    if original is not None:
        kept = {
            "task": original.task, "api_config_name": original.api_config_name, "mode": original.mode,
            "memory_off": original.memory_off, "approval_preset": original.approval_preset,
        }  # fmt: skip
        item = item.model_copy(update={**kept, "ts": log.last_ui_ts})
    # What may be remembered of the original may be of the copy, and no more.
    log.update_state(
        history_item=item, has_external_content=is_external or None, used_local_model=state.used_local_model
    )
    await log.save_state()
    if services.history is not None:
        # Nobody works on it before it is opened.
        left = item.model_copy(update={"state": "paused"})
        listed = await services.history.put(left, text=item.task, owner=log.metadata.user)
        log.update_state(history_item=item.model_copy(update={"number": listed.number}))
