"""What the person asks for, and tells, in a notebook: fix this cell; I took that change back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from pydantic import JsonValue

from ..messages import (
    Attachment,
    CellReviewRequest,
    EditCellRequest,
    FailedCellRequest,
    NewTaskRequest,
    NotebookRef,
    TaskId,
    TaskStatus,
)
from ..notebooks import Notebooks, PersonRun, without_escapes
from ._dispatch import Dispatcher, RequestContext
from ._owner import Owner
from .agent_requests import AgentRequests
from .open_panels import OpenPanels
from .running_agent import RunningAgent

if TYPE_CHECKING:
    from ..agent import TaskManager

__all__ = ["NotebookRequests"]

_SOURCE_CHARACTERS: Final = 12_000
_TRACEBACK_CHARACTERS: Final = 6_000
_LABEL_CHARACTERS: Final = 80
_MOST_REMEMBERED: Final = 200

_WORKING: Final[frozenset[TaskStatus]] = frozenset({"running", "interactive", "resumable"})
_Cell = tuple[Owner, str, str]


class NotebookRequests:
    """Handles what comes from the buttons at a cell."""

    def __init__(self, agent: RunningAgent, requests: AgentRequests, panels: OpenPanels, notebooks: Notebooks) -> None:
        self._agent = agent
        self._requests = requests
        self._panels = panels
        self._notebooks = notebooks
        self._fixing: dict[_Cell, TaskId] = {}
        self._one_at_a_time = asyncio.Lock()

    def register(self, dispatcher: Dispatcher) -> None:
        """Take responsibility for these types of message."""
        dispatcher.handle_all({"fixCell": self.fix_cell, "editCell": self.edit_cell, "cellReview": self.reviewed})

    async def fix_cell(self, context: RequestContext, message: FailedCellRequest) -> JsonValue:
        """Begin a task that fixes a failed cell, or show the one that is at it already; the answer is its id."""
        path = self._notebooks.access.document(message.path).path
        cell = (context.owner, path, message.cell_id)
        async with self._one_at_a_time:
            manager = await self._agent.manager()
            under_way = self._fixing.get(cell)
            if under_way is not None and await _is_at_it(manager, under_way):
                await self._panels.show(context.owner, under_way)
                return under_way
            wish = _wish(path, message, self._last_run(path, message))
            begun = NewTaskRequest(
                request_id=context.request_id,
                text=wish.label,
                attachments=[wish],
                notebook=NotebookRef(path=path, cell_id=message.cell_id),
            )
            task_id = await self._requests.begin(context, begun)
            self._remember(cell, task_id)
            return task_id

    async def edit_cell(self, context: RequestContext, message: EditCellRequest) -> JsonValue:
        """Have a cell changed as the person says at it; the answer is the id of the task that does it.

        The panel shows what it showed before.
        """
        path = self._notebooks.access.document(message.path).path
        cell = NotebookRef(path=path, cell_id=message.cell_id)
        if message.task_id is not None:
            await self._requests.say_at_cell(context, message.task_id, message, cell)
            return message.task_id
        begun = NewTaskRequest(
            request_id=context.request_id, text=message.text, attachments=message.attachments, notebook=cell
        )
        return await self._requests.begin_at_cell(context, begun, cell)

    async def reviewed(self, context: RequestContext, message: CellReviewRequest) -> None:
        """Tell the task that made a change what the person took back; that they kept it is what it expects."""
        unreviewed = self._notebooks.unreviewed
        if message.part == "whole" or message.is_last:
            unreviewed.settled(message.path, message.cell_id)
        elif message.before is not None:
            unreviewed.kept_part(message.path, message.cell_id, message.before)
        await unreviewed.written()
        if message.accepted or message.task_id is None:
            return
        task = (await self._agent.manager()).tasks.opened(message.task_id)
        if task is not None:
            change = "your change" if message.part == "whole" else "part of your change"
            task.user_input.note(
                f"The user took back {change} of cell {message.cell_id} in {message.path}. Read the cell again before "
                "you change it, and do not make that change again unless the user asks for it."
            )

    def _last_run(self, path: str, message: FailedCellRequest) -> PersonRun | None:
        runs = self._notebooks.person_runs(path)
        return next((run for run in reversed(runs) if run.cell_id == message.cell_id and not run.ok), None)

    def _remember(self, cell: _Cell, task_id: TaskId) -> None:
        self._fixing.pop(cell, None)
        self._fixing[cell] = task_id
        for oldest in list(self._fixing)[:-_MOST_REMEMBERED]:
            del self._fixing[oldest]


async def _is_at_it(manager: TaskManager, task_id: TaskId) -> bool:
    """Whether a task works, or a subtask works for it, or a question of it waits before it has ended."""
    task = await manager.worked_on_for(task_id)
    return task is not None and not task.state.completed and task.state.status in _WORKING


def _wish(path: str, message: FailedCellRequest, run: PersonRun | None) -> Attachment:
    """What is wanted, in a line, and all there is to know about it."""
    traceback = message.traceback or (run.traceback or run.error if run is not None else None)
    count = f" (In [{run.execution_count}])" if run is not None and run.execution_count is not None else ""
    parts = [f"Cell {message.cell_id}{count} of {path} failed. Fix it.", _fenced(_beginning(message.source))]
    if traceback:
        parts += ["It failed with:", _fenced(_end(without_escapes(traceback)))]
    parts.append(
        "Find out why it fails, change what causes it with as small a change as will do, here or in the cell that "
        "causes it, and run the cell again to see that it works. Tell me in a sentence what was wrong."
    )
    label = " ".join((message.label or _label(traceback)).split())
    return Attachment(kind="error", path=path, cell_id=message.cell_id, label=label, content="\n\n".join(parts))


def _label(traceback: str | None) -> str:
    lines = without_escapes(traceback or "").strip().splitlines()
    error = lines[-1][:_LABEL_CHARACTERS] if lines else ""
    return f"Fix this cell: {error}" if error else "Fix this cell"


def _fenced(text: str) -> str:
    """A block of code, whatever fences there are in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text.rstrip()}\n{fence}"


def _beginning(source: str) -> str:
    if len(source) <= _SOURCE_CHARACTERS:
        return source
    return f"{source[:_SOURCE_CHARACTERS]}\n[{len(source) - _SOURCE_CHARACTERS} more characters]"


def _end(traceback: str) -> str:
    if len(traceback) <= _TRACEBACK_CHARACTERS:
        return traceback
    return f"[{len(traceback) - _TRACEBACK_CHARACTERS} characters before]\n{traceback[-_TRACEBACK_CHARACTERS:]}"
