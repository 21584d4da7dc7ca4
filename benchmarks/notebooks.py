"""Claim: neither an outline of a notebook nor an edit in an open one takes longer than a person notices."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from pathlib import Path

from jupyter_core.utils import ensure_async
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from traitlets.config import Config

from hdsp_agent.messages import JsonObject
from hdsp_agent.notebooks import outline_of
from hdsp_agent.notebooks.documents.contents import ContentsManagerPort, ContentsNotebooks

from . import notebook_tab
from .results import Result, percentile, result

_CELLS = 1000
_RUNS = 40
_GOAL_MS = 50.0


def measure() -> list[Result]:
    """Each number once."""
    return [asyncio.run(_outline()), *notebook_tab.measure(_notebook())]


async def _outline() -> Result:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "large.ipynb").write_text(json.dumps(_notebook(), indent=1), encoding="utf-8")
        # The person's own signatures stay out of it.
        notary = Config({"NotebookNotary": {"data_dir": folder, "db_file": ":memory:"}})
        manager: ContentsManagerPort = AsyncLargeFileManager(root_dir=folder, config=notary)
        document = ContentsNotebooks(manager).document("large.ipynb")
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(_RUNS):
            started = time.perf_counter()
            lines = outline_of(await document.snapshot())
            read = time.perf_counter()
            await ensure_async(manager.get("large.ipynb", type="notebook"))
            ours.append((read - started) * 1000)
            theirs.append((time.perf_counter() - read) * 1000)
            assert len(lines) == _CELLS
    median = percentile(ours, 0.5)
    return result(
        "notebook.outline@1000",
        "outline of a notebook of 1,000 cells with outputs through the contents manager, p50; "
        "baseline: the contents manager's own reading of it",
        median,
        "ms",
        goal=f"<= {_GOAL_MS:g} ms",
        met=median <= _GOAL_MS,
        runs=_RUNS,
        baseline=percentile(theirs, 0.5),
    )


def _notebook() -> JsonObject:
    return {"cells": [_cell(number) for number in range(_CELLS)], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def _cell(number: int) -> JsonObject:
    if number % 5 == 0:
        return {"cell_type": "markdown", "id": f"text-{number}", "metadata": {}, "source": [f"## Step {number}"]}
    printed: JsonObject = {"name": "stdout", "output_type": "stream", "text": [f"row {row}\n" for row in range(20)]}
    return {
        "cell_type": "code",
        "execution_count": number,
        "id": f"code-{number}",
        "metadata": {},
        "outputs": [printed],
        "source": [f"frame_{number} = load({number})\n", "frame.groupby('key').mean()\n"] * 5,
    }
