"""Ending the task with an answer, once it tells nothing that nobody saw."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Final

from pydantic import StringConstraints

from ...messages import EndingCheck
from .._tool import SinceAsked, ToolArguments, ToolContext, ToolResult
from ._cells import CompoundTool
from ._endings import MOST_STEPS, done, missing_names, not_done, told_by_output
from ._examples import EXAMPLE_NAMES, EXAMPLES
from ._names import number_texts, numbers_in, repeats
from ._notebook_facts import ROW
from ._step_report import failed_at_last, is_effect, is_step, last_output

__all__ = ["AnswerArguments", "AnswerTool", "is_no_answer", "unseen_number"]

_REPEATS: Final = "That says what you were told, and is no answer. Do what the person wants, then say what came of it."
_UNSEEN: Final = "No cell has shown {number}. Run code that shows it, or say only what was shown."
_MISSING: Final = "There is no {name} yet. The person asks for it by that name."
_LISTED: Final = re.compile(r"^\s*\d+[.)]\s", re.MULTILINE)
_SMALL: Final = 2
_LONG: Final = 24
"""Characters. What is shorter may be the name of something that was told of."""
_TOLERANCE: Final = 1e-9
_CELL_ENDS: Final = re.compile(r"\n(?=Cell \d+ \(|Variables:|Files:)")


class AnswerArguments(ToolArguments):
    """The arguments of ``answer``."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=100_000, strip_whitespace=True)]
    """For the person."""


class AnswerTool(CompoundTool[AnswerArguments]):
    """Finishes the task. What was not seen is sent back once; then the notebook speaks, or it is not done."""

    name: ClassVar[str] = "answer"
    parts: ClassVar[tuple[str, ...]] = ("attempt_completion",)
    description: ClassVar[str] = (
        "tells the person the result, or explains, and ends. Never state a number that no cell has shown."
    )

    async def _run(self, arguments: AnswerArguments, context: ToolContext) -> ToolResult:
        since = await context.flow.since_asked()
        text = arguments.text
        failed = failed_at_last(since)
        if failed is not None:
            return await not_done("failed", failed.result, context)
        is_last = len([call for call in since.calls if is_step(call)]) + 1 >= MOST_STEPS or any(
            call.name == self.name and call.is_error for call in since.calls
        )
        missing = await missing_names(since, context)
        if missing:
            if is_last:
                return await not_done("missing", last_output(since), context, name=missing[0])
            return ToolResult(_MISSING.format(name=missing[0]), is_error=True)
        if is_no_answer(text, since):
            return await told_by_output(since, context) if is_last else ToolResult(_REPEATS, is_error=True)
        unseen = unseen_number(text, since)
        if unseen is not None:
            if is_last:
                return await told_by_output(since, context)
            return ToolResult(_UNSEEN.format(number=unseen), is_error=True)
        numbers = [EndingCheck(code="numbers")] if numbers_in(_plain(text)) else []
        return await done(_with_output(text, since), numbers, since, context)


def is_no_answer(text: str, since: SinceAsked) -> bool:
    """Whether it repeats what the model was told: the request, how things are, or an example."""
    if repeats(text, since.words):
        return True
    if len(text) >= _LONG and any(repeats(text, part, least=0) for part in _CELL_ENDS.split(since.surroundings)):
        return True
    if any(repeats(text, example.answer) for example in EXAMPLES):
        return True
    evidence = "\n".join([since.words, since.surroundings, *(f"{call.arguments}{call.result}" for call in since.calls)])
    return any(mark in text and mark not in evidence for mark in EXAMPLE_NAMES)


def unseen_number(text: str, since: SinceAsked) -> str | None:
    """The first number of an answer that stands nowhere: in no output, not in the request, and not in the notebook."""
    # An answer that was sent back, and why, is no evidence.
    results = [call.result for call in since.calls if call.name != "answer"]
    told = [line for line in since.surroundings.split("\n") if not line.startswith(ROW)]
    known = numbers_in("\n".join([since.words, *told, *results]))
    if any(is_effect(call) for call in since.calls):
        # Small numbers are words more often than values, once something was looked at.
        known += range(_SMALL + 1)
    return next((found for found in number_texts(_plain(text)) if not _is_known(found, known)), None)


def _plain(text: str) -> str:
    return _LISTED.sub("", text)


def _is_known(found: str, known: list[float]) -> bool:
    value = numbers_in(found)[0]
    decimals = len(found.partition(".")[2].partition("e")[0])
    half = 0.5 * 10.0**-decimals * (1 + _TOLERANCE)
    return any(
        abs(abs(one) - abs(value)) <= _TOLERANCE * max(1.0, abs(value))
        or (decimals and abs(one - value) <= half)
        or abs(one * 100 - value) <= (half if decimals else 0.5)
        for one in known
    )


def _with_output(text: str, since: SinceAsked) -> str:
    """The answer if it tells what the last cell showed, else just that: of values a small model tells what never was."""
    output = last_output(since)
    flat, lines, numbers = " ".join(text.split()), output.split("\n"), numbers_in(output)
    if all(line.strip() in flat for line in lines) or (
        len(lines) == 1 and numbers and set(numbers) <= set(numbers_in(text))
    ):
        return text
    return f"```text\n{output}\n```"
