"""One task's entry in the history: put, merged, taken out, counted together with its subtasks. Called within a transaction."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from ...errors import UnknownTask
from ...messages import HistoryItem
from ..tables._sql import SqlConnection
from ._facts import fact, is_filled, set_fact
from ._history_dialect import HistoryDialect, bounded, storable
from ._text_normalization import fold, tidy

__all__ = [
    "SubtaskCosts",
    "change_entry",
    "count_costs",
    "entries_without_number",
    "read_entry",
    "remove_family",
    "require_entry",
    "write_entry",
]

LogEntry = dict[str, JsonValue]

TITLE_CHARACTERS: Final = 500
TASK_CHARACTERS: Final = 4_000
_REMEMBERED_CHANGES: Final = 10_000
_NUMBERS: Final = "numbers"
"""The fact that says which number was given last."""
_GREATEST_NUMBER: Final = 2**31
"""What is more was not counted: a file may say anything."""


@dataclass(frozen=True)
class SubtaskCosts:
    """What a task cost by itself, what its subtasks at any depth did, and the tokens of them all."""

    own_cost: float
    children_cost: float
    tokens: int
    children: int

    @property
    def total_cost(self) -> float:
        """Both together."""
        return self.own_cost + self.children_cost


def read_entry(connection: SqlConnection, task_id: str) -> tuple[HistoryItem, str] | None:
    """A task's item and owner."""
    known = connection.execute(
        "SELECT item, owner FROM history_tasks JOIN history_items USING (row) WHERE id = ?", (storable(task_id),)
    ).fetchone()
    return (HistoryItem.model_validate_json(known[0]), known[1]) if known else None


def require_entry(connection: SqlConnection, task_id: str) -> None:
    """Refuse an id that no task has."""
    if connection.execute("SELECT 1 FROM history_tasks WHERE id = ?", (storable(task_id),)).fetchone() is None:
        raise UnknownTask(
            f"The history has no task {task_id!r}. It may have been deleted. Reload the history.", task=task_id
        )


def write_entry(
    connection: SqlConnection,
    dialect: HistoryDialect,
    item: HistoryItem,
    *,
    text: str | None,
    owner: str | None,
    writer: int,
    text_characters: int,
    known_is_newer: bool = False,
    numbers: bool | None = None,
) -> HistoryItem:
    """Merge what is stated into what is known: fields not stated stay, fields stated as None go.

    A task without a number gets the next one if it ``numbers``: by itself, once those given earlier are known.
    """
    stated: LogEntry = item.model_dump(mode="json", by_alias=True, exclude_unset=True)
    shown = None if text is None else tidy(text, text_characters)
    known = _known(connection, storable(item.id))
    entry = {**(known[2] if known else {}), **stated}
    if known and known_is_newer:
        entry = {**stated, **known[2]}
    entry["number"] = stated.get("number") or (known[2].get("number", 0) if known else 0)
    return _store(connection, dialect, entry, known, shown=shown, owner=owner, writer=writer, numbers=numbers)


def change_entry(
    connection: SqlConnection,
    dialect: HistoryDialect,
    task_id: str,
    change: Callable[[LogEntry], LogEntry],
    *,
    writer: int,
    numbers: bool | None = None,
) -> HistoryItem:
    """Change some fields of an entry that is there; ``numbers`` as for ``write_entry``."""
    require_entry(connection, task_id)
    known = _known(connection, storable(task_id))
    assert known is not None
    entry = {**known[2], **change(known[2])}
    return _store(connection, dialect, entry, known, shown=None, owner=None, writer=writer, numbers=numbers)


def entries_without_number(connection: SqlConnection) -> list[str]:
    """The ids of entries that have no number yet, and perhaps of others, the oldest first."""
    rows = connection.execute(
        """SELECT id FROM history_tasks JOIN history_items USING (row) WHERE item LIKE '%"number": 0%' ORDER BY ts"""
    )
    return [row[0] for row in rows]


def remove_family(connection: SqlConnection, dialect: HistoryDialect, task_id: str, *, writer: int) -> list[str]:
    """Take out a task and its subtasks at any depth; their ids, the task's own first."""
    require_entry(connection, task_id)
    ids = [row[0] for row in connection.execute(dialect.family, (storable(task_id),))]
    remove_entries(connection, dialect, ids, writer=writer)
    return ids


def remove_entries(connection: SqlConnection, dialect: HistoryDialect, ids: Sequence[str], *, writer: int) -> None:
    """Take out these tasks and nothing else."""
    change = next_change(connection)
    for task_id in ids:
        known = connection.execute("SELECT row FROM history_tasks WHERE id = ?", (task_id,)).fetchone()
        if known is None:
            continue
        dialect.remove_texts(connection, known[0])
        for table in ("history_items", "history_tasks"):
            connection.execute(f"DELETE FROM {table} WHERE row = ?", known)  # noqa: S608 - names of this module
        connection.execute("DELETE FROM history_links WHERE parent = ?", (task_id,))
        connection.execute("DELETE FROM history_removed WHERE id = ?", (task_id,))
        connection.execute(
            "INSERT INTO history_removed (id, change, writer) VALUES (?, ?, ?)", (task_id, change, writer)
        )
    connection.execute("DELETE FROM history_removed WHERE change < ?", (change - _REMEMBERED_CHANGES,))


