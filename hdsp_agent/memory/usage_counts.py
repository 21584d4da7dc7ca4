"""How often memory files of each kind were read, and when last. Everything here blocks."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field, ValidationError

from .._iso_time import iso_time
from .._private_files import locked, make_private_folder
from ..wire import WireModel
from .memory_folder import MemoryFileKind, MemoryFolder

__all__ = ["UsageCounts", "UsageOfKind", "usage_of", "usage_text"]

_FILE: Final = "usage.json"
_LOCK_SECONDS: Final = 5.0


class UsageOfKind(WireModel):
    """How often files of one kind were read."""

    count: Annotated[int, Field(ge=0)] = 0
    last_at: str | None = None


class _Usage(WireModel):
    kinds: dict[MemoryFileKind, UsageOfKind] = Field(default_factory=dict)


def usage_of(text: str) -> dict[MemoryFileKind, UsageOfKind]:
    """What the file's text counts; nothing if it cannot be read."""
    try:
        return _Usage.model_validate_json(text or "{}").kinds
    except ValidationError:
        return {}


def usage_text(kinds: dict[MemoryFileKind, UsageOfKind]) -> str:
    """The text that says so."""
    return _Usage(kinds=kinds).to_json()


class UsageCounts:
    """The counts of one person."""

    def __init__(self, folder: MemoryFolder) -> None:
        self._folder = folder

    def counts(self) -> dict[MemoryFileKind, UsageOfKind]:
        """By kind; those that were never read are left out."""
        return usage_of(self._folder.text(_FILE))

    def add(self, kind: MemoryFileKind) -> None:
        """A file was read. Raises StorageUnavailable."""
        make_private_folder(self._folder.root)
        with locked(self._folder.root / _FILE, _LOCK_SECONDS):
            counts = self.counts()
            counts[kind] = UsageOfKind(count=counts.get(kind, UsageOfKind()).count + 1, last_at=iso_time())
            self._folder.write(_FILE, usage_text(counts))
