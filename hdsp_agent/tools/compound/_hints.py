"""What may help with an error: names, columns and files that are nearly what the code says."""

from __future__ import annotations

import builtins
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...notebooks.kernels import RunError, Variable
from ._code import renamed

__all__ = ["SuggestedName", "hint_for", "meant_by", "replaced", "within"]

_NAME: Final = re.compile(r"name '([^']+)' is not defined")
_FILE: Final = re.compile(r"No such file or directory: '([^']+)'")
_MODULE: Final = re.compile(r"No module named '([^']+)'")
_ATTRIBUTE: Final = re.compile(r"'(\w+)' object has no attribute")
_ITEM: Final = re.compile(r"\b(\w+)\[(\d+)\]")
_MOST: Final = 12
_ALIKE_PERCENT: Final = 60


@dataclass(frozen=True)
class SuggestedName:
    """A word of the code, and the one that is there and nearly the same."""

    wrong: str
    right: str
    is_name: bool
    """Of a variable, not within a text."""


def hint_for(error: RunError, variables: Sequence[Variable], names: Sequence[str], folder: Path, code: str = "") -> str:
    """A sentence, or nothing. ``names`` are those the notebook's code makes. Reads the folder: call it in a thread."""
    meant = meant_by(error, variables, names, folder)
    if meant is not None:
        return f"Write {meant.right} instead of {meant.wrong}."
    if error.ename == "KeyError" and (columns := _columns(variables)):
        return f"The columns are: {', '.join(columns[:_MOST])}."
    if _FILE.search(error.evalue) and (files := _files(folder)):
        return f"The files are: {', '.join(sorted(files)[:_MOST])}."
    if error.ename == "IndexError":
        beyond = _beyond(variables, code)
        if beyond is not None:
            name, length, _ = beyond
            return f"{name} has {length} items: the first is {name}[0], the last is {name}[-1]."
        return "The first index is 0, the last is the length minus 1."
    if found := _MODULE.search(error.evalue):
        return f"{found[1]} is not installed: do it without."
    if found := _ATTRIBUTE.search(error.evalue):
        kind = getattr(builtins, found[1], None)
        has = [name for name in dir(kind) if not name.startswith("_")] if isinstance(kind, type) else []
        return f"A {found[1]} has: {', '.join(has)}." if has else ""
    if error.ename == "TypeError" and "concatenate str" in error.evalue:
        return "Put str(...) around what is no text."
    return ""


def meant_by(
    error: RunError, variables: Sequence[Variable], names: Sequence[str], folder: Path
) -> SuggestedName | None:
    """What the code most likely means by the word it fails at. Reads the folder: call it in a thread."""
    if error.ename == "NameError" and (found := _NAME.search(error.evalue)):
        return _nearest(found[1], [*(variable.name for variable in variables), *names], is_name=True)
    if error.ename == "KeyError":
        return _nearest(error.evalue.strip("'\"[] "), _columns(variables), is_name=False)
    if found := _FILE.search(error.evalue):
        return _nearest(Path(found[1]).name, _files(folder), is_name=False)
    return None


def within(code: str, error: RunError, variables: Sequence[Variable]) -> str:
    """The code with the last item where it asks for the one just behind it; as it is if it does not."""
    beyond = _beyond(variables, code) if error.ename == "IndexError" else None
    if beyond is None:
        return code
    name, length, place = beyond
    return code[: place[0]] + f"{name}[-1]" + code[place[1] :] if place[2] == length else code


def _beyond(variables: Sequence[Variable], code: str) -> tuple[str, int, tuple[int, int, int]] | None:
    """The first thing the code takes an item of that is not there: its name, its length, and where and which."""
    lengths = {one.name: one.length for one in variables if one.length is not None}
    for found in _ITEM.finditer(code):
        length = lengths.get(found[1])
        if length is not None and int(found[2]) >= length:
            return found[1], length, (found.start(), found.end(), int(found[2]))
    return None


def replaced(code: str, meant: SuggestedName) -> str:
    """The code with the right word in place of the wrong one."""
    if meant.is_name:
        return renamed(code, meant.wrong, meant.right)
    return re.sub(rf"(['\"]){re.escape(meant.wrong)}\1", lambda found: f"{found[1]}{meant.right}{found[1]}", code)


def _nearest(wanted: str, there: Sequence[str], *, is_name: bool) -> SuggestedName | None:
    from rapidfuzz import fuzz, process  # 25 ms, for the few failures that need it

    alike = {name.lower(): name for name in there}
    near = process.extractOne(wanted.lower(), list(alike), scorer=fuzz.ratio, score_cutoff=_ALIKE_PERCENT)
    return SuggestedName(wanted, alike[near[0]], is_name) if near and alike[near[0]] != wanted else None


def _columns(variables: Sequence[Variable]) -> list[str]:
    return list(dict.fromkeys(name for variable in variables for name, _ in variable.columns))


def _files(folder: Path) -> list[str]:
    return [entry.name for entry in _entries(folder) if not entry.name.startswith(".")]


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
