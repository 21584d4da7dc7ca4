"""What REST requests and answers about stored conversations carry."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ...messages import HistoryItem, HistorySnippet, HistorySort, JsonObject
from ...persistence import StoredTaskState, TaskMetadata, TaskStatus
from ...wire import WireModel

__all__ = [
    "AnswerNumberView",
    "AnswerNumbersView",
    "Deleted",
    "ExportQuery",
    "FindQuery",
    "FoundMessages",
    "HistoryChangeBody",
    "HistoryList",
    "HistoryListQuery",
    "HistoryPlacesView",
    "ModelUseView",
    "NumbersQuery",
    "PlaceView",
    "RecordList",
    "RecordQuery",
    "SeenContext",
    "SeenMessage",
    "SeenQuery",
    "SeenTokens",
    "SeenTool",
    "StatisticsQuery",
    "StatisticsView",
    "StorageView",
    "TaskView",
    "TotalsView",
]

_LARGEST_SAFE_INTEGER = 2**53 - 1

Time = Annotated[int, Field(ge=0, le=_LARGEST_SAFE_INTEGER)]
"""Milliseconds since 1970."""
CheckpointPlace = Annotated[str, Field(min_length=1, max_length=4096)]
Key = Annotated[int, Field(ge=0, le=_LARGEST_SAFE_INTEGER)]


class HistoryListQuery(WireModel):
    """Which tasks, in what order, how many, and after which cursor."""

    query: Annotated[str, Field(max_length=1000)] | None = None
    sort: HistorySort = "newest"
    workspace: CheckpointPlace | None = None
    notebook: CheckpointPlace | None = None
    favorites: bool = False
    since: Time | None = None
    until: Time | None = None
    cursor: Annotated[str, Field(max_length=1000)] | None = None
    limit: Annotated[int, Field(ge=1, le=500)] = 50


class HistoryList(WireModel):
    """A page of the history; ``nextCursor`` asks for what follows and is absent at the end."""

    task_history: list[HistoryItem]
    total: int
    next_cursor: str | None = None
    snippets: dict[str, HistorySnippet] | None = None
    """Where a task says what was searched for, by its id."""


class PlaceView(WireModel):
    """A folder or a notebook, and how many conversations are about it."""

    path: str
    tasks: int


class HistoryPlacesView(WireModel):
    """What the history can be narrowed to; of each kind the places that were worked at last first."""

    workspaces: list[PlaceView]
    notebooks: list[PlaceView]


class HistoryChangeBody(WireModel):
    """What to change; what is absent stays. A blank title takes it away."""

    title: Annotated[str, Field(max_length=500)] | None = None
    is_favorited: bool | None = None
    memory_off: bool | None = None
    """Whether nothing is told in it of what is remembered, and nothing learned from it: also in its subtasks under way, and
    in what waits for it."""


class Deleted(WireModel):
    """The tasks that went: the one asked for, and its subtasks."""

    task_ids: list[str]


class TaskView(WireModel):
    """What is known of a task, and how many records each of its logs has."""

    metadata: TaskMetadata
    state: StoredTaskState
    counts: dict[str, int]


class FindQuery(WireModel):
    """The text to find; case, width and accents make no difference."""

    text: Annotated[str, Field(min_length=1, max_length=1000)]
    limit: Annotated[int, Field(ge=1, le=100_000)] = 10_000


class FoundMessages(WireModel):
    """The times of the messages that have the text, oldest first; ``more`` says that there were too many to list."""

    found: list[int]
    more: bool


class NumbersQuery(WireModel):
    """Which answer: the time of its message."""

    ts: Time


class AnswerNumberView(WireModel):
    """A number as the answer has it, and where it stands; without ``place`` it stands nowhere.

    ``output`` and ``code`` are a cell's, ``tool`` is what a tool gave the model, ``person`` what the person said.
    """

    text: str
    place: Literal["output", "code", "tool", "person"] | None = None
    cell_id: str | None = None
    cell: int | None = None
    """Its number, counting all cells from 1."""


class AnswerNumbersView(WireModel):
    """The numbers of an answer but small whole ones, in their order, each once."""

    path: str | None = None
    """The conversation's notebook, as it is now."""
    numbers: list[AnswerNumberView]
    unstated: list[str]
    """Other numbers that stand nowhere, but are probably no results, such as those in advice."""


