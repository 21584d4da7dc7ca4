"""The tools for notebooks and their kernels, and a notebook in a few lines."""

from __future__ import annotations

from ._create_notebook import CreateNotebook
from ._edit_cells import EditCells
from ._inspect_variables import InspectVariables
from ._list_notebooks import ListNotebooks
from ._manage_kernels import ListKernels, ManageKernel
from ._notebook_location import place_of
from ._notebook_summary import NotebookSummary, notebook_digest
from ._read_notebook import ReadNotebook
from ._run_cells import RunCells, WaitRun
from ._run_code import InstallPackages, RunCode

__all__ = [
    "CreateNotebook",
    "EditCells",
    "InspectVariables",
    "InstallPackages",
    "ListKernels",
    "ListNotebooks",
    "ManageKernel",
    "NotebookSummary",
    "ReadNotebook",
    "RunCells",
    "RunCode",
    "WaitRun",
    "notebook_digest",
    "place_of",
]
