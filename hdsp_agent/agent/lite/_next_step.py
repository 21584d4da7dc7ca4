"""What a small model may do next. What was done decides, so that a task taken up again goes on alike."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ...providers import ToolSpec
from ...tools import PastCall, SinceAsked
from ...tools.compound import cell_to_change, cells_to_edit, names_data

__all__ = ["Next", "next_step", "step_at_cell"]

_ANSWER: Final = "answer"
_EDIT: Final = "edit_cell"
_ON_CELLS: Final = frozenset({_EDIT, "run_cell", "rename_variable", "delete_cell"})
_A_CELL: Final = re.compile(r"^Cells? \d+", re.MULTILINE)
_FAILED: Final = re.compile(r"^Cell \d+ failed", re.MULTILINE)
_RUN_CODE: Final = "Run code that shows it"
_NEW_CELL: Final = "Add a new cell"
_LIVELIER: Final = 0.7
_LIVELIEST: Final = 1.0


@dataclass(frozen=True)
class Next:
    """What the next answer may be."""

    tools: Sequence[ToolSpec]
    temperature: float | None = None
    """Where the likeliest answer was given in vain."""


def next_step(tools: Sequence[ToolSpec], since: SinceAsked) -> Next:
    """The tools that can do something now. After a step that failed those that may mend it, and the answer."""
    calls = since.calls
    told = "\n".join([since.surroundings, *(call.result for call in calls)])
    has_cells = _A_CELL.search(told) is not None
    open_tools = [tool for tool in tools if has_cells or tool.name not in _ON_CELLS]
    if not calls:
        return Next(_at_first(open_tools, since))
    if not calls[-1].is_error:
        return Next(open_tools)
    last = calls[-1]
    tries = _tries(calls)
    temperature = None if tries < 2 else _LIVELIER if tries == 2 else _LIVELIEST
    if last.name == _ANSWER:
        blind = _RUN_CODE in last.result and all(call.is_error for call in calls)
        # A number that nobody has seen has to be looked for: what the cells show was told.
        looking = [tool for tool in open_tools if tool.name in ("add_cell", _EDIT)]
        return Next(looking if blind and looking else open_tools, temperature)
    if _is_repeated(calls):
        # What was sent back twice as it was leads nowhere, whatever it is.
        return Next([tool for tool in open_tools if tool.name != last.name] or open_tools, temperature)
    # Where it was told to add a cell, the others are no way.
    mending = {"add_cell"} | (set() if _NEW_CELL in last.result else {_EDIT, last.name})
    if tries > 1:
        mending.add(_ANSWER)
    cell = cell_to_change(last)
    return Next(
        [
            _of_cells(tool, [cell]) if tool.name == _EDIT and cell else tool
            for tool in open_tools
            if tool.name in mending
        ],
        temperature,
    )


def step_at_cell(tools: Sequence[ToolSpec], since: SinceAsked, cell: int | None) -> Next:
    """The step where the person asked for it at a cell, of this number if that is known: to change just that."""
    edits = [_of_cells(tool, [cell]) if cell else tool for tool in tools if tool.name == _EDIT]
    if not edits:
        # A mode that may not run code has no such tool, and nothing else is to be changed instead.
        return next_step([tool for tool in tools if tool.name == _ANSWER], since)
    tries = _tries(since.calls)
    # Nothing is told but why it was sent back: the same would be written again.
    return Next(edits, None if tries == 0 else _LIVELIER if tries == 1 else _LIVELIEST)


def _at_first(tools: Sequence[ToolSpec], since: SinceAsked) -> Sequence[ToolSpec]:
    """Of these, what may be the first step: what data holds is computed, and only what is meant is changed."""
    cells = cells_to_edit(since.words, since.surroundings)
    first = [_of_cells(tool, cells) if tool.name == _EDIT and cells else tool for tool in tools]
    closed = {_EDIT} if cells == [] else set()
    if names_data(since.words, since.surroundings):
        # Of the three rows that it sees, a small model tells as of all.
        closed.add(_ANSWER)
    return [tool for tool in first if tool.name not in closed] or first


def _is_repeated(calls: Sequence[PastCall]) -> bool:
    """Whether the last call was made twice in a row, and was sent back both times."""
    if len(calls) < 2:
        return False
    last, before = calls[-1], calls[-2]
    return (
        before.is_error
        and not _FAILED.search(last.result)
        and (last.name, last.arguments) == (before.name, before.arguments)
    )


def _tries(calls: Sequence[PastCall]) -> int:
    """Calls in a row that were sent back or failed."""
    worked = [at for at, call in enumerate(calls) if not call.is_error]
    return len(calls) - 1 - worked[-1] if worked else len(calls)


def _of_cells(tool: ToolSpec, cells: Sequence[int]) -> ToolSpec:
    """The tool, for these cells alone."""
    given = tool.parameters.get("properties")
    properties = given if isinstance(given, dict) else {}
    return replace(tool, parameters={**tool.parameters, "properties": {**properties, "cell": {"enum": [*cells]}}})
