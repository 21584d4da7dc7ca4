"""Reading the table that a name stands for: a small model uses what it was told of as if it were there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from .._path_policy import PathPolicy
from .._tool_failed import ToolFailed

__all__ = ["table_files", "with_reads"]

_READS: Final = {
    ".csv": "pd.read_csv({file!r})",
    ".tsv": "pd.read_csv({file!r}, sep='\\t')",
    ".parquet": "pd.read_parquet({file!r})",
    ".xlsx": "pd.read_excel({file!r})",
}
_IMPORTS: Final = re.compile(r"(?:(?:import|from) [^\n]*\n|\n)*")


def table_files(folder: Path, names: Sequence[str], paths: PathPolicy) -> dict[str, str]:
    """The files of the folder that are called like these names and may be read. Reads it: call it in a thread."""
    found: dict[str, str] = {}
    for name in names:
        for ending in _READS:
            file = folder / f"{name}{ending}"
            try:
                checked = paths.resolve(str(file))
            except ToolFailed:
                continue
            if not checked.holds_credentials and not checked.is_outside and checked.path.is_file():
                found.setdefault(name, file.name)
    return found


def with_reads(code: str, files: Mapping[str, str]) -> str:
    """The code with these files read into the names they are called like, behind its imports."""
    imports = _IMPORTS.match(code)
    at = imports.end() if imports is not None else 0
    lines = [f"{name} = {_READS[Path(file).suffix].format(file=file)}\n" for name, file in files.items()]
    return code[:at] + "".join(lines) + code[at:]
