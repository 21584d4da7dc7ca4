"""Notebooks shared through jupyter-collaboration: the room a notebook is kept in while people have it open.

The room belongs to that extension. It saves by itself, takes over what others write to the file, and finds the file
again when it was renamed; it is asked for the document and, where it can be, to save at once.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Final, cast
from weakref import WeakKeyDictionary

from ..._timeouts import wait_at_most
from ...errors import Conflict, NotAllowed, Unavailable
from ...messages import CellId, ChangeOutputsMessage, JsonObject, OutputDetail, TaskId
from .._apply import changed_cells
from .._document import Applied, NotebookSnapshot, Operation
from .._idempotency import was_applied
from .._many_cells import require_few_cells
from .._snapshot import snapshot_of
from ._contents_port import ContentsManagerPort, asked
from ._shared_changes import (
    SharedCells,
    after_changes,
    change_outputs,
    content_of,
    outputs_in,
    outputs_on_the_way,
    place_of,
)
from ._shared_types import Collaboration, MapEvent, Room, SharedMap, SharedNotebook

__all__ = ["Collaboration", "SharedDocument", "SharedNotebooks"]

logger = logging.getLogger(__name__)

_LEAST_MINOR: Final = 5
"""A shared cell has an id, whatever the file has."""
_MOST_TRIES: Final = 3
_READY_SECONDS: Final = 10.0
_SAVE_SECONDS: Final = 5.0
"""How long a room that saves by itself is given to do so."""


class SharedNotebooks:
    """The rooms of a server. ``collaboration`` finds the extension, or None where it is off."""

    def __init__(self, collaboration: Callable[[], Collaboration | None], contents: ContentsManagerPort) -> None:
        self._collaboration = collaboration
        self._contents = contents
        self._shown: WeakKeyDictionary[SharedNotebook, dict[CellId, _Shown]] = WeakKeyDictionary()

    async def document(self, path: str, *, create: bool = False) -> SharedDocument | None:
        """The shared notebook; None where collaboration is off, or nobody has it open and no room is to be made."""
        collaboration = self._collaboration()
        if collaboration is None:
            return None
        notebook = await self._asked(collaboration, path, copy=False, create=create)
        if notebook is None:
            return None
        if notebook not in self._shown and collaboration.document_load_progressively:
            # Only who wants a copy is kept waiting until the whole file is there.
            await self._asked(collaboration, path, copy=True, create=False)
        room = next(
            (room for room in collaboration.ywebsocket_server.rooms.values() if room.ydoc is notebook.ydoc), None
        )
        if room is not None:
            await _ready(room, path)
        return SharedDocument(path, notebook, room, self._contents, self._shown.setdefault(notebook, {}))

    async def _asked(
        self, collaboration: Collaboration, path: str, *, copy: bool, create: bool
    ) -> SharedNotebook | None:
        try:
            return await collaboration.get_document(
                path=path, content_type="notebook", file_format="json", copy=copy, create=create
            )
        except Exception as error:
            # A room that is begun reads the file: what that says of the file is more use than what became of the room.
            await asked(lambda: self._contents.get(path, content=False), path, "read")
            logger.warning("jupyter-collaboration gave no room for %s", path, exc_info=error)
            raise Unavailable(
                f"{path} is shared through jupyter-collaboration, which does not let the agent take part just now. The "
                "server's log says why. Close the notebook in all tabs, or try again.",
                path=path,
            ) from error


class SharedDocument:
    """A notebook in its room: whoever has it open sees each change at once, and once."""

    def __init__(
        self,
        path: str,
        notebook: SharedNotebook,
        room: Room | None,
        contents: ContentsManagerPort,
        shown: dict[CellId, _Shown],
    ) -> None:
        self._path = path
        self._notebook = notebook
        self._room = room
        self._contents = contents
        self._shown = shown

    @property
    def path(self) -> str:
        """Its path in the contents API."""
        return self._path

    async def snapshot(self, *, outputs: OutputDetail = "none") -> NotebookSnapshot:
        """The notebook as everybody in the room sees it."""
        require_few_cells(len(self._notebook.ycells), self._path)
        cells, meta = str(self._notebook.ycells), str(self._notebook.ydoc["meta"])
        return await asyncio.to_thread(self._read, cells, meta, outputs)

    async def apply(
        self,
        operations: Sequence[Operation],
        *,
        save: bool = True,
        task_id: TaskId | None = None,
        review: bool = False,
        signatures: Collection[str] | None = None,
    ) -> Applied:
        """Do all of them in one transaction."""
        for _ in range(_MOST_TRIES):
            await self._require_writable()
            cells = SharedCells(self._notebook)
            exact = cells.rehearse(operations, self._path)
            cells.do(exact)
            content_hash = await self._save() if save else None
            if content_hash is not None or not save or was_applied(await self.snapshot(outputs="full"), exact):
                return Applied(
                    snapshot_revision=None,
                    saved=content_hash is not None,
                    changed=changed_cells(exact),
                    content_hash=content_hash,
                )
            # Somebody else wrote the file, and the room took that over: what was done here is gone.
        raise Conflict(
            f"Something else saves {self._path} again and again, so nothing was changed. Wait until it is done.",
            path=self._path,
        )

    async def show(self, change: ChangeOutputsMessage) -> bool:
        """Show outputs of a running cell; whether the room has those they go on from."""
        run_id, version, near = self._shown.get(change.cell_id, ("", 0, 0))
        if change.base and (run_id, version) != (change.run_id, change.base):
            return False
        place = place_of(self._notebook.ycells, change.cell_id, near)
        cell = self._notebook.ycells[place] if place is not None else None
        if place is None or cell is None or "outputs" not in cell:
            return False
        with self._notebook.ydoc.transaction():
            if change.base == 0:
                # The whole is told anew when a tab comes; in the room much of it may be there already.
                whole = after_changes([], change.changes)
                change_outputs(cell, outputs_on_the_way(outputs_in(cell), whole))
                _put(cell, "execution_count", None)
            else:
                change_outputs(cell, change.changes)
            if change.state in ("queued", "running"):
                _put(cell, "execution_state", "running")
            else:
                # Together, as Lab does it: a count that comes earlier takes the star away.
                _put(cell, "execution_state", "idle")
                _put(cell, "execution_count", change.execution_count)
        self._shown[change.cell_id] = change.run_id, change.version, place
        return True

    def _read(self, cells: str, meta: str, outputs: OutputDetail) -> NotebookSnapshot:
        about = cast(JsonObject, content_of(meta))
        minor = about.get("nbformat_minor")
        notebook: JsonObject = {
            "cells": content_of(cells),
            "metadata": about.get("metadata") or {},
            "nbformat": about.get("nbformat") or 4,
            "nbformat_minor": max(_LEAST_MINOR, minor if isinstance(minor, int) else 0),
        }
        text = json.dumps(notebook, sort_keys=True, ensure_ascii=False)
        revision = hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()
        return snapshot_of(notebook, path=self._path, revision=f"room:{revision}", source="room", outputs=outputs)

    async def _require_writable(self) -> None:
        model = await asked(lambda: self._contents.get(self._path, content=False), self._path, "saved")
        if isinstance(model, dict) and model.get("writable") is False:
            raise NotAllowed(
                f"{self._path} is read-only, so nothing was changed. Make it writable, or work on a copy.",
                path=self._path,
            )

    async def _save(self) -> str | None:
        """Have the room save, and tell the hash of what it wrote; None if it did not say within a few seconds.

        Only the hash it writes down after a save shows that it saved: it says nothing about one that failed.
        """
        written = asyncio.Event()

        def changed(event: MapEvent) -> None:
            if "hash" in event.keys:
                written.set()

        state = self._notebook.ystate
        subscription = state.observe(changed)
        try:
            # Not part of what the extension promises; without it the room saves a moment after the last change.
            save_now: Callable[[], Awaitable[object] | None] | None = getattr(self._room, "_save_to_disc", None)
            task = save_now() if save_now is not None else None
            if task is not None:
                await asyncio.wait([asyncio.ensure_future(task)])
            await wait_at_most(written.wait(), _SAVE_SECONDS)
        except TimeoutError:
            return None
        finally:
            state.unobserve(subscription)
        content_hash = state["hash"]
        return content_hash if isinstance(content_hash, str) else None


_Shown = tuple[str, int, int]
"""Of which run, which version of the outputs, and where the cell was."""


async def _ready(room: Room, path: str) -> None:
    """Whoever begins a room reads the file into it; until then it is empty."""
    loop = asyncio.get_running_loop()
    until = loop.time() + _READY_SECONDS
    while not room.ready:
        if loop.time() > until:
            raise Unavailable(f"{path} is just being opened, and that does not end. Try again in a moment.", path=path)
        await asyncio.sleep(0.02)


def _put(cell: SharedMap, key: str, value: object) -> None:
    if key not in cell or cell[key] != value:
        cell[key] = value
