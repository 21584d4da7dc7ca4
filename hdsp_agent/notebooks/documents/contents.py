"""Notebooks as files, through Jupyter's contents manager: hooks, trust and checkpoints happen as for any save.

The contents API has no compare-and-swap. The file is hashed when read and again just before it is saved, under a lock
per path; when somebody else was faster, the operations are tried on what is there now.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

from nbformat.sign import NotebookNotary

from ...errors import Conflict, InvalidInput, NotAllowed, NotFound
from ...messages import JsonObject, OutputDetail, TaskId
from .._apply import apply_operations
from .._cells import cells_of
from .._document import Applied, NotebookSnapshot, Operation
from .._format import new_notebook
from .._many_cells import for_cells
from .._output_trust import sign_outputs, signed_places
from .._saved_form import as_read, require_valid, to_save
from .._snapshot import snapshot_of
from ._contents_file import FileContent, NotebookFile
from ._contents_port import ContentsManagerPort, Doing, asked, local_root

__all__ = ["ContentsDocument", "ContentsManagerPort", "ContentsNotebooks"]

logger = logging.getLogger(__name__)

_MOST_BYTES: Final = 256 * 1024 * 1024
_MOST_TRIES: Final = 5
_SUFFIX: Final = ".ipynb"


class ContentsNotebooks:
    """All notebooks that a contents manager has. One instance a manager: it keeps the locks."""

    def __init__(self, manager: ContentsManagerPort, *, most_bytes: int = _MOST_BYTES) -> None:
        self._manager = manager
        self._most_bytes = most_bytes
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def document(self, path: str) -> ContentsDocument:
        """The notebook in this file. Whether there is one, its first use says."""
        path = path.strip("/")
        return ContentsDocument(self._file(path), path, self._notary, lambda: self._lock(path))

    async def create(self, path: str, *, kernelspec: JsonObject | None = None) -> None:
        """A new, empty notebook for the kernel of this ``name``, ``display_name`` and ``language``; never over a file."""
        path = path.strip("/")
        if not path.endswith(_SUFFIX):
            raise InvalidInput(f"A notebook's name ends in {_SUFFIX}; {path} does not.", path=path)
        node = as_read(new_notebook(kernelspec))
        require_valid(node, None, path)
        async with self._lock(path):
            folder = path.rpartition("/")[0]
            if not await asked(lambda: self._manager.dir_exists(folder), path, "created"):
                raise NotFound(f"There is no folder {folder} to create {path} in. Create it first.", path=folder)
            if await self.has(path, "created"):
                raise Conflict(f"There is something at {path} already. Choose another name, or use it.", path=path)
            await self._file(path).save_new(node)

    async def has(self, path: str, doing: Doing = "read") -> bool:
        """Whether there is a file or a folder of this path; ``doing`` is what is wanted with it."""
        is_file = await asked(lambda: self._manager.file_exists(path), path, doing)
        return bool(is_file or await asked(lambda: self._manager.dir_exists(path), path, doing))

    def root(self) -> Path | None:
        """The folder that paths begin in, where it is one."""
        return local_root(self._manager)

    async def secret(self) -> bytes | None:
        """What the person's notary signs with; None where there is none."""
        return await _secret_of(self._notary)

    @property
    def _notary(self) -> NotebookNotary | None:
        return getattr(self._manager, "notary", None)

    def _file(self, path: str) -> NotebookFile:
        return NotebookFile(self._manager, path, most_bytes=self._most_bytes)

    def _lock(self, path: str) -> asyncio.Lock:
        return self._locks.setdefault(path, asyncio.Lock())


class ContentsDocument:
    """A notebook that nobody has open. There is nothing between it and the disk: what is applied is saved."""

    def __init__(
        self, file: NotebookFile, path: str, notary: NotebookNotary | None, lock: Callable[[], asyncio.Lock]
    ) -> None:
        self._file = file
        self._path = path
        self._notary = notary
        self._lock = lock

    @property
    def path(self) -> str:
        """Its path in the contents API."""
        return self._path

    async def snapshot(self, *, outputs: OutputDetail = "none") -> NotebookSnapshot:
        """The notebook as the file has it now."""
        content = await self._file.read()
        secret = await _secret_of(self._notary) if outputs == "full" and await self._is_trusted(content) else None

        def seen() -> NotebookSnapshot:
            snapshot = snapshot_of(
                content.notebook, path=self._path, revision=content.hash, source="disk", outputs=outputs
            )
            return sign_outputs(snapshot, secret) if secret is not None else snapshot

        return await asyncio.to_thread(seen) if content.is_large else seen()

    async def apply(
        self,
        operations: Sequence[Operation],
        *,
        save: bool = True,
        task_id: TaskId | None = None,
        review: bool = False,
        signatures: Collection[str] | None = None,
    ) -> Applied:
        """Do all of them and save. A cancelled caller leaves when the file is whole again."""
        async with self._lock():
            for _ in range(_MOST_TRIES):
                applied = await self._try(operations, signatures or ())
                if applied is not None:
                    return applied
        raise Conflict(
            f"Something else saves {self._path} again and again, so nothing was changed. Wait until it is done.",
            path=self._path,
        )

    async def _try(self, operations: Sequence[Operation], signatures: Collection[str]) -> Applied | None:
        content = await self._file.read()
        if not content.writable:
            raise NotAllowed(
                f"{self._path} is read-only, so nothing was changed. Make it writable, or work on a copy.",
                path=self._path,
            )
        count = len(cells_of(content.notebook))
        change = await for_cells(count, lambda: apply_operations(content.notebook, operations, path=self._path))
        found: str | None = content.hash
        if change.notebook != content.notebook:
            trusted = await self._is_trusted(content)
            secret = await _secret_of(self._notary) if signatures else None
            shown = (
                await asyncio.to_thread(signed_places, change.notebook, signatures, secret) if secret else frozenset()
            )
            node = await asyncio.to_thread(
                to_save, content.notebook, change, trusted=trusted, sign_outputs=shown, path=self._path
            )
            found = await self._file.swap(node, content)
        if found is None:
            return None
        return Applied(
            snapshot_revision=found, saved=True, changed=change.changed, content_hash=found, renamed=change.renamed
        )

    async def _is_trusted(self, content: FileContent) -> bool:
        """Whether the person's notary knows the notebook as it is."""
        notary = self._notary
        if notary is None:
            return False
        node = await asyncio.to_thread(as_read, content.notebook)
        try:
            signature = await asyncio.to_thread(notary.compute_signature, node)
        except UnicodeEncodeError:
            # Half a surrogate pair is in it; such a notebook cannot have been signed.
            return False
        try:
            # The store belongs to this thread.
            return bool(notary.store.check_signature(signature, notary.algorithm))
        except sqlite3.Error:
            logger.warning("The signatures of trusted notebooks cannot be read; %s counts as untrusted", self._path)
            return False


async def _secret_of(notary: NotebookNotary | None) -> bytes | None:
    return await asyncio.to_thread(lambda: notary.secret or None) if notary is not None else None
