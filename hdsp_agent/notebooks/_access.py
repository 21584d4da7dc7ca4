"""The one way to notebooks. For every operation it chooses anew where the notebook is: a shared document, a tab, or only the disk."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final, Protocol
from weakref import WeakValueDictionary

from ..errors import HdspAgentError, InvalidInput, NotFound, Unavailable, UnsavedElsewhere
from ..messages import ChangeOutputsMessage, JsonObject, NotebookOperation, NotebookPointer, OutputDetail, TaskId
from ._document import Applied, Cell, CellDisplay, NotebookDocument, NotebookSnapshot, Operation
from ._idempotency import was_applied
from ._output_trust import restore_trust, sign_outputs
from ._path_aliases import PathAliases
from ._rename_tracker import RenameTracker
from ._snapshot import notebook_of
from ._tab_port import TabGone, TabPort, TabSilent, TabView
from .documents.browser_tab import AttachedDocument

__all__ = ["DiskPort", "NotebookAccess", "RoomPort"]

_MOST_CHOICES: Final = 4


class DiskPort(Protocol):
    """Notebooks as files, through Jupyter's contents manager."""

    def document(self, path: str) -> NotebookDocument:
        """The notebook in this file."""

    async def create(self, path: str, *, kernelspec: JsonObject | None = None) -> None:
        """A new, empty notebook. Raises Conflict where something is there already."""

    def root(self) -> Path | None:
        """The folder that paths begin in, where it is one."""

    async def secret(self) -> bytes | None:
        """What the person's notary signs with: seals on outputs are made with it."""


class RoomDocument(NotebookDocument, CellDisplay, Protocol):
    """A notebook in its room, where outputs are shown to everybody."""


class RoomPort(Protocol):
    """Notebooks that are shared through real-time collaboration."""

    async def document(self, path: str, *, create: bool = False) -> RoomDocument | None:
        """The shared notebook; None where collaboration is off, or there is no room and none is to be made."""


@dataclass(frozen=True)
class _Holder:
    """Who has a notebook, by whatever names of its file."""

    names: Sequence[str]
    room: RoomDocument | None = None
    tab: TabView | None = None
    others: Sequence[TabView] = ()
    """Who else holds a lease on it, by another name."""

    @property
    def shown_by(self) -> TabView | None:
        """The tab that outputs are shown in. A shared model has only one way in, or each would be in it for every tab."""
        return self.tab if self.tab is not None and not self.tab.notebook.collaborative else None


