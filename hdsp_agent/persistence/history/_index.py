"""The history of all tasks: found, sorted, paged and summed without opening a single task folder."""

from __future__ import annotations

import asyncio
import functools
import itertools
import logging
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ClassVar, Final, NamedTuple, Self, TypedDict, TypeVar

from ...errors import UnknownTask
from ...messages import HistoryItem
from ..tables._sql import SqlConnection
from ._entries import (
    TITLE_CHARACTERS,
    SubtaskCosts,
    change_entry,
    changes_too_old,
    count_costs,
    entries_without_number,
    read_entry,
    remove_entries,
    remove_family,
    shown_task,
    shown_title,
    write_entry,
)
from ._facts import fact, is_filled, mark_filled
from ._fuzzy_terms import near_word
from ._history_dialect import HistoryDatabase, HistoryDialect, storable
from ._history_schema import HISTORY_SCHEMA, SQLITE_HISTORY
from ._places import HistoryPlaces, read_places
from ._query import HistoryHit, HistoryPage, HistoryQuery, cursor_of, near_sql, page_size, page_sql
from ._snippets import SnippetField, cut_snippet
from ._state_database import StateDatabase
from ._text_normalization import search_terms, tidy

__all__ = ["HistoryChange", "HistoryIndex", "HistoryOptions", "HistoryRecord", "RebuildReport"]

logger = logging.getLogger(__name__)
T = TypeVar("T")

# One transaction of this many tasks keeps other processes from writing for well under a tenth of a second.
_BATCH: Final = 20
_MOST_REPORTED: Final = 200


class HistoryRecord(NamedTuple):
    """A task as its folder tells it: what the history is rebuilt from."""

    item: HistoryItem
    text: str = ""
    owner: str | None = None
    began: str = ""
    """When, as its metadata write it: tasks that have no number yet get theirs in this order."""


@dataclass(frozen=True)
class HistoryChange:
    """What another process did to the history. ``everything`` means that too much changed to say."""

    changed: tuple[HistoryItem, ...] = ()
    removed: tuple[str, ...] = ()
    everything: bool = False


@dataclass(frozen=True)
class RebuildReport:
    """How many tasks were put in, and how many were taken out because no folder has them."""

    put: int
    removed: int


class HistoryOptions(TypedDict, total=False):
    """What an index is made with besides a database: see ``HistoryIndex``."""

    source: Callable[[], Iterable[HistoryRecord]] | None
    on_change: Callable[[HistoryChange], None] | None
    text_characters: int


