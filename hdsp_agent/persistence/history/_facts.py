"""Numbers kept beside the tables of the history. Called within a transaction."""

from __future__ import annotations

from typing import Final

from ..tables._sql import SqlConnection

__all__ = ["COMPLETE", "fact", "is_filled", "mark_filled", "set_fact"]

COMPLETE: Final = "complete"
_FILLED: Final = 2
"""As which a complete index is marked. 1 knew no numbers, sizes and states of tasks: it is filled anew."""


def fact(connection: SqlConnection, name: str) -> int:
    """A number kept beside the tables; 0 if it was never set."""
    row = connection.execute("SELECT value FROM history_facts WHERE name = ?", (name,)).fetchone()
    return int(row[0]) if row else 0


def set_fact(connection: SqlConnection, name: str, value: int) -> None:
    """Keep a number."""
    if connection.execute("UPDATE history_facts SET value = ? WHERE name = ?", (value, name)).rowcount == 0:
        connection.execute("INSERT INTO history_facts (name, value) VALUES (?, ?)", (name, value))


def is_filled(connection: SqlConnection) -> bool:
    """Whether the index has been built from the tasks since its tables were made."""
    return fact(connection, COMPLETE) >= _FILLED


def mark_filled(connection: SqlConnection) -> None:
    """It has been."""
    set_fact(connection, COMPLETE, _FILLED)
