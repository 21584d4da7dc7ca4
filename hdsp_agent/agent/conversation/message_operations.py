"""Changing what was said: delete, edit and resend, ask again, rewind, undo, and going on in a copy. Each is one mark in the log."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, assert_never
from weakref import WeakValueDictionary

from ..._background_tasks import STOP_SECONDS, BackgroundTasks
from ...errors import Conflict, InvalidInput, NotFound, UnknownTask, Unsupported
from ...messages import (
    Attachment,
    ClineMessage,
    ConversationChange,
    ConversationPreview,
    GoBack,
    TakeBack,
    TaskCreated,
    TaskId,
    TimeSpan,
    UndoOrRedo,
)
from ...persistence import MessageManager, RewindEffect, SpanSet, TaskReader, history_to_read
from .._ports import ConversationShown
from ..checkpoints.file_rollback import FileRollback
from ..checkpoints.interrupted_restores import InterruptedRestores
from ..task.outcomes import Again, Edited, Opening, Retried
from ..task.recorded_state import last_that_counts, unanswered_calls
from .fork import fork_task
from .history_items import HistoryItemChange, TaskConfig
from .side_effects import SideEffectCounter
from .user_text import says_something

if TYPE_CHECKING:
    from ...checkpoints import RestoredConversation
    from ...checkpoints.timeline import ConversationPart
    from ...persistence import Newer, RewindMark, UndoMark
    from ..task.subtasks import Subtasks
    from ..task.task import Task
    from ..task.task_pool import TaskPool

__all__ = ["MessageOperations", "RewindTransaction"]

_LAST_SECONDS: Final = 1.0
_WHETHER_TO_GO_ON: Final = frozenset({"resume_task", "resume_completed_task"})
_SHOWN: Final = 50
"""As many messages as a page begins with; what comes back is told one by one up to that."""


class MessageOperations:
    """What a person can do to a conversation. A task that works is stopped first, and asks before it goes on.

    What cannot be done is refused before anything is stopped or changed.
    """

    def __init__(self, tasks: TaskPool, subtasks: Subtasks) -> None:
        self._tasks = tasks
        self._subtasks = subtasks
        self._files = FileRollback(tasks.services)
        self._held = BackgroundTasks()
        self._locks: WeakValueDictionary[TaskId, asyncio.Lock] = WeakValueDictionary()

    async def delete(self, task_id: TaskId, ts: int, *, files: bool = False) -> None:
        """Take back the message ``ts`` and all that followed. ``undo`` brings it back.

        With ``files`` the workspace goes back too, to before what the agent did in that part; so it is with the others.
        """
        await self._make(task_id, TakeBack(operation="delete", message_ts=ts), files=files)

    async def rewind(self, task_id: TaskId, ts: int, *, keep: bool = True, files: bool = False) -> None:
        """Go back to the message ``ts``, which stays if ``keep``."""
        await self._make(task_id, GoBack(operation="rewind", message_ts=ts, keep=keep), files=files)

    async def edit(
        self,
        task_id: TaskId,
        ts: int,
        text: str,
        images: Sequence[str] = (),
        attachments: Sequence[Attachment] = (),
        *,
        files: bool = False,
    ) -> None:
        """Say something else instead of the message ``ts``, and go on from there."""
        edited = Edited(text, tuple(images), tuple(attachments))
        if not says_something(edited):
            raise InvalidInput("An empty message cannot be sent. Delete it instead, or write something.", field="text")
        await self._refuse_external(task_id)
        change = TakeBack(operation="edit", message_ts=ts)
        await self._make(task_id, change, opening=edited, files=files)

    async def retry(self, task_id: TaskId, ts: int, *, files: bool = False) -> None:
        """Have the model answer anew: the answer that the message ``ts`` is part of goes, with all that followed."""
        await self._refuse_external(task_id)
        await self._make(task_id, TakeBack(operation="retry", message_ts=ts), opening=Retried(), files=files)

    async def undo(self, task_id: TaskId, mark_id: str | None = None, *, newer: Newer = "refuse") -> None:
        """Take back the newest change, or the one named."""
        await self._make(task_id, UndoOrRedo(operation="undo", mark_id=mark_id), newer=newer)

    async def redo(self, task_id: TaskId, mark_id: str | None = None, *, newer: Newer = "refuse") -> None:
        """Take back the newest undo, or the one named."""
        await self._make(task_id, UndoOrRedo(operation="redo", mark_id=mark_id), newer=newer)

    async def preview(self, task_id: TaskId, change: ConversationChange, *, files: bool = False) -> ConversationPreview:
        """What a change would take back, with ``files`` also of the workspace. Nothing is stopped or changed by looking."""
        along = files or isinstance(change, UndoOrRedo)
        history = await self._to_look_at(task_id)
        foreseen = await _foresee(history, change)
        removed, restored = SideEffectCounter(), SideEffectCounter()
        async for message in history.messages_in(foreseen.removed):
            removed.add(message)
        async for message in history.messages_in(foreseen.restored):
            restored.add(message)
        effects, more = removed.told()
        return ConversationPreview(
            operation=change.operation,
            removed=removed.said,
            restored=restored.said,
            tool_calls=removed.tool_calls,
            effects=effects,
            more_effects=more,
            can_be_undone=bool(removed.messages or restored.messages),
            gone_on=foreseen.gone_on,
            stops_task=self._tasks.status(task_id) == "running",
            files=await self._files.preview(await self._reader(task_id), history, change, removed.acts)
            if along
            else None,
        )

    async def fork(self, task_id: TaskId, ts: int) -> TaskId:
        """A new task with the conversation up to and with ``ts``; its id. The old one stays as it is."""
        fork = await fork_task(self._tasks.services, await self._reader(task_id), ts)
        self._tasks.events.emit(TaskCreated(payload=(fork,)))
        return fork

    async def close(self) -> None:
        """Wait for what is under way."""
        await self._held.drain(STOP_SECONDS)

    # ---- for a checkpoint that is gone back to

    async def is_kept(self, task_id: TaskId) -> bool:
        """Whether a task was not deleted."""
        try:
            await self._tasks.services.store.view(task_id)
        except UnknownTask:
            return False
        return True

    async def foreseen(self, task_id: TaskId, change: ConversationChange) -> ConversationPreview | None:
        """What a change would do, as a part of a preview; None where the conversation would stay as it is."""
        preview = await self.preview(task_id, change)
        return preview if preview.can_be_undone else None

    async def ends_before(self, task_id: TaskId, ts: int) -> bool:
        """Whether the message ``ts``, and all that followed, was taken back and nothing was said since."""
        history = await self._to_look_at(task_id)
        if ts in history.view.visible_ui:
            return False
        newest = [one for one in await history.ui_page(limit=_SHOWN) if not InterruptedRestores.is_its_own(one)]
        return all(one.ts < ts or (one.ask in _WHETHER_TO_GO_ON and not one.is_answered) for one in newest)

    @asynccontextmanager
    async def going_back(
        self, task_id: TaskId, change: ConversationChange, *, newer: Newer = "refuse"
    ) -> AsyncIterator[ConversationPart]:
        """The conversation as a part of a restore: at rest until that is done, then it asks whether to go on from there."""
        async with self._lock(task_id):
            await self._refuse_early(task_id, change, newer, files=False)
            async with self._at_rest(task_id) as task:
                await task.state.cancellation.gone(_LAST_SECONDS)
                yield RewindTransaction(self, task, change)

    @asynccontextmanager
    async def settling(
        self, went: RestoredConversation, asked_in: TaskId | None
    ) -> AsyncIterator[ConversationPart | None]:
        """The conversation that went back with a restore that was cut short, at rest until that is settled; None if nothing
        of it is to be put back. ``asked_in`` is the task that asked what becomes of the restore, and waits until it is done.
        """
        task_id = went.task_id
        async with self._lock(task_id):
            if not await self._went(went):
                yield None
                return
            change = UndoOrRedo(operation="undo", mark_id=went.mark_id)
            asking = self._tasks.opened(task_id) if asked_in == task_id else None
            if asking is not None:
                yield RewindTransaction(self, asking, change)
                return
            await self._subtasks.refuse_beside_child(task_id)
            async with self._at_rest(task_id) as task:
                await task.state.cancellation.gone(_LAST_SECONDS)
                yield RewindTransaction(self, task, change)

    async def _went(self, went: RestoredConversation) -> bool:
        """Whether the conversation is still kept, and the mark was made before the crash."""
        try:
            return (await self._to_look_at(went.task_id)).counts(went.mark_id)
        except UnknownTask:
            return False

    async def change_at_rest(
        self,
        task: Task,
        change: ConversationChange,
        *,
        newer: Newer = "set_aside",
        files: str | None = None,
        mark_id: str | None = None,
    ) -> str | None:
        """Change the conversation of a task at rest; the id of the mark, None if there was nothing to change.

        ``mark_id`` is what the mark is to be called.
        """
        history = task.state.conversation.history
        before = history.view.visible_ui
        mark = await _do(history, change, newer, files, mark_id)
        await self._settle_item(task)
        task.state.conversation.shown_changed(await _shown(history, before))
        return None if mark is None else mark.id

    # ---- inside

    async def _make(
        self,
        task_id: TaskId,
        change: ConversationChange,
        *,
        newer: Newer = "refuse",
        opening: Opening | None = None,
        files: bool = False,
    ) -> None:
        # Files and conversation change both or neither, even if whoever asked goes away in between.
        await self._held.finish(self._make_whole(task_id, change, newer, opening, files))

    async def _make_whole(
        self, task_id: TaskId, change: ConversationChange, newer: Newer, opening: Opening | None, files: bool
    ) -> None:
        async with self._lock(task_id):
            await self._refuse_early(task_id, change, newer, files)
            async with self._at_rest(task_id, opening) as task:
                # A tool that is slow to end must not write behind what is brought back.
                await task.state.cancellation.gone(_LAST_SECONDS)
                history = task.state.conversation.history
                async with self._files.moved(task.state.conversation.log, history, change, wanted=files) as operation:
                    await self.change_at_rest(task, change, newer=newer, files=operation)

    async def _refuse_early(self, task_id: TaskId, change: ConversationChange, newer: Newer, files: bool) -> None:
        """Raise what the change would, while the task still works undisturbed."""
        await self._subtasks.refuse_beside_child(task_id)
        history = await self._to_look_at(task_id)
        foreseen = await _foresee(history, change)
        if foreseen.gone_on and newer == "refuse":
            raise Conflict("The conversation has continued since. Confirm to set aside what is newer.", task=task_id)
        await self._files.refuse_early(await self._reader(task_id), history, change, wanted=files)

    async def _refuse_external(self, task_id: TaskId) -> None:
        """Raise Unsupported for the conversation of a program outside: nobody but the program can go on with it."""
        name = TaskConfig.of((await self._reader(task_id)).metadata.config).external_agent
        if name is not None:
            raise Unsupported(f"Only {name} can continue this conversation. Ask it there, or copy the conversation.")

    async def _reader(self, task_id: TaskId) -> TaskReader:
        task = self._tasks.opened(task_id)
        return task.state.conversation.log if task else await self._tasks.services.store.view(task_id)

    async def _to_look_at(self, task_id: TaskId) -> MessageManager:
        task = self._tasks.opened(task_id)
        return task.state.conversation.history if task else await history_to_read(await self._reader(task_id))

    def _lock(self, task_id: TaskId) -> asyncio.Lock:
        """Two tabs may change one conversation at a time; the second change is judged by what the first left."""
        return self._locks.setdefault(task_id, asyncio.Lock())

    async def _settle_item(self, task: Task) -> None:
        """Let the task's line in the history say what its conversation now ends with."""
        conversation = task.state.conversation
        done = last_that_counts(await conversation.history.ui_page(limit=_SHOWN)) == "completion_result"
        changes: HistoryItemChange = {"status": "completed" if done else "active"}
        if task.state.item.awaiting_child_id is not None:
            calls = await unanswered_calls(conversation.log, conversation.history.view)
            if any(call.get("name") == "new_task" for call in calls):
                return
            changes = {**changes, "awaiting_child_id": None, "delegated_to_id": None}
        if task.state.item.status == changes["status"]:
            return
        # Not through the task's own note: it has not counted again what was spent.
        task.state.item = task.state.item.model_copy(update=dict(changes))
        conversation.log.update_state(history_item=task.state.item)
        await conversation.log.save_state()
        history = self._tasks.services.history
        if history is not None:
            await history.put(task.state.item, owner=conversation.log.metadata.user)

    @asynccontextmanager
    async def _at_rest(self, task_id: TaskId, opening: Opening | None = None) -> AsyncIterator[Task]:
        """The task with nothing under way. Afterwards it goes on as ``opening`` says, or asks, or is closed as before."""
        task = self._tasks.opened(task_id)
        if task is not None:
            await task.halt()
            if self._tasks.opened(task_id) is not task:
                # It came to its end by itself just then.
                task = None
        was_open = task is not None
        if task is None:
            task = await self._tasks.open_at_rest(task_id)
        changed = False
        try:
            yield task
            changed = True
        finally:
            done = task.state.item.status == "completed"
            if changed and opening is not None:
                task.launch(opening)
            elif was_open and not done:
                task.launch(Again())
            else:
                if done and was_open:
                    task.state.dialogue.resting_with("completion_result")
                await self._tasks.close(task_id, finished=done)


