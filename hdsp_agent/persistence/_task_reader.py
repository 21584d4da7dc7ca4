"""A task to look at, whoever works on it and whatever its lines are kept in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Final, TypeVar

from ..append_log.jsonl import LineForm
from ..messages import TaskId
from ._records import StoredTaskState, Stream, TaskMetadata
from ._task_streams import API_FORM, MARKS_FORM, SUMMARIES_FORM, TOOLS_FORM, UI_FORM, AnyRecord, Records

__all__ = ["TaskReader"]

T = TypeVar("T")


class TaskReader(ABC):
    """A task's metadata and its five streams; a backend's own says where the lines are, and reads state and artifacts.

    ``ui`` is what the person sees, ``api`` what the model was sent and said, ``summaries`` what stands for older
    messages, ``tools`` which tools ran, ``marks`` what was condensed, truncated, rewound and undone.
    """

    def __init__(self, metadata: TaskMetadata, *, remembered: int) -> None:
        self.metadata: Final = metadata
        self.ui: Final = self._records("ui", UI_FORM, remembered)
        self.api: Final = self._records("api", API_FORM, remembered)
        self.summaries: Final = self._records("summaries", SUMMARIES_FORM, remembered)
        self.tools: Final = self._records("tools", TOOLS_FORM, remembered)
        self.marks: Final = self._records("marks", MARKS_FORM, remembered)

    @property
    def streams(self) -> Mapping[Stream, Records[AnyRecord]]:
        """All five by their names."""
        return {
            "ui": self.ui,
            "api": self.api,
            "summaries": self.summaries,
            "tools": self.tools,
            "marks": self.marks,
        }

    @property
    def task_id(self) -> TaskId:
        """Its id, and the trace id of everything that is logged about it."""
        return self.metadata.uuid

    @abstractmethod
    async def read_state(self) -> StoredTaskState:
        """How it is getting on."""

    @abstractmethod
    async def read_artifact(self, name: str) -> bytes:
        """A long output or image."""

    @abstractmethod
    def _records(self, stream: Stream, form: LineForm[T], remembered: int) -> Records[T]:
        """The records of a stream, the newest of them remembered."""