class HistoryIndex:
    """The index in ``state.db`` or another database. It is a copy: with ``source``, which reads the tasks, it makes itself anew when it is lost.

    ``on_change`` is called on the event loop with what other processes did, within a second. Of a conversation's text the
    first ``text_characters`` can be found.
    """

    is_shared: ClassVar = False
    """Whether servers with other folders have it, too."""

    def __init__(
        self,
        database: HistoryDatabase,
        *,
        dialect: HistoryDialect = SQLITE_HISTORY,
        source: Callable[[], Iterable[HistoryRecord]] | None = None,
        on_change: Callable[[HistoryChange], None] | None = None,
        text_characters: int = 8_000,
    ) -> None:
        self._database = database
        self._dialect = dialect
        self._source = source
        self._on_change = on_change
        self._text_characters = text_characters
        self._writer = secrets.randbits(62)
        self._seen = 0
        self._generation = 0
        self._rebuilding: asyncio.Task[None] | None = None
        if isinstance(database, StateDatabase):
            database.add(HISTORY_SCHEMA)
        database.listen(self._reconcile)

    @property
    def database(self) -> HistoryDatabase:
        """Where it is. What belongs to the conversations may be there, too."""
        return self._database

    async def start(self) -> None:
        """Begin to follow what others do, and fill an empty index in the background. The database has been started."""
        self._seen = await self._database.read(_newest_change)
        self._generation = self._database.generation
        await self._rebuild_if_needed()

    async def stop(self) -> None:
        """Give up a rebuilding that is under way; the next start takes it up again."""
        if self._rebuilding is not None:
            self._rebuilding.cancel()
            await asyncio.gather(self._rebuilding, return_exceptions=True)
            self._rebuilding = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def upsert(self, item: HistoryItem, *, text: str | None = None, owner: str | None = None) -> HistoryItem:
        """Put a task in or bring it up to date. What is not stated stays; a field stated as None goes. The item as it is now."""
        return await self._database.write(
            lambda connection: write_entry(
                connection, self._dialect, item, text=text, owner=owner, writer=self._writer,
                text_characters=self._text_characters,
            )
        )  # fmt: skip

    async def get(self, task_id: str) -> HistoryHit | None:
        """One task, or None if the history does not have it."""
        known = await self._database.read(lambda connection: read_entry(connection, task_id))
        return HistoryHit(*known) if known else None

    async def search(self, query: HistoryQuery) -> HistoryPage:
        """A page of the history. A malformed cursor is the only thing refused."""
        return await self._database.read(lambda connection: _search(connection, self._dialect, query))

    async def places(self, owner: str | None = None) -> HistoryPlaces:
        """The folders and notebooks that tasks are about: one person's, or all."""
        return await self._database.read(lambda connection: read_places(connection, owner))

    async def rename(self, task_id: str, title: str | None) -> HistoryItem:
        """Give a task a title of the person's own; a blank one or None takes it away."""
        tidied = tidy(title or "", TITLE_CHARACTERS) or None
        return await self._database.write(
            lambda connection: change_entry(
                connection, self._dialect, task_id, lambda _: {"title": tidied}, writer=self._writer
            )
        )

    async def delete(self, task_id: str) -> list[str]:
        """Take a task and all its subtasks out of the history; the ids whose folders are to go."""
        return await self._database.write(
            lambda connection: remove_family(connection, self._dialect, task_id, writer=self._writer)
        )

    async def forget(self, task_ids: Sequence[str]) -> None:
        """Take these tasks out of the history and nothing else: their folders are gone, those of their subtasks may not be."""
        await self._database.write(
            lambda connection: remove_entries(connection, self._dialect, task_ids, writer=self._writer)
        )

    async def ids(self) -> list[str]:
        """The ids of all tasks in the history."""
        return await self._database.read(
            lambda connection: [row[0] for row in connection.execute("SELECT id FROM history_tasks")]
        )

    async def costs(self, task_id: str) -> SubtaskCosts:
        """What a task cost together with its subtasks at any depth."""
        return await self._database.read(lambda connection: count_costs(connection, self._dialect, task_id))

    async def changes_after(self, mark: int | None) -> tuple[int, HistoryChange]:
        """What anybody changed since this mark, and the next mark; without one, everything."""
        if mark is None:
            return await self._database.read(_newest_change), HistoryChange(everything=True)
        return await self._database.read(lambda connection: _changes_since(connection, mark))

    async def is_complete(self) -> bool:
        """Whether the index has been built from the folders since its file was made."""
        return await self._database.read(is_filled)

    async def problems(self) -> list[str]:
        """What a thorough look at the database finds wrong, in its own words; slow, for ``doctor``."""
        return await self._database.write(self._dialect.problems)

    async def rebuild(self, records: Iterable[HistoryRecord]) -> RebuildReport:
        """Bring the index in line with the folders, read in threads, while it stays in use.

        What changes meanwhile is newer than what was read and stays; tasks without a folder go.
        """
        return await self._fill(records, drop_others=True)

    async def _fill(self, records: Iterable[HistoryRecord], *, drop_others: bool) -> RebuildReport:
        generation = self._database.generation
        begun_at = await self._database.read(_newest_change)
        present: set[str] = set()
        unnumbered: list[tuple[str, str]] = []
        rest = iter(records)
        while batch := await self._database.in_thread(lambda: list(itertools.islice(rest, _BATCH))):
            present.update(record.item.id for record in batch)
            await self._database.write(functools.partial(self._put_found, batch=batch, begun_at=begun_at))
            unnumbered += [(record.began, record.item.id) for record in batch if not record.item.number]
        # Now that all numbers that were given before are known.
        for part in _batches([task_id for _, task_id in sorted(unnumbered)]):
            await self._database.write(functools.partial(self._number, batch=part))
        # And what was put in meanwhile.
        for part in _batches(await self._database.read(entries_without_number)):
            await self._database.write(functools.partial(self._number, batch=part))
        removed = await self._database.write(
            lambda connection: self._finish(connection, present if drop_others else None, begun_at, generation)
        )
        return RebuildReport(len(present), removed)

    def _put_found(self, connection: SqlConnection, *, batch: list[HistoryRecord], begun_at: int) -> None:
        for record in batch:
            bounds = (storable(record.item.id), begun_at)
            removed = connection.execute("SELECT 1 FROM history_removed WHERE id = ? AND change > ?", bounds)
            newer = connection.execute("SELECT 1 FROM history_tasks WHERE id = ? AND change > ?", bounds)
            if removed.fetchone() is None:
                write_entry(
                    connection, self._dialect, record.item, text=record.text, owner=record.owner, writer=self._writer,
                    text_characters=self._text_characters, known_is_newer=newer.fetchone() is not None,
                    numbers=False,
                )  # fmt: skip

    def _number(self, connection: SqlConnection, *, batch: Sequence[str]) -> None:
        for task_id in batch:
            # One that was deleted meanwhile needs none.
            with suppress(UnknownTask):
                change_entry(connection, self._dialect, task_id, lambda _: {}, writer=self._writer, numbers=True)

    def _finish(self, connection: SqlConnection, present: set[str] | None, begun_at: int, generation: int) -> int:
        if self._database.generation != generation:
            return 0  # another file took the place of the one that was filled; that one is not complete
        known = connection.execute("SELECT id FROM history_tasks WHERE change <= ?", (begun_at,))
        gone = [] if present is None else [task_id for (task_id,) in known if task_id not in present]
        remove_entries(connection, self._dialect, gone, writer=self._writer)
        mark_filled(connection)
        return len(gone)

    async def _rebuild_if_needed(self) -> None:
        running = self._rebuilding is not None and not self._rebuilding.done()
        if self._source is not None and not running and not await self.is_complete():
            self._rebuilding = asyncio.create_task(self._rebuild_from(self._source))

    async def _rebuild_from(self, source: Callable[[], Iterable[HistoryRecord]]) -> None:
        try:
            while not await self.is_complete():
                # A new file knows nothing that is out of date.
                report = await self._fill(await self._database.in_thread(source), drop_others=False)
                logger.info("The task history was rebuilt from the folders of %d tasks", report.put)
        except Exception:
            # Raised into nobody's hands otherwise. The history works with what it has; the next start tries again.
            logger.exception(
                "The task history could not be rebuilt from the folders; it may miss tasks until the next start"
            )
            return
        if self._on_change is not None:
            self._on_change(HistoryChange(everything=True))

    async def _reconcile(self) -> None:
        generation, seen = self._database.generation, self._seen
        newest, change = await self._database.read(lambda connection: _changes_since(connection, seen, self._writer))
        if generation != self._generation:
            change = HistoryChange(everything=True)
        self._generation, self._seen = generation, newest
        await self._rebuild_if_needed()
        if self._on_change is not None and change != HistoryChange():
            self._on_change(change)


