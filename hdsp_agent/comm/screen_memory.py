"""Which conversation was on whose screen, kept in a small file: a server that starts again shows it again."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from ..config._held import HeldTasks
from ..config._private_files import locked, read_with_identity, replace_file
from ..errors import HdspAgentError
from ._owner import Owner

__all__ = ["ScreenMemory"]

logger = logging.getLogger(__name__)

_FILE: Final = "screens.json"
_LOCK_SECONDS: Final = 5.0
_MOST_OWNERS: Final = 10_000
Screens = dict[str, dict[str, str]]
"""By the folder a server serves, and the owner: two servers on one storage folder have two screens."""


class ScreenMemory:
    """What one server's owners had on screen. Losing it costs a click, so failures are logged and nothing else."""

    def __init__(self, home: Path, workspace: Path) -> None:
        self._path = home / _FILE
        self._workspace = str(workspace)
        self._known: dict[Owner, str | None] = {}
        self._news: dict[Owner, str | None] = {}
        self._held = HeldTasks()
        self._writing = False

    def remember(self, owner: Owner, task_id: str | None) -> None:
        """This is on the owner's screen now; None says that nothing is."""
        if owner in self._known and self._known[owner] == task_id:
            return
        self._known[owner] = self._news[owner] = task_id
        if not self._writing:
            self._writing = True
            self._held.begin(self._write())

    async def recall(self, owner: Owner) -> str | None:
        """What was on the owner's screen when the server last ran."""
        try:
            screens = await asyncio.to_thread(_read, self._path)
        except HdspAgentError as error:
            logger.warning("Which conversation was on screen could not be read: %s", error)
            return None
        return screens.get(self._workspace, {}).get(owner)

    async def stop(self) -> None:
        """Finish writing."""
        await self._held.drain()

    async def _write(self) -> None:
        try:
            while self._news:
                news, self._news = self._news, {}
                await asyncio.to_thread(_change, self._path, self._workspace, news)
        except HdspAgentError as error:
            logger.warning("Which conversation is on screen could not be kept: %s", error)
        finally:
            self._writing = False


def _change(path: Path, workspace: str, news: dict[Owner, str | None]) -> None:
    with locked(path, _LOCK_SECONDS):
        screens = _read(path)
        own = screens.pop(workspace, {})
        for owner, task_id in news.items():
            own.pop(owner, None)
            if task_id is not None:
                own[owner] = task_id
        # The newest last: what nobody comes back to is forgotten in time.
        if own:
            screens[workspace] = dict(list(own.items())[-_MOST_OWNERS:])
        replace_file(path, json.dumps(dict(list(screens.items())[-_MOST_OWNERS:])).encode())


def _read(path: Path) -> Screens:
    found = read_with_identity(path)
    if found is None:
        return {}
    try:
        return TypeAdapter(Screens).validate_json(found[0])
    except ValidationError:
        # Nothing in it is worth a person's attention; the next change writes it anew.
        return {}
