"""Reading what a server sent without believing that it has the form it should have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["count", "items", "mapping", "number", "text"]


def mapping(value: object) -> Mapping[str, object]:
    """The object, or an empty one."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> Sequence[object]:
    """The array, or an empty one."""
    return value if isinstance(value, list) else ()


def text(value: object) -> str:
    """The string, or an empty one."""
    return value if isinstance(value, str) else ""


def number(value: object) -> float | None:
    """The number, or None."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def count(value: object) -> int:
    """The number of things, or 0."""
    found = number(value)
    return max(0, int(found)) if found is not None else 0
