"""What a task's files hold: the lines of its logs and its three whole-file records, by their names on disk.

Annotations are not postponed here: see ``messages/_base.py``.
"""

from typing import Annotated, Final, Literal, Self

from pydantic import ConfigDict, Field, JsonValue

from ..messages import ApiMessage, HistoryItem, JsonObject, NotebookRef, TaskId
from ..wire import WireModel

__all__ = [
    "COMPLETED_STATUSES",
    "INTERRUPTED",
    "STREAM_FILES",
    "ApiDraft",
    "ApiRecord",
    "ApiRole",
    "CountedTokens",
    "LockRecord",
    "ModelUse",
    "Outcome",
    "Place",
    "StoredTaskState",
    "Stream",
    "SummaryDraft",
    "SummaryRecord",
    "TaskKey",
    "TaskMetadata",
    "TaskStatus",
    "ToolDraft",
    "ToolRecord",
    "ToolStatus",
    "estimated_tokens",
]

INTERRUPTED: Final = "Task was interrupted before this tool call could be completed."
"""What answers a call that has no answer, word for word as Roo Code's."""

Stream = Literal["ui", "api", "summaries", "tools", "marks"]
ApiRole = Literal["system", "user", "assistant", "tool"]
ToolStatus = Literal["success", "error"]
TaskStatus = Literal[
    "initializing", "processing", "compressing", "paused", "completing", "completed", "failed", "timeout"
]
"""``paused`` is our own: nobody works on it just now, and it is not done."""

Place = Literal["running", "completed"]
Outcome = Literal["completed", "failed", "timeout"]

COMPLETED_STATUSES: Final[tuple[TaskStatus, ...]] = ("completed", "failed", "timeout")

STREAM_FILES: Final[dict[Stream, str]] = {
    "ui": "ui_messages.jsonl",
    "api": "messages.jsonl",
    "summaries": "summaries.jsonl",
    "tools": "tools.jsonl",
    "marks": "marks.jsonl",
}

CHARACTERS_PER_TOKEN: Final = 4
"""A token is estimated at four characters."""

_IMAGE_CHARACTERS: Final = 1500 * CHARACTERS_PER_TOKEN

_MESSAGE_FIELDS: Final = frozenset(ApiMessage.model_fields)

_Seq = Annotated[int, Field(ge=1)]
_Amount = Annotated[int, Field(ge=0)]


class _Line(WireModel):
    """The base of a line in a log. A newer version's fields are dropped on reading; the line itself is never rewritten."""

    model_config = ConfigDict(alias_generator=None, use_attribute_docstrings=False, extra="ignore")


class _File(WireModel):
    """The base of a file replaced as a whole: a newer version's fields are kept."""

    model_config = ConfigDict(alias_generator=None, use_attribute_docstrings=False, extra="allow")


class CountedTokens(_Line):
    """What a provider counted for one answer. ``estimated`` are the messages of the request by our own estimate."""

    estimated: _Amount
    context: _Amount
    output: _Amount


class ApiDraft(_Line):
    """A message of the API history before the log has numbered it; the fields from ``ts`` on are Roo Code's."""

    role: ApiRole
    content: str | list[JsonObject]
    tool_name: str | None = None
    function_call: JsonObject | None = None
    is_summarized: bool | None = None
    ts: int | None = None
    is_summary: bool | None = Field(default=None, alias="isSummary")
    id: str | None = None
    type: Literal["reasoning"] | None = None
    summary: list[JsonValue] | None = None
    encrypted_content: str | None = None
    text: str | None = None
    reasoning_details: list[JsonValue] | None = None
    reasoning_content: str | None = None
    condense_id: str | None = Field(default=None, alias="condenseId")
    condense_parent: str | None = Field(default=None, alias="condenseParent")
    truncation_id: str | None = Field(default=None, alias="truncationId")
    truncation_parent: str | None = Field(default=None, alias="truncationParent")
    is_truncation_marker: bool | None = Field(default=None, alias="isTruncationMarker")
    told: JsonObject | None = None
    """What of the surroundings the message told, for whoever asks later; no model is sent it."""
    counted: CountedTokens | None = None
    """Of an answer: what its provider counted, so that a restart knows how large the conversation is."""

    @classmethod
    def of(cls, message: ApiMessage) -> "ApiDraft":
        """The same message, on its way to the log."""
        return cls.model_validate(message.to_wire())


class ApiRecord(ApiDraft):
    """One line of ``messages.jsonl``. ``seq`` counts from 1."""

    seq: _Seq
    timestamp: str
    token_count: _Amount

    def message(self) -> ApiMessage:
        """The message as Roo Code's layout and the model's adapters know it; a tool's answer counts as the user's."""
        # Checked when it was read: to check it again would hold the server up when a long conversation is taken up.
        kept = {name: value for name, value in self.__dict__.items() if value is not None and name in _MESSAGE_FIELDS}
        return ApiMessage.model_construct(**{**kept, "role": "assistant" if self.role == "assistant" else "user"})


