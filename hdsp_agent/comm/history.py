"""The conversations that are kept: found, looked at, renamed, deleted, each person their own.

Whatever changes is changed in the task's folder first, then in the index, then told to all of its owner's tabs.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from .._background_tasks import BackgroundTasks
from ..errors import Conflict, HdspAgentError, NotFound, UnknownTask
from ..messages import (
    AggregatedCosts,
    ClineMessage,
    ConversationChangedMessage,
    ConversationMarks,
    ConversationMarksUpdatedMessage,
    CurrentCheckpointUpdatedMessage,
    HistoryItem,
    MessageUpdated,
    ModelRoom,
    NotebookRef,
    Rename,
    TaskHistoryItemsRemovedMessage,
    TaskHistoryItemUpdatedMessage,
    TaskHistoryUpdatedMessage,
    TaskId,
    TimeSpan,
    TokenUsage,
)
from ..persistence import (
    HistoryChange,
    HistoryPage,
    HistoryPlaces,
    HistoryQuery,
    StoredTaskState,
    TaskReader,
    TaskSizes,
    TaskStore,
    as_left,
    effective_ui,
    history_item,
    newest_marks,
)
from ._channel_hub import ChannelHub
from ._owner import Owner
from .context_sizes import ContextSizes
from .live_messages import ends_in_failure
from .open_tasks import OpenTasks, OpenTaskStatus, needs_person
from .task_storage import TaskStorage
from .task_view import ActiveTask, ItemChange, MessagePage, ShownTask, TaskDetails, after_rename

__all__ = ["ActiveTask", "History", "ItemChange", "MessagePage", "ShownTask", "TaskDetails", "unknown_task"]

_FIRST_PAGE: Final = 50
_READ_AHEAD: Final = 100
_MOST_STANDING: Final = 256
_MOST_MOVED: Final = 200
"""Of older conversations about a notebook, as many follow when it is renamed."""


class History:
    """What people may do with stored conversations. A task that is another's is as unknown as one that is not there."""

    def __init__(self, storage: TaskStorage, channels: ChannelHub, rooms: ContextSizes) -> None:
        self._storage = storage
        self._sizes = TaskSizes()
        self._channels = channels
        self._rooms = rooms
        self._shown: dict[Owner, ShownTask] = {}
        self._checkpoints: dict[str, str] = {}
        self._held = BackgroundTasks()
        self._stopping = False
        self._worked_on: ActiveTask | None = None
        self.open_tasks: Final = OpenTasks(channels, self.details)
        self.on_screen: Callable[[Owner, str | None], None] = lambda owner, task_id: None
        """Told what is on an owner's tabs from now on."""
        self.on_deleted: Callable[[Owner, list[str]], Awaitable[None]] = _nothing_else
        """Awaited when a person has deleted conversations, not when they went by age."""

    @property
    def person(self) -> Owner:
        """Whose it is what nobody's name is on."""
        return Owner(self._storage.person)

    def attach(self, worked_on: ActiveTask) -> None:
        """Ask there about tasks that are worked on."""
        self._worked_on = worked_on

    async def stop(self) -> None:
        """Finish what is under way."""
        self._stopping = True
        self.open_tasks.stop()
        await self._held.drain()

    # ---- looking

    async def page(self, owner: Owner, query: HistoryQuery) -> HistoryPage:
        """A page of the owner's history."""
        index = await self._storage.index()
        return await index.search(replace(query, owner=owner))

    async def places(self, owner: Owner) -> HistoryPlaces:
        """The folders and notebooks the owner's conversations are about."""
        return await (await self._storage.index()).places(owner)

    async def item(self, owner: Owner, task_id: str) -> HistoryItem:
        """One line of the history, as the task's folder has it."""
        reader = await self.task(owner, task_id)
        return await self._item_of(reader, await reader.read_state())

    async def task(self, owner: Owner, task_id: str) -> TaskReader:
        """A task to look at."""
        store = await self._storage.store()
        reader = await store.view(TaskId(task_id))
        if (reader.metadata.user or self._storage.person) != owner:
            raise unknown_task(task_id)
        return reader

    async def has(self, owner: Owner, task_id: str) -> bool:
        """Whether the owner has this task, be it only as an entry whose folder is gone."""
        try:
            await self.task(owner, task_id)
        except UnknownTask:
            return await self._is_entry_of(owner, task_id)
        return True

    async def _is_entry_of(self, owner: Owner, task_id: str) -> bool:
        entry = await (await self._storage.index()).get(task_id)
        return entry is not None and entry.owner == owner

    async def messages(
        self, owner: Owner, task_id: str, *, before: int | None = None, limit: int = _FIRST_PAGE
    ) -> MessagePage:
        """The newest messages a person sees of a conversation, or those before a time; rewound ones are left out."""
        reader = await self.task(owner, task_id)
        marks = [mark async for mark in reader.marks.iterate()]
        seen: list[ClineMessage] = []
        # One more than asked for tells whether there are older ones.
        while len(seen) <= limit:
            page = await reader.ui.page(before=before, limit=max(limit + 1, _READ_AHEAD if marks else 0))
            if not page:
                break
            seen = [*effective_ui(page, marks), *seen]
            before = page[0].ts
        return MessagePage(seen[-limit:], len(seen) > limit)

    async def plight_in_log(self, owner: Owner, task_id: str) -> OpenTaskStatus:
        """Whether the last word of a task that nobody works on is a question without which it does not go on, or an error."""
        page = await self.messages(owner, task_id, limit=2)
        last = page.messages[-1] if page.messages else None
        needs_you = last is not None and needs_person(last.ask) and last.is_answered is None and not last.partial
        return OpenTaskStatus(needs_you, ends_in_failure(page.messages))

    async def _marks(self, owner: Owner, task_id: str) -> ConversationMarks:
        reader = await self.task(owner, task_id)
        return newest_marks([mark async for mark in reader.marks.iterate()])

    async def costs(self, owner: Owner, task_id: str) -> AggregatedCosts:
        """What a task cost together with its subtasks."""
        await self.task(owner, task_id)
        costs = await (await self._storage.index()).costs(task_id)
        return AggregatedCosts(
            total_cost=costs.total_cost, own_cost=costs.own_cost, children_cost=costs.children_cost
        )  # fmt: skip

    # ---- on screen

    def shown(self, owner: Owner) -> ShownTask | None:
        """The conversation on the owner's tabs, as it is now."""
        shown = self._shown.get(owner)
        return shown if shown is None or self._worked_on is None else self._worked_on.current(shown)

    def shows(self, owner: Owner, task_id: str) -> bool:
        """Whether this conversation is on the owner's tabs."""
        shown = self._shown.get(owner)
        return shown is not None and shown.item.id == task_id

    def shown_id(self, owner: Owner) -> str | None:
        """The conversation on the owner's tabs, by its id."""
        shown = self._shown.get(owner)
        return None if shown is None else shown.item.id

    def room_on_screen(self, owner: Owner) -> ModelRoom | None:
        """What the model of the conversation on the owner's tabs takes in, as far as that is known without asking."""
        shown = self._shown.get(owner)
        return None if shown is None else shown.room

    def meant(self, owner: Owner, task_id: TaskId | None) -> TaskId:
        """The task a request is about: the one it names, or the one on screen."""
        if task_id is not None:
            return task_id
        shown = self._shown.get(owner)
        if shown is None:
            raise NotFound("No conversation is open. Open one from the history, or start a new one.")
        return TaskId(shown.item.id)

    def details(self, task_id: str) -> TaskDetails | None:
        """What a task is doing; None if it is not worked on."""
        return None if self._worked_on is None else self._worked_on.details(task_id)

    async def open(self, owner: Owner, task_id: str) -> None:
        """Put a conversation among the owner's open ones, and show none other than before."""
        reader = await self.task(owner, task_id)
        self.open_tasks.put(owner, await self._item_of(reader, await reader.read_state()))

    async def show(self, owner: Owner, task_id: str) -> None:
        """Show a conversation on all of the owner's tabs."""
        reader = await self.task(owner, task_id)
        state = await reader.read_state()
        item = await self._item_of(reader, state)
        page = await self.messages(owner, task_id)
        marks = await self._marks(owner, task_id)
        room = await self._rooms.of(item.api_config_name)
        self._leave(owner)
        self._shown[owner] = ShownTask(item, page.messages, page.has_older, marks, _usage(item, state), room)
        self.open_tasks.put(owner, item)
        self.on_screen(owner, task_id)
        self._channels.publish_state(owner)
        current = self.shown(owner)
        for message in current.messages if current is not None else ():
            if message.partial:
                # What is appended to it from here on counts from its length now.
                self._channels.publish_to(owner, MessageUpdated(task_id=task_id, cline_message=message))

    def changed(
        self,
        owner: Owner,
        task_id: str,
        page: MessagePage,
        marks: ConversationMarks,
        *,
        removed: Sequence[TimeSpan],
        restored: Sequence[ClineMessage] | None,
        on_screen: Sequence[ClineMessage],
    ) -> None:
        """The conversation on screen begins tabs with this page now; of all that was ``on_screen``, only this is different.

        Tabs get what went and what came back. Where nothing of what they began with is left, or too much comes back to
        tell (None), they begin anew.
        """
        shown = self._shown[owner]
        self._shown[owner] = replace(shown, messages=page.messages, has_older=page.has_older, marks=marks)
        self._channels.forget_task(owner, task_id)
        left = any(all(not span.first <= message.ts <= span.last for span in removed) for message in on_screen)
        if restored is None or not left:
            self._channels.publish_state(owner)
            return
        self._channels.publish_to(
            owner,
            ConversationChangedMessage(task_id=task_id, removed=list(removed), restored=list(restored), marks=marks),
        )

    def marked(self, owner: Owner, task_id: str, marks: ConversationMarks) -> None:
        """Other changes can be undone and redone now in the conversation on screen."""
        shown = self._shown[owner]
        if shown.marks != marks:
            self._shown[owner] = replace(shown, marks=marks)
            self._channels.publish_to(owner, ConversationMarksUpdatedMessage(task_id=task_id, marks=marks))

    def stands_at(self, owner: Owner, commit: str, task_id: str | None) -> None:
        """The owner's workspace, as far as a task has to do with it, is in this state now; pages look at time lines again."""
        if task_id is not None:
            self._checkpoints.pop(task_id, None)
            self._checkpoints[task_id] = commit
            if len(self._checkpoints) > _MOST_STANDING:
                del self._checkpoints[next(iter(self._checkpoints))]
        self._channels.publish_to(owner, CurrentCheckpointUpdatedMessage(text=commit, task_id=task_id))

    def checkpoint_of(self, task_id: str) -> str | None:
        """The state that a task was told of last, since the server was started."""
        return self._checkpoints.get(task_id)

    def hide(self, owner: Owner) -> None:
        """Show no conversation any more."""
        if self._leave(owner):
            self.on_screen(owner, None)
            self._channels.publish_state(owner)

    def _leave(self, owner: Owner) -> bool:
        shown = self._shown.pop(owner, None)
        if shown is not None:
            self._channels.forget_task(owner, shown.item.id)
        return shown is not None

    # ---- changing

    async def change(self, owner: Owner, task_id: str, change: ItemChange) -> HistoryItem:
        """Give a task another title, make it a favourite or an ordinary one. Refused while another process works on it."""
        reader = await self.task(owner, task_id)
        if self._worked_on is not None and (item := await self._worked_on.change(task_id, change)) is not None:
            return item
        known = await self._item_of(reader, await reader.read_state())

        def apply(state: StoredTaskState) -> StoredTaskState:
            return state.model_copy(update={"history_item": _changed(state.history_item or known, change)})

        store = await self._storage.store()
        return await self._held.finish(self._change(store, owner, TaskId(task_id), apply))

    async def put(self, owner: Owner, item: HistoryItem, *, text: str | None = None) -> HistoryItem:
        """Let the index and the tabs follow what a task's own state says already. The line as it is listed."""
        try:
            item = await self._upsert(owner, item, text)
        except UnknownTask:
            # Deleted meanwhile: there is nothing to list any more.
            return item
        except HdspAgentError:
            # The folders say it already; the index will when it can.
            self._storage.fell_behind()
        self._tell_item(owner, item)
        return item

    async def delete(self, owner: Owner, task_ids: Sequence[str]) -> list[str]:
        """Delete tasks with all their subtasks; none of them if one of them is worked on or unknown. The ids deleted."""
        store = await self._storage.store()
        return await self._held.finish(self._delete(store, owner, task_ids))

    # ---- hearing

    def others_changed(self, change: HistoryChange) -> None:
        """Another process changed the history, or it was made anew."""
        if not self._stopping:
            self._held.begin(self._tell_of_others(change))

    def notebook_moved(self, old: str, new: str) -> None:
        """A notebook, or a folder, was renamed: conversations about it, and those that are open, say its new name now."""
        if not self._stopping:
            self._held.begin(self._follow_notebook(old, new))

    async def _follow_notebook(self, old: str, new: str) -> None:
        at = time.time_ns() // 1_000_000
        about = self.open_tasks.all()
        with suppress(HdspAgentError):
            page = await (await self._storage.index()).search(HistoryQuery(place=old, limit=_MOST_MOVED))
            about = {**{hit.item.id: Owner(hit.owner or self._storage.person) for hit in page.hits}, **about}
        for task_id, owner in about.items():
            # One that another process works on, or that was deleted meanwhile, stays as it is.
            with suppress(HdspAgentError):
                item = await self.item(owner, task_id)
                await self.change(owner, task_id, ItemChange(rename=Rename(old=old, new=new, ts=max(at, item.ts))))

    def removed(self, task_ids: Sequence[str]) -> None:
        """These tasks went without anybody's asking, by age."""
        if task_ids:
            for owner in self._channels.owners:
                # Whose they were is not known any more; ids of tasks that are gone tell nobody anything.
                self._tell_removed(owner, task_ids)

    async def _change(
        self, store: TaskStore, owner: Owner, task_id: TaskId, apply: Callable[[StoredTaskState], StoredTaskState]
    ) -> HistoryItem:
        try:
            state = await store.amend(task_id, apply)
        except Conflict as error:
            raise _busy(task_id, "changed") from error
        assert state.history_item is not None
        return await self.put(owner, as_left(state.history_item, state))

    def _tell_item(self, owner: Owner, item: HistoryItem) -> None:
        shown = self._shown.get(owner)
        if shown is not None and shown.item.id == item.id:
            self._shown[owner] = replace(shown, item=item)
        self.open_tasks.item_changed(owner, item)
        self._channels.publish_to(owner, TaskHistoryItemUpdatedMessage(task_history_item=item))

    def _tell_removed(self, owner: Owner, task_ids: Sequence[str]) -> None:
        self._channels.publish_to(owner, TaskHistoryItemsRemovedMessage(task_ids=list(task_ids)))
        self.open_tasks.remove(owner, task_ids)
        shown = self._shown.get(owner)
        if shown is not None and shown.item.id in task_ids:
            self.hide(owner)

    async def _upsert(self, owner: Owner, item: HistoryItem, text: str | None) -> HistoryItem:
        size = await self._sizes.of(item, await self._storage.store())
        item = item.model_copy(update={"size": size})
        return await (await self._storage.index()).upsert(item, text=text, owner=owner)

    async def _follow(self, work: Awaitable[None]) -> None:
        """Let the index follow what the folders say already; if it cannot just now, it will."""
        try:
            await work
        except HdspAgentError:
            self._storage.fell_behind()

    async def _delete(self, store: TaskStore, owner: Owner, task_ids: Sequence[str]) -> list[str]:
        index = await self._storage.index()
        family: dict[str, None] = {}
        for task_id in task_ids:
            await self._family(owner, task_id, family, named=True)
        for task_id in family:
            await _check_free(store, task_id)
        deleted: list[str] = []
        try:
            # A subtask never outlives what it is part of; a crash leaves the whole, with fewer parts.
            for task_id in reversed(family):
                with suppress(UnknownTask):
                    await store.delete(TaskId(task_id))
                deleted.append(task_id)
        except Conflict as error:
            raise _busy(task_id, "deleted") from error
        else:
            await self._follow(self._delete_unlisted(store, owner, task_ids, deleted))
        finally:
            if deleted:
                await self._follow(index.forget(deleted))
                self._tell_removed(owner, deleted)
                await self.on_deleted(owner, deleted)
        return deleted

    async def _delete_unlisted(
        self, store: TaskStore, owner: Owner, task_ids: Sequence[str], deleted: list[str]
    ) -> None:
        """Delete the subtasks that only they themselves say are part of these; one that is worked on stays."""
        index = await self._storage.index()
        for named in task_ids:
            with suppress(UnknownTask):
                for task_id in await index.delete(named):
                    if task_id in deleted:
                        continue
                    try:
                        await store.delete(TaskId(task_id))
                    except Conflict:
                        await self._upsert(owner, await self.item(owner, task_id), None)
                        continue
                    except UnknownTask:
                        pass
                    deleted.append(task_id)

    async def _family(self, owner: Owner, task_id: str, family: dict[str, None], *, named: bool) -> None:
        """Add a task and its subtasks, parents first."""
        if task_id in family:
            return
        # An entry without a folder is what a crash left of a deletion.
        if not await self.has(owner, task_id):
            if named:
                raise unknown_task(task_id)
            return
        family[task_id] = None
        entry = await (await self._storage.index()).get(task_id)
        for child in (entry.item.child_ids or ()) if entry is not None else ():
            await self._family(owner, child, family, named=False)

    async def _tell_of_others(self, change: HistoryChange) -> None:
        if change.everything:
            await self._storage.adopt()
            for owner in self._channels.owners:
                page = await self.page(owner, HistoryQuery(limit=_FIRST_PAGE))
                items = [hit.item for hit in page.hits]
                self._channels.publish_to(owner, TaskHistoryUpdatedMessage(task_history=items))
            return
        index = await self._storage.index()
        for item in change.changed:
            entry = await index.get(item.id)
            if entry is None:
                continue
            owner = Owner(entry.owner or self._storage.person)
            if not entry.owner:
                # Brought in by a command that knows no persons.
                await index.upsert(entry.item, owner=owner)
            self._tell_item(owner, entry.item)
            await self._refresh_shown(owner, item.id)
        self.removed(change.removed)

    async def _refresh_shown(self, owner: Owner, task_id: str) -> None:
        shown = self._shown.get(owner)
        if shown is not None and shown.item.id == task_id:
            with suppress(UnknownTask):
                await self.show(owner, task_id)

    async def _item_of(self, reader: TaskReader, state: StoredTaskState) -> HistoryItem:
        first = [] if state.history_item is not None else await reader.ui.page(after=0, limit=1)
        item = history_item(reader.metadata, state, first[0] if first else None)
        return item.model_copy(update={"size": await (await self._storage.store()).size(reader.task_id)})


