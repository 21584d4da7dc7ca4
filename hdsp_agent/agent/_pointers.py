"""What a notebook itself says of its moments: pointers in its metadata, and nothing of the conversation."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterable, Iterator, Sequence

from ..checkpoints import CheckpointRecord
from ..errors import HdspAgentError
from ..messages import NotebookOperation
from ..notebooks import Notebooks
from ._time_lines import OpenWorkspace

__all__ = ["with_copies", "write_pointers"]

logger = logging.getLogger(__name__)


async def write_pointers(notebooks: Notebooks, workspace: OpenWorkspace, record: CheckpointRecord) -> None:
    """Let each notebook whose cells ran before this moment point to it, unless it is open."""
    try:
        ran = await _ran(workspace, record)
        pointers = await workspace.line.pointers(record, cells=ran) if ran else {}
    except HdspAgentError as error:
        logger.warning("No notebook points to the moment %s: %s", record.id, error.message)
        return
    for path, operations in pointers.items():
        # In a tab it would be one save more, right when the person may save or type: Lab then asks which of the two to keep.
        if not await notebooks.desk.is_watched(path):
            await _point(notebooks, workspace, record, path, operations)


async def _ran(workspace: OpenWorkspace, record: CheckpointRecord) -> list[tuple[str, str]]:
    """The notebooks' cells that ran since the moment before."""
    if workspace.variables is None:
        return []
    load = workspace.variables.store.load
    return [
        (kept.path, run.cell)
        for kept in record.variables
        for run in (await asyncio.to_thread(load, kept.manifest)).runs
        if run.cell is not None
    ]


async def _point(
    notebooks: Notebooks,
    workspace: OpenWorkspace,
    record: CheckpointRecord,
    path: str,
    operations: Sequence[NotebookOperation],
) -> None:
    try:
        await notebooks.desk.document(path).apply(operations)
        root = notebooks.desk.root
        if root is not None:
            # Unclaimed, it would be a change of the person's, which a restore keeps.
            await workspace.line.pointed(record, list(with_copies([os.fspath(root / path)])))
    except HdspAgentError as error:
        logger.info("%s does not point to its moment: %s", path, error.message)


def with_copies(paths: Iterable[str]) -> Iterator[str]:
    """The files, and the copies that Jupyter makes of them when it saves a notebook."""
    for path in paths:
        yield path
        folder, name = os.path.split(path)
        stem, extension = os.path.splitext(name)
        if extension == ".ipynb":
            yield os.path.join(folder, ".ipynb_checkpoints", f"{stem}-checkpoint{extension}")
