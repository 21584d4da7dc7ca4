"""Proves a notebook: runs it from the top in a new kernel, and compares what it shows with what is saved in it."""

from __future__ import annotations

from ._apart import verify_apart
from ._comparison import Tolerance
from ._junit import junit_xml
from ._report import Cause, CellReport, NotebookReport
from ._verification import VerifyOptions, VerifyProgress, verify_notebook

__all__ = [
    "Cause",
    "CellReport",
    "NotebookReport",
    "Tolerance",
    "VerifyOptions",
    "VerifyProgress",
    "junit_xml",
    "verify_apart",
    "verify_notebook",
]
