"""What each person has stored, in an order and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Literal, get_args

from ..reports import plain_cell

if TYPE_CHECKING:
    from ..reporting_servers import PersonStorage

__all__ = ["StorageOrder", "sorted_storage", "storage_csv", "storage_order"]

StorageOrder = Literal["total", "conversations", "checkpoints", "memory", "free", "measured", "user"]

_COLUMNS: Final = ("user", "conversations", "checkpoints", "memory", "other", "total", "free", "measured")
_KEYS: Final[dict[StorageOrder, Callable[[PersonStorage], float]]] = {
    "total": lambda one: -one.storage.total,
    "conversations": lambda one: -one.storage.conversations,
    "checkpoints": lambda one: -one.storage.checkpoints,
    "memory": lambda one: -one.storage.memory,
    # Who has the least room comes first.
    "free": lambda one: float("inf") if one.storage.free is None else one.storage.free,
    "measured": lambda one: -one.time,
    "user": lambda one: 0,
}


def storage_order(value: str) -> StorageOrder:
    """A column that one can sort by; the sum for any other."""
    return next((known for known in get_args(StorageOrder) if known == value), "total")


def sorted_storage(people: Sequence[PersonStorage], order: StorageOrder) -> list[PersonStorage]:
    """The same people in this order."""
    return sorted(people, key=lambda one: (_KEYS[order](one), one.user))


def storage_csv(people: Sequence[PersonStorage]) -> str:
    """Rows for spreadsheets, in bytes."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    for one in people:
        stored = one.storage
        writer.writerow(
            [
                plain_cell(one.user),
                stored.conversations,
                stored.checkpoints,
                stored.memory,
                stored.other,
                stored.total,
                "" if stored.free is None else stored.free,
                datetime.fromtimestamp(one.time, UTC).isoformat(timespec="seconds"),
            ]
        )
    return text.getvalue()
