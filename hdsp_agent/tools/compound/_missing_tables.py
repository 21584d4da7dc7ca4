"""The table that a name stands for: a small model uses what it was told of as if it were there, by whatever name."""

from __future__ import annotations

import ast
import csv
import keyword
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Final

from ..._regular_files import open_regular_file
from .._path_policy import PathPolicy
from .._tool_failed import ToolFailed
from ._code import parsed_or_empty

__all__ = ["file_columns", "meant_table", "name_for", "readable", "table_files", "takes_columns", "with_reads"]

_READS: Final = {
    ".csv": "pd.read_csv({file!r})",
    ".tsv": "pd.read_csv({file!r}, sep='\\t')",
    ".parquet": "pd.read_parquet({file!r})",
    ".xlsx": "pd.read_excel({file!r})",
}
_SEPARATORS: Final = {".csv": ",", ".tsv": "\t"}
_MOST_FILES: Final = 20
_LONGEST_LINE: Final = 4_000
_IMPORTS: Final = re.compile(r"(?:(?:import|from) [^\n]*\n|\n)*")


def table_files(folder: Path, names: Sequence[str], paths: PathPolicy) -> dict[str, str]:
    """The files of the folder that are called like these names and may be read. Reads it: call it in a thread."""
    found: dict[str, str] = {}
    for name in names:
        for ending in _READS:
            file = folder / f"{name}{ending}"
            if readable(file, paths) is not None:
                found.setdefault(name, file.name)
    return found


def readable(file: Path, paths: PathPolicy) -> Path | None:
    """Where the file really is, if it is there and the agent may look into it."""
    try:
        checked = paths.resolve(str(file))
    except ToolFailed:
        return None
    return None if checked.holds_credentials or checked.is_outside or not checked.path.is_file() else checked.path


def file_columns(folder: Path, paths: PathPolicy) -> dict[str, frozenset[str]]:
    """The columns of the folder's tables that may be read. Reads them: call it in a thread."""
    found: dict[str, frozenset[str]] = {}
    try:
        files = sorted(file for file in folder.iterdir() if file.suffix in _SEPARATORS)[:_MOST_FILES]
        for file in files:
            real = readable(file, paths)
            if real is not None:
                with TextIOWrapper(open_regular_file(real), "utf-8-sig", "replace", newline="") as opened:
                    rows = csv.reader([opened.readline(_LONGEST_LINE)], delimiter=_SEPARATORS[file.suffix])
                    found[file.name] = frozenset(next(rows, []))
    except OSError:
        return found
    return found


def meant_table(code: str, name: str, tables: Mapping[str, Collection[str]]) -> str | None:
    """The one table that has the columns which the code takes from something that is not there."""
    used = set(_texts_with(parsed_or_empty(code), name))
    fitting = {table: len(used.intersection(columns)) for table, columns in tables.items()}
    most = max(fitting.values(), default=0)
    found = [table for table, fits in fitting.items() if fits == most]
    return found[0] if most and len(found) == 1 else None


def takes_columns(code: str, name: str) -> bool:
    """Whether the code uses it as a table."""
    return next(_texts_with(parsed_or_empty(code), name), None) is not None


def name_for(file: str, taken: Collection[str]) -> str:
    """What a table that is read from this file is called."""
    stem = Path(file).stem
    usable = stem.isidentifier() and not keyword.iskeyword(stem) and stem not in taken
    return stem if usable else "df" if "df" not in taken else "table"


def _texts_with(tree: ast.Module, name: str) -> Iterator[str]:
    """The texts in what is taken from this name, or done with it."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Subscript, ast.Call)) and any(
            isinstance(part, ast.Name) and part.id == name for part in ast.walk(node)
        ):
            yield from (
                part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)
            )


def with_reads(code: str, files: Mapping[str, str]) -> str:
    """The code with these files read into the names they are called like, behind its imports."""
    imports = _IMPORTS.match(code)
    at = imports.end() if imports is not None else 0
    lines = [f"{name} = {_READS[Path(file).suffix].format(file=file)}\n" for name, file in files.items()]
    return code[:at] + "".join(lines) + code[at:]
