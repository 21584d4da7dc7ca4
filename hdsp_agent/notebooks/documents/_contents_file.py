"""One notebook's file, through a contents manager: read whole, told apart by its hash, saved if it is still the same."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from nbformat.notebooknode import NotebookNode
from pydantic import JsonValue

from ...errors import HdspAgentError, InvalidInput, Unsupported
from ...messages import JsonObject
from .._cells import cells_of
from .._format import as_notebook, parse_notebook
from .._many_cells import cells_in_file, require_few_cells
from .._uncancelled import finished
from .._whole_reads import read_whole, saved_state
from ._contents_port import ContentsManagerPort, ContentsModel, asked, notebook_file, reads_plain_files

__all__ = ["FileContent", "NotebookFile"]

logger = logging.getLogger(__name__)

_LARGE_CHARACTERS: Final = 100_000


@dataclass(frozen=True)
class FileContent:
    """A notebook as its file has it."""

    notebook: JsonObject
    hash: str
    """As the contents API tells it, where the manager does."""
    writable: bool
    text: str | None
    """What the file says; None where the manager gives notebooks only."""

    @property
    def is_large(self) -> bool:
        """Whether going through all of it is better done in a thread."""
        return self.text is not None and len(self.text) > _LARGE_CHARACTERS


class NotebookFile:
    """Reads and saves one path."""

    def __init__(self, manager: ContentsManagerPort, path: str, *, most_bytes: int) -> None:
        self._manager = manager
        self._path = path
        self._most_bytes = most_bytes
        self._plain = reads_plain_files(manager)
        self._hashes = _takes_require_hash(manager)

    async def read(self) -> FileContent:
        """The notebook that is there, whole."""
        return await read_whole(self._read, self._parse, self._located(), self._path)

    async def swap(self, node: NotebookNode, known: FileContent) -> str | None:
        """Save it if the file is still as known; the new hash, or None if somebody else has changed the file."""
        file = self._located()
        before = None if file is None else await asyncio.to_thread(saved_state, file)
        if await self.hash() != known.hash:
            return None
        if file is not None and await asyncio.to_thread(saved_state, file) != before:
            return None
        await finished(self._save(node, known))
        return await self.hash()

    async def save_new(self, node: NotebookNode) -> None:
        """Save it where nothing is yet."""
        await finished(self._put({"type": "notebook", "format": "json", "content": node}))

    async def hash(self) -> str:
        """Of what the file has now."""
        if not self._hashes:
            return (await self.read()).hash
        return await read_whole(self._ask_hash, _same, self._located(), self._path)

    def _located(self) -> Path | None:
        return notebook_file(self._manager, self._path)

    async def _ask_hash(self, size: int) -> str:
        model = await self._get(content=False, require_hash=True)
        told = model.get("hash")
        return told if isinstance(told, str) else (await self._parse(await self._read(size))).hash

    async def _read(self, size: int) -> ContentsModel:
        self._require_size(size)
        file = self._located()
        if file is not None and size > _LARGE_CHARACTERS:
            # Before Jupyter reads and hashes it on the loop.
            require_few_cells(await asyncio.to_thread(cells_in_file, file), self._path)
        return await self._get(content=True, require_hash=self._hashes)

    async def _get(self, *, content: bool, require_hash: bool) -> ContentsModel:
        # Read as a file, a notebook comes as it is: nbformat would bring an old format up to date, and invent ids anew
        # with each reading. It would also take a half-written file for a broken one and put the copy in its place.
        kind, form = ("file", "text") if self._plain else ("notebook", None)
        with_hash = {"require_hash": True} if require_hash else {}
        model = await asked(
            lambda: self._manager.get(self._path, content=content, type=kind, format=form, **with_hash),
            self._path,
            "read",
        )
        return cast(ContentsModel, model)

    async def _parse(self, model: ContentsModel) -> FileContent:
        text = model.get("content") if self._plain else None
        size = model.get("size")
        self._require_size(size if isinstance(size, int) else 0)
        told = model.get("hash")
        if isinstance(text, str):
            # Most are done before a thread would have begun.
            large = len(text) > _LARGE_CHARACTERS
            notebook = (
                await asyncio.to_thread(parse_notebook, text, self._path) if large else parse_notebook(text, self._path)
            )
            found = told if isinstance(told, str) else hashlib.sha256(text.encode()).hexdigest()
        else:
            notebook = as_notebook(cast(JsonValue, model.get("content")), self._path)
            found = told if isinstance(told, str) else await asyncio.to_thread(_content_hash, notebook)
        require_few_cells(len(cells_of(notebook)), self._path)
        return FileContent(
            notebook=notebook,
            hash=found,
            writable=model.get("writable") is not False,
            text=text if isinstance(text, str) else None,
        )

    async def _save(self, node: NotebookNode, known: FileContent) -> None:
        try:
            await self._put({"type": "notebook", "format": "json", "content": node})
        except HdspAgentError:
            await self._mend(known)
            raise

    async def _put(self, model: ContentsModel) -> None:
        await asked(lambda: self._manager.save(model, self._path), self._path, "saved")

    async def _mend(self, known: FileContent) -> None:
        """After a save that failed half-way, as they do without atomic writing: what the file said before."""
        if known.text is None:
            return
        try:
            await self.read()
        except InvalidInput:
            logger.error("A save of %s failed half-way; what it said before is written again", self._path)
            await self._put({"type": "file", "format": "text", "content": known.text})

    def _require_size(self, size: int) -> None:
        if size > self._most_bytes:
            raise Unsupported(
                f"{self._path} has {size:,} bytes; the agent opens notebooks of up to {self._most_bytes:,}. Clear large "
                "outputs in JupyterLab, then try again.",
                path=self._path,
                most=self._most_bytes,
                why="notebook_too_large",
            )


def _takes_require_hash(manager: ContentsManagerPort) -> bool:
    """Managers from before Jupyter Server 2.11 do not; one that passes on whatever it gets is of today."""
    parameters = inspect.signature(manager.get).parameters
    return "require_hash" in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values())


async def _same(value: str) -> str:
    return value


def _content_hash(notebook: JsonObject) -> str:
    text = json.dumps(notebook, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