class SummaryDraft(_Line):
    """A summary of the messages ``start_seq`` to ``end_seq``, before the log has numbered it."""

    start_seq: _Seq
    end_seq: _Seq
    summary: str
    original_tokens: _Amount
    summary_tokens: _Amount


class SummaryRecord(SummaryDraft):
    """One line of ``summaries.jsonl``. ``summary_id`` counts from 1."""

    summary_id: _Seq
    created_at: str
    compression_ratio: float


class ToolDraft(_Line):
    """A tool's run, before the log has numbered it."""

    tool_name: str
    arguments: JsonObject
    result: JsonValue = None
    status: ToolStatus
    error: str | None = None
    duration_ms: _Amount


class ToolRecord(ToolDraft):
    """One line of ``tools.jsonl``. ``seq`` counts from 1."""

    seq: _Seq
    timestamp: str


class TaskKey(_File):
    """Where a task came from."""

    task_source: str = "jupyterlab"
    owner: str | None = None
    repo: str | None = None
    task_type: str | None = None
    task_id: str | None = None


class TaskMetadata(_File):
    """``metadata.json``: what does not change while a task lives; the fields from ``parent_task_id`` on are our own."""

    uuid: TaskId
    task_key: TaskKey = Field(default_factory=TaskKey)
    created_at: str
    process_id: int
    hostname: str
    config: JsonObject = Field(default_factory=dict)
    user: str | None = None
    parent_task_id: TaskId | None = None
    root_task_id: TaskId | None = None
    forked_from: TaskId | None = None
    workspace: str | None = None
    notebook: NotebookRef | None = None
    mode: str | None = None


class ModelUse(_File):
    """What was used of one model on one day, as the server's clock has it. ``tokens_in`` counts cached ones too."""

    day: str
    model: str
    requests: _Amount = 0
    tokens_in: _Amount = 0
    tokens_out: _Amount = 0
    cost: float = 0.0

    def plus(self, more: Self) -> Self:
        """Both together, with this one's day and model."""
        return self.model_copy(
            update={
                "requests": self.requests + more.requests,
                "tokens_in": self.tokens_in + more.tokens_in,
                "tokens_out": self.tokens_out + more.tokens_out,
                "cost": self.cost + more.cost,
            }
        )


class StoredTaskState(_File):
    """``state.json``: how a task is getting on; the fields from ``outcome`` on are our own.

    ``outcome`` is what a task that is ``completing`` will be; ``history_item`` is the task's line in the history, so that the index can be rebuilt from the folders.
    """

    status: TaskStatus = "initializing"
    started_at: str | None = None
    updated_at: str
    completed_at: str | None = None
    llm_call_count: _Amount = 0
    tool_call_count: _Amount = 0
    total_tokens_used: _Amount = 0
    current_context_tokens: _Amount = 0
    compression_count: _Amount = 0
    last_activity: str | None = None
    error: str | None = None
    outcome: TaskStatus | None = None
    resumable: bool = False
    pinned: bool = False
    history_item: HistoryItem | None = None
    model_use: list[ModelUse] | None = None
    has_external_content: bool | None = None
    """Whether a tool read what strangers wrote, such as a web page: nothing is remembered of it unasked."""
    used_local_model: bool | None = None
    """Whether a model on this machine was asked: no other one learns from what was said to it, unless it was chosen to."""

    @property
    def is_over(self) -> bool:
        """Whether it ended and nobody can be waiting for more of it; one that its dead process left, or that ran out of time, can go on."""
        return self.status == "completed" or (self.status in COMPLETED_STATUSES and not self.resumable)


class LockRecord(_File):
    """``.lock``: who works on a task. ``process_started`` tells a process from a later one with the same id.

    ``token`` names this holding of the lock, and ``beats`` counts its heartbeats: both tell that a lock is alive when
    the clocks of two hosts disagree or one is set back.
    """

    process_id: int
    hostname: str
    acquired_at: str
    heartbeat_at: str
    process_started: str | None = None
    token: str = ""
    beats: _Amount = 0


def estimated_tokens(content: str | list[JsonObject]) -> int:
    """What a message is reckoned to cost; an image counts as a page of text, not by its data."""
    characters = len(content) if isinstance(content, str) else sum(_text_length(block) for block in content)
    return -(-characters // CHARACTERS_PER_TOKEN)


def _text_length(value: JsonValue) -> int:
    match value:
        case str():
            return len(value)
        case list():
            return sum(_text_length(item) for item in value)
        case dict():
            if value.get("type") == "image":
                return _IMAGE_CHARACTERS
            return sum(_text_length(item) for key, item in value.items() if key != "type")
        case _:
            return 0