def count_costs(connection: SqlConnection, dialect: HistoryDialect, task_id: str) -> SubtaskCosts:
    """What a task and its subtasks cost, each counted once however they refer to each other."""
    require_entry(connection, task_id)
    rows = connection.execute(dialect.family, (storable(task_id),)).fetchall()
    own = math.fsum(cost for member, cost, _ in rows if member == task_id)
    children = math.fsum(cost for member, cost, _ in rows if member != task_id)
    return SubtaskCosts(own, children, sum(tokens for *_, tokens in rows), len(rows) - 1)


def next_change(connection: SqlConnection) -> int:
    """The number of this change among all that any process made."""
    change = fact(connection, "changes") + 1
    set_fact(connection, "changes", change)
    return change


def changes_too_old(seen: int, newest: int) -> bool:
    """Whether removals since then may have been forgotten."""
    return newest - seen >= _REMEMBERED_CHANGES or newest < seen


def _known(connection: SqlConnection, task_id: str) -> tuple[int, str, LogEntry] | None:
    known = connection.execute(
        "SELECT row, owner, item FROM history_tasks JOIN history_items USING (row) WHERE id = ?", (task_id,)
    ).fetchone()
    return (known[0], known[1], json.loads(known[2])) if known else None


def _store(
    connection: SqlConnection,
    dialect: HistoryDialect,
    entry: LogEntry,
    known: tuple[int, str, LogEntry] | None,
    *,
    shown: str | None,
    owner: str | None,
    writer: int,
    numbers: bool | None = None,
) -> HistoryItem:
    entry = {name: value for name, value in entry.items() if value is not None}
    entry["number"] = _numbered(
        connection, entry.get("number"), numbers=is_filled(connection) if numbers is None else numbers
    )
    cost = entry.get("totalCost")
    if not isinstance(cost, (int, float)) or not math.isfinite(cost):
        entry["totalCost"] = 0.0  # a price that could not be worked out; no order and no sum could hold it
    stored = storable(json.dumps(entry, ensure_ascii=False))
    item = HistoryItem.model_validate_json(stored)
    if known is not None:
        texts_changed = _store_texts(connection, dialect, known[0], item, shown)
        # What is told again, as by a server that heard of another one's change, is no change.
        if not texts_changed and json.loads(stored) == known[2] and owner in (None, known[1]):
            return item
    columns: dict[str, object] = {
        "id": storable(item.id),
        "parent": _storable(item.parent_task_id),
        "owner": storable(owner) if owner is not None else known[1] if known else "",
        "ts": bounded(item.ts),
        "cost": item.total_cost,
        "tokens": bounded(item.tokens_in + item.tokens_out + (item.cache_writes or 0) + (item.cache_reads or 0)),
        "favorite": bool(item.is_favorited),
        "status": item.status,
        "workspace": _storable(item.workspace),
        "notebook": _storable(item.notebook.path if item.notebook else None),
        "change": next_change(connection),
        "writer": writer,
    }
    row = _put_columns(connection, columns, known[0] if known else None)
    if known is None:
        connection.execute("INSERT INTO history_items (row, item) VALUES (?, ?)", (row, stored))
    else:
        connection.execute("UPDATE history_items SET item = ? WHERE row = ?", (stored, row))
    connection.execute("DELETE FROM history_removed WHERE id = ?", (columns["id"],))
    connection.execute("DELETE FROM history_links WHERE parent = ?", (columns["id"],))
    connection.executemany(
        "INSERT INTO history_links (parent, child) VALUES (?, ?)",
        [(columns["id"], child) for child in dict.fromkeys(map(storable, item.child_ids or ()))],
    )
    if known is None:
        _store_texts(connection, dialect, row, item, shown)
    return item


def _put_columns(connection: SqlConnection, columns: Mapping[str, object], row: int | None) -> int:
    """Change the columns of an entry, or make a new one: its row."""
    if row is not None:
        changed = ", ".join(f"{name} = ?" for name in columns)
        connection.execute(f"UPDATE history_tasks SET {changed} WHERE row = ?", (*columns.values(), row))  # noqa: S608 - our own names
        return row
    made = connection.execute(
        f"INSERT INTO history_tasks ({', '.join(columns)}) VALUES ({', '.join('?' for _ in columns)}) RETURNING row",  # noqa: S608 - our own names
        tuple(columns.values()),
    )
    return int(made.fetchall()[0][0])


def _storable(text: str | None) -> str | None:
    return None if text is None else storable(text)


def _numbered(connection: SqlConnection, number: JsonValue, *, numbers: bool) -> int:
    """The task's number, or the next one: they count from 1 and are never given twice."""
    greatest, given = fact(connection, _NUMBERS), number if isinstance(number, int) else 0
    if not 0 < given <= _GREATEST_NUMBER:
        given = greatest + 1 if numbers else 0
    if given > greatest:
        set_fact(connection, _NUMBERS, given)
    return given


def _store_texts(
    connection: SqlConnection, dialect: HistoryDialect, row: int, item: HistoryItem, shown: str | None
) -> bool:
    body = None if shown is None else fold(shown)
    if shown is None or body is None:
        kept = connection.execute("SELECT body, shown FROM history_texts WHERE row = ?", (row,)).fetchone()
        body, shown = kept or ("", "")
    return dialect.put_texts(connection, row, (fold(shown_title(item)), fold(shown_task(item)), body), shown)


def shown_title(item: HistoryItem) -> str:
    """The title as snippets show it."""
    return tidy(item.title or "", TITLE_CHARACTERS)


def shown_task(item: HistoryItem) -> str:
    """The beginning of the first message as snippets show it."""
    return tidy(item.task, TASK_CHARACTERS)
