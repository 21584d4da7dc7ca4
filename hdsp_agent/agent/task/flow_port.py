"""What the flow tools need of their task: the plan, the mode, subtasks, and the end."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from pydantic import JsonValue

from ...messages import ClineSayTool, Ending, NoteSuggestion, TaskId, TodoItem
from ...tools import ActionRequest, Approval, ApprovalAsk, Completion, PutBack, SinceAsked, ToolFailed
from ..lite import since_asked
from .outcomes import Completed, Delegated, Outcome
from .recalled_items import recalled_for_answer
from .suggestible_notes import may_suggest

if TYPE_CHECKING:
    from .task_state import TaskState

__all__ = ["Approve", "CellsBack", "TaskFlow"]

Approve: TypeAlias = Callable[[ActionRequest, ApprovalAsk, str], Awaitable[Approval]]
CellsBack: TypeAlias = Callable[[bool], Awaitable[PutBack]]

_FINISH: Final = ActionRequest(frozenset({"subtask"}), "attempt_completion")
_SAID_ABOUT_IT: Final = "The user said about this result:"


class TaskFlow:
    """The part of a task that flow tools reach. ``outcome`` is what they made of the turn."""

    def __init__(self, state: TaskState, approve: Approve, cells_back: CellsBack) -> None:
        self._state = state
        self._approve = approve
        self._cells_back = cells_back
        self.outcome: Outcome | None = None
        self.failed_before = False
        self.answer_is_cut = False
        self.rejected = False
        """Whether the person refused something in this turn: nothing after it is done, or even asked about."""

    def begin_turn(self, *, is_cut: bool) -> None:
        """A new answer of the model is acted on; ``is_cut`` tells that it reached the limit of its length."""
        self.answer_is_cut = is_cut
        self.outcome = None
        self.failed_before = False
        self.rejected = False

    @property
    def todos(self) -> Sequence[TodoItem]:
        """The plan."""
        return self._state.todos

    async def modes(self) -> Sequence[str]:
        """The modes there are to switch to."""
        return [mode.slug for mode in await self._state.services.modes.names(self._state.workspace)]

    async def update_todos(self, todos: Sequence[TodoItem]) -> Sequence[TodoItem]:
        """Replace the plan; what the person changed about it while it was approved counts."""
        state = self._state
        edited, state.edited_todos = state.edited_todos, None
        state.todos = list(edited or todos)
        return state.todos

    async def switch_mode(self, slug: str, reason: str | None) -> None:
        """Go on in another mode."""
        await self._known_mode(slug)
        await self._state.switch_mode(slug)

    async def new_task(self, mode: str, message: str, todos: Sequence[TodoItem]) -> str:
        """Hand work to a subtask; this task goes on when that is done. It is recorded before the subtask exists."""
        await self._known_mode(mode)
        child = TaskId(str(uuid.uuid4()))
        await self._state.await_child(child)
        self.outcome = Delegated(child, mode, message, tuple(todos))
        return f"The subtask {child} was begun. Its result follows when it is done."

    async def since_asked(self) -> SinceAsked:
        """What was asked, and what was done since; without the call that is being made."""
        return since_asked(list(await self._state.conversation.history.api_history()))

    async def put_back(self, *, failed_only: bool = False) -> PutBack:
        """Give the cells that this request changed the form again that they had before, without asking anybody."""
        return await self._cells_back(failed_only)

    async def complete(
        self, result: str, suggestion: NoteSuggestion | None = None, ending: Ending | None = None
    ) -> Completion:
        """Present the result and end the work; of a subtask, if the person agrees that it is done."""
        state = self._state
        if self.failed_before:
            raise ToolFailed(
                "A tool failed in this turn, so the task is not complete. Look at what went wrong, then try again."
            )
        still_open = [todo for todo in state.todos if todo.status != "completed"]
        if still_open and state.settings.prevent_completion_with_open_todos:
            raise ToolFailed(
                f"The to-do list has {len(still_open)} open items. Finish them or take them off the list first."
            )
        told = result
        if state.parent is not None and not state.returned:
            asked = ClineSayTool(tool="finishTask", content=result)
            approval = await self._approve(_FINISH, "tool", asked.to_json())
            if not approval.approved:
                return Completion(False, approval.feedback, approval.images)
            if approval.feedback:
                # Its own model has no turn left to hear of it.
                told = f"{result}\n\n{_SAID_ABOUT_IT}\n{approval.feedback}"
        shown: JsonValue = None
        if suggestion is not None and await may_suggest(state, suggestion):
            shown = suggestion.to_wire()
        recalled = [item.to_wire() for item in await recalled_for_answer(state)]
        await state.conversation.say(
            "completion_result",
            result,
            partial=False,
            durable=True,
            recalled=[*recalled] or None,
            note_suggestion=shown,
            ending=None if ending is None else ending.to_wire(),
        )
        self.outcome = Completed(told)
        return Completion(True)

    async def _known_mode(self, slug: str) -> None:
        if await self._state.services.modes.get(slug, self._state.workspace) is None:
            raise ToolFailed(f"There is no mode {slug}. Use one of: {', '.join(await self.modes())}.")
