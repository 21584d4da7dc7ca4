"""What a notebook shared through jupyter-collaboration is made of, as far as it is used here.

Nothing of it is imported anywhere: it is somebody else's choice which versions of it there are, and whether any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Literal, Protocol

from ...messages import JsonObject

__all__ = ["Collaboration", "Room", "Rooms", "SharedArray", "SharedDoc", "SharedMap", "SharedNotebook", "SharedText"]


class SharedText(Protocol):
    """A text. Places in it are counted in bytes of UTF-8."""

    def __init__(self, value: str) -> None: ...

    def __delitem__(self, place: slice) -> None: ...

    def insert(self, index: int, value: str) -> None:
        """Put text at this place."""


class SharedMap(Protocol):
    """An object whose values may be shared themselves. Its ``str`` is its JSON, everything in it included."""

    def __init__(self, value: Mapping[str, object]) -> None: ...

    def __contains__(self, key: str) -> bool: ...

    def __getitem__(self, key: str) -> object: ...

    def __setitem__(self, key: str, value: object) -> None: ...

    def __delitem__(self, key: str) -> None: ...

    def get(self, key: str) -> object:
        """The value of a key; None where there is none."""

    def observe(self, callback: Callable[[MapEvent], None]) -> object:
        """Call this after each transaction that changed it; the answer is to be given back to ``unobserve``."""

    def unobserve(self, subscription: object) -> None:
        """Call it no more."""


class MapEvent(Protocol):
    """What changed in an object."""

    @property
    def keys(self) -> Mapping[str, object]:
        """The keys that were written, were it with the value they had."""


class SharedArray(Protocol):
    """A list. Its ``str`` is its JSON, everything in it included."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> SharedMap: ...

    def __delitem__(self, place: int | slice) -> None: ...

    def insert(self, index: int, value: object) -> None:
        """Put something at this place."""


class SharedDoc(Protocol):
    """All that is shared of one document."""

    def transaction(self) -> AbstractContextManager[object]:
        """What is changed within is seen by others at once, or not at all."""

    def __getitem__(self, key: Literal["meta"]) -> SharedMap: ...


class SharedNotebook(Protocol):
    """jupyter-ydoc's notebook."""

    @property
    def ydoc(self) -> SharedDoc:
        """What it is made of."""

    @property
    def ystate(self) -> SharedMap:
        """What is known of its file: whether it is saved, and the hash of what was saved last."""

    @property
    def ycells(self) -> SharedArray:
        """Its cells."""

    def create_ycell(self, value: JsonObject) -> SharedMap:
        """A cell as nbformat has it, to be put among the cells."""


class Room(Protocol):
    """Where a document is kept while somebody has it open."""

    @property
    def ready(self) -> bool:
        """Whether the file has been read."""

    @property
    def ydoc(self) -> object:
        """The document in it."""


class Rooms(Protocol):
    """The WebSocket server of collaboration."""

    @property
    def rooms(self) -> Mapping[str, Room]:
        """All rooms by name."""


class Collaboration(Protocol):
    """jupyter-collaboration's server extension."""

    @property
    def document_load_progressively(self) -> bool:
        """Whether a document may be given away before all of its file is in it."""

    @property
    def ywebsocket_server(self) -> Rooms:
        """Where the rooms are."""

    async def get_document(
        self,
        *,
        path: str,
        content_type: Literal["notebook"],
        file_format: Literal["json"],
        copy: bool,
        create: bool,
    ) -> SharedNotebook | None:
        """The document of a path; None where it has no room and none is to be made."""
