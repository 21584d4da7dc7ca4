"""Ending the task with an answer, once it tells nothing that nobody saw."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, ClassVar, Final

from pydantic import StringConstraints

from .._tool import PastCall, ToolArguments, ToolContext, ToolResult, with_images
from ._answer_check import admits_failure, doubt_about, failed_at_last, is_effect, parroted
from ._cells import CompoundTool
from ._revert import put_back
from ._step_report import NOTHING_DONE, PICTURE

__all__ = ["AnswerArguments", "AnswerTool"]

_MOST_OUTPUT: Final = 700
_TABLE: Final = 3
"""Lines."""
_NUMBERS: Final = re.compile(r"\d")
_LABEL: Final = re.compile(r"^\s*([A-Za-z_]\w*)\b", re.MULTILINE)
_COULD_NOT: Final = "I could not do this."
_WHY: Final = "The last try ended with: {why}"
_AS_BEFORE: Final = "The notebook is as it was before."
_CHANGE_IT: Final = re.compile(r" Change cell \d+(?: instead)?\.")
_MOST_WHY: Final = 300
_THIS: Final = "This is what the notebook shows:"
_UNVERIFIED: Final = "{text}\n\n_Not verified: {why}._"


class AnswerArguments(ToolArguments):
    """The arguments of ``answer``."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=100_000, strip_whitespace=True)]
    """For the person."""


class AnswerTool(CompoundTool[AnswerArguments]):
    """Finishes the task. What was not seen is sent back once, then it is shown with a word about that."""

    name: ClassVar[str] = "answer"
    parts: ClassVar[tuple[str, ...]] = ("attempt_completion",)
    description: ClassVar[str] = (
        "tells the person the result and ends. Never state a number or an output that no cell has shown."
    )

    async def _run(self, arguments: AnswerArguments, context: ToolContext) -> ToolResult:
        since = await context.flow.since_asked()
        text = arguments.text
        failed = failed_at_last(since)
        if failed is not None:
            return await self._ended(await _honest(text, failed, context), context)
        if parroted(text, since):
            text = _done_last(since.calls) or text
        doubt = doubt_about(text, since)
        if doubt is not None and not any(call.name == self.name and call.is_error for call in since.calls):
            return ToolResult(doubt.for_model, is_error=True, counts=False)
        text = _with_output(text, since.calls)
        if doubt is not None:
            # What it says wrongly may have gone with the sentences that a table stands for.
            doubt = doubt_about(text, since)
        if doubt is not None:
            text = _UNVERIFIED.format(text=text, why=doubt.for_person)
        return await self._ended(text, context)

    async def _ended(self, text: str, context: ToolContext) -> ToolResult:
        completion = await context.flow.complete(text)
        if completion.accepted and not completion.feedback:
            return ToolResult("The person has the answer.")
        return with_images(ToolResult(f"The person says: {completion.feedback or ''}"), completion.images)


async def _honest(text: str, failed: PastCall, context: ToolContext) -> str:
    """What is told where nothing worked: not what a small model makes of it. The notebook is put back."""
    was_put_back = await put_back(context)
    parts = [text if admits_failure(text) else _COULD_NOT]
    why = _CHANGE_IT.sub("", failed.result.removesuffix(NOTHING_DONE)).partition("\n")[0][:_MOST_WHY].strip()
    if why and why not in text:
        parts.append(_WHY.format(why=why))
    if was_put_back:
        parts.append(_AS_BEFORE)
    return "\n\n".join(parts)


def _done_last(calls: Sequence[PastCall]) -> str:
    """What the last step that worked did, in its own words."""
    last = next((call.result for call in reversed(calls) if is_effect(call)), "")
    lines = [line for line in last.split("\n") if not line.startswith("The person says:")]
    return lines[0].removesuffix(" Output:") if lines else ""


def _retold(text: str, output: str) -> bool:
    """Whether it names several rows or columns of a table."""
    return (
        sum(re.search(rf"(?<!\w){re.escape(label)}(?![A-Za-z0-9_])", text) is not None for label in _labels(output)) > 1
    )


def _labels(output: str) -> set[str]:
    return {label for label in _LABEL.findall(output) if label not in ("dtype", "Name", "Length")}


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
    elif _NUMBERS.search(text) or _retold(text, output):
        parts = re.split(r"(?<=[.!?])\s+|\n", text)
        kept = [part for part in parts if not _NUMBERS.search(part) and not _retold(part, output)]
        text = " ".join(kept).strip() or _THIS
    return f"{text}\n\n```text\n{output}\n```"
