"""What every store of tasks does, whatever it keeps them in. ``tests/persistence/_helpers/store_contract.py`` says it as tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar

from pydantic import JsonValue
from typing_extensions import TypedDict, Unpack

from ..append_log.corrupt_lines import Damage
from ..errors import StorageUnavailable
from ..messages import ClineMessage, HistoryItem, NotebookRef, TaskId
from ._history_log import HistoryLog
from ._records import (
    ApiDraft,
    ApiRecord,
    ModelUse,
    StoredTaskState,
    Stream,
    SummaryDraft,
    SummaryRecord,
    TaskKey,
    TaskMetadata,
    TaskStatus,
    ToolDraft,
    ToolRecord,
)
from .marks._marks import AnyMark

__all__ = [
    "DamageNotice",
    "HistoryLog",
    "NewTaskRecord",
    "Outcome",
    "Place",
    "Records",
    "StateChange",
    "TaskLog",
    "TaskOverview",
    "TaskReader",
    "TaskRecovery",
    "TaskStore",
]

R_co = TypeVar("R_co", covariant=True)

Place = Literal["running", "completed"]
Outcome = Literal["completed", "failed", "timeout"]


@dataclass(frozen=True)
class NewTaskRecord:
    """What is known of a task before it begins. ``task_id`` is given only by who brings a task from elsewhere."""

    task_key: TaskKey = field(default_factory=TaskKey)
    config: Mapping[str, JsonValue] = field(default_factory=dict)
    user: str | None = None
    parent_task_id: TaskId | None = None
    root_task_id: TaskId | None = None
    forked_from: TaskId | None = None
    workspace: str | None = None
    notebook: NotebookRef | None = None
    mode: str | None = None
    task_id: TaskId | None = None


@dataclass(frozen=True)
class DamageNotice:
    """A line of a task's log that could not be read; its bytes are kept, and everything else was read."""

    task_id: TaskId
    stream: Stream
    damage: Damage
    offset: int
    size: int


@dataclass(frozen=True)
class TaskRecovery:
    """What was done for a task whose process died, or whose move was interrupted."""

    task_id: TaskId
    status: TaskStatus
    reason: str


@dataclass(frozen=True)
class TaskOverview:
    """What a list of tasks needs to know of one, with the first messages that the person saw."""

    metadata: TaskMetadata
    state: StoredTaskState
    size: int
    """How many bytes it takes; 0 if that was not wanted."""
    first: Sequence[ClineMessage] = ()


class StateChange(TypedDict, total=False):
    """The fields of a task's state that may be changed."""

    status: TaskStatus
    started_at: str | None
    llm_call_count: int
    tool_call_count: int
    total_tokens_used: int
    current_context_tokens: int
    compression_count: int
    last_activity: str | None
    error: str | None
    resumable: bool
    pinned: bool
    history_item: HistoryItem | None
    model_use: list[ModelUse] | None


class Records(Protocol[R_co]):
    """One stream of a task, oldest first. Keys are ``ts`` in the UI stream, the line's number in all others."""

    async def newest(self, limit: int = 20) -> Sequence[R_co]:
        """The last records."""
        ...

    async def page(self, *, before: int | None = None, after: int | None = None, limit: int = 100) -> Sequence[R_co]:
        """The records next to a key, which is itself left out; the newest if no key is given."""
        ...

    async def between(self, first: int, last: int, *, limit: int, newest: bool) -> Sequence[R_co]:
        """At most ``limit`` records of this span, ends included: the newest of them, or the oldest."""
        ...

    async def get(self, key: int) -> R_co | None:
        """The record with this key."""
        ...

    async def count(self) -> int:
        """How many records there are."""
        ...

    def iterate(self, *, after: int = 0) -> AsyncIterator[R_co]:
        """All records with greater keys, read as they are asked for."""
        ...


class TaskReader(Protocol):
    """A task to look at, whoever works on it."""

    @property
    def task_id(self) -> TaskId:
        """Its id, and the trace id of everything that is logged about it."""
        ...

    @property
    def metadata(self) -> TaskMetadata:
        """What does not change about it."""
        ...

    @property
    def ui(self) -> Records[ClineMessage]:
        """What the person sees."""
        ...

    @property
    def api(self) -> Records[ApiRecord]:
        """What the model was sent and said."""
        ...

    @property
    def summaries(self) -> Records[SummaryRecord]:
        """What stands for older messages."""
        ...

    @property
    def tools(self) -> Records[ToolRecord]:
        """Which tools ran."""
        ...

    @property
    def marks(self) -> Records[AnyMark]:
        """What was condensed, truncated, rewound and undone."""
        ...

    async def read_state(self) -> StoredTaskState:
        """How it is getting on."""
        ...

    async def read_artifact(self, name: str) -> bytes:
        """A long output or image."""
        ...


