"""The loop: ask the model, do what it wants, and again, until the work has an end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from ...messages import Halt
from ...providers import ToolCallDone
from ..conversation.conversation import text_block
from .answer_stream import AnswerStream
from .outcomes import Completed, Outcome, TaskStopped
from .tool_calls import Call

if TYPE_CHECKING:
    from .task import Task

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
_MISTAKES: Final = (
    "The model makes one mistake after the other. Tell it what it gets wrong or how to go about this in smaller steps, "
    "let it go on, or choose a more capable model."
)


class Loop:
    """Turn after turn of one task."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._toolless = 0
        self._syncing: asyncio.Task[None] | None = None
        """Brings what a turn recorded to the disk, while the next one asks the model."""

    async def run(self, *, spoken: bool) -> Outcome:
        """Work until the task is done or waits for a subtask; ``spoken`` says that the person's words came last."""
        try:
            return await self._run(spoken=spoken)
        finally:
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
            if isinstance(outcome, Completed) and self._task.queue:
                # Something was said meanwhile: the person is not done yet.
                continue
            return outcome

    async def _turn(self, *, spoken: bool) -> Outcome | None:
        task = self._task
        spoken = await task.words.add_late() or spoken
        spoken = await self._after_mistakes() or spoken
        # Last: words that were said meanwhile may be what let it go on.
        spoken = await task.words.take_queue() or spoken
        await task.renew()
        surroundings = await task.context.environment(task.situation, spoken=spoken)
        if surroundings is not None:
            await task.conversation.add_api("user", [text_block(surroundings.text)], told=surroundings.told)
        stream = await task.requests.answer()
        await self._synced()
        said = stream.answer.message(stream.first_ts or task.conversation.log.next_ts())
        await task.conversation.add_answer(said, task.upkeep.counted)
        if not stream.answer.calls:
            await self._without_tool(stream)
            return None
        self._toolless = 0
        outcome = await task.calls.run([_call(call, stream) for call in stream.answer.calls])
        await task.note_progress()
        self._syncing = asyncio.create_task(task.conversation.log.sync(), name=f"Sync of task {task.task_id}")
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
        task = self._task
        if not task.mistakes.reached(task.mistake_limit):
            return False
        answer = await task.dialogue.ask("mistake_limit_reached", _MISTAKES, halt=Halt(kind="mistakes"))
        task.mistakes.over()
        if answer.response == "noButtonClicked":
            await task.words.add(answer)
            raise TaskStopped
        return await task.words.add(answer)

    async def _without_tool(self, stream: AnswerStream) -> None:
        """An answer that asks for nothing is not an end: once that is said to the model only, then to the person too."""
        task = self._task
        if stream.answer.stop == "pause":
            return
        self._toolless += 1
        if self._toolless > 1:
            await task.conversation.say("error", _NO_TOOL)
            task.mistakes.made()
        text = _GO_ON_WRITING if stream.answer.stop == "max_tokens" else _USE_A_TOOL
        await task.conversation.add_api("user", [text_block(text)])


def _call(call: ToolCallDone, stream: AnswerStream) -> Call:
    return Call(call.id, call.name, call.arguments, stream.previews.get(call.id))
