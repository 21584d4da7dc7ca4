"""How the work on a task begins: with the first words, or from what its logs tell."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, Protocol, assert_never

from pydantic import ValidationError

from ...messages import (
    CellExecuted,
    ClineAsk,
    ClineMessage,
    EndingReason,
    StoppedBy,
    TaskDelegationCompleted,
    TaskDelegationResumed,
    TaskStarted,
    TaskUnpaused,
)
from ...tools import format_todos
from ..checkpoints.interrupted_restores import InterruptedRestores
from ..conversation.asks import AskAnswer
from ..conversation.conversation import text_block
from ..conversation.inherited_marks import inherit_marks
from ..conversation.user_text import CUT_OFF, RESUMPTION, word_for_word
from .outcomes import Again, Begin, ChildDone, Completed, Edited, Opening, Outcome, Retried, TaskStopped
from .recorded_state import SERVER_STOPPED, RecordedState, recall
from .todo_list import todos_text
from .tool_calls import ToolCalls, calls_of
from .usage_meter import request_of

if TYPE_CHECKING:
    from ..conversation.user_input import PendingUserInput
    from ..user_messages._expanded_message import Expand
    from .task_state import TaskState

__all__ = ["TaskStarter", "Worker"]

_CELL_LEFT: Final = "The server stopped while it ran, so how it ended is not known."
_CONDENSING_LEFT: Final = "The server stopped before it was done."
_EXTERNAL: Final = "What follows are calls of another agent, {name}, that works here through MCP."
_BY_ADMINISTRATOR: Final = "An administrator stopped this task."
_OUTCOME_UNKNOWN: Final = (
    "The server stopped while these calls of yours were under way: {calls}. Nobody knows whether they were done. Look "
    "at what they were to change before you repeat them."
)
_ABOUT_A_CALL: Final = frozenset({"tool", "command", "use_mcp_server", "followup"})
_SUBTASK_LEFT: Final = "The subtask {child} was not finished. The user took this task up again without it."


class Worker(Protocol):
    """What works on a task once it has begun."""

    async def run(self, *, spoken: bool) -> Outcome:
        """Work until there is an outcome; ``spoken`` says that the person's words came last. Raises TaskStopped."""


