"""The loop: ask the model, do what it wants, and again, until the work has an end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, Literal

from ...events import TurnEnded, TurnStarted
from ...messages import ClineMessage, EndingReason, Halt
from ...providers import ToolCallDone
from ..conversation.conversation import text_block
from .answer_stream import AnswerStream
from .outcomes import Completed, Outcome, TaskStopped
from .recalled_items import recalled_for_answer
from .tool_calls import Call

if TYPE_CHECKING:
    from ..context_window import ContextWindow
    from ..conversation.user_input import PendingUserInput
    from .model_requests import ModelRequests
    from .task_state import TaskState
    from .tool_calls import ToolCalls

__all__ = ["Loop"]

_NO_TOOL: Final = "MODEL_NO_TOOLS_USED"
_USE_A_TOOL: Final = (
    "[ERROR] You did not use a tool in your previous response. Please retry with a tool use.\n\n"
    "If you have completed the task, use the attempt_completion tool. If you need something from the user, use the "
    "ask_followup_question tool. Otherwise go on with the next step. (This is an automated message, so do not answer it.)"
)
_GO_ON_WRITING: Final = (
    "[ERROR] Your previous response reached the limit of its length and was cut off. Go on from where it ends, in "
    "smaller steps, and use a tool. (This is an automated message, so do not answer it.)"
)
_GOES_ON: Final = (":", "：")
"""How words end that announce a next step."""
_ASKS: Final = ("?", "？")
_MARKUP: Final = " \n\t*_`"
_MISTAKES: Final = (
    "The model keeps making mistakes. Tell it what is wrong or suggest smaller steps, let it continue, or choose a more "
    "capable model."
)


class Loop:
    """Turn after turn of one task."""

    def __init__(
        self,
        state: TaskState,
        requests: ModelRequests,
        calls: ToolCalls,
        window: ContextWindow,
        user_input: PendingUserInput,
    ) -> None:
        self._state = state
        self._requests = requests
        self._calls = calls
        self._window = window
        self._user_input = user_input
        self._toolless = 0
        self._syncing: asyncio.Task[None] | None = None
        """Brings what a turn recorded to the disk, while the next one asks the model."""

    async def run(self, *, spoken: bool) -> Outcome:
        """Work until the task is done or waits for a subtask; ``spoken`` says that the person's words came last."""
        events, task_id = self._state.services.events, self._state.task_id
        events.emit_work(TurnStarted(task_id))
        how: Literal["done", "stopped", "failed"] = "failed"
        try:
            outcome = await self._run(spoken=spoken)
            how = "done"
            return outcome
        except (TaskStopped, asyncio.CancelledError):
            how = "stopped"
            raise
        finally:
            events.emit_work(TurnEnded(task_id, how))
            syncing, self._syncing = self._syncing, None
            if syncing is not None:
                # Another error counts more; whatever the disk refused, the next line is refused, too.
                await asyncio.gather(syncing, return_exceptions=True)

    async def _run(self, *, spoken: bool) -> Outcome:
        while True:
            outcome = await self._turn(spoken=spoken)
            spoken = False
            if outcome is None:
                continue
            if isinstance(outcome, Completed) and self._state.queue:
                # Something was said meanwhile: the person is not done yet.
                continue
            return outcome

    async def _turn(self, *, spoken: bool) -> Outcome | None:
        state = self._state
        spoken = await self._user_input.add_late() or spoken
        spoken = await self._after_mistakes() or spoken
        # What a halt has to tell.
        spoken = await self._user_input.add_late() or spoken
        # Last: words that were said meanwhile may be what let it go on.
        spoken = await self._user_input.take_queue() or spoken
        await state.renew()
        surroundings = await state.context.environment(state, spoken=spoken)
        if surroundings is not None:
            await state.conversation.add_api("user", [text_block(surroundings.text)], told=surroundings.told)
        stream = await self._requests.answer()
        await self._synced()
        said = stream.answer.message(stream.first_ts or state.conversation.log.next_ts())
        await state.conversation.add_answer(said, self._window.counted)
        if not stream.answer.calls:
            return await self._without_tool(stream)
        self._toolless = 0
        calls = [_call(call, stream) for call in stream.answer.calls]
        outcome = await self._calls.run(calls, is_cut=stream.answer.stop == "max_tokens")
        await state.note_progress()
        self._syncing = asyncio.create_task(state.conversation.log.sync(), name=f"Sync of task {state.task_id}")
        if outcome is not None:
            await self._synced()
        return outcome

    async def _synced(self) -> None:
        """Return when the turn before is on the disk: nothing that came of it may be there without it."""
        if self._syncing is not None:
            # It goes on if this is cancelled, and is waited for at the end.
            await asyncio.shield(self._syncing)
            self._syncing = None

    async def _after_mistakes(self) -> bool:
        """Ask the person what to do about a model that errs and errs; whether they said something."""
        state = self._state
        if not state.mistakes.reached(state.mistake_limit):
            return False
        await state.on_halt(EndingReason(code="mistakes"))
        answer = await state.dialogue.ask("mistake_limit_reached", _MISTAKES, halt=Halt(kind="mistakes"))
        state.mistakes.over()
        if answer.response == "noButtonClicked":
            await self._user_input.add(answer)
            raise TaskStopped
        return await self._user_input.add(answer)

    async def _without_tool(self, stream: AnswerStream) -> Outcome | None:
        """Words alone end the turn. Where something is outstanding, the model is told so once, and the person if it errs."""
        state = self._state
        if stream.answer.stop == "pause":
            return None
        if stream.last_text is not None and self._may_end(stream):
            return await self._end_with(stream.last_text)
        self._toolless += 1
        if self._toolless > 1:
            await state.conversation.say("error", _NO_TOOL)
            state.mistakes.made()
        text = _GO_ON_WRITING if stream.answer.stop == "max_tokens" else _USE_A_TOOL
        await state.conversation.add_api("user", [text_block(text)])
        return None

    def _may_end(self, stream: AnswerStream) -> bool:
        """Whether an answer without a tool leaves nothing outstanding."""
        state, said = self._state, stream.answer.text.rstrip(_MARKUP)
        if stream.answer.stop == "max_tokens" or state.ends_by_tool:
            return False
        if said.endswith(_ASKS) or self._toolless:
            # The person is to say something; or the model was told that more is to be done, and sees it otherwise.
            return True
        return not said.endswith(_GOES_ON) and all(todo.status == "completed" for todo in state.todos)

    async def _end_with(self, answer: ClineMessage) -> Completed:
        """The words are the result, as if a tool had told it."""
        state = self._state
        recalled = [*await recalled_for_answer(state)] or None
        result = answer.model_copy(update={"say": "completion_result", "recalled": recalled})
        await state.conversation.update(result, durable=True)
        await state.note_progress()
        return Completed(answer.text or "")


def _call(call: ToolCallDone, stream: AnswerStream) -> Call:
    return Call(call.id, call.name, call.arguments, stream.previews.get(call.id))
