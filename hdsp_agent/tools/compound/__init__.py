"""A handful of tools that each do a whole step, for models too weak to put steps together themselves."""

from __future__ import annotations

from ._answer import Answer
from ._cells import AddCell, AddText, CompoundTool, DeleteCell, EditCell, RenameVariable, RunCell
from ._claims import is_effect, lacks_picture, lacks_value
from ._looking import InspectVariable, ReadCell
from ._surroundings import Surroundings, surroundings
from ._telling import failed_cell, ran_something

__all__ = [
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
    "failed_cell",
    "is_effect",
    "lacks_picture",
    "lacks_value",
    "ran_something",
    "surroundings",
]
