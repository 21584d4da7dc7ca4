"""Building the validators ahead of their first use."""

from __future__ import annotations

from collections.abc import Iterator

from ._base import Message, Record
from ._parsing import client_frames

__all__ = ["warm_up"]


def warm_up() -> None:
    """Build every model of the vocabulary. Takes a few tenths of a second: call it in a thread."""
    for base in (Message, Record):
        for model in _descendants(base):
            model.model_rebuild()
    client_frames()


def _descendants(model: type[Message | Record]) -> Iterator[type[Message | Record]]:
    for child in model.__subclasses__():
        yield child
        yield from _descendants(child)
