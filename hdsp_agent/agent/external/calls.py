"""One call of a program outside: an ordinary call of a tool, whose result the program gets, too."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, cast

from ..._background_tasks import BackgroundTasks
from ...errors import HdspAgentError
from ...messages import CellExecuted, ClineSay, CommandRun, JsonObject, NotebookRef, ProgressStatus
from ...tools import ActionRequest, Approval, ApprovalAsk, Proposal, Risk, ToolResult
from ..approval import Decision
from ..checkpoints.checkpoint_service import SavedStep
from ..conversation.asks import AskAnswer
from ..conversation.dialogue import Beside
from ..task.tool_calls import Call, ToolCalls
from ..task.tool_context import CallContext
from .program_questions import ProgramQuestions

if TYPE_CHECKING:
    from ..context_window import ContextWindow
    from ..conversation.user_input import PendingUserInput
    from ..task.task_state import TaskState
    from ..task.tool_context import CallParts
    from .port import AskProgram

__all__ = ["GivenResult", "ProgramCalls", "ProgramContact", "Tell"]

Tell = Callable[[str], Awaitable[None]]
"""Lets a program know what is happening."""

_WAITING: Final = "Waiting for your approval in JupyterLab."
_RUNNING: Final = "Cell {number} is running."
_CODE_RUNNING: Final = "Code is running."
_LEAST_RISKS: Final[Mapping[str, frozenset[Risk]]] = {
    # To our own agent they belong. What it remembers of the person is not everybody's.
    "search_memory": frozenset({"read"}),
    "read_memory": frozenset({"read"}),
}


@dataclass(frozen=True)
class ProgramContact:
    """How the program that makes a call is reached while the call is under way."""

    tell: Tell
    ask: AskProgram | None = None
    on_answer: Callable[[], None] = lambda: None
    """Told that what was asked was answered in the program's own window."""


@dataclass(frozen=True)
class GivenResult:
    """A call's result as it stands in the conversation, masked, and with all that a program is told besides."""

    content: list[JsonObject]
    result: ToolResult


class ProgramCalls(ToolCalls):
    """Makes one call. What a person denies, or stops, is nothing to any other call."""

    def __init__(
        self,
        state: TaskState,
        parts: CallParts,
        window: ContextWindow,
        user_input: PendingUserInput,
        contact: ProgramContact,
    ) -> None:
        super().__init__(state, parts, window, user_input)
        self._contact = contact
        self._held = BackgroundTasks()
        self.given: GivenResult | None = None
        """Once there is one, it is in the conversation or on its way there."""

    async def settled(self) -> None:
        """Wait until what was on its way to the conversation is there."""
        await self._held.drain()

    async def end(self, call: Call, why: ToolResult) -> None:
        """Give a call that was ended before it was done this result, if it has none."""
        if self.given is None:
            await self._answer(call, why)

    def _context(self, call: Call, saved: SavedStep | None) -> CallContext:
        return ProgramCallContext(self._state, self._parts, call.name, self._contact, saved)

    async def _not_again(self, call: Call) -> bool:
        # To ask again and again how a run stands is what a program does.
        return True

    async def _answer(self, call: Call, result: ToolResult) -> None:
        self.given = GivenResult([], result)
        # To its end, even if the call is stopped just now: a call has one result.
        await self._held.finish(self._give(call, result))

    async def _give(self, call: Call, result: ToolResult) -> None:
        record = await self._put_answer(call, result)
        block = cast("JsonObject", record.content[0])
        content = block["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else cast("list[JsonObject]", content)
        self.given = GivenResult(cast("list[JsonObject]", blocks), result)


class ProgramCallContext(CallContext):
    """The context of a call of a program outside: it hears what it waits for, and its questions end with its call."""

    _keeps_question = False

    def __init__(
        self, state: TaskState, parts: CallParts, tool: str, contact: ProgramContact, saved: SavedStep | None
    ) -> None:
        super().__init__(state, parts, saved=saved)
        self._least = _LEAST_RISKS.get(tool, frozenset[Risk]())
        self._tell = contact.tell
        self._questions = ProgramQuestions(state, contact.ask, contact.on_answer)

    async def approve(
        self,
        action: ActionRequest,
        ask: ApprovalAsk,
        text: str,
        *,
        proposal: Proposal | None = None,
        meanwhile: Callable[[], Awaitable[None]] | None = None,
        progress: ProgressStatus | None = None,
    ) -> Approval:
        await self._note_notebook(action)
        return await super().approve(
            replace(action, risks=action.risks | self._least),
            ask,
            text,
            proposal=proposal,
            meanwhile=meanwhile,
            progress=progress,
        )

    async def _asked(
        self,
        ask: ApprovalAsk,
        text: str,
        *,
        ts: int | None,
        is_protected: bool | None,
        progress: ProgressStatus | None,
        decision: Decision,
        about: ActionRequest,
        proposal: Proposal | None,
        beside: Beside | None = None,
    ) -> AskAnswer | None:
        await self._tell(_WAITING)
        return await super()._asked(
            ask,
            text,
            ts=ts,
            is_protected=is_protected,
            progress=progress,
            decision=decision,
            about=about,
            proposal=proposal,
            beside=beside or self._questions.beside(decision),
        )

    async def say(
        self,
        say: ClineSay,
        text: str | None = None,
        *,
        partial: bool | None = None,
        ts: int | None = None,
        images: Sequence[str] = (),
        notebook: NotebookRef | None = None,
        command_run: CommandRun | None = None,
    ) -> int:
        if say == "cell_executed" and partial and text is not None:
            number = CellExecuted.model_validate_json(text).number
            await self._tell(_CODE_RUNNING if number is None else _RUNNING.format(number=number))
        return await super().say(
            say, text, partial=partial, ts=ts, images=images, notebook=notebook, command_run=command_run
        )

    async def _note_notebook(self, action: ActionRequest) -> None:
        """Keep in the history which notebook the program works on."""
        state, notebooks = self._state, self._state.services.notebooks
        if action.path is None or not action.path.endswith(".ipynb") or notebooks is None:
            return
        try:
            path = notebooks.access.api_path(state.folder / action.path)
        except HdspAgentError:
            return
        if state.item.notebook is None or state.item.notebook.path != path:
            await state.note_item(notebook=NotebookRef(path=path))
