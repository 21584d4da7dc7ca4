"""What a small model needs to know of where it is: cells by number, variables, and data files, all in short."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Final, NamedTuple, assert_never

from ..._regular_files import open_regular_file
from ..._threads import in_thread
from ..._timeouts import wait_at_most
from ...errors import HdspAgentError
from ...messages import CellId
from ...notebooks import Cell, CellFreshness, Notebooks, freshness_of
from ...notebooks.kernels import Variable
from .._changed_cells import FailedRun
from .._path_policy import PathPolicy
from .._tool_failed import ToolFailed
from ._cell_runner import variable_words
from ._code import made_names
from ._hints import hint_for
from ._missing_tables import readable
from ._names import asked_names
from ._step_report import error_in, error_words, shortened, shown_text

__all__ = ["ROW", "NotebookFacts", "ToldCell", "names_data", "surroundings", "table_names", "told_cells"]

_CHANGES: Final = ("The notebook is as you know it.", "New or changed:")
"""Begin what is told after all was told once."""

_MOST_CELLS: Final = 2_800
"""Characters of all cells together."""
_LONGEST_CELL: Final = 700
_LONGEST_OUTPUT: Final = 240
_MOST_VARIABLES: Final = 10
_MOST_FILES: Final = 10
_MOST_OF_DATA: Final = 1_500
"""Characters of all files together, and of all variables; those that follow are told of in a line."""
_ROWS: Final = 20
_ROWS_TOLD: Final = 3
ROW: Final = "| "
"""Begins a row of a table: of what all rows have, three tell nothing."""
_LONGEST_ROW: Final = 120
_PATIENCE_SECONDS: Final = 6.0
_TABLES: Final = {".csv": ",", ".tsv": "\t"}
_OUTPUT: Final = "\nOutput: "
_HERE: Final = "The person is in cell {number}."
_TABLE: Final = re.compile(r"^(\S.*?): (?:\w+ of \S+ rows, )?columns:? (.+)$", re.MULTILINE)
_CELL: Final = re.compile(
    r"^Cell (\d+) \(([\w ]+)\):\n?(.*?)(?=^Cell \d+ \(|^Variables:$|^Files:$|\Z)", re.MULTILINE | re.DOTALL
)
_NOT_LISTED: Final = "are not listed."
_DATA: Final = frozenset({".csv", ".tsv", ".json", ".jsonl", ".parquet", ".xlsx", ".txt", ".npy", ".pkl", ".db"})


@dataclass(frozen=True)
class NotebookFacts:
    """How things are, in parts that can be told of one by one."""

    files: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    at: int | None = None
    """The number of the cell the person is in."""

    def told_anew(self, before: NotebookFacts | None) -> str:
        """All of it, or what is different from what was told before, if that is less."""
        if before is None or len(self.cells) < len(before.cells):
            return self._text(self.files, self.cells, self.variables)
        files = [one for one in self.files if one not in before.files]
        cells = [one for at, one in enumerate(self.cells) if before.cells[at : at + 1] != (one,)]
        variables = [one for one in self.variables if one not in before.variables]
        if not files and not cells and not variables and self.at == before.at:
            return _CHANGES[0]
        return f"{_CHANGES[1]}\n" + self._text(files, cells, variables)

    def _text(self, files: Sequence[str], cells: Sequence[str], variables: Sequence[str]) -> str:
        parts = []
        if files:
            parts.append("Files:\n" + "\n".join(files))
        if self.at is not None:
            parts.append(_HERE.format(number=self.at))
        if cells:
            parts += cells
        elif not self.cells:
            parts.append("The notebook is empty.")
        if variables:
            parts.append("Variables:\n" + "\n".join(variables))
        return "\n".join(parts)


class ToldCell(NamedTuple):
    """A cell as the model was told of it."""

    number: int
    source: str
    is_code: bool
    failed: bool


def told_cells(told: str) -> list[ToldCell] | None:
    """The cells that were told of, each as it was last; None if some were not listed."""
    if _NOT_LISTED in told:
        return None
    cells = {
        int(number): ToldCell(int(number), text.partition(_OUTPUT)[0].strip("\n"), state != "text", state == "failed")
        for number, state, text in _CELL.findall(told)
    }
    return [cells[number] for number in sorted(cells)]


def table_names(told: str) -> list[str]:
    """The variables that are tables."""
    return [name for name, _ in _TABLE.findall(told) if name.isidentifier()]


def names_data(words: str, told: str) -> bool:
    """Whether the words name a table or a column of those that were told of."""
    tables = _TABLE.findall(told)
    columns = [one.rpartition(" ")[0] for _, listed in tables for one in listed.split(", ")]
    asked = asked_names([*(name for name, _ in tables), *filter(None, columns)], words)
    return bool(asked.exact or asked.weak)


async def surroundings(
    notebooks: Notebooks, path: str, paths: PathPolicy, *, reads_files: bool, at: CellId | None = None
) -> NotebookFacts | str | None:
    """How things are around a notebook, unmasked; a sentence if that cannot be told, None if it is kept from the agent.

    ``reads_files`` lets the first rows of tables be looked at; else files are only named. ``at`` is the cell the person is in.
    """
    path = await notebooks.called(path)
    root = notebooks.access.root
    try:
        checked = await in_thread(lambda _stop: paths.resolve(path if root is None else str(root / path)))
    except ToolFailed:
        return None
    try:
        return await wait_at_most(
            _told(notebooks, path, checked.path.parent, paths, reads_files, at), _PATIENCE_SECONDS
        )
    except TimeoutError:
        return "The notebook cannot be seen just now."
    except HdspAgentError as error:
        return error.message


async def _told(
    notebooks: Notebooks, path: str, folder: Path, paths: PathPolicy, reads_files: bool, at: CellId | None
) -> NotebookFacts:
    snapshot = await notebooks.access.document(path).snapshot(outputs="full")
    kernel = await notebooks.kernel(path)
    states = freshness_of(snapshot.cells, notebooks.memory(path, kernel))
    seen: Sequence[Variable] = ()
    if kernel is not None and kernel.state == "idle":
        # Of another language, or busy again: the model does without.
        with suppress(HdspAgentError):
            seen = (await notebooks.executor.inspect(path)).variables
    variables = _in_room([_variable(one) for one in seen[:_MOST_VARIABLES]])
    hints = await in_thread(lambda _stop: _hints(snapshot.cells, seen, folder))
    texts = [_cell(number, cell, states, hints) for number, cell in enumerate(snapshot.cells, 1)]
    files = await in_thread(lambda _stop: _files(folder, paths, reads_files))
    here = next((number for number, cell in enumerate(snapshot.cells, 1) if cell.id == at), None)
    return NotebookFacts(tuple(_in_room(files)), tuple(_fitting(texts)), tuple(variables), here)


def _hints(cells: Sequence[Cell], variables: Sequence[Variable], folder: Path) -> dict[CellId, str]:
    """What may help, of each cell that failed."""
    made = [name for cell in cells if cell.cell_type == "code" for name in made_names(cell.source)]
    failed = [(cell.id, error) for cell in cells if (error := error_in(cell.outputs)) is not None]
    return {
        cell_id: hint_for(FailedRun(ename=error.ename, evalue=error.evalue), variables, made, folder)
        for cell_id, error in failed
    }


def _cell(number: int, cell: Cell, states: dict[CellId, CellFreshness], hints: dict[CellId, str]) -> tuple[str, str]:
    """All that is told of a cell, and its first line, where there is no room for more."""
    source = shortened(cell.source.strip("\n"), _LONGEST_CELL)
    if cell.cell_type != "code":
        head = f"Cell {number} (text):"
        return f"{head}\n{source}", f"{head} {_first(source)}"
    head = f"Cell {number} ({_state(states.get(cell.id))}):"
    error = error_in(cell.outputs)
    if error is not None:
        hint = hints.get(cell.id)
        shown = error_words(error) + (f"\n{hint}" if hint else "")
    else:
        shown = shortened(shown_text(cell.outputs), _LONGEST_OUTPUT)
    output = _OUTPUT + shown if shown else ""
    return f"{head}\n{source}{output}", f"{head} {_first(source)}"


def _state(freshness: CellFreshness | None) -> str:
    if freshness is None:
        return "empty"
    match freshness.state:
        case "fresh":
            return "ran"
        case "failed":
            return "failed"
        case "empty":
            return "empty"
        case "never_ran":
            return "not run"
        case "unknown":
            return "ran earlier"
        case "stale":
            return "not run" if freshness.reason == "not_in_this_kernel" else "changed since it ran"
        case _:
            assert_never(freshness.state)


def _first(source: str) -> str:
    return next((line for line in source.split("\n") if line.strip()), "")[:80]


def _fitting(texts: list[tuple[str, str]]) -> list[str]:
    """The last cells and those that failed in full, others by their first line, as far as there is room."""
    order = sorted(range(len(texts)), key=lambda at: ("(failed)" not in texts[at][1], -at))
    whole: set[int] = set()
    left = _MOST_CELLS - sum(min(90, len(short)) for _, short in texts[-20:])
    for at in order:
        left -= len(texts[at][0])
        if left < 0 and whole:
            break
        whole.add(at)
    kept = [text if at in whole else short for at, (text, short) in enumerate(texts)]
    least = min([*whole, max(0, len(texts) - 20)], default=0)
    return kept if least < 1 else [f"Cells 1 to {least} {_NOT_LISTED}", *kept[least:]]


def _files(folder: Path, paths: PathPolicy, reads_files: bool) -> list[str]:
    try:
        found = sorted(entry for entry in folder.iterdir() if entry.suffix.lower() in _DATA)
    except OSError:
        return []
    told: list[str] = []
    for file in found:
        real = readable(file, paths)
        if real is None:
            continue
        told.append(_file(file, real) if reads_files else file.name)
        if len(told) == _MOST_FILES:
            break
    return told


def _file(file: Path, real: Path) -> str:
    separator = _TABLES.get(file.suffix.lower())
    if separator is None:
        return file.name
    try:
        with TextIOWrapper(open_regular_file(real), "utf-8-sig", "replace", newline="") as opened:
            lines = [opened.readline(4_000) for _ in range(_ROWS + 1)]
    except OSError:
        return file.name
    rows = [row for row in csv.reader((line for line in lines if line), delimiter=separator) if row]
    if not rows:
        return file.name
    columns = [
        f"{name} {_kind([row[at] for row in rows[1:] if at < len(row)])}" for at, name in enumerate(rows[0][:20])
    ]
    return "\n".join(
        [f"{file.name}: columns {', '.join(columns)}", *(_row(line) for line in lines[1 : _ROWS_TOLD + 1] if line)]
    )


def _variable(variable: Variable) -> str:
    """A variable, of a table with its first rows."""
    rows = (variable.head or "").split("\n")[: _ROWS_TOLD + 1] if variable.columns else []
    return "\n".join([variable_words(variable), *map(_row, rows)])


def _row(line: str) -> str:
    return f"{ROW}{line.rstrip()[:_LONGEST_ROW]}"


def _in_room(told: Sequence[str]) -> list[str]:
    """Their first lines alone, once there is no room for more."""
    left, kept = _MOST_OF_DATA, []
    for text in told:
        left -= len(text)
        kept.append(text if left >= 0 else text.partition("\n")[0])
    return kept


def _kind(values: Sequence[str]) -> str:
    given = [value for value in values if value.strip()]
    for kind, convert in (("int", int), ("float", float)):
        try:
            for value in given:
                convert(value)
        except ValueError:
            continue
        return kind if given else "empty"
    return "text"
