"""One task's entry in the history: put, merged, taken out, counted together with its subtasks. Called within a transaction."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from ...errors import UnknownTask
from ...messages import HistoryItem
from ._history_schema import bounded, fact, is_filled, put_texts, remove_texts, set_fact, storable
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

# A task belongs to the parent it names; one that names none, to those that name it. UNION ends a circle.
_FAMILY: Final = """
    WITH RECURSIVE family (id) AS (
        SELECT id FROM history_tasks WHERE id = ?
        UNION
        SELECT child.id FROM family JOIN history_tasks AS child ON child.parent = family.id
        UNION
        SELECT child.id FROM family JOIN history_links ON history_links.parent = family.id
        JOIN history_tasks AS child ON child.id = history_links.child AND child.parent IS NULL
    )
    SELECT id, cost, tokens FROM family JOIN history_tasks USING (id)
"""


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


def read_entry(connection: sqlite3.Connection, task_id: str) -> tuple[HistoryItem, str] | None:
    """A task's item and owner."""
    known = connection.execute(
        "SELECT item, owner FROM history_tasks JOIN history_items USING (row) WHERE id = ?", (storable(task_id),)
    ).fetchone()
    return (HistoryItem.model_validate_json(known[0]), known[1]) if known else None


def require_entry(connection: sqlite3.Connection, task_id: str) -> None:
    """Refuse an id that no task has."""
    if connection.execute("SELECT 1 FROM history_tasks WHERE id = ?", (storable(task_id),)).fetchone() is None:
        raise UnknownTask(
            f"The history has no task {task_id!r}. It may have been deleted. Reload the history.", task=task_id
        )


def write_entry(
    connection: sqlite3.Connection,
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
    return _store(connection, entry, known, shown=shown, owner=owner, writer=writer, numbers=numbers)


def change_entry(
    connection: sqlite3.Connection,
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
    return _store(connection, entry, known, shown=None, owner=None, writer=writer, numbers=numbers)


def entries_without_number(connection: sqlite3.Connection) -> list[str]:
    """The ids of entries that have no number yet, and perhaps of others, the oldest first."""
    rows = connection.execute(
        """SELECT id FROM history_tasks JOIN history_items USING (row) WHERE item LIKE '%"number": 0%' ORDER BY ts"""
    )
    return [row[0] for row in rows]


def remove_family(connection: sqlite3.Connection, task_id: str, *, writer: int) -> list[str]:
    """Take out a task and its subtasks at any depth; their ids, the task's own first."""
    require_entry(connection, task_id)
    ids = [row[0] for row in connection.execute(_FAMILY, (storable(task_id),))]
    remove_entries(connection, ids, writer=writer)
    return ids


def remove_entries(connection: sqlite3.Connection, ids: Sequence[str], *, writer: int) -> None:
    """Take out these tasks and nothing else."""
    change = next_change(connection)
    for task_id in ids:
        known = connection.execute("SELECT row FROM history_tasks WHERE id = ?", (task_id,)).fetchone()
        if known is None:
            continue
        remove_texts(connection, known[0])
        for table in ("history_items", "history_tasks"):
            connection.execute(f"DELETE FROM {table} WHERE row = ?", known)  # noqa: S608 - names of this module
        connection.execute("DELETE FROM history_links WHERE parent = ?", (task_id,))
        connection.execute("INSERT OR REPLACE INTO history_removed VALUES (?, ?, ?)", (task_id, change, writer))
    connection.execute("DELETE FROM history_removed WHERE change < ?", (change - _REMEMBERED_CHANGES,))


def count_costs(connection: sqlite3.Connection, task_id: str) -> SubtaskCosts:
    """What a task and its subtasks cost, each counted once however they refer to each other."""
    require_entry(connection, task_id)
    rows = connection.execute(_FAMILY, (storable(task_id),)).fetchall()
    own = math.fsum(cost for member, cost, _ in rows if member == task_id)
    children = math.fsum(cost for member, cost, _ in rows if member != task_id)
    return SubtaskCosts(own, children, sum(tokens for *_, tokens in rows), len(rows) - 1)


def next_change(connection: sqlite3.Connection) -> int:
    """The number of this change among all that any process made."""
    change = fact(connection, "changes") + 1
    set_fact(connection, "changes", change)
    return change


def changes_too_old(seen: int, newest: int) -> bool:
    """Whether removals since then may have been forgotten."""
    return newest - seen >= _REMEMBERED_CHANGES or newest < seen


def _known(connection: sqlite3.Connection, task_id: str) -> tuple[int, str, LogEntry] | None:
    known = connection.execute(
        "SELECT row, owner, item FROM history_tasks JOIN history_items USING (row) WHERE id = ?", (task_id,)
    ).fetchone()
    return (known[0], known[1], json.loads(known[2])) if known else None


def _store(
    connection: sqlite3.Connection,
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
    columns = (
        item.id,
        item.parent_task_id,
        storable(owner) if owner is not None else known[1] if known else "",
        bounded(item.ts),
        item.total_cost,
        bounded(item.tokens_in + item.tokens_out + (item.cache_writes or 0) + (item.cache_reads or 0)),
        bool(item.is_favorited),
        item.status,
        item.workspace,
        item.notebook.path if item.notebook else None,
        next_change(connection),
        writer,
    )
    row = connection.execute(
        f"INSERT OR REPLACE INTO history_tasks VALUES (?{', ?' * len(columns)})",  # noqa: S608 - question marks
        (known[0] if known else None, *columns),
    ).lastrowid
    assert row is not None
    connection.execute("INSERT OR REPLACE INTO history_items VALUES (?, ?)", (row, stored))
    connection.execute("DELETE FROM history_removed WHERE id = ?", (item.id,))
    connection.execute("DELETE FROM history_links WHERE parent = ?", (item.id,))
    connection.executemany(
        "INSERT OR IGNORE INTO history_links VALUES (?, ?)", [(item.id, child) for child in item.child_ids or ()]
    )
    _store_texts(connection, row, item, shown)
    return item


def _numbered(connection: sqlite3.Connection, number: JsonValue, *, numbers: bool) -> int:
    """The task's number, or the next one: they count from 1 and are never given twice."""
    greatest, given = fact(connection, _NUMBERS), number if isinstance(number, int) else 0
    if not 0 < given <= _GREATEST_NUMBER:
        given = greatest + 1 if numbers else 0
    if given > greatest:
        set_fact(connection, _NUMBERS, given)
    return given


def _store_texts(connection: sqlite3.Connection, row: int, item: HistoryItem, shown: str | None) -> None:
    body = None if shown is None else fold(shown)
    if shown is None or body is None:
        kept = connection.execute("SELECT body, shown FROM history_texts WHERE row = ?", (row,)).fetchone()
        body, shown = kept or ("", "")
    put_texts(connection, row, (fold(shown_title(item)), fold(shown_task(item)), body), shown)


def shown_title(item: HistoryItem) -> str:
    """The title as snippets show it."""
    return tidy(item.title or "", TITLE_CHARACTERS)


def shown_task(item: HistoryItem) -> str:
    """The beginning of the first message as snippets show it."""
    return tidy(item.task, TASK_CHARACTERS)
