"""Which conversations each owner had open, and which was on screen, kept in a small file for a server that starts again."""

from __future__ import annotations

import asyncio
import logging
from functools import cache
from pathlib import Path
from typing import Final

from pydantic import Field, TypeAdapter, ValidationError

from .._background_tasks import BackgroundTasks
from .._private_files import locked, read_with_identity, replace_file
from ..errors import HdspAgentError
from ..wire import WireModel
from ._owner import Owner

__all__ = ["PanelState", "PanelStateStore"]

logger = logging.getLogger(__name__)

_FILE: Final = "screens.json"
_LOCK_SECONDS: Final = 5.0
_MOST_OWNERS: Final = 10_000


class PanelState(WireModel):
    """What one owner's tabs show: one conversation or none, and all that are open beside it."""

    shown: str | None = None
    open: list[str] = Field(default_factory=list)


@cache
def _panels() -> TypeAdapter[dict[str, dict[str, PanelState]]]:
    """By the folder a server serves, and the owner: two servers on one storage folder have two screens."""
    return TypeAdapter(dict[str, dict[str, PanelState]])


class PanelStateStore:
    """What one server's owners had on screen. Losing it costs a click, so failures are logged and nothing else."""

    def __init__(self, home: Path, workspace: Path) -> None:
        self._path = home / _FILE
        self._workspace = str(workspace)
        self._known: dict[Owner, PanelState] = {}
        self._news: dict[Owner, PanelState] = {}
        self._held = BackgroundTasks()
        self._writing = False

    def remember(self, owner: Owner, screen: PanelState) -> None:
        """This is on the owner's screen now."""
        if self._known.get(owner) == screen:
            return
        self._known[owner] = self._news[owner] = screen
        if not self._writing:
            self._writing = True
            self._held.begin(self._write())

    async def recall(self, owner: Owner) -> PanelState:
        """What was on the owner's screen when the server last ran."""
        try:
            panels = await asyncio.to_thread(_read, self._path)
        except HdspAgentError as error:
            logger.warning("Which conversation was open could not be read: %s", error)
            return PanelState()
        return panels.get(self._workspace, {}).get(owner, PanelState())

    async def stop(self) -> None:
        """Finish writing."""
        await self._held.drain()

    async def _write(self) -> None:
        try:
            while self._news:
                news, self._news = self._news, {}
                await asyncio.to_thread(_change, self._path, self._workspace, news)
        except HdspAgentError as error:
            logger.warning("Which conversation is open could not be saved: %s", error)
        finally:
            self._writing = False


def _change(path: Path, workspace: str, news: dict[Owner, PanelState]) -> None:
    with locked(path, _LOCK_SECONDS):
        panels = _read(path)
        own = panels.pop(workspace, {})
        for owner, screen in news.items():
            own.pop(owner, None)
            if screen.open or screen.shown is not None:
                own[owner] = screen
        # The newest last: what nobody comes back to is forgotten in time.
        if own:
            panels[workspace] = dict(list(own.items())[-_MOST_OWNERS:])
        kept = dict(list(panels.items())[-_MOST_OWNERS:])
        replace_file(path, _panels().dump_json(kept, by_alias=True, exclude_none=True))


def _read(path: Path) -> dict[str, dict[str, PanelState]]:
    found = read_with_identity(path)
    if found is None:
        return {}
    try:
        return _panels().validate_json(found[0])
    except ValidationError:
        # Nothing in it is worth a person's attention; the next change writes it anew.
        return {}