class RewindTransaction:
    """The conversation of a task at rest, as the part of a restore that changes last and is put back first."""

    def __init__(self, operations: MessageOperations, task: Task, change: ConversationChange) -> None:
        self._operations = operations
        self._task = task
        self._change = change

    @property
    def task_id(self) -> TaskId:
        """Whose it is."""
        return self._task.task_id

    async def go_back(self, mark_id: str) -> None:
        """Do the change; its mark gets this id."""
        await self._do(self._change, mark_id)

    async def undo(self, mark_id: str, as_mark: str) -> None:
        """Take a change back; the new mark gets the id ``as_mark``."""
        await self._do(UndoOrRedo(operation="undo", mark_id=mark_id), as_mark)

    async def put_back(self, mark_id: str) -> None:
        """Undo this mark, if it counts and the conversation has not gone on since."""
        state = self._task.state
        history = state.conversation.history
        if not history.counts(mark_id):
            return
        if (await history.foresee_undo(mark_id, aside=InterruptedRestores.is_its_own)).gone_on:
            state.logger.warning(
                "The conversation continued after it was rewound, so it stays as it is (mark %s)", mark_id
            )
            return
        await self._operations.change_at_rest(self._task, UndoOrRedo(operation="undo", mark_id=mark_id))

    async def _do(self, change: ConversationChange, mark_id: str) -> None:
        if await self._operations.change_at_rest(self._task, change, mark_id=mark_id) is None:
            raise NotFound("There is nothing to undo in this conversation.", task=self.task_id)


