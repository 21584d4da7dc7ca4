"""Where the tasks of the history were about something: their folders and notebooks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from ..tables._sql import SqlConnection
from ._history_dialect import storable

__all__ = ["HistoryPlaces", "PlaceCount", "read_places"]

_MOST: Final = 200


@dataclass(frozen=True)
class PlaceCount:
    """A folder or a notebook, and how many tasks it has."""

    path: str
    tasks: int


@dataclass(frozen=True)
class HistoryPlaces:
    """Each kind with the places that were worked at last first, and no more of them than somebody can choose from."""

    workspaces: tuple[PlaceCount, ...]
    notebooks: tuple[PlaceCount, ...]


def read_places(connection: SqlConnection, owner: str | None) -> HistoryPlaces:
    """Those of one person's tasks, or of all."""
    return HistoryPlaces(_counted(connection, "workspace", owner), _counted(connection, "notebook", owner))


def _counted(
    connection: SqlConnection, column: Literal["workspace", "notebook"], owner: str | None
) -> tuple[PlaceCount, ...]:
    whose, values = ("", ()) if owner is None else ("AND owner = ?", (storable(owner),))
    rows = connection.execute(
        f"""
        SELECT {column}, count(*) FROM history_tasks WHERE {column} <> '' {whose}
        GROUP BY {column} ORDER BY max(ts) DESC, {column} LIMIT ?
        """,  # noqa: S608 - column names of this module; what came from outside is bound
        (*values, _MOST),
    )
    return tuple(PlaceCount(path, tasks) for path, tasks in rows)
