"""Changing what was said: delete, edit and resend, rewind, undo, and going on in a copy. Each is one mark in the log."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal

from ..errors import InvalidInput
from ..messages import HistoryItem, TaskCreated, TaskId
from ..persistence import NewTask, TaskLog, TaskReader, fork_at
from ._items import TaskConfig, fresh_item
from ._outcomes import Again, Edited, Opening

if TYPE_CHECKING:
    from ._manager import TaskManager
    from ._task import Task

__all__ = ["MessageOperations"]

Newer = Literal["refuse", "set_aside"]


class MessageOperations:
    """What a person can do to a conversation. A task that works is stopped first, and asks before it goes on."""

    def __init__(self, manager: TaskManager) -> None:
        self._manager = manager

    async def delete(self, task_id: TaskId, ts: int) -> None:
        """Take back the message ``ts`` and all that followed. ``undo`` brings it back."""
        async with self._at_rest(task_id) as task:
            await self._refuse_first(task, ts)
            await task.conversation.history.rewind_to_timestamp(ts)

    async def rewind(self, task_id: TaskId, ts: int, *, keep: bool = True) -> None:
        """Go back to the message ``ts``, which stays if ``keep``. Files stay as they are."""
        async with self._at_rest(task_id) as task:
            if not keep:
                await self._refuse_first(task, ts)
            await task.conversation.history.rewind_to_timestamp(ts, include_target_message=keep)

    async def edit(self, task_id: TaskId, ts: int, text: str, images: Sequence[str] = ()) -> None:
        """Say something else instead of the message ``ts``, and go on from there."""
        if not text.strip() and not images:
            raise InvalidInput("An empty message cannot be sent. Delete it instead, or write something.", field="text")
        async with self._at_rest(task_id, Edited(text, tuple(images))) as task:
            history = task.conversation.history
            await history.rewind_to_timestamp(await history.edit_cutoff(ts))

    async def undo(self, task_id: TaskId, mark_id: str | None = None, *, newer: Newer = "refuse") -> None:
        """Take back the newest change, or the one named."""
        async with self._at_rest(task_id) as task:
            await task.conversation.history.undo(mark_id, newer=newer)

    async def redo(self, task_id: TaskId, *, newer: Newer = "refuse") -> None:
        """Take back the newest undo."""
        async with self._at_rest(task_id) as task:
            await task.conversation.history.redo(newer=newer)

    async def fork(self, task_id: TaskId, ts: int) -> TaskId:
        """A new task with the conversation up to and with ``ts``; its id. The old one stays as it is."""
        services = self._manager.services
        opened = self._manager.opened(task_id)
        reader: TaskReader = opened.conversation.log if opened else await services.store.view(task_id)
        ui = [message async for message in reader.ui.iterate()]
        api = [record async for record in reader.api.iterate()]
        marks = [mark async for mark in reader.marks.iterate()]
        fork = fork_at(ui, api, marks, ts)
        metadata = reader.metadata
        item = (await reader.read_state()).history_item
        overrides = TaskConfig.of(metadata.config).overrides
        log = await services.store.create(
            NewTask(
                config=TaskConfig(overrides, forked_at=ts).to_json(),
                user=metadata.user,
                forked_from=task_id,
                workspace=metadata.workspace,
                notebook=metadata.notebook,
                mode=item.mode if item else metadata.mode,
            )
        )
        try:
            for message in fork.ui:
                await log.put_ui(message)
            for record in fork.api:
                await log.append_api(record)
            for mark in fork.marks:
                await log.append_mark(mark)
            await log.sync()
            await self._list(log, item)
        finally:
            await log.close()
        self._manager.events.emit(TaskCreated(payload=(log.task_id,)))
        return log.task_id

    async def _list(self, log: TaskLog, original: HistoryItem | None) -> None:
        item = fresh_item(log.metadata)
        if original is not None:
            kept = {"task": original.task, "api_config_name": original.api_config_name, "mode": original.mode}
            item = item.model_copy(update={**kept, "ts": log.last_ui_ts})
        log.update_state(history_item=item)
        await log.save_state()
        history = self._manager.services.history
        if history is not None:
            await history.put(item, text=item.task, owner=log.metadata.user)

    async def _refuse_first(self, task: Task, ts: int) -> None:
        visible = task.conversation.history.view.visible_ui
        async for message in task.conversation.log.ui.iterate():
            if message.ts in visible:
                if message.ts == ts:
                    raise InvalidInput(
                        "This message is the task itself. Edit it, or delete the task.", field="messageTs", ts=ts
                    )
                return

    @asynccontextmanager
    async def _at_rest(self, task_id: TaskId, opening: Opening | None = None) -> AsyncIterator[Task]:
        """The task with nothing under way. Afterwards it goes on as ``opening`` says, or asks, or is closed as before."""
        task = self._manager.opened(task_id)
        was_open = task is not None
        if task is None:
            task = await self._manager.open_at_rest(task_id)
        else:
            await task.halt()
        changed = False
        try:
            yield task
            changed = True
            task.conversation.shown_changed()
        finally:
            if changed and opening is not None:
                task.launch(opening)
            elif was_open:
                task.launch(Again())
            else:
                await self._manager.close(task_id)