class TaskStarter:
    """Begins the work on one task."""

    def __init__(
        self, state: TaskState, loop: Worker, calls: ToolCalls, user_input: PendingUserInput, expand: Expand
    ) -> None:
        self._state = state
        self._loop = loop
        self._calls = calls
        self._user_input = user_input
        self._expand = expand
        self._interrupted_restores = InterruptedRestores(state, user_input.add_later)

    async def run(self, opening: Opening) -> Outcome:
        """Begin, and work until there is an outcome. Raises Stopped."""
        state = self._state
        state.tool_state.person_spoke(opening.may_edit if isinstance(opening, Begin) else None)
        if state.external_agent is None:
            # Another agent works once it calls.
            state.dialogue.working()
        match opening:
            case Begin() if state.external_agent is not None:
                await self._begin_external(state.external_agent, opening)
            case Again() if state.external_agent is not None:
                await self._again_external(opening)
            case Begin():
                await self._begin(opening)
                await self._interrupted_restores.settle()
            case Again():
                outcome = await self._again(opening)
                if outcome is not None:
                    return outcome
            case Edited():
                recalled = await self._recall()
                await state.on_halt(EndingReason(code="stopped"))
                await self._calls.interrupted(calls_of(recalled.calls))
                await self._say_first_or_later(recalled, opening)
                # What was said just now is newer than the restore, so this conversation stays as it is.
                await self._interrupted_restores.settle(recalled.aside)
            case Retried():
                recalled = await self._recall()
                await state.on_halt(EndingReason(code="stopped"))
                await self._calls.interrupted(calls_of(recalled.calls))
                await self._interrupted_restores.settle(recalled.aside)
            case ChildDone():
                await self._child_done(opening)
            case _:
                assert_never(opening)
        state.dialogue.asks.go_on()
        return await self._loop.run(spoken=not isinstance(opening, ChildDone))

    async def _begin(self, opening: Begin) -> None:
        state = self._state
        state.todos = list(opening.todos)
        ts = await state.conversation.say(
            "text", opening.text, images=opening.images, attachments=opening.attachments, durable=True
        )
        # Before anything is read, which takes a while: whoever stops it meanwhile finds it in the history.
        await state.note_progress(text=opening.text, pictures=len(opening.images), attachments=opening.attachments)
        # A subtask's first words are the model's, whatever they look like.
        by_person = state.parent is None
        blocks = (await self._expand(opening)).blocks if by_person else word_for_word(opening)
        if opening.todos:
            # Shown too: a restart knows the list by its messages alone.
            await state.dialogue.tell_approved("tool", todos_text(opening.todos))
            blocks.append(text_block(f"The to-do list of this task:\n{format_todos(opening.todos)}"))
        await state.conversation.add_api("user", blocks, ts=ts, durable=True)
        state.services.events.emit(TaskStarted(payload=(state.task_id,)))

    async def _begin_external(self, name: str, opening: Begin) -> None:
        """Another agent begins: its name stands where the person's first words stand elsewhere."""
        state = self._state
        ts = await state.conversation.say("text", opening.text, durable=True)
        await state.conversation.add_api("user", [text_block(_EXTERNAL.format(name=name))], ts=ts, durable=True)
        await state.note_progress(text=opening.text)
        # Whoever looks at it right away sees whose it is.
        await state.conversation.log.save_state()
        state.services.events.emit(TaskStarted(payload=(state.task_id,)))

    async def _again_external(self, again: Again) -> None:
        """Another agent goes on. Who waited for its calls is gone: nobody is asked about them any more."""
        recalled = await self._recall()
        if again.stopped_by == "administrator":
            # No question whether to go on says it here.
            await self._state.conversation.say("error", _BY_ADMINISTRATOR, durable=True)
        if recalled.pending is not None:
            await self._state.dialogue.withdraw(recalled.pending)
        calls = calls_of(recalled.calls)
        await self._calls.interrupted(calls)
        if calls:
            self._user_input.note(_OUTCOME_UNKNOWN.format(calls=", ".join(call.name for call in calls)))

    async def _say_first_or_later(self, recalled: RecordedState, edited: Edited) -> None:
        state = self._state
        if recalled.first is None:
            await self._begin(Begin(edited.text, edited.images, edited.attachments))
            return
        ts = await state.dialogue.user_said(edited)
        expanded = await self._expand(edited)
        await state.conversation.add_api("user", expanded.blocks, ts=ts, durable=True)

    async def _again(self, again: Again) -> Outcome | None:
        """Take up what was interrupted: a question that waits is put again as it is, everything else is asked about."""
        state = self._state
        recalled = await self._recall()
        pending = recalled.pending
        if await self._interrupted_restores.settle(recalled.aside):
            return await self._again(Again())
        if pending is not None and recalled.calls and pending.ask in _ABOUT_A_CALL:
            return await self._finish_calls(recalled, pending)
        if not recalled.completed:
            await state.on_halt(EndingReason(code="stopped"))
        answered = pending if pending and pending.ts == again.answering else None
        # Asked once more with nothing done in between: who stopped it is still why.
        stopped_by = again.stopped_by or (pending.stopped_by if pending else None)
        answer = await self._ask_to_go_on(recalled, answered, stopped_by)
        asked: ClineAsk | None = answered.ask if answered else None  # type: ignore[assignment]  # older kinds were never pending here
        if asked == "completion_result" and answer.approved and not state.queue:
            return Completed("", again=True)
        # At once: whoever stops the task now was heard all the same.
        self._user_input.add_later(answer)
        if answer.response == "noButtonClicked" or (asked == "auto_approval_max_req_reached" and not answer.approved):
            raise TaskStopped
        if asked == "auto_approval_max_req_reached":
            state.spending.reset()
        if state.item.status == "completed":
            await state.note_item(status="active")
        await self._take_back(recalled)
        if not self._user_input.any_said and not state.queue:
            await state.conversation.add_api("user", [text_block(RESUMPTION)])
        return None

    async def _finish_calls(self, recalled: RecordedState, pending: ClineMessage) -> Outcome | None:
        """The calls of the last answer that nobody has decided. Whatever they do is asked about, even if it was begun."""
        state = self._state
        state.dialogue.expect(pending)
        state.asks_everything = True
        try:
            outcome = await self._calls.run(calls_of(recalled.calls))
        finally:
            state.asks_everything = False
            state.dialogue.expect(None)
        return outcome

    async def _ask_to_go_on(
        self, recalled: RecordedState, pending: ClineMessage | None, stopped_by: StoppedBy | None
    ) -> AskAnswer:
        state = self._state
        if pending is not None and pending.ask is not None:
            state.dialogue.expect(pending)
            return await state.dialogue.ask(pending.ask, pending.text)  # type: ignore[arg-type]  # as above
        if recalled.completed:
            return await state.dialogue.ask("resume_completed_task")
        return await state.dialogue.ask("resume_task", stopped_by=stopped_by)

    async def _take_back(self, recalled: RecordedState) -> None:
        """Answer the calls whose outcome nobody knows, and stop waiting for a subtask."""
        state = self._state
        child = state.item.awaiting_child_id
        if child is None:
            await self._calls.interrupted(calls_of(recalled.calls))
            return
        await self._calls.interrupted(calls_of(recalled.calls), _SUBTASK_LEFT.format(child=child))
        await state.note_item(status="active", awaiting_child_id=None, delegated_to_id=None)

    async def _child_done(self, opening: ChildDone) -> None:
        """The subtask's result is the result of the call that began it."""
        state = self._state
        recalled = await self._recall()
        if recalled.pending is not None and recalled.pending.ask == "resume_task":
            # Asked whether to go on without the subtask; nobody needs to answer that any more.
            await state.dialogue.withdraw(recalled.pending)
        # Its result may hold what it heard.
        await inherit_marks(state.conversation.log, state.services.store, opening.child)
        text = f"Subtask {opening.child} completed.\n\nResult:\n{opening.summary}"
        calls = calls_of(recalled.calls)
        began = next((call for call in reversed(calls) if call.name == "new_task"), None)
        if began is not None:
            await state.conversation.say("subtask_result", opening.summary)
            await self._calls.interrupted([call for call in calls if call is not began])
            await self._calls.answered(began, text)
        await state.note_item(
            status="active",
            awaiting_child_id=None,
            delegated_to_id=None,
            completed_by_child_id=opening.child,
            completion_result_summary=opening.summary,
        )
        events = state.services.events
        events.emit(TaskDelegationCompleted(payload=(state.task_id, opening.child, opening.summary)))
        events.emit(TaskUnpaused(payload=(state.task_id,)))
        events.emit(TaskDelegationResumed(payload=(state.task_id, opening.child)))

    async def _recall(self) -> RecordedState:
        """Read the logs, and end what a crash left open."""
        state = self._state
        log, history = state.conversation.log, state.conversation.history
        recalled = await recall(
            log, history.view, state.conversation.masker,
            counted_from=state.counted_from, side_by_side=state.external_agent is not None,
            aside=self._interrupted_restores.is_its_own,
        )  # fmt: skip
        state.usage, state.spending, state.todos = recalled.usage, recalled.spending, recalled.todos
        state.told_too_many = recalled.told_too_many
        await self._user_input.keep(recalled.unheard)
        for message in recalled.torn:
            if message.type == "ask":
                await state.dialogue.withdraw(message)
            else:
                await state.conversation.update(message.model_copy(update=_as_left(message)))
        if recalled.request is not None:
            await self._tell_what_it_said(recalled)
            await self._account_for(recalled.request)
        return recalled

    async def _tell_what_it_said(self, recalled: RecordedState) -> None:
        """The model hears what it had said when the server was killed, as it does when its answer is stopped."""
        text = "".join(message.text or "" for message in recalled.spoken)
        if text.strip() and not recalled.calls:
            first = recalled.spoken[0].ts
            await self._state.conversation.add_api("assistant", [text_block(text + CUT_OFF)], ts=first, durable=True)

    async def _account_for(self, request: ClineMessage) -> None:
        info = request_of(request)
        if info is None:
            return
        ended = info.model_copy(
            update={"cancel_reason": "streaming_failed", "streaming_failed_message": SERVER_STOPPED}
        )
        await self._state.conversation.update(request.model_copy(update={"text": ended.to_json()}))


def _as_left(message: ClineMessage) -> dict[str, object]:
    """What is different of a message that nobody goes on with: a countdown does not stand still at some second."""
    left: dict[str, object] = {"partial": False}
    match message.say:
        case "api_req_retry_delayed":
            left["text"] = (message.text or "").partition("\n<retry_timer>")[0]
            if message.model_failure is not None:
                left["model_failure"] = message.model_failure.model_copy(update={"retried": False})
        case "api_req_rate_limit_wait":
            left["text"] = json.dumps({"seconds": 0})
        case "condense_context":
            left["say"] = "condense_context_error"
            left["text"] = _CONDENSING_LEFT
        case "cell_executed":
            left["text"] = _cell_as_left(message.text)
        case _:
            pass
    return left


def _cell_as_left(text: str | None) -> str | None:
    """A cell that ran when the server stopped: nobody saw how it ended."""
    try:
        ran = CellExecuted.model_validate_json(text or "")
    except ValidationError:
        return text
    if ran.state not in ("queued", "running"):
        return text
    return ran.model_copy(update={"state": "interrupted", "reason": _CELL_LEFT}).to_json()
