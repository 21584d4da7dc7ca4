"""A handful of tools that each do a whole step, for models too weak to put steps together themselves."""

from __future__ import annotations

from ._answer import Answer
from ._asked import asks_to_mend
from ._blanks import with_blanks
from ._cells import AddCell, AddText, CompoundTool, DeleteCell, EditCell, RenameVariable, RunCell
from ._claims import is_effect, lacks_picture, lacks_value
from ._code import made_names
from ._doing import variable_words
from ._examples import EXAMPLES
from ._looking import InspectVariable, ReadCell
from ._surroundings import CHANGES, NotebookFacts, ToldCell, cell_of_person, cells_in, surroundings
from ._telling import NOTHING_DONE, cell_instead, failed_cell, failed_in, ran_something, wrote_same

__all__ = [
    "CHANGES",
    "EXAMPLES",
    "NOTHING_DONE",
    "AddCell",
    "AddText",
    "Answer",
    "CompoundTool",
    "DeleteCell",
    "EditCell",
    "InspectVariable",
    "NotebookFacts",
    "ReadCell",
    "RenameVariable",
    "RunCell",
    "ToldCell",
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
    "ran_something",
    "surroundings",
    "variable_words",
    "with_blanks",
    "wrote_same",
]
