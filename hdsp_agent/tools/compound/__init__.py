"""A handful of tools that each do a whole step, for models too weak to put steps together themselves."""

from __future__ import annotations

from ._answer import AnswerTool
from ._cell_runner import variable_words
from ._cells import AddCell, AddText, CompoundTool, DeleteCellTool, EditCell, RenameVariable, RunCell
from ._examples import EXAMPLES
from ._notebook_facts import NotebookFacts, names_data, surroundings
from ._put_back import put_back
from ._step_report import cell_to_change
from ._target_cell import cells_to_edit

__all__ = [
    "EXAMPLES",
    "AddCell",
    "AddText",
    "AnswerTool",
    "CompoundTool",
    "DeleteCellTool",
    "EditCell",
    "NotebookFacts",
    "RenameVariable",
    "RunCell",
    "cell_to_change",
    "cells_to_edit",
    "names_data",
    "put_back",
    "surroundings",
    "variable_words",
]