async def _nothing_else(owner: Owner, task_ids: list[str]) -> None:
    return None


def _usage(item: HistoryItem, state: StoredTaskState) -> TokenUsage:
    return TokenUsage(
        total_tokens_in=item.tokens_in,
        total_tokens_out=item.tokens_out,
        total_cache_writes=item.cache_writes,
        total_cache_reads=item.cache_reads,
        total_cost=item.total_cost,
        context_tokens=state.current_context_tokens,
    )


def _changed(item: HistoryItem, change: ItemChange) -> HistoryItem:
    changes: dict[str, str | bool | NotebookRef | list[Rename] | None] = {}
    if change.title is not None:
        changes["title"] = " ".join(change.title.split()) or None
    if change.favorite is not None:
        changes["is_favorited"] = change.favorite
    if change.memory_off is not None:
        changes["memory_off"] = change.memory_off or None
    if change.approvals is not None:
        changes["approval_preset"] = None if change.approvals == "as settings" else change.approvals
    if change.rename is not None:
        changes["notebook"], changes["renames"] = after_rename(item, change.rename)
    return item.model_copy(update=changes)


async def _check_free(store: TaskStore, task_id: str) -> None:
    """Refuse a task that somebody works on, before anything was deleted."""
    try:
        await store.check_at_rest(TaskId(task_id))
    except Conflict as error:
        raise _busy(task_id, "deleted") from error
    except UnknownTask:
        return


def unknown_task(task_id: str) -> UnknownTask:
    """What is said of a task that is not there, or another's."""
    return UnknownTask(f"There is no task {task_id}. It may have been deleted. Reload the history.", task=task_id)


def _busy(task_id: str, done: str) -> Conflict:
    # Which process on which machine works on it is nothing a page needs to know.
    return Conflict(
        f"The agent is working on this conversation, so it cannot be {done} now. Stop it first, then try again.",
        task=task_id,
    )
