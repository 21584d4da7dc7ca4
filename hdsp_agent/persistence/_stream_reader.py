"""A task to look at, whatever its lines are kept in: its metadata and its five streams."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeVar

from ..append_log.jsonl import LineForm
from ..messages import ClineMessage, TaskId
from ._records import ApiRecord, Stream, SummaryRecord, TaskMetadata, ToolRecord
from .files._file_records import API_FORM, MARKS_FORM, SUMMARIES_FORM, TOOLS_FORM, UI_FORM, FileRecords
from .marks._marks import AnyMark

__all__ = ["StreamReader"]

T = TypeVar("T")


class StreamReader(ABC):
    """What every reader of a task has; a backend's own says where the lines are, and reads state and artifacts."""

    def __init__(self, metadata: TaskMetadata, *, remembered: int) -> None:
        self._metadata = metadata
        self._ui = self._records("ui", UI_FORM, remembered)
        self._api = self._records("api", API_FORM, remembered)
        self._summaries = self._records("summaries", SUMMARIES_FORM, remembered)
        self._tools = self._records("tools", TOOLS_FORM, remembered)
        self._marks = self._records("marks", MARKS_FORM, remembered)

    @abstractmethod
    def _records(self, stream: Stream, form: LineForm[T], remembered: int) -> FileRecords[T]:
        """The records of a stream, the newest of them remembered."""

    @property
    def task_id(self) -> TaskId:
        """Its id, and the trace id of everything that is logged about it."""
        return self._metadata.uuid

    @property
    def metadata(self) -> TaskMetadata:
        """What does not change about it."""
        return self._metadata

    @property
    def ui(self) -> FileRecords[ClineMessage]:
        """What the person sees."""
        return self._ui

    @property
    def api(self) -> FileRecords[ApiRecord]:
        """What the model was sent and said."""
        return self._api

    @property
    def summaries(self) -> FileRecords[SummaryRecord]:
        """What stands for older messages."""
        return self._summaries

    @property
    def tools(self) -> FileRecords[ToolRecord]:
        """Which tools ran."""
        return self._tools

    @property
    def marks(self) -> FileRecords[AnyMark]:
        """What was condensed, truncated, rewound and undone."""
        return self._marks
