"""A saved key together with the address it was given for: one text, so that neither can change without the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

__all__ = ["BoundKey", "read_bound_key", "write_bound_key"]

_HEAD: Final = "hdsp-agent key for "


@dataclass(frozen=True)
class BoundKey:
    """A key as it is kept."""

    value: str = field(repr=False)
    address: str | None
    """None for one that an earlier version saved."""


def write_bound_key(value: str, address: str) -> str:
    """What is put into the place where keys are kept."""
    return f"{_HEAD}{address}\n{value}"


def read_bound_key(text: str) -> BoundKey:
    """What ``write_bound_key`` made, or a key of an earlier version."""
    head, newline, value = text.partition("\n")
    if not newline or not head.startswith(_HEAD):
        return BoundKey(text, None)
    return BoundKey(value, head.removeprefix(_HEAD))
