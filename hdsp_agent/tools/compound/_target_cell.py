"""Which cell a request means. Only such a cell is changed or deleted; where that is not plain, the person is asked."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ...messages import CellId, FollowUpData, Suggestion
from .._tool import SinceAsked, ToolContext
from .._tool_failed import ToolFailed
from ._cell_runner import CellRunner
from ._checks import has_all_of
from ._code import made_names, parsed_or_empty
from ._names import asked_names, is_question, numbers_in, said_cells
from ._notebook_facts import names_data, table_names, told_cells
from ._step_report import is_effect

__all__ = ["CellCandidate", "candidates", "cell_with_all_of", "cells_to_edit", "is_identified", "meant_cell"]

_QUESTION: Final = "Which cell shall I change?"
_DELETE_QUESTION: Final = "Which cell shall I delete?"
_NONE: Final = "None of these: add a new cell"
_NONE_DELETED: Final = "None of these: delete nothing"
_MOST_SUGGESTED: Final = 4
_LONGEST_LINE: Final = 60
_MEANT: Final = "The person means cell {number}."
_NAMED: Final = "The request means cell {number}."
_WAS_MEANT: Final = re.compile(r"The person means cell (\d+)\.")
_NO_CELL: Final = "The request names no cell to change. Add a new cell instead."
_NO_DELETION: Final = "The request names no cell to delete. Delete none."


@dataclass(frozen=True)
class CellCandidate:
    """A cell that may be meant."""

    source: str
    is_code: bool = True
    failed: bool = False
    told: int | None = None
    """Its number when the person spoke, if that was another; 0 of one that was not there."""
    is_own: bool = False
    """Whether the agent made or changed it in this request, or last in the one before."""
    was_added: bool = False
    """Whether the agent added it in this request."""


@dataclass(frozen=True, order=True)
class _Score:
    """How much of what the request names a cell has: things, those it makes, and what may be meant by others."""

    exact: int = 0
    made: int = 0
    weak: int = 0


def is_identified(
    number: int,
    cells: Sequence[CellCandidate],
    words: str,
    *,
    code: str | None = None,
    here: int | None = None,
    ignored: frozenset[str] = frozenset(),
) -> bool:
    """Whether the request means this cell: by its number, by what stands in it, because it failed or is the agent's own.

    ``code`` is what it is to hold then; None is of a deletion. ``ignored`` are names that tell of no cell.
    """
    cell = cells[number - 1]
    if cell.was_added if code is None else cell.is_own:
        return True
    scores = _scores(cells, words, ignored)
    mine, best = scores.get(number, _Score()), max(scores.values(), default=_Score())
    if _said_cells(cell, cells, words, code) == [number] and (code is not None or not best.exact or mine == best):
        return True
    if code is None or is_question(words):
        # To take a cell away, and to answer a question with a change, one has to be told which.
        return False
    if cell.failed and sum(one.failed for one in cells) == 1:
        return True
    return mine.exact > 0 and mine == best and (list(scores.values()).count(best) == 1 or number == here)


def _said_cells(cell: CellCandidate, cells: Sequence[CellCandidate], words: str, code: str | None) -> list[int]:
    """The places of the cells that are meant by number, if this one gets the code: what stands in code is a value."""
    told = {at if one.told is None else one.told: at for at, one in enumerate(cells, 1)}
    before, after = set(numbers_in(cell.source)), set(numbers_in(cell.source if code is None else code))
    said = [one for one in said_cells(words) if one in told and one > 0 and float(one) not in after - before]
    if len(said) > 1:
        said = [one for one in said if float(one) not in before - after] or said
    return [told[one] for one in said]


def cells_to_edit(words: str, told: str) -> list[int] | None:
    """The cells that a request may want changed, as far as what was told of them shows; None if that cannot be known.

    Those that it identifies; else, unless it is about data, every cell with code: then one has to ask.
    """
    cells = told_cells(told)
    if cells is None or [cell.number for cell in cells] != list(range(1, len(cells) + 1)):
        return None
    there = [CellCandidate(cell.source, cell.is_code, failed=cell.failed) for cell in cells]
    code = [cell.number for cell in cells if cell.is_code]
    # Who names a table rather wants to know something of it than to have the cell that makes it changed.
    ignored = frozenset(table_names(told))
    meant = [at for at in code if is_identified(at, there, words, code=there[at - 1].source, ignored=ignored)]
    return meant or ([] if names_data(words, told) else code)


async def candidates(runner: CellRunner) -> list[CellCandidate]:
    """The notebook's cells."""
    changed = runner.context.state.changed
    failed, order = await runner.failed(), _order_before(runner)
    made: list[CellCandidate] = []
    for cell in runner.snapshot.cells:
        known = changed.get(cell.id)
        made.append(
            CellCandidate(
                cell.source,
                cell.cell_type == "code",
                failed=cell.id in failed,
                told=order.index(cell.id) + 1 if cell.id in order else 0,
                is_own=(known is not None and known.is_changed) or changed.is_newest(cell.id, cell.hash),
                was_added=known is not None and known.before is None,
            )
        )
    return made