class NotebookAccess:
    """Reads and changes notebooks for tools, wherever they are open."""

    def __init__(self, disk: DiskPort, tabs: TabPort, rooms: RoomPort | None = None) -> None:
        self._disk = disk
        self._tabs = tabs
        self._rooms = rooms
        self._names = PathAliases(disk.root)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._whereabouts = RenameTracker()
        self._on_moved: list[Callable[[str, str], None]] = []
        self._on_deleted: list[Callable[[str], None]] = []
        self._on_missing: list[Callable[[str], Awaitable[None]]] = []

    def document(self, path: str) -> NotebookDocument:
        """The notebook of this path. Whether there is one, its first use says."""
        return _RoutedDocument(self, notebook_path(path))

    def in_file(self, path: str) -> NotebookDocument:
        """The notebook as its file has it, whoever has it open."""
        return self._disk.document(self.now_at(notebook_path(path)))

    async def on_screen(self, path: str, owner: str) -> JsonObject | None:
        """A notebook as this person sees it, if its file may be behind: in a room, or unsaved in a tab of theirs. Else None."""
        standing = await self._standing(self.now_at(path))
        shown: NotebookDocument | None = standing.room
        if shown is None and (tab := standing.tab) is not None and tab.notebook.dirty and tab.owner == owner:
            shown = AttachedDocument(self._tabs, tab)
        if shown is None:
            return None
        try:
            return notebook_of(await self.sign_outputs(await shown.snapshot(outputs="full")))
        except (TabGone, TabSilent):
            # Closed meanwhile, or a dialog is open there: what is saved is what there is.
            return None

    async def create(self, path: str, *, kernelspec: JsonObject | None = None) -> None:
        """A new, empty notebook. Raises Conflict where something is there already."""
        path = notebook_path(path)
        await self._disk.create(path, kernelspec=kernelspec)
        self.appeared(path)

    async def show(self, change: ChangeOutputsMessage) -> bool:
        """Show outputs of a running cell in the room, or in the tab that has the notebook; whether there is one."""
        path = self.now_at(change.path)
        try:
            standing = await self._standing(path)
            if standing.room is not None:
                return await standing.room.show(change)
            tab = standing.shown_by
            if tab is None:
                return False
            if tab.notebook.path != change.path:
                change = change.model_copy(update={"path": tab.notebook.path})
            await self._tabs.show(tab, change)
        except (TabGone, HdspAgentError):
            return False
        return True

    async def is_watched(self, path: str) -> bool:
        """Whether outputs of a running cell could be shown to somebody."""
        try:
            standing = await self._standing(self.now_at(path))
        except HdspAgentError:
            return False
        return standing.room is not None or standing.shown_by is not None

    async def point(self, path: str, pointers: Sequence[NotebookPointer]) -> bool:
        """Say in a notebook what is known of its checkpoints; whether its file says so now.

        One that is open in a tab takes it along when it is saved next: by itself it would be one save more, right when the
        person may save or type, and Lab then asks which of the two to keep. One in a room, which saves whatever changes,
        does not have it until it is closed.
        """
        path = self.now_at(notebook_path(path))
        async with await self.lock(path):
            chosen = await self.choose(path, to_write=True)
            try:
                if isinstance(chosen, AttachedDocument):
                    await chosen.hold(pointers)
                elif not await self.is_watched(path):
                    applied = await chosen.apply(pointers)
                    await self.written(path, applied, by=chosen)
                    return True
            except TabGone:
                return False
            except TabSilent:
                raise _silent(path) from None
        return False

    # ---- where things are

    def moved(self, old: str, new: str) -> None:
        """A notebook, or a folder, was renamed: whoever works on it goes on under the new name."""
        if self._whereabouts.moved(old, new):
            for listener in self._on_moved:
                listener(old, new)

    def deleted(self, path: str) -> None:
        """A notebook was deleted: nobody writes it again who only knew it from before."""
        self._whereabouts.deleted(path)
        for listener in self._on_deleted:
            listener(path)

    def appeared(self, path: str) -> None:
        """A notebook was saved under this name."""
        self._whereabouts.appeared(path)

    def on_moved(self, listener: Callable[[str, str], None]) -> None:
        """Call this with the old and the new path of a notebook that was renamed."""
        self._on_moved.append(listener)

    def on_deleted(self, listener: Callable[[str], None]) -> None:
        """Call this with the path of a notebook that was deleted."""
        self._on_deleted.append(listener)

    def on_missing(self, listener: Callable[[str], Awaitable[None]]) -> None:
        """Call this with the path of a notebook whose file was found missing."""
        self._on_missing.append(listener)

    async def look_for(self, path: str) -> None:
        """See whether the file of a notebook is there, where it is one; who needs to know has heard of it if it is not."""
        root = self._disk.root()
        if root is not None and not await asyncio.to_thread(os.path.exists, root / path):
            for listener in self._on_missing:
                await listener(path)

    def now_at(self, path: str) -> str:
        """The path a notebook has now that a task knows by this one."""
        return self._whereabouts.now(path)

    async def open_name(self, path: str) -> str | None:
        """The name by which a notebook is open, where it is open by any."""
        return await self.name_among(self._tabs.paths(), path)

    async def name_among(self, names: Iterable[str], path: str) -> str | None:
        """The one of these names that means a notebook's file: its path where that is one of them."""
        path, names = self.now_at(path), set(names)
        if path in names:
            return path
        same = await self._names.of(path, names)
        return same[1] if len(same) > 1 else None

    @property
    def open_paths(self) -> Collection[str]:
        """What browser tabs have open."""
        return self._tabs.paths()

    @property
    def root(self) -> Path | None:
        """The folder that paths begin in, where it is one."""
        return self._disk.root()

    def file_of(self, path: str) -> str:
        """The whole path of a notebook's file, by which no other server means another one; its path where it is no file."""
        root = self._disk.root()
        return path if root is None else (root / path).as_posix()

    def api_path(self, file: Path) -> str:
        """The path in the contents API of a file. Raises InvalidInput for one outside the server's folder."""
        root = self._disk.root()
        if root is None:
            return notebook_path(file.as_posix())
        try:
            return notebook_path(file.resolve().relative_to(root.resolve()).as_posix())
        except ValueError:
            raise InvalidInput(
                f"{file} is outside the folder Jupyter serves, so its notebooks cannot be opened here.", field="path"
            ) from None

    # ---- inside

    async def lock(self, path: str) -> asyncio.Lock:
        """Held while a notebook is changed: batches of operations do not mix, by whatever name it is meant."""
        return self._locks.setdefault(await self._names.target(path), asyncio.Lock())

    async def choose(self, path: str, *, to_write: bool) -> NotebookDocument:
        """Who has the notebook now."""
        if self._whereabouts.is_gone(path):
            raise NotFound(
                f"{path} was deleted in the meantime. Look at the files there are, or create it anew.",
                path=path,
                why="notebook_deleted",
            )
        standing = await self._standing(path)
        if standing.room is not None:
            return standing.room
        tab = standing.tab
        if to_write and self._is_unsaved_elsewhere(standing):
            where = "another tab" if tab is not None else "a browser tab that cannot be reached"
            raise UnsavedElsewhere(
                f"{path} has unsaved changes in {where}, and writing it now would set the two against each other. Save "
                "or close the notebook there, then try again.",
                path=path,
            )
        return AttachedDocument(self._tabs, tab) if tab is not None else self._disk.document(path)

    def _is_unsaved_elsewhere(self, standing: _Holder) -> bool:
        return any(self._tabs.unsaved(name) for name in standing.names) or any(
            other.notebook.dirty and not other.notebook.collaborative for other in standing.others
        )

    async def _standing(self, path: str) -> _Holder:
        """The room of a notebook, or else the tab that has it.

        A room is not made for a notebook that nobody has open: nobody would ever close it.
        """
        try:
            names = await self._names.of(path, self._tabs.paths())
            room = await self._room(names)
            if room is not None:
                return _Holder(names, room)
            standing = await self._held(path)
            tab = standing.tab
            if self._rooms is None or tab is None or not tab.notebook.collaborative:
                return standing
            return replace(standing, room=await self._rooms.document(tab.notebook.path, create=True))
        except Unavailable:
            standing = await self._held(path)
            if standing.tab is None:
                # Somebody may have it open all the same: the room would set the file against what they write.
                raise
            # What the tab has is the room's as well, so it is safe to go through it.
            return standing

    async def _room(self, names: Sequence[str]) -> RoomDocument | None:
        if self._rooms is not None:
            for name in names:
                room = await self._rooms.document(name)
                if room is not None:
                    return room
        return None

    async def _held(self, path: str) -> _Holder:
        """The tab that has a notebook open, by whatever name; one with unsaved changes before others."""
        names = [path]
        while True:
            asked = [await self._tabs.holder(name) for name in names]
            # A tab that was waited for may have come back with another name of it.
            now = await self._names.of(path, self._tabs.paths())
            if set(now) <= set(names):
                holders = [view for view in asked if view is not None]
                tab = max(holders, key=lambda view: view.notebook.dirty, default=None)
                return _Holder(names, tab=tab, others=[view for view in holders if view is not tab])
            names = now

    async def sign_outputs(self, snapshot: NotebookSnapshot) -> NotebookSnapshot:
        """A snapshot with seals on what a tab or a room shows as trusted. One of a file has them already."""
        if snapshot.source == "disk" or not any(map(_is_trusted, snapshot.cells)):
            return snapshot
        secret = await self._disk.secret()
        return await asyncio.to_thread(sign_outputs, snapshot, secret, _is_trusted) if secret is not None else snapshot

    async def trusting(
        self, operations: Sequence[Operation], signatures: Collection[str], document: NotebookDocument
    ) -> Sequence[Operation]:
        """The operations as a tab or a room needs them, which cannot tell by a seal what the person trusts."""
        snapshot = await document.snapshot()
        if snapshot.source == "disk":
            return operations
        sources = {cell.id: cell.source for cell in snapshot.cells}
        return restore_trust(operations, sources, signatures, await self._disk.secret())

    async def written(self, path: str, applied: Applied, *, by: NotebookDocument) -> None:
        """The file was written: tabs that show it, and have not written it themselves, learn of it."""
        if applied.saved and applied.content_hash is not None:
            told = by.path if isinstance(by, AttachedDocument) else None
            for name in await self._names.of(path, self._tabs.paths()):
                if name != told:
                    self._tabs.saved(name, applied.content_hash, by=None)