def _search(connection: SqlConnection, dialect: HistoryDialect, query: HistoryQuery) -> HistoryPage:
    terms = search_terms(query.text)
    statement, values = page_sql(dialect, query)
    rows = connection.execute(statement, values).fetchall()
    # Who puts something in quotation marks wants it as it is.
    if not rows[0][0] and terms and '"' not in query.text:
        near = _near(connection, dialect, query, terms)
        if near:
            statement, values = page_sql(dialect, query, near)
            rows = connection.execute(statement, values).fetchall()
    total, found = rows[0][0], [row[1:] for row in rows if row[1] is not None]
    limit = page_size(query)
    hits = _hits(connection, [(row, owner) for row, owner, *_ in found[:limit]], terms)
    following = cursor_of(query.sort, tuple(found[limit - 1][2:])) if len(found) > limit else None
    return HistoryPage(hits, total, following)


def _near(connection: SqlConnection, dialect: HistoryDialect, query: HistoryQuery, terms: list[str]) -> dict[int, int]:
    """The rows that have each term as it is, or a near word in the title or the task; the nearer the higher."""
    apart: dict[int, int] | None = None
    for term in terms:
        having = dialect.having([term])
        found = {row: 0 for (row,) in connection.execute(having.text, having.values)}
        statement, values = near_sql(dialect, query, term)
        for row, title, task in connection.execute(statement, values):
            words = [near for text in (title, task) if (near := near_word(term, text))]
            if words and row not in found:
                found[row] = min(words)[0]
        apart = found if apart is None else {row: apart[row] + found[row] for row in apart.keys() & found.keys()}
    return {row: -distance for row, distance in (apart or {}).items()}


