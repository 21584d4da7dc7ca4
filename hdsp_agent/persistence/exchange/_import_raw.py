"""What an import asks of a task of another program. Everything here blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ...messages import JsonObject
from ..marks._marks import Mark
from ._import_folds import ApiHead, FoldEvents, Folding, UiTimes
from ._import_json import ImportFindings
from ._import_sources import ImportableTask

__all__ = ["RawTask"]


class RawTask(ABC):
    """A task of another program. Each look at its messages reads them anew; damage is told only when ``findings`` is given."""

    def __init__(self, found: ImportableTask, findings: ImportFindings) -> None:
        self.found: Final = found
        self.findings: Final = findings

    @property
    @abstractmethod
    def source(self) -> str:
        """Which program it comes from."""

    @abstractmethod
    def ui(self, findings: ImportFindings) -> Iterator[JsonObject]:
        """The messages of the UI history; each is one of a known form."""

    @abstractmethod
    def api(self, findings: ImportFindings) -> Iterator[JsonObject]:
        """The messages of the API history; each is one of a known form."""

    @abstractmethod
    def item(self) -> JsonObject:
        """What is said about the task as a whole, as a history item."""

    def config(self) -> JsonObject:
        """What else is known of it."""
        return {}

    @property
    def ui_path(self) -> Path:
        """Where the UI messages are, for people."""
        return self.found.path

    @property
    def api_path(self) -> Path:
        """Where the API messages are, for people."""
        return self.found.path

    def tools(self) -> Iterator[JsonObject]:
        """The records of tools' runs."""
        return iter(())

    def summaries(self) -> Iterator[JsonObject]:
        """The records of summaries."""
        return iter(())

    def artifacts(self) -> Iterator[bytes]:
        """Long outputs and images."""
        return iter(())

    #: Whether the messages carry Roo Code's tags, rather than marks of our own.
    tagged = False

    def own_marks(self, seqs: Sequence[int]) -> list[Mark]:
        """The marks of our own layouts, for records that are numbered by their place among ``seqs``."""
        return []

    def fold(self, heads: Sequence[ApiHead], events: FoldEvents, times: UiTimes) -> Folding:
        """The marks that Roo Code's tags stand for; without tags every message is numbered and nothing hidden."""
        return Folding(list(range(1, len(heads) + 1)), [], {})
