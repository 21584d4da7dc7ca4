"""The line a task has in the history."""

from typing import Literal

from ..config import ApprovalPreset
from ._additions import NotebookRef, Rename
from ._base import Record

__all__ = ["HistoryItem", "HistorySort", "HistoryState", "HistoryStatus"]

HistoryStatus = Literal["active", "completed", "delegated"]
HistoryState = Literal["paused", "failed", "timeout"]
HistorySort = Literal["newest", "oldest", "mostExpensive", "mostTokens", "mostRelevant"]


class HistoryItem(Record):
    """One task in the history: Roo Code's fields, and from ``title`` on our own."""

    id: str
    root_task_id: str | None = None
    parent_task_id: str | None = None
    number: int
    ts: int
    task: str
    tokens_in: int
    tokens_out: int
    cache_writes: int | None = None
    cache_reads: int | None = None
    total_cost: float
    size: int | None = None
    workspace: str | None = None
    mode: str | None = None
    api_config_name: str | None = None
    status: HistoryStatus | None = None
    delegated_to_id: str | None = None
    child_ids: list[str] | None = None
    awaiting_child_id: str | None = None
    completed_by_child_id: str | None = None
    completion_result_summary: str | None = None
    title: str | None = None
    is_favorited: bool | None = None
    forked_from: str | None = None
    notebook: NotebookRef | None = None
    pictures: int | None = None
    """How many pictures it began with, where it began without a word."""
    renames: list[Rename] | None = None
    """Of files and folders its messages from before may name, the newest last."""
    memory_off: bool | None = None
    """Whether the person turned memory off for it: nothing is told in it, and nothing learned from it."""
    approval_preset: ApprovalPreset | None = None
    """What the person lets the agent do in it without asking, where that differs from their settings."""
    external_agent: str | None = None
    """The name of the program outside whose conversation it is, such as "Claude Code"; its ``notebook`` is the last it worked on."""
    state: HistoryState | None = None
    """How a task was left that nobody works on and that is not done: it can go on."""