def _hits(connection: SqlConnection, found: Sequence[tuple[int, str]], terms: list[str]) -> tuple[HistoryHit, ...]:
    rows = [row for row, _ in found]
    items = dict(_columns_of(connection, rows, "row, item", "history_items"))
    texts = {}
    if terms:
        texts = {
            row: kept for row, *kept in _columns_of(connection, rows, "row, title, task, body, shown", "history_texts")
        }
    return tuple(
        _hit(HistoryItem.model_validate_json(items[row]), owner, texts.get(row), terms) for row, owner in found
    )


def _columns_of(connection: SqlConnection, rows: Sequence[int], columns: str, table: str) -> Iterator[Any]:
    """These columns of these rows, which are read at once: a database may be some way off."""
    if rows:
        among = ", ".join("?" for _ in rows)
        yield from connection.execute(f"SELECT {columns} FROM {table} WHERE row IN ({among})", rows)  # noqa: S608 - our own names


def _hit(item: HistoryItem, owner: str, texts: Sequence[str] | None, terms: list[str]) -> HistoryHit:
    if texts is None:
        return HistoryHit(item, owner)
    title, task, body, shown = texts
    rank = 2 * all(term in title for term in terms) + all(term in task for term in terms)
    fields: tuple[tuple[SnippetField, str, str], ...]
    fields = (("title", shown_title(item), title), ("task", shown_task(item), task), ("text", shown, body))
    return HistoryHit(
        item, owner, rank, cut_snippet(fields, [_as_written(term, (title, task, body)) for term in terms])
    )


def _as_written(term: str, texts: tuple[str, str, str]) -> str:
    """The term, or in a task that was found by a near word that word."""
    if any(term in text for text in texts):
        return term
    near = [found for text in texts[:2] if (found := near_word(term, text))]
    return min(near)[1] if near else term


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[at : at + _BATCH] for at in range(0, len(items), _BATCH))


def _newest_change(connection: SqlConnection) -> int:
    return fact(connection, "changes")


def _changes_since(connection: SqlConnection, seen: int, but_writer: int = 0) -> tuple[int, HistoryChange]:
    newest = fact(connection, "changes")
    bounds = (seen, but_writer, _MOST_REPORTED + 1)
    changed = connection.execute(
        "SELECT item FROM history_tasks JOIN history_items USING (row) WHERE change > ? AND writer <> ? LIMIT ?", bounds
    ).fetchall()
    removed = connection.execute(
        "SELECT id FROM history_removed WHERE change > ? AND writer <> ? LIMIT ?", bounds
    ).fetchall()
    if changes_too_old(seen, newest) or max(len(changed), len(removed)) > _MOST_REPORTED:
        return newest, HistoryChange(everything=True)
    items = tuple(HistoryItem.model_validate_json(item) for (item,) in changed)
    return newest, HistoryChange(items, tuple(task_id for (task_id,) in removed))
