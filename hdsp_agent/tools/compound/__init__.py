"""A handful of tools that each do a whole step, for models too weak to put steps together themselves."""

from __future__ import annotations

from ._answer import Answer
from ._cells import AddCell, AddText, CompoundTool, DeleteCell, EditCell, RenameVariable, RunCell
from ._claims import is_effect, lacks_picture, lacks_value
from ._looking import InspectVariable, ReadCell
from ._surroundings import Surroundings, surroundings
from ._telling import NOTHING_DONE, cell_instead, failed_cell, failed_in, ran_something

__all__ = [
    "NOTHING_DONE",
    "AddCell",
    "AddText",
    "Answer",
    "CompoundTool",
    "DeleteCell",
    "EditCell",
    "InspectVariable",
    "ReadCell",
    "RenameVariable",
    "RunCell",
    "Surroundings",
    "cell_instead",
    "failed_cell",
    "failed_in",
    "is_effect",
    "lacks_picture",
    "lacks_value",
    "ran_something",
    "surroundings",
]
