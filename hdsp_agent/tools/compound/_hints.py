"""What may help with an error: names, columns and files that are nearly what the code says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ...notebooks.kernels import Variable
from .._changed_cells import FailedRun

__all__ = ["hint_for", "meant_by"]

_NAME: Final = re.compile(r"name '([^']+)' is not defined")
_FILE: Final = re.compile(r"No such file or directory: '([^']+)'")
_MODULE: Final = re.compile(r"No module named '([^']+)'")
_TABLES: Final = frozenset({".csv", ".tsv", ".parquet", ".xlsx"})
_MOST: Final = 12
_ALIKE_PERCENT: Final = 60


def hint_for(error: FailedRun, variables: Sequence[Variable], names: Sequence[str], folder: Path) -> str:
    """A sentence, or nothing. ``names`` are those the notebook's code makes. Reads the folder: call it in a thread."""
    meant = meant_by(error, variables, names, folder)
    if meant is not None:
        return f"Write {meant[1]} instead of {meant[0]}."
    if _NAME.search(error.evalue):
        return _what_there_is(variables, folder)
    if error.ename == "KeyError" and (columns := _columns(variables)):
        return f"The columns are: {', '.join(columns[:_MOST])}."
    if _FILE.search(error.evalue) and (files := _files(folder)):
        return f"The files are: {', '.join(files[:_MOST])}."
    found = _MODULE.search(error.evalue)
    return f"{found[1]} is not installed: do it without." if found else ""


def meant_by(
    error: FailedRun, variables: Sequence[Variable], names: Sequence[str], folder: Path
) -> tuple[str, str] | None:
    """The word it failed at, and the one that is most likely meant. Reads the folder: call it in a thread."""
    if found := _NAME.search(error.evalue):
        return _nearest(found[1], [*(variable.name for variable in variables), *names])
    if error.ename == "KeyError":
        return _nearest(error.evalue.strip("'\"[] "), _columns(variables))
    if found := _FILE.search(error.evalue):
        return _nearest(Path(found[1]).name, _files(folder))
    return None


def _what_there_is(variables: Sequence[Variable], folder: Path) -> str:
    if variables:
        return f"The variables are: {', '.join(variable.name for variable in variables[:_MOST])}."
    tables = [name for name in _files(folder) if Path(name).suffix in _TABLES]
    return f"Nothing is read yet. The files are: {', '.join(tables[:_MOST])}." if tables else ""


def _nearest(wrong: str, there: Sequence[str]) -> tuple[str, str] | None:
    from rapidfuzz import fuzz, process  # 25 ms, for the few failures that need it

    alike = {name.lower(): name for name in there}
    near = process.extractOne(wrong.lower(), list(alike), scorer=fuzz.ratio, score_cutoff=_ALIKE_PERCENT)
    return (wrong, alike[near[0]]) if near and alike[near[0]] != wrong else None


def _columns(variables: Sequence[Variable]) -> list[str]:
    return list(dict.fromkeys(name for variable in variables for name, _ in variable.columns))


def _files(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
    except OSError:
        return []
