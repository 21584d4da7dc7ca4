"""What the agent writes into a notebook's metadata: pointers to its checkpoints, and the conversation if the person wants that."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterable, Iterator, Sequence

from ... import persistence
from ...checkpoints import CheckpointRecord
from ...checkpoints.timeline import Timeline
from ...errors import HdspAgentError
from ...messages import JsonObject, NotebookPointer, SetNotebookMetadata
from ...notebooks import NotebookAccess, Notebooks

__all__ = ["NotebookMetadata", "with_copies"]

logger = logging.getLogger(__name__)


class NotebookMetadata:
    """Writes them. Those of a notebook that is open wait until it is saved anyway."""

    def __init__(self, notebooks: Notebooks) -> None:
        self._access = notebooks.access
        self._waiting: dict[str, Sequence[NotebookPointer]] = {}

    async def write(self, line: Timeline, record: CheckpointRecord) -> None:
        """Let each notebook whose cells ran before this checkpoint point to it."""
        self._waiting = {self._access.now_at(path): pointers for path, pointers in self._waiting.items()}
        try:
            ran = await _ran(line, record)
            found = await line.pointers(record, cells=ran, waiting=self._waiting) if ran else {}
        except HdspAgentError as error:
            logger.warning("The checkpoint %s was not noted in its notebooks: %s", record.id, error.message)
            return
        for path, pointers in found.items():
            self._waiting[path] = pointers
            if await _point(self._access, line, record, path, pointers):
                del self._waiting[path]

    async def embed(self, line: Timeline | None, path: str, conversation: JsonObject) -> None:
        """Let a notebook carry a conversation, in the way it gets its pointers; ``line`` is where checkpoints are kept."""
        records = await line.files.list(limit=1) if line is not None else []
        value = SetNotebookMetadata(key=persistence.EMBEDDED_KEY, value=conversation)
        if line is not None and records:
            await _point(self._access, line, records[0], self._access.now_at(path), [value])
        else:
            await self._access.point(path, [value])


async def _ran(line: Timeline, record: CheckpointRecord) -> list[tuple[str, str]]:
    """The notebooks' cells that ran since the checkpoint before."""
    if line.variables is None:
        return []
    load = line.variables.store.load
    return [
        (kept.path, run.cell)
        for kept in record.variables
        for run in (await asyncio.to_thread(load, kept.manifest)).runs
        if run.cell is not None
    ]


async def _point(
    access: NotebookAccess,
    line: Timeline,
    record: CheckpointRecord,
    path: str,
    pointers: Sequence[NotebookPointer],
) -> bool:
    """Whether the file says so now."""
    try:
        if not await access.point(path, pointers):
            return False
        if access.root is not None:
            # Unclaimed, it would be a change of the person's, which a restore keeps.
            await line.pointed(record, list(with_copies([os.fspath(access.root / path)])))
    except HdspAgentError as error:
        logger.info("The checkpoint was not noted in %s: %s", path, error.message)
        return False
    return True


def with_copies(paths: Iterable[str]) -> Iterator[str]:
    """The files, and the copies that Jupyter makes of them when it saves a notebook."""
    for path in paths:
        yield path
        folder, name = os.path.split(path)
        stem, extension = os.path.splitext(name)
        if extension == ".ipynb":
            yield os.path.join(folder, ".ipynb_checkpoints", f"{stem}-checkpoint{extension}")