async def _foresee(history: MessageManager, change: ConversationChange) -> RewindEffect:
    """What a change would do; raises why it cannot be."""
    match change:
        case TakeBack(operation="edit", message_ts=ts):
            return await history.foresee_rewind(await history.edit_cutoff(ts))
        case TakeBack(operation="retry", message_ts=ts):
            return await history.foresee_retry(ts)
        case TakeBack(message_ts=ts):
            return await _foresee_rewind(history, ts, keep=False)
        case GoBack(message_ts=ts, keep=keep):
            return await _foresee_rewind(history, ts, keep=keep)
        case UndoOrRedo(operation="undo", mark_id=mark_id):
            return await history.foresee_undo(mark_id)
        case UndoOrRedo(mark_id=mark_id):
            return await history.foresee_redo(mark_id)
        case _:
            assert_never(change)


async def _foresee_rewind(history: MessageManager, ts: int, *, keep: bool) -> RewindEffect:
    if not keep and ts == await history.first_ts():
        raise InvalidInput("This is the first message. Edit it, or delete the conversation.", field="messageTs", ts=ts)
    return await history.foresee_rewind(ts, include_target_message=keep)


async def _do(
    history: MessageManager, change: ConversationChange, newer: Newer, files: str | None, mark_id: str | None
) -> RewindMark | UndoMark | None:
    match change:
        case TakeBack(operation="edit", message_ts=ts):
            cutoff = await history.edit_cutoff(ts)
            return await history.rewind_to_timestamp(cutoff, files=files, mark_id=mark_id)
        case TakeBack(operation="retry", message_ts=ts):
            return await history.rewind_answer(ts, files=files, mark_id=mark_id)
        case TakeBack(message_ts=ts):
            return await history.rewind_to_timestamp(ts, files=files, mark_id=mark_id)
        case GoBack(message_ts=ts, keep=keep):
            return await history.rewind_to_timestamp(ts, include_target_message=keep, files=files, mark_id=mark_id)
        case UndoOrRedo(operation="undo", mark_id=target):
            return await history.undo(target, newer=newer, files=files, as_mark=mark_id)
        case UndoOrRedo(mark_id=target):
            return await history.redo(target, newer=newer, files=files)
        case _:
            assert_never(change)


async def _shown(history: MessageManager, before: SpanSet) -> ConversationShown:
    """What is different on screen since ``before``: as much as changed, and never more than a page of messages."""
    now = history.view.visible_ui
    removed = [TimeSpan(first=span.first, last=span.last) for span in before.minus(now).items]
    restored: list[ClineMessage] = []
    async for message in history.messages_in(now.minus(before)):
        restored.append(message)
        if len(restored) > _SHOWN:
            break
    newest = await history.ui_page(limit=_SHOWN + 1)
    return ConversationShown(
        removed=removed,
        restored=restored if len(restored) <= _SHOWN else None,
        newest=newest[-_SHOWN:],
        has_older=len(newest) > _SHOWN,
        marks=history.newest_marks,
    )
