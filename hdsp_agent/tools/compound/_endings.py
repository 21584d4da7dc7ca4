"""How a request ends: done and checked, done, or not done with the cells as they were."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

from ..._threads import in_thread
from ...messages import STRONG_CHECKS, Ending, EndingCheck, EndingReason, ending_text
from .._tool import SinceAsked, ToolContext, ToolResult, with_images
from ._cell_runner import CellRunner
from ._code import made_names
from ._names import asked_names, is_named, numbers_in
from ._step_report import is_effect, is_step, last_output

__all__ = [
    "MOST_STEPS",
    "MOST_TRIES",
    "done",
    "done_at_cell",
    "missing_names",
    "not_done",
    "steps_are_over",
    "told_by_output",
]

MOST_STEPS: Final = 8
MOST_TRIES: Final = 4
"""In a row that all failed."""
Reason = Literal["failed", "no_answer", "missing", "steps", "too_long", "gone"]
_MOST_SHOWN: Final = 700
_A_RUN: Final = re.compile(r"^Cell \d+ (?:failed|ran)", re.MULTILINE)
_HEARD: Final = "The person has the answer."


async def done(text: str, checks: Sequence[EndingCheck], since: SinceAsked, context: ToolContext) -> ToolResult:
    """End with this answer. It is checked if something was seen that only what was asked for brings about."""
    await context.flow.put_back(failed_only=True)
    record = context.state.changed
    seen = [check for cell in record for check in cell.checks]
    if not any(is_effect(call) for call in since.calls):
        seen.append(EndingCheck(code="unchanged"))
    else:
        seen += [EndingCheck(code="exists", params={"name": name}) for name in await _made_names(since, context)]
    seen += checks
    is_checked = any(check.code in STRONG_CHECKS for check in seen)
    return await _ended(text, Ending(state="checked" if is_checked else "unchecked", checks=seen), context)


async def done_at_cell(number: int, context: ToolContext) -> ToolResult:
    """End with the cell changed at which the person asked for it, and not run: they see the change there."""
    ending = Ending(state="unchecked", checks=[EndingCheck(code="changed", params={"cell": number})])
    return await _ended(ending_text(ending), ending, context)


async def not_done(code: Reason, text: str, context: ToolContext, **params: str) -> ToolResult:
    """End with the cells as they were, and what the last try showed, if a cell ran in it."""
    put_back = await context.flow.put_back() != "failed"
    reason = EndingReason(code=code, params={**params} or None)
    ending = Ending(state="not_done", checks=[], reason=reason, put_back=put_back)
    shown = text.strip()[:_MOST_SHOWN] if _A_RUN.search(text) else ""
    return await _ended(f"```text\n{shown}\n```" if shown else ending_text(ending), ending, context)


async def told_by_output(since: SinceAsked, context: ToolContext) -> ToolResult:
    """End with what the last cell showed, where the model has no words of its own; not done if it showed nothing."""
    shown = last_output(since)[:_MOST_SHOWN]
    if not shown:
        return await not_done("no_answer", "", context)
    return await done(f"```text\n{shown}\n```", [], since, context)


def steps_are_over(since: SinceAsked, *, failed: bool) -> bool:
    """Whether no other step may follow the one that was made just now."""
    tries = 0
    steps = [call for call in since.calls if is_step(call)]
    for call in reversed(steps):
        if not call.is_error:
            break
        tries += 1
    return len(steps) + 1 >= MOST_STEPS or (failed and tries + 1 >= MOST_TRIES)


async def missing_names(since: SinceAsked, context: ToolContext) -> list[str]:
    """Names of the request that look like code, and are of nothing that there was or is now."""
    new = [name for name in asked_names((), since.words).new if not is_named(name, since.surroundings)]
    if not new or not any(is_effect(call) for call in since.calls):
        return []
    runner = await CellRunner.of(context)
    there = "\n".join(
        [*await _things(runner), *runner.code(), *(call.result for call in since.calls if is_effect(call))]
    )
    return [name for name in new if not is_named(name, there)]


async def _made_names(since: SinceAsked, context: ToolContext) -> list[str]:
    """What the request names and only the changed cells have made: variables, columns, functions and files.

    None unless all else that it names, and all its numbers, stand in those cells, too.
    """
    runner = await CellRunner.of(context)
    changed = {one.cell_id for one in context.state.changed if one.is_changed}
    cells = [cell for cell in runner.snapshot.cells if cell.id in changed]
    code = "\n".join(runner.code(cells))
    if not code:
        return []
    things = await _things(runner)
    asked = asked_names(things, since.words)
    numbers = {*numbers_in(code), *map(float, range(len(runner.snapshot.cells) + 1))}
    if not numbers.issuperset(numbers_in(since.words)) or not all(is_named(name, code) for name in asked.exact):
        return []
    return [name for name in things if name in asked.exact and not is_named(name, since.surroundings)]


async def _things(runner: CellRunner) -> list[str]:
    """The names of variables, columns, functions and files, each once."""
    variables = await runner.variables(None)
    folder = runner.place.checked.path.parent
    files = await in_thread(lambda _stop: [entry.name for entry in folder.iterdir()])
    names = [*(one.name for one in variables), *(name for one in variables for name, _ in one.columns)]
    return list(dict.fromkeys([*names, *(name for source in runner.code() for name in made_names(source)), *files]))


async def _ended(text: str, ending: Ending, context: ToolContext) -> ToolResult:
    completion = await context.flow.complete(text, ending=ending)
    if not completion.accepted or completion.feedback:
        return with_images(ToolResult(f"The person says: {completion.feedback or ''}"), completion.images)
    await context.state.changed.over()
    return ToolResult(_HEARD)