class _RoutedDocument:
    """A notebook that is reached through the access. It follows the notebook from tab to disk and back, and under its new names."""

    def __init__(self, access: NotebookAccess, path: str) -> None:
        self._access = access
        self._path = path

    @property
    def path(self) -> str:
        return self._access.now_at(self._path)

    async def snapshot(self, *, outputs: OutputDetail = "none") -> NotebookSnapshot:
        for _ in range(_MOST_CHOICES):
            chosen = await self._access.choose(self.path, to_write=False)
            try:
                snapshot = await chosen.snapshot(outputs=outputs)
                return await self._access.sign_outputs(snapshot) if outputs == "full" else snapshot
            except TabGone:
                continue
            except TabSilent:
                raise _silent(self.path) from None
        raise _restless(self.path)

    async def apply(
        self,
        operations: Sequence[Operation],
        *,
        save: bool = True,
        task_id: TaskId | None = None,
        review: bool = False,
        signatures: Collection[str] | None = None,
    ) -> Applied:
        async with await self._access.lock(self.path):
            doubtful: Sequence[NotebookOperation] = ()
            for _ in range(_MOST_CHOICES):
                chosen = await self._access.choose(self.path, to_write=True)
                try:
                    if doubtful:
                        # The tab that was asked went away: it may have done and saved it all before.
                        done = was_applied(await chosen.snapshot(outputs="full"), doubtful)
                        if done is not None:
                            return done
                    # As they were asked for: an edit that was found once is not looked for in another text.
                    wanted = doubtful or operations
                    if signatures is not None:
                        wanted = await self._access.trusting(wanted, signatures, chosen)
                    applied = await chosen.apply(
                        wanted, save=save, task_id=task_id, review=review, signatures=signatures
                    )
                except TabGone as gone:
                    doubtful = gone.asked or doubtful
                    continue
                except TabSilent:
                    raise _silent(self.path) from None
                await self._access.written(self.path, applied, by=chosen)
                return applied
            raise _restless(self.path)


def _is_trusted(cell: Cell) -> bool:
    return bool(cell.outputs) and cell.metadata.get("trusted") is True


def notebook_path(path: str) -> str:
    """A path as the contents API has it. Raises InvalidInput for what cannot be a notebook's."""
    if "\0" in path or not path.endswith(".ipynb"):
        raise InvalidInput(f"{path!r} is not the path of a notebook: those end in .ipynb.", field="path")
    parts = PurePosixPath(path.strip("/")).parts
    if ".." in parts:
        raise InvalidInput(f"{path!r} leads out of the folder Jupyter serves.", field="path")
    return "/".join(part for part in parts if part != ".")


def _silent(path: str) -> Unavailable:
    return Unavailable(
        f"The browser tab that has {path} open does not answer. A dialog may be open in it, for example about a file "
        "that changed; answer that, or close the notebook there, then try again.",
        path=path,
    )


def _restless(path: str) -> Unavailable:
    return Unavailable(
        f"{path} was opened and closed again and again while it was worked on. Try again in a moment.", path=path
    )
