"""Which tabs had which notebooks open, kept in a small file: a server that starts again waits for them.

A tab may look for its server again only every half minute. Whoever wrote a notebook's file before it is back would set
the file against what the tab has.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from .._background_tasks import BackgroundTasks
from .._private_files import locked, read_with_identity, replace_file
from .._timeouts import wait_at_most
from ..errors import HdspAgentError
from ._owner import Owner

__all__ = ["NotebookMemory", "RememberedTab"]

logger = logging.getLogger(__name__)

_FILE: Final = "open_notebooks.json"
_LOCK_SECONDS: Final = 5.0
_GATHER_SECONDS: Final = 0.2
_FORGOTTEN_SECONDS: Final = 24 * 3600
_MOST_SERVERS: Final = 1000


@dataclass(frozen=True)
class RememberedTab:
    """A tab, and whether its notebooks had changes nobody saved, by their paths."""

    owner: Owner
    client_id: str
    notebooks: dict[str, bool]
    told_at: float
    """Seconds since 1970."""


_Servers = dict[str, list[RememberedTab]]
"""By the folder a server serves."""


class NotebookMemory:
    """What the tabs of one server had open. Failures are logged and nothing else: it guards a rare checkpoint."""

    def __init__(self, home: Path, workspace: Path) -> None:
        self._path = home / _FILE
        self._workspace = str(workspace)
        self._kept: list[RememberedTab] = []
        self._newest: list[RememberedTab] = []
        self._held = BackgroundTasks()
        self._writing = False
        self._hurry = asyncio.Event()

    async def recall(self) -> list[RememberedTab]:
        """The tabs there were when the server last ran, but for those of long ago."""
        try:
            servers = await asyncio.to_thread(_read, self._path)
        except HdspAgentError as error:
            logger.warning("Which notebooks were open could not be read: %s", error)
            return []
        now = time.time()
        return [tab for tab in servers.get(self._workspace, []) if now - tab.told_at < _FORGOTTEN_SECONDS]

    def remember(self, tabs: Iterable[RememberedTab]) -> None:
        """These are the tabs now."""
        self._newest = list(tabs)
        if not self._writing:
            self._writing = True
            self._held.begin(self._write())

    async def stop(self) -> None:
        """Finish writing."""
        self._hurry.set()
        await self._held.drain()

    async def _write(self) -> None:
        try:
            while self._newest != self._kept:
                with suppress(asyncio.TimeoutError):
                    await wait_at_most(self._hurry.wait(), _GATHER_SECONDS)
                newest = self._newest
                await asyncio.to_thread(_change, self._path, self._workspace, newest)
                self._kept = newest
        except HdspAgentError as error:
            logger.warning("Which notebooks are open could not be saved: %s", error)
        finally:
            self._writing = False


def _change(path: Path, workspace: str, tabs: list[RememberedTab]) -> None:
    with locked(path, _LOCK_SECONDS):
        servers = _read(path)
        servers.pop(workspace, None)
        if tabs:
            servers[workspace] = tabs
        kept = dict(list(servers.items())[-_MOST_SERVERS:])
        replace_file(path, json.dumps(TypeAdapter(_Servers).dump_python(kept, mode="json")).encode())


def _read(path: Path) -> _Servers:
    found = read_with_identity(path)
    if found is None:
        return {}
    try:
        return TypeAdapter(_Servers).validate_json(found[0])
    except ValidationError:
        # Nothing in it is worth a person's attention; the next change writes it anew.
        return {}
