"""The tools for notebooks and their kernels, and a notebook in a few lines."""

from __future__ import annotations

from ._creating import CreateNotebook
from ._digest import NotebookDigest, notebook_digest
from ._editing import EditCells
from ._kernels import ListKernels, ManageKernel
from ._reading import ReadNotebook
from ._running import RunCells, WaitRun
from ._scratch import InstallPackages, RunCode
from ._variables import InspectVariables

__all__ = [
    "CreateNotebook",
    "EditCells",
    "InspectVariables",
    "InstallPackages",
    "ListKernels",
    "ManageKernel",
    "NotebookDigest",
    "ReadNotebook",
    "RunCells",
    "RunCode",
    "WaitRun",
    "notebook_digest",
]
