"""Proves a notebook: runs it from the top in a new kernel, and compares what it shows with what is saved in it."""

from __future__ import annotations

from ._answer_numbers import AnswerNumber, TextAt, all_numbers, answer_numbers
from ._apart import verify_apart
from ._comparison import Tolerance, outputs_of
from ._junit import junit_xml
from ._report import Cause, CellReport, NotebookReport, read_report, written_report
from ._verification import VerifyOptions, VerifyProgress, verify_notebook

__all__ = [
    "AnswerNumber",
    "Cause",
    "CellReport",
    "NotebookReport",
    "TextAt",
    "Tolerance",
    "VerifyOptions",
    "VerifyProgress",
    "all_numbers",
    "answer_numbers",
    "junit_xml",
    "outputs_of",
    "read_report",
    "verify_apart",
    "verify_notebook",
    "written_report",
]
