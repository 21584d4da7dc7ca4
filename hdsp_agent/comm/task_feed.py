"""What the tabs hear of tasks that are worked on: of the one on screen everything, of the others that they need somebody."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal

from .._background_tasks import BackgroundTasks
from ..errors import UnknownTask
from ..events import task_id_of
from ..messages import (
    CellEditPreviewMessage,
    ClineMessage,
    ClineSayTool,
    CommandExecutionStatusMessage,
    CommandExited,
    CommandOutput,
    CommandStarted,
    CommandTimedOut,
    ContextNoticeMessage,
    ConversationMarks,
    ExtensionMessage,
    HistoryItem,
    MessageCreated,
    MessageEvent,
    MessageUpdated,
    TaskActive,
    TaskDelegationCompleted,
    TaskEvent,
    TaskId,
    TaskProgressMessage,
    TaskSpawned,
)
from ._channel_hub import ChannelHub
from ._owner import Owner
from .history import History
from .live_messages import LiveMessages
from .open_tasks import needs_person
from .task_view import ItemChange, MessagePage, ShownTask, TaskDetails, after_rename

if TYPE_CHECKING:
    from ..agent import ConversationShown, Task, TaskManager
    from ..checkpoints import CheckpointRecord

__all__ = ["TaskFeed"]

_FIRST_PAGE: Final = 50
_MOST_CLOSED: Final = 32


@dataclass
class _Told:
    owner: Owner
    messages: LiveMessages = field(default_factory=LiveMessages)
    previewed: str | None = None
    """The notebook of which a change is being written."""


class TaskFeed:
    """The agent's ``MessageSink`` and ``HistoryPort``, and what the history knows of tasks that are worked on."""

    def __init__(self, history: History, channels: ChannelHub, person: Owner) -> None:
        self._history = history
        self._channels = channels
        self._person = person
        self._told: dict[TaskId, _Told] = {}
        self._manager: TaskManager | None = None
        self.on_changed: Callable[[TaskId], None] = lambda task_id: None
        """Told of a conversation in which something else is said now."""
        self._progress: dict[TaskId, TaskDetails] = {}
        self._held = BackgroundTasks()
        self._hush: Callable[[], None] | None = None

    def attach(self, manager: TaskManager) -> None:
        """Listen to this agent. It was made with this feed as its sink."""
        self._manager = manager
        self._hush = manager.tasks.events.on_any(self._heard)
        manager.tasks.on_left = self._left
        if manager.services.checkpoints is not None:
            manager.services.checkpoints.on_saved = self._saved

    @property
    def person(self) -> Owner:
        """Whose the tasks are that name nobody."""
        return self._person

    async def stop(self) -> None:
        """Finish what is under way."""
        if self._hush is not None:
            self._hush()
        await self._held.drain()

    # ---- what tasks say

    def created(self, task_id: TaskId, message: ClineMessage) -> None:
        """A message was added."""
        self.on_changed(task_id)
        self._put(task_id, message, MessageCreated(task_id=task_id, message=message))
        if message.say == "error":
            # Where nothing comes after it, nobody tells more than this.
            self._history.open_tasks.touched(task_id)
        # No event tells of a new plan, and the model may think about its next step for long.
        self.tell_progress(task_id)

    def updated(self, task_id: TaskId, message: ClineMessage) -> None:
        """A message changed; this is what it is now."""
        self.on_changed(task_id)
        self._put(task_id, message, MessageUpdated(task_id=task_id, cline_message=message))

    def delta(self, task_id: TaskId, ts: int, field: Literal["text", "reasoning"], append: str) -> None:
        """A message that streams got longer."""
        told = self._of(task_id)
        if told is not None:
            told.messages.append(ts, field, append)
            if self._history.shows(told.owner, task_id):
                self._channels.delta_to(told.owner, task_id, ts, field, append)

    def reset(self, task_id: TaskId, shown: ConversationShown) -> None:
        """The conversation shows other messages now."""
        self.on_changed(task_id)
        told = self._of(task_id)
        if told is None:
            return
        before = self._history.shown(told.owner)
        # It rests, so the disk has all it said.
        told.messages.clear()
        if before is not None and before.item.id == task_id:
            self._history.changed(
                told.owner,
                task_id,
                MessagePage(list(shown.newest), shown.has_older),
                shown.marks,
                removed=shown.removed,
                restored=shown.restored,
                on_screen=before.messages,
            )

    def marked(self, task_id: TaskId, marks: ConversationMarks) -> None:
        """Other changes can be undone and redone now."""
        told = self._of(task_id)
        if told is not None and self._history.shows(told.owner, task_id):
            self._history.marked(told.owner, task_id, marks)

    def command(
        self, task_id: TaskId, status: CommandStarted | CommandOutput | CommandExited | CommandTimedOut
    ) -> None:
        """A shell command of a task fares like this."""
        self._tell(task_id, CommandExecutionStatusMessage(text=status.to_json(), task_id=task_id))

    def noticed(self, task_id: TaskId, kind: Literal["reassurance", "advice"], percent: int) -> None:
        """A conversation has come to fill so much of its model's window; told whether it is on screen or not."""
        told = self._of(task_id)
        if told is not None:
            self._channels.publish_to(told.owner, ContextNoticeMessage(task_id=task_id, kind=kind, percent=percent))

    async def put(self, item: HistoryItem, *, text: str | None = None, owner: str | None = None) -> HistoryItem:
        """A task is new or changed. The line as it is listed."""
        return await self._history.put(Owner(owner) if owner else self._person, item, text=text)

    def tell_progress(self, task_id: TaskId) -> None:
        """Let the tabs hear what a task is doing, if that is something else now."""
        doing = self.details(task_id)
        if doing is None or doing == self._progress.get(task_id):
            return
        told = self._of(task_id)
        if told is not None and self._history.shows(told.owner, task_id):
            self._progress = {task_id: doing}
            self._channels.publish_to(
                told.owner,
                TaskProgressMessage(
                    task_id=task_id,
                    status=doing.status,
                    todos=list(doing.todos),
                    message_queue=list(doing.queue),
                    token_usage=doing.usage,
                    auto_answer=doing.auto_answer,
                    model_room=doing.room or self._history.room_on_screen(told.owner),
                ),
            )

    # ---- what the history asks

    def current(self, shown: ShownTask) -> ShownTask:
        """A conversation on screen as it is now, not as it was when it was opened."""
        told = self._told.get(TaskId(shown.item.id))
        if told is None:
            return shown
        messages, more = told.messages.over(shown.messages, _FIRST_PAGE)
        return replace(shown, messages=messages, has_older=shown.has_older or more)

    def details(self, task_id: str) -> TaskDetails | None:
        """What a task that is worked on is doing."""
        task = self._task(task_id)
        if task is None:
            return None
        told = self._told.get(TaskId(task_id))
        return TaskDetails(
            task.state.status,
            task.state.todos,
            task.state.queue.messages,
            task.state.usage.tokens(),
            room=task.requests.room,
            answered_at=task.auto_answer.at,
            needs_you=task.state.status == "interactive"
            or any(needs_person(question.ask) for question in task.state.dialogue.asks.open),
            failed=told is not None and told.messages.end_in_failure,
            commands=[running.started for running in task.state.tool_state.commands.running],
        )

    async def change(self, task_id: str, change: ItemChange) -> HistoryItem | None:
        """Change the line of a task that is worked on here; None if it is not."""
        task = self._task(task_id)
        if task is None:
            return None
        if change.title is not None:
            await task.state.note_item(title=" ".join(change.title.split()) or None)
        if change.favorite is not None:
            await task.state.note_item(is_favorited=change.favorite)
        if change.memory_off is not None:
            await task.state.note_item(memory_off=change.memory_off or None)
        if change.approvals is not None:
            preset = None if change.approvals == "as settings" else change.approvals
            await task.state.note_item(approval_preset=preset)
        if change.rename is not None:
            notebook, renames = after_rename(task.state.item, change.rename)
            await task.state.note_item(notebook=notebook, renames=renames)
        return task.state.item

    # ---- inside

    def _put(self, task_id: TaskId, message: ClineMessage, told_as: ExtensionMessage) -> None:
        told = self._of(task_id)
        if told is not None:
            told.messages.put(message)
            self._tell(task_id, told_as)
            self._preview(told, task_id, message)

    def _preview(self, told: _Told, task_id: TaskId, message: ClineMessage) -> None:
        """Tell of the change of cells that is being written, and of its end."""
        preview = _preview_in(task_id, message) if message.partial else None
        if preview is not None:
            told.previewed = preview.path
        elif told.previewed is not None and not message.partial:
            preview = CellEditPreviewMessage(task_id=task_id, path=told.previewed, cell_edits=[])
            told.previewed = None
        if preview is not None:
            self._channels.publish_to(told.owner, preview)

    def _tell(self, task_id: TaskId, message: ExtensionMessage) -> None:
        told = self._of(task_id)
        if told is not None and self._history.shows(told.owner, task_id):
            self._channels.publish_to(told.owner, message)

    def _of(self, task_id: TaskId) -> _Told | None:
        told = self._told.get(task_id)
        if told is None and (task := self._task(task_id)) is not None:
            self._forget_closed()
            told = _Told(Owner(task.state.conversation.log.metadata.user or self._person))
            self._told[task_id] = told
        return told

    def _task(self, task_id: str) -> Task | None:
        return None if self._manager is None else self._manager.tasks.opened(TaskId(task_id))

    def _forget_closed(self) -> None:
        """All that closed tasks said is on the disk; some are kept, because one may be on its way to a screen."""
        closed = [task_id for task_id in self._told if self._task(task_id) is None]
        for task_id in closed[:-_MOST_CLOSED]:
            if not self._history.shows(self._told[task_id].owner, task_id):
                del self._told[task_id]

    def _left(self, task_id: TaskId) -> None:
        """Nobody works on a task any more. What another agent leaves says so here: it ends with no question."""
        self._history.open_tasks.touched(task_id)
        told = self._told.get(task_id)
        if told is None or not self._history.shows(told.owner, task_id):
            return
        shown = self._history.shown(told.owner)
        if shown is not None and shown.item.external_agent is not None and shown.usage is not None:
            self._progress.pop(task_id, None)
            message = TaskProgressMessage(
                task_id=task_id, status="none", todos=[], message_queue=[], token_usage=shown.usage
            )
            self._channels.publish_to(told.owner, message)

    def _saved(self, task_id: TaskId, checkpoint: CheckpointRecord) -> None:
        """Time lines on the owner's tabs are looked at again, whichever conversation is on screen."""
        told = self._of(task_id)
        if told is not None:
            self._history.stands_at(told.owner, checkpoint.commit, task_id)

    def _heard(self, event: TaskEvent) -> None:
        match event:
            case TaskSpawned(payload=(parent, child)):
                self._follow(parent, child)
            case TaskDelegationCompleted(payload=(parent, child, _)):
                self._follow(child, parent)
            case _:
                pass
        if isinstance(event, TaskActive):
            self._open_external(event.payload[0])
        about = task_id_of(event) if not isinstance(event, MessageEvent) else None
        if about is not None:
            self._history.open_tasks.touched(about)
            self.tell_progress(TaskId(about))

    def _open_external(self, task_id: str) -> None:
        """What a program outside begins nobody has opened: it is among the open conversations while it works."""
        task, told = self._task(task_id), self._of(TaskId(task_id))
        if task is not None and told is not None and task.state.external_agent is not None:
            self._history.open_tasks.put(told.owner, task.state.item)

    def _follow(self, left: str, entered: str) -> None:
        """Whoever watched the one task watches the other now."""
        told, task = self._of(TaskId(entered)), self._task(entered)
        if told is None or task is None:
            return
        self._history.open_tasks.replace(told.owner, left, task.state.item)
        if self._history.shows(told.owner, left):
            self._held.begin(self._show(told.owner, entered))

    async def _show(self, owner: Owner, task_id: str) -> None:
        try:
            await self._history.show(owner, task_id)
        except UnknownTask:
            # Deleted meanwhile: whoever deletes a task takes it off the screen.
            return


def _preview_in(task_id: TaskId, message: ClineMessage) -> CellEditPreviewMessage | None:
    """The change of cells that a message shows as it is being written, if it does."""
    if message.ask != "tool" or not message.text:
        return None
    try:
        shown = ClineSayTool.model_validate_json(message.text)
    except ValueError:
        return None
    if shown.tool != "editCells" or shown.path is None or not shown.cell_edits:
        return None
    return CellEditPreviewMessage(task_id=task_id, path=shown.path, cell_edits=shown.cell_edits)