async def cell_with_all_of(code: str, runner: CellRunner, since: SinceAsked) -> int | None:
    """A cell that the request means and that a new cell would be but another form of."""
    cells = await candidates(runner)
    return next(
        (
            at
            for at, cell in enumerate(cells, 1)
            if cell.is_code
            and not cell.is_own
            and has_all_of(code, cell.source)
            and is_identified(at, cells, since.words, code=code)
        ),
        None,
    )


async def meant_cell(number: int, runner: CellRunner, since: SinceAsked, code: str | None = None) -> str:
    """What the person said about it, for the model; empty if the request tells. Raises ToolFailed if it is not this one."""
    context = runner.context
    cells = await candidates(runner)
    here = next((at for at, cell in enumerate(runner.snapshot.cells, 1) if cell.id == _place(context)), None)
    if is_identified(number, cells, since.words, code=code, here=here):
        return ""
    deletes = code is None
    refusal = _NO_DELETION if deletes else _NO_CELL
    answers = [call.result for call in since.calls if call.is_error]
    told = [int(found[1]) for answer in answers if (found := _WAS_MEANT.match(answer))]
    if since.calls and is_effect(since.calls[-1]):
        # Numbers may have changed with what was done.
        told = []
    if number in told:
        return _MEANT.format(number=number)
    if told:
        raise ToolFailed(_MEANT.format(number=told[-1]))
    meant = [at for at in range(1, len(cells) + 1) if is_identified(at, cells, since.words, code=code, here=here)]
    if len(meant) == 1 and cells[meant[0] - 1].is_code:
        raise ToolFailed(_NAMED.format(number=meant[0]))
    # A request that names data rather wants to know something: one is asked only if the model insists.
    least = 1 if not deletes and names_data(since.words, since.surroundings) else 0
    refused = sum(refusal in answer for answer in answers)
    if refused != least or "ask_followup_question" in context.settings.disabled_tools:
        raise ToolFailed(refusal)
    chosen = await _asked(number, cells, since.words, context, deletes=deletes)
    if chosen is None:
        raise ToolFailed(refusal)
    if chosen != number:
        raise ToolFailed(_MEANT.format(number=chosen))
    return _MEANT.format(number=number)


async def _asked(
    number: int, cells: Sequence[CellCandidate], words: str, context: ToolContext, *, deletes: bool
) -> int | None:
    scores = _scores(cells, words)
    likely = sorted((at for at in scores if at != number), key=lambda at: scores[at], reverse=True)
    shown = [number, *likely][:_MOST_SUGGESTED]
    answers = {f"Cell {at}: {_first_line(cells[at - 1].source)}": at for at in shown}
    none = _NONE_DELETED if deletes else _NONE
    offered = [*answers, none]
    settings = context.settings
    if settings.auto_approval_enabled and settings.always_allow_followup_questions:
        # The first one may be taken without anybody having looked.
        offered = [none, *answers]
    question = FollowUpData(
        question=_DELETE_QUESTION if deletes else _QUESTION, suggest=[Suggestion(answer=one) for one in offered]
    )
    reply = ((await context.ask("followup", question.to_json())).text or "").strip()
    masked = {context.mask(text): at for text, at in answers.items()}
    if reply in answers or reply in masked:
        return (answers | masked)[reply]
    said = [one for one in ([int(reply)] if reply.isdecimal() else said_cells(reply)) if 1 <= one <= len(cells)]
    return said[0] if len(said) == 1 and reply != none else None


def _scores(cells: Sequence[CellCandidate], words: str, ignored: frozenset[str] = frozenset()) -> Mapping[int, _Score]:
    code = {number: cell for number, cell in enumerate(cells, 1) if cell.is_code}
    things = {number: _things(cell.source) for number, cell in code.items()}
    made = {number: made_names(cell.source) for number, cell in code.items()}
    own = frozenset(name for names in made.values() for name in names)
    texts = frozenset(text for _, strings in things.values() for text in strings)
    others = frozenset(name for names, _ in things.values() for name in names) - own
    asked = asked_names(own | texts, words)
    rough = asked_names(others, words)
    return {
        number: _Score(
            exact=len((things[number][0] | things[number][1] | made[number]) & (asked.exact - ignored)),
            made=len(made[number] & (asked.exact - ignored)),
            weak=len((things[number][0] | things[number][1]) & (asked.weak | rough.exact)),
        )
        for number in code
    }


def _things(source: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names in the code, and its texts."""
    names: set[str] = set()
    texts: set[str] = set()
    for node in ast.walk(parsed_or_empty(source)):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                names.add(name)
            case ast.Constant(value=str(text)) if 1 < len(text.strip()) <= _LONGEST_LINE:
                texts.add(text.strip())
            case _:
                pass
    return frozenset(names), frozenset(texts)


def _order_before(runner: CellRunner) -> list[CellId]:
    """The cells in the order that they had when the person spoke."""
    record = list(runner.context.state.changed)
    added = {one.cell_id for one in record if one.before is None}
    order = [cell.id for cell in runner.snapshot.cells if cell.id not in added]
    for one in reversed(record):
        if one.now is None:
            order.insert(order.index(one.after) + 1 if one.after in order else 0, one.cell_id)
    return order


def _first_line(source: str) -> str:
    line = next((line.strip() for line in source.split("\n") if line.strip()), "")
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…"


def _place(context: ToolContext) -> str | None:
    return None if context.notebook is None else context.notebook.cell_id
