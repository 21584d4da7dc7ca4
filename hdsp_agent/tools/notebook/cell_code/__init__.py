"""Reading the code of a cell: which shell commands, magics and programs it names."""

from ._findings import Findings
from ._reader import read_cell

__all__ = ["Findings", "read_cell"]
