"""What a small model may do next. What was done decides, so that a task taken up again goes on alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pydantic import JsonValue

from ...messages import JsonObject
from ...providers import ToolSpec
from ...tools import PastCall, SinceAsked
from ...tools.compound import CellFact, cell_instead, failed_cell, is_effect, lacks_picture, lacks_value
from ._intent import Intent, intent_of

__all__ = ["MOST_STEPS", "Next", "next_step"]

MOST_STEPS: Final = 8
_MOST_TRIES: Final = 4
"""In a row to make a cell run, or to write code that can be what was asked for."""
_ANSWER: Final = "answer"
_EDIT: Final = "edit_cell"
_ADD: Final = "add_cell"
_AFTER_A_STEP: Final = (_ADD, _EDIT, "add_text", _ANSWER)
_USUAL_TOKENS: Final = 450
_ANSWER_TOKENS: Final = 200
_LIVELIER: Final = 0.7
_LIVELIEST: Final = 1.0
_AS_TEXT: Final = "The person wants values, no picture: print them."


@dataclass(frozen=True)
class Next:
    """What the next answer may be."""

    tools: Sequence[ToolSpec]
    temperature: float | None = None
    """Where the likeliest answer was given in vain."""
    hint: str | None = None
    """What to tell behind the last result."""

    @property
    def ends(self) -> bool:
        """Whether it can only be an answer."""
        return [tool.name for tool in self.tools] == [_ANSWER]

    @property
    def tokens(self) -> int:
        """The length of the answer."""
        return _ANSWER_TOKENS if self.ends else _USUAL_TOKENS


def next_step(
    tools: Sequence[ToolSpec],
    since: SinceAsked,
    cells: Mapping[int, CellFact] | None = None,
    here: int | None = None,
    *,
    strict: bool = False,
    reminded: bool = False,
) -> Next:
    """The next step of the work. ``strict`` is for models that lose their way unless each step is all but given.

    ``cells`` are the notebook's code cells by number, None if nobody knows; ``here`` is the one the person is in.
    ``reminded`` says that the model was told code that may do it.
    """
    by_name = {tool.name: tool for tool in tools}
    if _ANSWER not in by_name:
        return Next(tools)
    only_answer = Next([by_name[_ANSWER]])
    calls = since.calls
    wish = intent_of(since.words, cells or {}, here)
    if wish.is_guess and reminded:
        wish = Intent(frozenset({_ADD}), wish.cells)
    fitting = _first(by_name, wish) if strict else list(tools)
    if not calls:
        return Next(fitting)
    last = calls[-1]
    if len(calls) >= MOST_STEPS or _repeats(calls) or _tries(calls) >= _MOST_TRIES:
        return only_answer
    cell = _in_work(calls)
    if cell is not None:
        return _change(by_name, cell, calls) or only_answer
    if last.name == _ANSWER and last.is_error:
        # It told of what it had not seen: now it has to look.
        if any(is_effect(call) for call in calls) and not lacks_picture(since):
            # What works is left alone: a model that loses its way would take it for what is wrong.
            return Next([tool for tool in tools if tool.name in (_ADD, _ANSWER)] if strict else tools, _LIVELIER)
        others = [tool for tool in fitting if tool.name != _ANSWER] or [
            by_name[name] for name in (_ADD,) if name in by_name
        ]
        return Next(others) if others else only_answer
    if is_effect(last):
        if lacks_value(since) and _ADD in by_name:
            return Next([by_name[_ADD]], hint=_AS_TEXT)
        if strict and not lacks_picture(since):
            return only_answer
        return Next([tool for tool in tools if tool.name in _AFTER_A_STEP])
    if last.is_error:
        others = [tool for tool in fitting if tool.name != _ANSWER]
        return Next(others if strict and others else fitting, _temperature(calls))
    return Next(tools)


def _in_work(calls: Sequence[PastCall]) -> int | None:
    """The cell that the steps since the last one that worked were about, if the last step was one of them."""
    if calls[-1].name == _ANSWER:
        return None
    for call in reversed(calls):
        if not (call.is_error or failed_cell(call) is not None):
            return None
        cell = failed_cell(call) or cell_instead(call)
        if cell is not None:
            return cell
    return None


def _change(by_name: Mapping[str, ToolSpec], cell: int, calls: Sequence[PastCall]) -> Next | None:
    """The cell has to be changed; None if that cannot be."""
    if _EDIT not in by_name:
        return None
    again = _tries(calls) > 1 or failed_cell(calls[-1]) is None
    return Next([_of_cells(by_name[_EDIT], (cell,))], _temperature(calls) if again else None)


def _first(by_name: Mapping[str, ToolSpec], wish: Intent) -> list[ToolSpec]:
    """The tools that fit what was asked; all of them if the words do not tell."""
    chosen = [tool for name, tool in by_name.items() if wish.tools is None or name in wish.tools]
    if not chosen:
        return list(by_name.values())
    if wish.cells is None:
        return chosen
    return [_of_cells(tool, wish.cells) if tool.name == _EDIT else tool for tool in chosen]


def _repeats(calls: Sequence[PastCall]) -> bool:
    """Whether the last call was an earlier one again, and did something."""
    last = calls[-1]
    return not last.is_error and any((call.name, call.arguments) == (last.name, last.arguments) for call in calls[:-1])


def _tries(calls: Sequence[PastCall]) -> int:
    """Calls in a row that did not do what was asked for; an answer that was sent back is none of them."""
    count = 0
    for call in reversed(calls):
        if call.name == _ANSWER or not (call.is_error or failed_cell(call) is not None):
            break
        count += 1
    return count


def _temperature(calls: Sequence[PastCall]) -> float:
    """The longer it goes in vain, the less likely answers are given."""
    return _LIVELIER if _tries(calls) <= 2 else _LIVELIEST


def _of_cells(tool: ToolSpec, cells: Sequence[int]) -> ToolSpec:
    """The tool, for these cells alone."""
    given = tool.parameters.get("properties")
    properties: JsonObject = {**given} if isinstance(given, dict) else {}
    numbers: list[JsonValue] = [*cells]
    properties["cell"] = {"enum": numbers}
    return replace(tool, parameters={**tool.parameters, "properties": properties})