class SeenQuery(WireModel):
    """Which of the messages, from ``first`` on; and ``find``, a text whose places are told too.

    With ``only`` the system prompt and the tools, which may be longer than all messages, are left out.
    """

    first: Annotated[int, Field(ge=0, le=_LARGEST_SAFE_INTEGER)] = 0
    limit: Annotated[int, Field(ge=1, le=1000)] | None = None
    find: Annotated[str, Field(min_length=1, max_length=1000)] | None = None
    only: Literal["messages"] | None = None


class SeenTokens(WireModel):
    """The estimated tokens of a request, part by part, and of each of its messages.

    Messages are summaries, the person's ``words`` with what is told of the surroundings, ``answers`` of the model with its
    calls, ``outputs`` of tools, and ``pictures``.
    """

    system: int
    tools: int
    messages: int
    total: int
    summaries: int
    words: int
    answers: int
    outputs: int
    pictures: int
    each_message: list[int]


class SeenTool(WireModel):
    """A tool as the model is told of it."""

    name: str
    description: str
    parameters: JsonObject


class SeenMessage(WireModel):
    """A message as the model is sent it."""

    role: str
    content: str | list[JsonObject]
    is_summary: Literal[True] | None = None
    """It stands for what was condensed."""


class SeenContext(WireModel):
    """What the model sees of a task: the next request, as far as it is recorded.

    ``messages`` are those from the index ``first`` on, of ``count``; ``found`` are the indexes of all that have the text
    that was looked for. ``marks`` are those that end with a breakpoint of the provider's cache; absent where that needs
    none. Pictures are without what is in them. ``isShortened`` says that the model is small and is sent less than this.
    """

    mode: str
    profile: str
    model: str
    context_window: int | None = None
    reserved: int | None = None
    condense_at: int | None = None
    is_shortened: bool
    count: int
    first: int
    found: list[int] | None = None
    marks: list[int] | None = None
    tokens: SeenTokens
    system: str
    tools: list[SeenTool]
    messages: list[SeenMessage]


class RecordQuery(WireModel):
    """Which page of a log: before a record, after one, or the newest."""

    before: Key | None = None
    after: Key | None = None
    limit: Annotated[int, Field(ge=1, le=500)] = 50


class RecordList(WireModel):
    """A page of a log, oldest first. Of ``ui``, ``before`` and ``after`` are ``ts``; of all others, the line's number."""

    records: list[JsonObject]


class ExportQuery(WireModel):
    """In which form."""

    format: Literal["markdown", "json", "notebook"] = "markdown"


class StatisticsQuery(WireModel):
    """Which of the caller's tasks: when they began, and how they are getting on."""

    since: Time | None = None
    until: Time | None = None
    status: TaskStatus | None = None


class TotalsView(WireModel):
    """What some tasks add up to."""

    tasks: int
    messages: int
    llm_calls: int
    tool_calls: int
    tokens: int
    tokens_in: int
    tokens_out: int
    cost: float
    compressions: int
    average_seconds: float
    compression_ratio: float | None = None


class ModelUseView(WireModel):
    """What was used of one model on one day; ``tokensIn`` counts cached ones too."""

    day: str
    """In the server's time zone, as 2026-01-31."""
    model: str
    """Empty where nobody knows."""
    requests: int
    tokens_in: int
    tokens_out: int
    cost: float


class StatisticsView(WireModel):
    """The caller's tasks in numbers."""

    total: TotalsView
    running: int
    paused: int
    completed: int
    failure_rate: float
    by_status: dict[str, TotalsView]
    by_model: dict[str, TotalsView]
    by_day: dict[str, TotalsView]
    use: list[ModelUseView]
    """By day and model, the oldest first: each request on its own day."""
    ghost_text: list[ModelUseView]
    """The same of the caller's ghost text, without the embedded model: no other number has it. Empty where a status is asked for."""
    long_running: list[str]
    unreadable: int


class StorageView(WireModel):
    """What everything the server keeps takes, and from where on people are told."""

    level: Literal["ok", "warning", "critical"]
    total_bytes: int
    tasks_bytes: int
    running_tasks: int
    completed_tasks: int
    packed_tasks: int
    parts: dict[str, int]
    """The other files and folders, by name."""
    warning_gigabytes: float
    critical_gigabytes: float
