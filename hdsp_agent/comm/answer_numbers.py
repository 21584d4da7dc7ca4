"""Where the numbers of an answer stand: in outputs of the conversation's notebook, in its code, in what tools gave, in what the
person said."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from ..errors import HdspAgentError, NotFound
from ..messages import CellId, JsonObject
from ..notebooks import Notebooks, NotebookSnapshot
from ..persistence import ApiRecord, HistoryView, TaskReader, replay, unrewound_api
from ..verify import AnswerNumber, TextAt, all_numbers, outputs_of

__all__ = ["AnswerNumbers", "NumberPlace", "numbers_of_answer"]

_ANSWERS: Final = frozenset({"text", "completion_result"})
_TEXTS: Final = frozenset({"stream", "text", "html", "json", "error"})
_RECORDS_AT_ONCE: Final = 1_000
"""The newest are looked through first. Of a long conversation the older ones follow, if a number stands nowhere else."""


@dataclass(frozen=True)
class NumberPlace:
    """Where a number stands. ``cell`` counts all cells, from 1."""

    kind: Literal["output", "code", "tool", "person"]
    cell_id: CellId | None = None
    cell: int | None = None


@dataclass(frozen=True)
class AnswerNumbers:
    """The numbers of one answer, and the notebook they were looked for in, as it is now."""

    path: str | None
    numbers: list[AnswerNumber[NumberPlace]]
    unstated: list[str]
    """Those that stand nowhere, but are probably no results."""


async def numbers_of_answer(reader: TaskReader, notebooks: Notebooks | None, ts: int) -> AnswerNumbers:
    """Look for the numbers of the answer that was given at this time. Nothing is run or changed."""
    answer = await reader.ui.get(ts)
    if answer is None or answer.say not in _ANSWERS:
        raise NotFound("There is no such answer in this conversation.", ts=ts)
    item = (await reader.read_state()).history_item
    bound = (item.notebook if item is not None else None) or reader.metadata.notebook
    path, snapshot = (None, None) if bound is None else (bound.path, await _snapshot(notebooks, bound.path))
    marks = replay([mark async for mark in reader.marks.iterate()])
    newest: deque[ApiRecord] = deque(maxlen=_RECORDS_AT_ONCE)
    older = -_RECORDS_AT_ONCE
    async for record in _before(reader, ts):
        newest.append(record)
        older += 1
    said: list[TextAt[NumberPlace]] = []
    is_first = True
    async for message in reader.ui.iterate():
        # What a task begins with is shown as text, like the agent's own.
        by_person = message.say == "user_feedback" or (is_first and message.say == "text")
        is_first = False
        if by_person and message.ts < ts:
            said.append(TextAt(NumberPlace("person"), message.text or ""))
            said += [TextAt(NumberPlace("person"), one.content or "") for one in message.attachments or ()]

    def looked_for() -> list[AnswerNumber[NumberPlace]]:
        outputs, code = _of_cells(snapshot) if snapshot is not None else ([], [])
        return all_numbers(answer.text or "", [outputs, code, _told_in(newest, marks), said])

    numbers = await asyncio.to_thread(looked_for)
    batch: list[ApiRecord] = []
    async for record in _before(reader, ts):
        if older <= 0 or all(one.place is not None for one in numbers):
            break
        older -= 1
        batch.append(record)
        if len(batch) == _RECORDS_AT_ONCE or older == 0:
            told, batch = _told_in(batch, marks), []
            numbers = await asyncio.to_thread(_found_in, told, answer.text or "", numbers)
    shown = [one for one in numbers if one.is_stated or one.place is not None]
    unstated = [one.text for one in numbers if not one.is_stated and one.place is None]
    return AnswerNumbers(None if snapshot is None else path, shown, unstated)


def _found_in(
    told: list[TextAt[NumberPlace]], text: str, numbers: list[AnswerNumber[NumberPlace]]
) -> list[AnswerNumber[NumberPlace]]:
    """The numbers of an answer, with what stands in these texts and nowhere else."""
    found = all_numbers(text, [told])
    return [one if one.place is not None else there for one, there in zip(numbers, found, strict=True)]


async def _before(reader: TaskReader, ts: int) -> AsyncIterator[ApiRecord]:
    """What the model was told and said before an answer, the oldest first."""
    async for record in reader.api.iterate():
        if (record.ts or 0) < ts:
            yield record


def _told_in(records: Iterable[ApiRecord], marks: HistoryView) -> list[TextAt[NumberPlace]]:
    """What tools gave, but for what was taken back."""
    return [
        TextAt(NumberPlace("tool"), text) for record in unrewound_api(records, marks) for text in _results_in(record)
    ]


def _results_in(record: ApiRecord) -> Iterator[str]:
    """What tools gave."""
    for block in record.content if isinstance(record.content, list) else ():
        if block.get("type") == "tool_result":
            given = block.get("content")
            parts = given if isinstance(given, list) else [{"text": given}]
            yield "\n".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))


async def _snapshot(notebooks: Notebooks | None, path: str) -> NotebookSnapshot | None:
    """The notebook as it is now; None where it is gone."""
    if notebooks is None:
        return None
    try:
        return await notebooks.access.document(path).snapshot(outputs="full")
    except HdspAgentError:
        return None


def _of_cells(snapshot: NotebookSnapshot) -> tuple[list[TextAt[NumberPlace]], list[TextAt[NumberPlace]]]:
    outputs: list[TextAt[NumberPlace]] = []
    code: list[TextAt[NumberPlace]] = []
    for number, cell in enumerate(snapshot.cells, 1):
        shown: JsonObject = {"outputs": list(cell.outputs)}
        outputs += [
            TextAt(NumberPlace("output", cell.id, number), one.content)
            for one in outputs_of(shown)
            if one.kind in _TEXTS
        ]
        if cell.cell_type == "code":
            code.append(TextAt(NumberPlace("code", cell.id, number), cell.source))
    return outputs, code
