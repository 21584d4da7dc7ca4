"""What some messages carry as JSON in their ``text``."""

from typing import Annotated, Literal

from pydantic import Field

from ._additions import OwnSayTool
from ._base import Record
from ._conversation_messages import ApiProtocol
from ._notebook_texts import CellCode, CellEdit

__all__ = [
    "BatchDiff",
    "BatchDirectory",
    "BatchFile",
    "ClineApiReqCancelReason",
    "ClineApiReqInfo",
    "ClineAskUseMcpServer",
    "ClineSayTool",
    "CodebaseSearchResult",
    "CommandExecutionStatus",
    "CommandExited",
    "CommandFellBack",
    "CommandOutput",
    "CommandStarted",
    "CommandTimedOut",
    "DiffPart",
    "DiffStats",
    "FollowUpData",
    "FoundText",
    "SayToolName",
    "SearchFound",
    "SearchHit",
    "Suggestion",
    "TooManyTools",
]

ClineApiReqCancelReason = Literal["streaming_failed", "user_cancelled"]
SayToolName = Literal[
    "editedExistingFile",
    "appliedDiff",
    "newFileCreated",
    "codebaseSearch",
    "readFile",
    "readCommandOutput",
    "listFilesTopLevel",
    "listFilesRecursive",
    "searchFiles",
    "switchMode",
    "newTask",
    "finishTask",
    "generateImage",
    "imageGenerated",
    "runSlashCommand",
    "updateTodoList",
    "skill",
]


class ClineApiReqInfo(Record):
    """The text of an ``api_req_started`` message; cost and tokens are written into it when the request ends."""

    request: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cache_writes: int | None = None
    cache_reads: int | None = None
    cost: float | None = None
    cancel_reason: ClineApiReqCancelReason | None = None
    streaming_failed_message: str | None = None
    api_protocol: ApiProtocol | None = None


class DiffStats(Record):
    """Lines added and removed."""

    added: int
    removed: int


class DiffPart(Record):
    """One hunk of a batch of diffs."""

    content: str
    start_line: int | None = None


class BatchFile(Record):
    """One file of a batch the agent wants to read."""

    path: str
    line_snippet: str
    is_outside_workspace: bool | None = None
    key: str
    content: str | None = None


class BatchDiff(Record):
    """One file of a batch the agent wants to change."""

    path: str
    change_count: int
    key: str
    content: str
    diff_stats: DiffStats | None = None
    diffs: list[DiffPart] | None = None


class BatchDirectory(Record):
    """One directory of a batch the agent wants to list."""

    path: str
    recursive: bool
    is_outside_workspace: bool | None = None
    key: str


class ClineSayTool(Record):
    """The text of a ``tool`` ask: which tool, on what, with which change."""

    tool: SayToolName | OwnSayTool
    path: str | None = None
    read_start: int | None = None
    read_end: int | None = None
    total_bytes: int | None = None
    search_pattern: str | None = None
    match_count: int | None = None
    diff: str | None = None
    content: str | None = None
    original_content: str | None = None
    diff_stats: DiffStats | None = None
    regex: str | None = None
    file_pattern: str | None = None
    mode: str | None = None
    reason: str | None = None
    is_outside_workspace: bool | None = None
    is_protected: bool | None = None
    additional_file_count: int | None = None
    line_number: int | None = None
    start_line: int | None = None
    query: str | None = None
    batch_files: list[BatchFile] | None = None
    batch_diffs: list[BatchDiff] | None = None
    batch_dirs: list[BatchDirectory] | None = None
    question: str | None = None
    image_data: str | None = None
    command: str | None = None
    args: str | None = None
    source: str | None = None
    description: str | None = None
    skill: str | None = None
    cell_edits: list[CellEdit] | None = None
    can_run: bool | None = None
    """Whether the cells that are changed can be allowed to run at the same time."""
    cells: list[CellCode] | None = None
    kernel: str | None = None


class ClineAskUseMcpServer(Record):
    """The text of a ``use_mcp_server`` ask. ``fingerprint`` is that of the tool as it was offered."""

    server_name: str
    type: Literal["use_mcp_tool", "access_mcp_resource"]
    tool_name: str | None = None
    arguments: str | None = None
    uri: str | None = None
    response: str | None = None
    fingerprint: str | None = None


class TooManyTools(Record):
    """The text of a ``too_many_tools_warning``."""

    tool_count: int
    server_count: int
    threshold: int


class FoundText(Record):
    """A stretch of a snippet, and whether it is what was looked for."""

    text: str
    found: bool


class SearchHit(Record):
    """A passage that a search found. Roo Code knows the first five fields; its lines are those of the passage itself.

    ``source`` is the conversation's id or the notebook's whole path, ``place`` the message's time or the cell's id, ``path``
    the notebook's path in Jupyter, where it has one.
    """

    file_path: str
    score: float
    start_line: int
    end_line: int
    code_chunk: str
    kind: Literal["conversation", "memory", "notebook"] | None = None
    source: str | None = None
    place: str | None = None
    path: str | None = None
    ts: int | None = None
    author: Literal["person", "agent"] | None = None
    snippet: list[FoundText] | None = None


class SearchFound(Record):
    """What was looked for, and what was found, the best first."""

    query: str
    results: list[SearchHit]


class CodebaseSearchResult(Record):
    """The text of a ``codebase_search_result`` message."""

    tool: Literal["codebaseSearch"] = "codebaseSearch"
    content: SearchFound


class Suggestion(Record):
    """An answer offered with a follow-up question."""

    answer: str
    mode: str | None = None


class FollowUpData(Record):
    """The text of a ``followup`` ask."""

    question: str | None = None
    suggest: list[Suggestion] | None = None


class CommandStarted(Record):
    """A command began to run."""

    execution_id: str
    status: Literal["started"] = "started"
    pid: int | None = None
    command: str


class CommandOutput(Record):
    """All a command has written so far."""

    execution_id: str
    status: Literal["output"] = "output"
    output: str


class CommandExited(Record):
    """A command ended."""

    execution_id: str
    status: Literal["exited"] = "exited"
    exit_code: int | None = None


class CommandFellBack(Record):
    """A command runs in a simpler way than intended."""

    execution_id: str
    status: Literal["fallback"] = "fallback"


class CommandTimedOut(Record):
    """A command took too long and was stopped."""

    execution_id: str
    status: Literal["timeout"] = "timeout"


CommandExecutionStatus = Annotated[
    CommandStarted | CommandOutput | CommandExited | CommandFellBack | CommandTimedOut, Field(discriminator="status")
]
"""The text of a ``commandExecutionStatus``."""
