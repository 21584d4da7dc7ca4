"""Reading the code of a cell: which shell commands, magics and programs it names."""

from ._findings import CodeFindings
from ._reader import read_cell

__all__ = ["CodeFindings", "read_cell"]
