"""Notebooks that ran, with faults planted afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

__all__ = ["Notebook", "ran"]

Notebook = Any


def ran(folder: Path, *sources: str, order: Sequence[int] | None = None) -> Notebook:
    """A notebook whose cells ran, in this order, with what they showed."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    resources = {"metadata": {"path": str(folder)}}
    # A crowded machine may bring what a cell shows long after it says that the cell is done.
    client = NotebookClient(notebook, kernel_name="python3", resources=resources, iopub_timeout=60)
    with client.setup_kernel():
        for at in order if order is not None else range(len(sources)):
            client.execute_cell(notebook.cells[at], at)
    return notebook


def saved(folder: Path, notebook: Notebook, change: Callable[[Notebook], None] = lambda notebook: None) -> Path:
    """The notebook in a file."""
    change(notebook)
    path = folder / "work.ipynb"
    nbformat.write(notebook, path)
    return path
