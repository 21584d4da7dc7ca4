"""What is asked of an object store, whichever it is. Everything here blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from ...errors import ArtifactStoreUnavailable

__all__ = ["ObjectMissing", "ObjectStore", "StoredObject"]


class ObjectMissing(Exception):
    """The store answers, and has nothing under this key."""


@dataclass(frozen=True)
class StoredObject:
    """An object as a listing has it."""

    key: str
    size: int
    modified: datetime
    """When it was written, by the store's own clock."""


class ObjectStore(ABC):
    """Keeps bytes under keys. Raises ``ArtifactStoreUnavailable`` after a bounded wait if it cannot be used."""

    name: str
    """Which store it is, for people; it has no key."""

    @abstractmethod
    def put(self, key: str, data: bytes) -> None:
        """Keep the bytes. They are there whole when this returns; a writer that dies leaves all or nothing under the key."""

    @abstractmethod
    def read(self, key: str, size: int) -> bytes:
        """The bytes, of which there are at most so many. Raises ``ObjectMissing``."""

    @abstractmethod
    def delete(self, keys: Sequence[str]) -> None:
        """Delete the objects; one that is not there is no error."""

    @abstractmethod
    def listed(self, folder: str) -> Iterator[StoredObject]:
        """All objects whose keys begin with this and a slash, some at a time."""

    def unavailable(self, reason: str) -> ArtifactStoreUnavailable:
        """What a person reads while it cannot be used."""
        return ArtifactStoreUnavailable(
            f"Some long outputs and images cannot be shown now: {self.name} is away ({reason}). New ones are kept in the "
            "database, and moved when it is back. Nothing is lost.",
            store=self.name, action="use", reason=reason,
        )  # fmt: skip
