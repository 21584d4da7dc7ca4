"""A notebook in a few lines, for a model that begins a turn: what is there, how it stands, and what the person ran."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from ...errors import HdspAgentError
from ...messages import CellId
from ...notebooks import Notebooks, OutlineLine, PersonRun, outline_of
from .._paths import PathPolice
from .._threads import in_thread
from .._tool import ToolFailed
from ._selection import numbers_of
from ._states import outline_text

__all__ = ["notebook_digest"]

_MOST_LINES: Final = 40
_MOST_RUNS: Final = 10
_LONGEST_ERROR: Final = 300
_PATIENCE_SECONDS: Final = 5.0


async def notebook_digest(notebooks: Notebooks, path: str, paths: PathPolice) -> str | None:
    """What to tell of the notebook of a task, unmasked; None if it is kept from the agent."""
    path = await notebooks.called(path)
    if not await _may_be_read(path, notebooks.desk.root, paths):
        return None
    try:
        return await asyncio.wait_for(_digest(notebooks, path), _PATIENCE_SECONDS)
    except asyncio.TimeoutError:
        return f"Notebook of this task: {path}. The browser tab that has it open does not answer just now."
    except HdspAgentError as error:
        return f"Notebook of this task: {path}. {error.message}"


async def _may_be_read(path: str, root: Path | None, paths: PathPolice) -> bool:
    try:
        await in_thread(lambda _stop: paths.resolve(path if root is None else str(root / path)))
    except ToolFailed:
        return False
    return True


async def _digest(notebooks: Notebooks, path: str) -> str:
    snapshot = await notebooks.desk.document(path).snapshot()
    kernel = await notebooks.kernel(path)
    lines = outline_of(snapshot, notebooks.memory(path, kernel))
    numbers = numbers_of(snapshot)
    runs = f"kernel {kernel.display_name} ({kernel.state})" if kernel is not None else "no kernel runs"
    parts = [f"Notebook of this task: {path}, {len(lines)} cells, {runs}.", _outline(lines, numbers)]
    person = list(notebooks.person_runs(path))[-_MOST_RUNS:]
    if person:
        parts.append("What the person ran there lately, newest last:")
        parts += [_run(run, numbers) for run in person]
    return "\n".join(part for part in parts if part)


def _outline(lines: Sequence[OutlineLine], numbers: Mapping[CellId, int]) -> str:
    if len(lines) <= _MOST_LINES:
        return outline_text(lines, numbers)
    half = _MOST_LINES // 2
    between = f"[… {len(lines) - 2 * half} more cells: read_notebook lists them …]"
    return "\n".join([outline_text(lines[:half], numbers), between, outline_text(lines[-half:], numbers)])


def _run(run: PersonRun, numbers: Mapping[CellId, int]) -> str:
    number = numbers.get(run.cell_id) if run.cell_id is not None else None
    what = f"cell {number} {run.cell_id}" if number is not None else "code that is in no cell now"
    if run.ok:
        return f"- {what}: done"
    error = (run.error or "an error")[:_LONGEST_ERROR]
    return f"- {what}: failed with {error}"
