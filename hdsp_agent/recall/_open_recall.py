"""Which kind of index the conversations of a history get."""

from __future__ import annotations

from ..persistence import HistoryIndex, StateDatabase
from ._index import RecallIndex

__all__ = ["open_recall"]


def open_recall(history: HistoryIndex, database: StateDatabase) -> RecallIndex:
    """The index beside a history that all servers of a person share, or in ``database``. Before either is started."""
    if not history.is_shared:
        return RecallIndex(database)
    from ._folder_place import FolderPlace
    from ._postgres_recall import PostgresRecall

    return RecallIndex(history.database, dialect=PostgresRecall(FolderPlace(database.path.parent)))
