"""What the agent did after a checkpoint, and which request led to it: read in the conversation, for its owner alone."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal

from pydantic import ValidationError

from ..checkpoints.timeline import OperationView, StepView
from ..errors import HdspAgentError
from ..messages import CellEdit, ClineMessage, ClineSayTool, TaskId, labels_of
from ..persistence import TaskReader
from ._owner import Owner
from .history import History

__all__ = ["CheckpointSteps"]

_PAGE: Final = 200
_MOST_LOOKED_AT: Final = 4_000
"""A request further back in a conversation is not looked for."""
_MOST_REMEMBERED: Final = 2_000
_LONGEST_REQUEST: Final = 300
_QUESTIONS: Final = frozenset(("followup", "tool", "command", "use_mcp_server"))
"""What the person says to these is an answer, and no request."""
_Key = tuple[TaskId, int]


class CheckpointSteps:
    """Adds to a time line what its conversations say about it. A step's message never changes, so it is read once."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._known: OrderedDict[_Key, StepView] = OrderedDict()

    async def told(self, owner: Owner, operations: Sequence[OperationView]) -> Sequence[OperationView]:
        """The same, with the steps that belong to conversations of this person."""
        wanted: defaultdict[TaskId, set[int]] = defaultdict(set)
        for done in operations:
            if (key := _key_of(done)) is not None:
                wanted[key[0]].add(key[1])
        steps: dict[_Key, StepView] = {}
        for task_id, times in wanted.items():
            found = await self._of_task(owner, task_id, times)
            steps.update({(task_id, ts): step for ts, step in found.items()})
        return [_with_step(done, steps) for done in operations]

    async def _of_task(self, owner: Owner, task_id: TaskId, times: Collection[int]) -> Mapping[int, StepView]:
        try:
            reader = await self._history.task(owner, task_id)
            found = {ts: step for ts in times if (step := self._known.get((task_id, ts))) is not None}
            read = await _read(reader, [ts for ts in times if ts not in found])
        except HdspAgentError:
            # Somebody else's, or deleted: then there is nothing to say.
            return {}
        for ts, step in read.items():
            self._known[task_id, ts] = step
        while len(self._known) > _MOST_REMEMBERED:
            self._known.popitem(last=False)
        return {**found, **read}


def _with_step(done: OperationView, steps: Mapping[_Key, StepView]) -> OperationView:
    key = _key_of(done)
    return done if key is None or key not in steps else done.model_copy(update={"step": steps[key]})


def _key_of(done: OperationView) -> _Key | None:
    checkpoint = done.checkpoint
    if done.kind != "save" or checkpoint is None or checkpoint.task_id is None or checkpoint.message_ts is None:
        return None
    return checkpoint.task_id, checkpoint.message_ts


async def _read(reader: TaskReader, times: Collection[int]) -> Mapping[int, StepView]:
    """From the newest of these messages back to the request that the oldest belongs to."""
    if not times:
        return {}
    search = _Search(times)
    before, looked_at = max(times) + 1, 0
    while not search.is_over and looked_at < _MOST_LOOKED_AT:
        page = await reader.ui.page(before=before, limit=_PAGE)
        for message in reversed(page):
            search.see(message)
        if len(page) < _PAGE:
            search.end()
            break
        looked_at += len(page)
        before = page[0].ts
    return search.found


class _Search:
    """Goes through a conversation from its end, and finds to each time the question that was allowed then, and the request."""

    def __init__(self, times: Collection[int]) -> None:
        self.found: dict[int, StepView] = {}
        self._left = sorted(times)
        self._open: list[int] = []
        self._steps: dict[int, StepView] = {}
        self._said: ClineMessage | None = None
        self._oldest: ClineMessage | None = None

    @property
    def is_over(self) -> bool:
        """Whether all were found."""
        return not (self._left or self._open)

    def see(self, message: ClineMessage) -> None:
        """The next older message."""
        self._oldest = message
        if self._said is not None:
            # What the person says to a question answers it.
            if message.ask not in _QUESTIONS:
                self._requested(self._said)
            self._said = None
        while self._left and self._left[-1] >= message.ts:
            self._open.append(self._left.pop())
        if message.ask in _QUESTIONS:
            for ts in self._open:
                self._steps.setdefault(ts, _step_of(message))
        elif message.say == "user_feedback":
            self._said = message

    def end(self) -> None:
        """The conversation begins with the message that was seen last."""
        if self._said is not None:
            self._requested(self._said)
        if self._oldest is not None and self._oldest.say == "text":
            self._requested(self._oldest)

    def _requested(self, message: ClineMessage) -> None:
        request = (message.text or labels_of(message.attachments)).lstrip().partition("\n")[0][:_LONGEST_REQUEST]
        # What a person says while they allow something comes after the question, and is no request for it.
        for ts in [ts for ts in self._open if ts > message.ts]:
            self._open.remove(ts)
            step = self._steps.pop(ts, StepView())
            self.found[ts] = step.model_copy(update={"request": request, "request_ts": message.ts})


def _step_of(message: ClineMessage) -> StepView:
    if message.ask != "tool":
        return StepView()
    try:
        tool = ClineSayTool.model_validate_json(message.text or "")
    except ValidationError:
        return StepView()
    if tool.cell_edits:
        cells, change = _edited(tool.cell_edits)
        return StepView(cells=cells, change=change, path=tool.path)
    return StepView(cells=tuple(cell.number for cell in tool.cells or () if cell.number is not None), path=tool.path)


def _edited(edits: Sequence[CellEdit]) -> tuple[tuple[int, ...], Literal["added", "edited", "deleted"]]:
    """Which cells these change, by their numbers before; those that are added, by their numbers afterwards."""
    places = [edit.after or 0 for edit in edits]
    if all(edit.op == "insert" for edit in edits):
        return tuple(place + 1 + at for at, place in enumerate(sorted(places))), "added"
    numbers = tuple(sorted({edit.number for edit in edits if edit.number is not None}))
    return numbers, "deleted" if all(edit.op == "delete" for edit in edits) else "edited"
