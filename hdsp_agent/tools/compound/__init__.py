"""A handful of tools that each do a whole step, for models too weak to put steps together themselves."""

from __future__ import annotations

from ._answer import AnswerTool
from ._answer_check import is_effect, lacks_picture, lacks_value
from ._cell_runner import variable_words
from ._cells import AddCell, AddText, CompoundTool, DeleteCellTool, EditCell, RenameVariable, RunCell
from ._code import made_names
from ._examples import EXAMPLES
from ._inspect import InspectVariable, ReadCell
from ._masked_code import with_blanks
from ._notebook_facts import CHANGES, CellFact, NotebookFacts, cell_of_person, cells_in, surroundings
from ._request_check import asks_to_mend
from ._step_report import NOTHING_DONE, cell_instead, failed_cell, failed_in, wrote_same

__all__ = [
    "CHANGES",
    "EXAMPLES",
    "NOTHING_DONE",
    "AddCell",
    "AddText",
    "AnswerTool",
    "CellFact",
    "CompoundTool",
    "DeleteCellTool",
    "EditCell",
    "InspectVariable",
    "NotebookFacts",
    "ReadCell",
    "RenameVariable",
    "RunCell",
    "asks_to_mend",
    "cell_instead",
    "cell_of_person",
    "cells_in",
    "failed_cell",
    "failed_in",
    "is_effect",
    "lacks_picture",
    "lacks_value",
    "made_names",
    "surroundings",
    "variable_words",
    "with_blanks",
    "wrote_same",
]
