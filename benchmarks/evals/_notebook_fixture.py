"""The folder, notebook and kernel an eval task is given in, as a person has them when they ask."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hdsp_agent.messages import CellId, JsonObject, NotebookRef, TaskId
from hdsp_agent.notebooks import Notebooks
from hdsp_agent.notebooks.documents.contents import ContentsNotebooks
from hdsp_agent.notebooks.kernels import CellRunSpec, RunLimits
from hdsp_agent.notebooks.kernels.headless import HeadlessKernels

from ._eval_task import EvalTask, SeenCell, Text

__all__ = ["DATA", "NOTEBOOK", "NotebookFixture", "open_notebook_fixture"]

DATA: Final = Path(__file__).with_name("data")
NOTEBOOK: Final = "analysis.ipynb"

_PERSON: Final = TaskId("the-person")
_CELL_SECONDS: Final = 60


@dataclass(frozen=True)
class NotebookFixture:
    """Where an eval task is done."""

    task: EvalTask
    folder: Path
    notebooks: Notebooks

    @property
    def about(self) -> NotebookRef:
        """The notebook, and the cell the person is in."""
        at = self.task.at
        return NotebookRef(path=NOTEBOOK, cell_id=None if at is None else _cell_id(self.task, at))

    def cells(self) -> list[SeenCell]:
        """The cells as the file has them."""
        notebook = json.loads((self.folder / NOTEBOOK).read_text(encoding="utf-8"))
        return [
            SeenCell(
                str(cell.get("id")), "".join(cell["source"]), cell["cell_type"] == "code", cell.get("outputs") or ()
            )
            for cell in notebook["cells"]
        ]


@asynccontextmanager
async def open_notebook_fixture(task: EvalTask, folder: Path) -> AsyncIterator[NotebookFixture]:
    """The notebook with its kernel, its cells run as far as the person has run them."""
    for name in task.files:
        shutil.copy(DATA / name, folder)
    for name, text in task.tables.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / NOTEBOOK).write_text(json.dumps(_notebook(task), indent=1), encoding="utf-8")
    headless = HeadlessKernels(folder)
    limits = RunLimits(total_seconds=_CELL_SECONDS)
    notebooks = Notebooks(ContentsNotebooks(headless.contents), headless.port, limits=lambda: limits)
    try:
        if task.ran:
            code = [
                CellRunSpec(_cell_id(task, number), source)
                for number, source in enumerate(task.cells, 1)
                if not isinstance(source, Text)
            ]
            await notebooks.executor.start(NOTEBOOK)
            if code:
                run = await notebooks.run(NOTEBOOK, code, task_id=_PERSON, stop_on_error=False)
                await run.wait(_CELL_SECONDS)
                await notebooks.live_outputs.settled(run)
        yield NotebookFixture(task, folder, notebooks)
    finally:
        await notebooks.close()
        await headless.close()


def _notebook(task: EvalTask) -> JsonObject:
    kernel: JsonObject = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    cells = [_cell(task, number, source) for number, source in enumerate(task.cells, 1)]
    return {"cells": [*cells], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _cell(task: EvalTask, number: int, source: str) -> JsonObject:
    cell: JsonObject = {"id": _cell_id(task, number), "metadata": {}, "source": str(source)}
    if isinstance(source, Text):
        return {**cell, "cell_type": "markdown"}
    return {**cell, "cell_type": "code", "outputs": [], "execution_count": None}


def _cell_id(task: EvalTask, number: int) -> CellId:
    """As JupyterLab makes them, but the same in each run."""
    return CellId(hashlib.sha256(f"{task.name} {number}".encode()).hexdigest()[:8])
