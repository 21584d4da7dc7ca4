"""A notebook in a few lines, for a model that begins a turn: what is there, how it stands, and what the person ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..._threads import in_thread
from ..._timeouts import wait_at_most
from ...errors import HdspAgentError
from ...messages import CellId
from ...notebooks import Notebooks, NotebookSnapshot, PersonRun, RunMemory, for_cells, outline_of
from ...notebooks.kernels import KernelInfo
from .._path_policy import PathPolicy
from .._tool_failed import ToolFailed
from ._cell_selection import numbers_of
from ._cell_states import outline_line

__all__ = ["NotebookSummary", "notebook_digest"]

_MOST_RUNS: Final = 10
_LONGEST_ERROR: Final = 300
_PATIENCE_SECONDS: Final = 5.0


@dataclass(frozen=True)
class NotebookSummary:
    """What there is to tell of a notebook, unmasked. ``cells`` and ``runs`` are texts by what tells them apart.

    ``is_seen`` is whether the notebook could be looked at; else ``about`` says why not.
    """

    path: str
    about: str
    is_seen: bool = False
    cells: tuple[tuple[CellId, str], ...] = ()
    runs: tuple[tuple[str, str], ...] = ()
    kernel: KernelInfo | None = None


async def notebook_digest(notebooks: Notebooks, path: str, paths: PathPolicy) -> NotebookSummary | None:
    """What to tell of the notebook of a task; None if it is kept from the agent."""
    path = await notebooks.called(path)
    if not await _may_be_read(path, notebooks.access.root, paths):
        return None
    try:
        return await wait_at_most(_digest(notebooks, path), _PATIENCE_SECONDS)
    except TimeoutError:
        silent = "The browser tab that has it open does not answer just now."
        return NotebookSummary(path, f"Notebook of this task: {path}. {silent}")
    except HdspAgentError as error:
        return NotebookSummary(path, f"Notebook of this task: {path}. {error.message}")


async def _may_be_read(path: str, root: Path | None, paths: PathPolicy) -> bool:
    try:
        await in_thread(lambda _stop: paths.resolve(path if root is None else str(root / path)))
    except ToolFailed:
        return False
    return True


async def _digest(notebooks: Notebooks, path: str) -> NotebookSummary:
    snapshot = await notebooks.access.document(path).snapshot()
    kernel = await notebooks.kernel(path)
    memory, last_runs = notebooks.memory(path, kernel), list(notebooks.person_runs(path))[-_MOST_RUNS:]
    return await for_cells(len(snapshot.cells), lambda: _told(path, snapshot, kernel, memory, last_runs))


def _told(
    path: str, snapshot: NotebookSnapshot, kernel: KernelInfo | None, memory: RunMemory, last_runs: Sequence[PersonRun]
) -> NotebookSummary:
    lines = outline_of(snapshot, memory)
    numbers = numbers_of(snapshot)
    runs = kernel.told if kernel is not None else "no kernel runs"
    # Other cells by their ids: a number that shifts would make a line another one.
    names = {cell_id: cell_id for cell_id in numbers}
    return NotebookSummary(
        path,
        f"Notebook of this task: {path}, {len(lines)} cells, {runs}.",
        is_seen=True,
        cells=tuple((line.cell_id, outline_line(line, names)) for line in lines),
        runs=tuple((_key(run), _run(run, numbers)) for run in last_runs),
        kernel=kernel,
    )


def _key(run: PersonRun) -> str:
    return f"{run.ended_at} {run.cell_id or ''}"


def _run(run: PersonRun, numbers: Mapping[CellId, int]) -> str:
    number = numbers.get(run.cell_id) if run.cell_id is not None else None
    what = f"cell {number} {run.cell_id}" if number is not None else "code that is in no cell now"
    if run.ok:
        return f"- {what}: done"
    error = (run.error or "an error")[:_LONGEST_ERROR]
    return f"- {what}: failed with {error}"
