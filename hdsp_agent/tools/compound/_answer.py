"""Ending the task with an answer, once it tells nothing that nobody saw."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, ClassVar, Final

from pydantic import StringConstraints

from .._tool import PastCall, ToolArguments, ToolContext, ToolResult, with_images
from ._cells import CompoundTool
from ._claims import doubt_about
from ._telling import PICTURE

__all__ = ["Answer", "AnswerArguments"]

_MOST_OUTPUT: Final = 700
_TABLE: Final = 3
"""Lines."""
_NUMBERS: Final = re.compile(r"\d")
_THIS: Final = "This is what the notebook shows:"
_UNVERIFIED: Final = "{text}\n\n_Not verified: {why}._"


class AnswerArguments(ToolArguments):
    """The arguments of ``answer``."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=100_000, strip_whitespace=True)]
    """For the person."""


class Answer(CompoundTool[AnswerArguments]):
    """Finishes the task. What was not seen is sent back once, then it is shown with a word about that."""

    name: ClassVar[str] = "answer"
    parts: ClassVar[tuple[str, ...]] = ("attempt_completion",)
    description: ClassVar[str] = (
        "tells the person the result and ends. Never state a number or an output that no cell has shown."
    )
    Arguments: type[AnswerArguments] = AnswerArguments

    async def _run(self, arguments: AnswerArguments, context: ToolContext) -> ToolResult:
        since = await context.flow.since_asked()
        text = arguments.text
        doubt = doubt_about(text, since)
        if doubt is not None and not any(call.name == self.name and call.is_error for call in since.calls):
            return ToolResult(doubt.for_model, is_error=True, counts=False)
        text = _with_output(text, since.calls)
        if doubt is not None:
            text = _UNVERIFIED.format(text=text, why=doubt.for_person)
        completion = await context.flow.complete(text)
        if completion.accepted and not completion.feedback:
            return ToolResult("The person has the answer.")
        return with_images(ToolResult(f"The person says: {completion.feedback or ''}"), completion.images)


def _with_output(text: str, calls: Sequence[PastCall]) -> str:
    """The answer, with what the last cell showed if it does not say that itself.

    A table is shown and not retold: which of its numbers belongs to what, a small model confuses.
    """
    last = next((call.result for call in reversed(calls) if call.name != "answer" and not call.is_error), "")
    _, found, output = last.rpartition(" ran. Output:\n")
    output = output.replace(PICTURE, "").strip("\n")
    if not found or not output.strip() or len(output) > _MOST_OUTPUT:
        return text
    lines = output.split("\n")
    flat = " ".join(text.split())
    if len(lines) < _TABLE:
        if all(line.strip() in flat for line in lines):
            return text
    elif _NUMBERS.search(text):
        kept = [part for part in re.split(r"(?<=[.!?])\s+|\n", text) if not _NUMBERS.search(part)]
        text = " ".join(kept).strip() or _THIS
    return f"{text}\n\n```text\n{output}\n```"
