"""The links and what their pages show, in one SQLite file. What ends is overwritten in it."""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeVar

from ...errors import Conflict, StorageUnavailable
from ..sqlite_file import open_sqlite_file
from .links import LinkAudience, LinkFacts, PageContent, SharedLink

__all__ = ["LinkStore"]

T = TypeVar("T")

_VERSION: Final = 1
_ID_BYTES: Final = 24
_SCHEMA: Final = """
CREATE TABLE links (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    title TEXT NOT NULL,
    audience TEXT NOT NULL,
    created REAL NOT NULL,
    ends REAL NOT NULL,
    bytes INTEGER NOT NULL,
    content TEXT NOT NULL
);
CREATE INDEX links_by_owner ON links (owner);
CREATE INDEX links_by_end ON links (ends);
"""
_FACTS: Final = "number, owner, audience, created, ends, bytes"
_LINK: Final = f"{_FACTS}, id, title"


class LinkStore:
    """The file, read and written by one thread. Every method raises StorageUnavailable where the disk does not let it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="hdsp-hub-links")
        self._connection: sqlite3.Connection | None = None

    async def open(self) -> None:
        """Open the file, or make it."""
        await self._in_thread(self._open)

    async def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            await self._in_thread(self._connection.close)
        self._thread.shutdown(wait=False)

    async def add(
        self,
        owner: str,
        title: str,
        audience: LinkAudience,
        content: PageContent,
        *,
        now: float,
        ends: float,
        most: int,
    ) -> SharedLink:
        """Keep a new one. Raises Conflict if the person has as many as they may have."""

        def add() -> SharedLink:
            text = content.to_json()
            size, name = len(text.encode()), secrets.token_urlsafe(_ID_BYTES)
            with self._transaction() as connection:
                connection.execute("DELETE FROM links WHERE ends <= ?", (now,))
                [(count,)] = connection.execute("SELECT COUNT(*) FROM links WHERE owner = ?", (owner,)).fetchall()
                if count >= most:
                    raise Conflict(
                        f"You have {count} shared links, and may have no more at once. Take one back first.",
                        why="too_many_links",
                    )
                number = connection.execute(
                    "INSERT INTO links (id, owner, title, audience, created, ends, bytes, content)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (name, owner, title, audience.to_json(), now, ends, size, text),
                ).lastrowid
            return SharedLink(LinkFacts(number or 0, owner, audience, now, ends, size), name, title)

        return await self._in_thread(add)

    async def find(self, name: str, now: float) -> SharedLink | None:
        """The link with this id, unless it has ended."""
        rows = await self._rows(f"SELECT {_LINK} FROM links WHERE id = ? AND ends > ?", name, now)  # noqa: S608 -- our own names
        return _link(rows[0]) if rows else None

    async def content(self, number: int) -> PageContent | None:
        """What a link shows; None if it was taken back just now."""
        rows = await self._rows("SELECT content FROM links WHERE number = ?", number)
        return await asyncio.to_thread(PageContent.model_validate_json, rows[0][0]) if rows else None

    async def of(self, owner: str, now: float) -> list[SharedLink]:
        """A person's links, the newest first."""
        query = f"SELECT {_LINK} FROM links WHERE owner = ? AND ends > ? ORDER BY number DESC"  # noqa: S608 -- our own names
        return [_link(row) for row in await self._rows(query, owner, now)]

    async def all(self, now: float, first: int = 0, most: int = -1) -> list[LinkFacts]:
        """Everybody's, the newest first, without a word of what they show."""
        query = f"SELECT {_FACTS} FROM links WHERE ends > ? ORDER BY number DESC LIMIT ? OFFSET ?"  # noqa: S608 -- our own names
        return [_facts(row) for row in await self._rows(query, now, most, first)]

    async def count(self, now: float) -> int:
        """How many everybody has."""
        [(count,)] = await self._rows("SELECT COUNT(*) FROM links WHERE ends > ?", now)
        return int(count)

    async def end(self, number: int, owner: str | None = None) -> LinkFacts | None:
        """Delete a link and what it shows, if it is the owner's where one is given; what it was, or None."""

        def end() -> LinkFacts | None:
            with self._transaction() as connection:
                rows = connection.execute(
                    f"DELETE FROM links WHERE number = ? AND (? IS NULL OR owner = ?) RETURNING {_FACTS}",  # noqa: S608 -- our own names
                    (number, owner, owner),
                ).fetchall()
            return _facts(rows[0]) if rows else None

        return await self._in_thread(end)

    async def end_old(self, now: float) -> None:
        """Delete what has ended."""

        def end() -> None:
            with self._transaction() as connection:
                connection.execute("DELETE FROM links WHERE ends <= ?", (now,))

        await self._in_thread(end)

    # ---- how

    async def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        def read() -> list[tuple[Any, ...]]:
            assert self._connection is not None
            return self._connection.execute(query, values).fetchall()

        return await self._in_thread(read)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        except sqlite3.Error as error:
            raise StorageUnavailable(
                f"Shared links could not be read or written in {self._path}: {error}. Check that disk and that folder.",
                path=str(self._path), action="use", reason=str(error),
            ) from error  # fmt: skip

    def _open(self) -> None:
        # What was taken back is not to be found in the file any more.
        settings = ("secure_delete = ON",)
        self._connection = open_sqlite_file(self._path, _SCHEMA, version=_VERSION, settings=settings)

    def _transaction(self) -> sqlite3.Connection:
        # What sqlite3 itself begins is a transaction of ours; it ends with the block.
        assert self._connection is not None
        return self._connection


def _facts(row: tuple[Any, ...]) -> LinkFacts:
    number, owner, audience, created, ends, size = row[:6]
    return LinkFacts(number, owner, LinkAudience.model_validate_json(audience), created, ends, size)


def _link(row: tuple[Any, ...]) -> SharedLink:
    return SharedLink(_facts(row), row[6], row[7])