class TaskLog(TaskReader, HistoryLog, Protocol):
    """A task that this process works on.

    What an append returned from is in the OS; with ``durable`` it is on the disk. ``StorageUnavailable`` means that it
    is not recorded and may be tried again; ``paused`` holds that error until an append succeeds. ``Conflict`` means
    that another process took the task.
    """

    @property
    def state(self) -> StoredTaskState:
        """How it is getting on, as last changed here."""
        ...

    @property
    def paused(self) -> StorageUnavailable | None:
        """Why nothing can be recorded just now."""
        ...

    @property
    def system_prompt(self) -> ApiRecord | None:
        """The newest system message."""
        ...

    def next_ts(self) -> int:
        """A time for a new message: greater than all others of this task."""
        ...

    def new_message(self) -> AbstractAsyncContextManager[int]:
        """The time of a message that is recorded within the block. No other message begins meanwhile."""
        ...

    async def append_ui(self, message: ClineMessage, *, durable: bool = False) -> ClineMessage:
        """Record a new message, which is given its time when its line is appended; it with that time."""
        ...

    async def put_ui(self, message: ClineMessage, *, durable: bool = False) -> None:
        """Record the newest form of a message, or one that has its time. While it streams not every form is kept."""
        ...

    async def append_api(self, draft: ApiDraft, *, durable: bool = False) -> ApiRecord:
        """Record and number a message of the API history."""
        ...

    async def append_summary(self, draft: SummaryDraft) -> SummaryRecord:
        """Record and number a summary; it is on the disk then."""
        ...

    async def append_tool(self, draft: ToolDraft) -> ToolRecord:
        """Record and number a tool's run."""
        ...

    async def put_artifact(self, data: bytes) -> str:
        """Keep a long output or image, and return its name."""
        ...

    async def sync(self) -> None:
        """Return when the disk has everything recorded so far, as at the end of a turn."""
        ...

    def update_state(self, **changes: Unpack[StateChange]) -> None:
        """Change the state; it is written soon, many changes at once."""
        ...

    async def save_state(self) -> None:
        """Write the state now."""
        ...

    async def finish(
        self, outcome: Outcome = "completed", *, error: str | None = None, resumable: bool = False
    ) -> None:
        """End the work on the task and move it to the completed ones."""
        ...

    async def close(self) -> None:
        """Let go of the task as it is: it is paused, and can be resumed."""
        ...


class TaskStore(Protocol):
    """All tasks of one home folder or database. What only looks works before ``start``, too, and leaves all as it is."""

    async def start(self) -> Sequence[TaskRecovery]:
        """Get ready, and finish what a crash interrupted; what that was."""
        ...

    async def stop(self) -> None:
        """Let go of all tasks, with everything written."""
        ...

    async def create(self, new: NewTaskRecord) -> TaskLog:
        """Begin a task."""
        ...

    async def resume(self, task_id: TaskId) -> TaskLog:
        """Work on a task again. ``Conflict`` says who works on it already."""
        ...

    async def view(self, task_id: TaskId) -> TaskReader:
        """A task to look at."""
        ...

    async def tasks(self, place: Place | None = None) -> Sequence[TaskId]:
        """The ids of all tasks, or of those in one place."""
        ...

    async def size(self, task_id: TaskId) -> int:
        """How many bytes a task takes."""
        ...

    async def amend(self, task_id: TaskId, change: Callable[[StoredTaskState], StoredTaskState]) -> StoredTaskState:
        """Change the state of a task nobody works on, such as its title."""
        ...

    async def delete(self, task_id: TaskId) -> None:
        """Delete a task nobody works on."""
        ...

    async def recover(self) -> Sequence[TaskRecovery]:
        """Finish interrupted moves and mark what dead processes were working on as failed."""
        ...

    async def check_usable(self) -> None:
        """Raise what hinders tasks from being kept just now, such as a folder that is gone or a full disk."""
        ...

    async def check_at_rest(self, task_id: TaskId) -> None:
        """Raise ``Conflict`` if somebody works on the task."""
        ...

    def overview(self, task_id: TaskId, *, messages: int, size: bool = True) -> TaskOverview:
        """A task, with so many of its first messages, and with its size, for which all of it may have to be read. Blocks."""
        ...

    def overviews(self, *, messages: int, size: bool = True) -> Iterator[TaskOverview]:
        """All tasks that can be read, each as it is when its turn comes. Blocks."""
        ...
