"""Doing what the model asked for: every call gets exactly one result, whatever happens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from time import monotonic
from typing import TYPE_CHECKING, Final, Literal, cast

from pydantic import JsonValue

from ...errors import HdspAgentError, InvalidInput
from ...events import ToolCallEnded, tool_failed
from ...messages import EndingReason, Halt, JsonObject
from ...persistence import INTERRUPTED, ApiRecord, ToolDraft
from ...providers import parsed_arguments
from ...tools import Tool, ToolArguments, ToolFailed, ToolResult
from ..checkpoints.checkpoint_service import SavedStep
from .outcomes import Delegated, Outcome
from .repetition import MOST_REPETITIONS
from .tool_context import CallContext, CallParts

if TYPE_CHECKING:
    from ..context_window import ContextWindow
    from ..conversation.user_input import PendingUserInput
    from .task_state import TaskState

__all__ = ["Call", "ToolCalls", "calls_of"]

_SKIPPED: Final = "Skipping tool {name} due to user rejecting a previous tool."
_AFTER_THE_END: Final = (
    "{name} was not run: {end} ends the turn, so it must be the last call. Make this call again later."
)
_REPEATED: Final = (
    "{name} was called {count} times in a row with the same arguments, so this call was not made. Try another way."
)
_MOST_RECORDED: Final = 20_000


@dataclass(frozen=True)
class Call:
    """One call of an answer; ``shown_at`` is the time of the question that its streaming arguments showed."""

    id: str
    name: str
    arguments: str
    shown_at: int | None = None


def calls_of(blocks: Sequence[JsonObject]) -> list[Call]:
    """The calls in content blocks of the log."""
    return [
        Call(str(block.get("id")), str(block.get("name")), json.dumps(block.get("input"), ensure_ascii=False))
        for block in blocks
        if block.get("type") == "tool_use"
    ]


class ToolCalls:
    """Runs the calls of one task."""

    def __init__(self, state: TaskState, parts: CallParts, window: ContextWindow, user_input: PendingUserInput) -> None:
        self._state = state
        self._parts = parts
        self._window = window
        self._user_input = user_input
        self._failures: dict[str, str] = {}

    def preview(self, tool: str, partial: JsonObject) -> str | None:
        """What to show of a call while its arguments stream."""
        try:
            return self._state.toolbox.get(tool).preview(partial, CallContext(self._state, self._parts))
        except HdspAgentError:
            return None

    async def run(self, calls: Sequence[Call], *, is_cut: bool = False) -> Outcome | None:
        """Run them in order, neighbours that only read side by side; what they made of the turn.

        ``is_cut`` tells that the answer they are in reached the limit of its length.
        """
        flow = self._parts.flow
        flow.begin_turn(is_cut=is_cut)
        for together, group in groupby(calls, self._may_run_beside):
            if together:
                await self._side_by_side(list(group))
                continue
            for call in group:
                await self._one(call)
        return flow.outcome

    def _may_run_beside(self, call: Call) -> bool:
        tool = self._tool(call.name)
        return tool is not None and tool.parallel_safe

    async def _side_by_side(self, calls: Sequence[Call]) -> None:
        tasks = [asyncio.create_task(self._one(call), name=f"Tool {call.name}") for call in calls]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _one(self, call: Call) -> None:
        await self._do(call)
        if call.shown_at is not None:
            # Shown while it streamed, and then never asked. What was shown may end in the middle of a word.
            whole = self.preview(call.name, _object(call.arguments))
            await self._state.withdraw_question(call.shown_at, whole, self._failures.pop(call.id, None))

    async def _do(self, call: Call) -> None:
        flow = self._parts.flow
        if flow.rejected:
            await self._answer(call, ToolResult(_SKIPPED.format(name=call.name), is_error=True))
            return
        if flow.outcome is not None:
            end = "new_task" if isinstance(flow.outcome, Delegated) else "attempt_completion"
            await self._answer(call, ToolResult(_AFTER_THE_END.format(name=call.name, end=end), is_error=True))
            return
        try:
            tool, arguments = self._understood(call)
        except InvalidInput as error:
            await self._failed(call, error.message)
            return
        if not await self._not_again(call):
            return
        await self._run_tool(call, tool, arguments)

    async def _run_tool(self, call: Call, tool: Tool, arguments: ToolArguments) -> None:
        state = self._state
        checkpoints = state.services.checkpoints
        notebook = state.notebook.path if state.notebook is not None else None
        saved = (
            None if checkpoints is None else SavedStep(checkpoints, state.folder, state.task_id, call.name, notebook)
        )
        context = self._context(call, saved)
        state.conversation.log.update_state(last_activity="tool_execution")
        begun = monotonic()
        try:
            running = _saved(tool, arguments, context, saved)
            result = await state.cancellation.run(running, f"Tool {call.name} of task {state.task_id}")
        except ToolFailed as failure:
            result = ToolResult(str(failure), is_error=True)
        except HdspAgentError as error:
            if state.conversation.log.paused is not None:
                # The task itself cannot go on: nothing more can be recorded.
                raise
            result = ToolResult(error.message, is_error=True)
        except Exception as error:
            state.logger.exception("The tool %s failed", call.name)
            result = ToolResult(f"{call.name} failed: {type(error).__name__}: {error}", is_error=True)
        how: Literal["denied", "failed", "done"] = (
            "denied" if context.denied else "failed" if result.is_error else "done"
        )
        seconds = monotonic() - begun
        state.logger.info("Tool %s: %s, %d ms", call.name, how, seconds * 1000)
        state.services.events.emit_work(ToolCallEnded(state.task_id, call.name, how, seconds))
        if result.is_error and not context.denied:
            at = None if result.shown else context.approved_at
            await self._failed(call, result, seconds, approved_at=at)
            return
        if not context.denied:
            state.mistakes.over()
        if tool.reads_external and not context.denied:
            state.conversation.log.update_state(has_external_content=True)
        await self._record(call, result, seconds)
        if isinstance(self._parts.flow.outcome, Delegated):
            # Its result is the subtask's, which comes when that is done.
            return
        await self._answer(call, result)

    # ---- before

    def _context(self, call: Call, saved: SavedStep | None) -> CallContext:
        return CallContext(self._state, self._parts, shown_at=call.shown_at, saved=saved)

    def _understood(self, call: Call) -> tuple[Tool, ToolArguments]:
        state = self._state
        tool = self._tool(call.name)
        if tool is None or all(spec.name != call.name for spec in state.tools):
            known = ", ".join(spec.name for spec in state.tools)
            raise InvalidInput(f"There is no tool {call.name} in this mode. Use one of: {known}.", field="name")
        arguments = state.toolbox.validate(call.name, call.arguments)
        try:
            parsed_arguments(call.arguments)
        except ValueError as error:
            raise InvalidInput(f"The arguments of {call.name} cannot be used: {error}.") from None
        return tool, arguments

    def _tool(self, name: str) -> Tool | None:
        try:
            return self._state.toolbox.get(name)
        except HdspAgentError:
            return None

    async def _not_again(self, call: Call) -> bool:
        """Whether the model may make this call, or has made it too often without a change."""
        state = self._state
        # A question that is put again after a restart was counted when it was put first.
        if state.asks_everything or state.repetition.allows(call.name, _object(call.arguments)):
            return True
        await state.on_halt(EndingReason(code="mistakes"))
        answer = await state.dialogue.ask(
            "mistake_limit_reached",
            f"The model keeps calling {call.name} in the same way. Tell it what to do differently, or let it continue.",
            halt=Halt(kind="repetition", tool=call.name),
        )
        self._user_input.add_later(answer)
        await self._failed(call, _REPEATED.format(name=call.name, count=MOST_REPETITIONS), counts=False)
        return False

    # ---- after

    async def _failed(
        self,
        call: Call,
        why: str | ToolResult,
        seconds: float = 0.0,
        *,
        counts: bool = True,
        approved_at: int | None = None,
    ) -> None:
        state = self._state
        result = ToolResult(why, is_error=True) if isinstance(why, str) else why
        self._parts.flow.failed_before = True
        if counts and result.counts:
            state.mistakes.made()
        await self._record(call, result, seconds)
        await self._answer(call, result)
        error = (await state.conversation.mask(_text_of(result)))[:1000]
        if approved_at is not None:
            await state.dialogue.failed(approved_at, error)
        elif call.shown_at is not None:
            self._failures[call.id] = error
        state.services.events.emit(tool_failed(state.task_id, call.name, error))

    async def _record(self, call: Call, result: ToolResult, seconds: float) -> None:
        state = self._state
        text = await state.conversation.mask(_text_of(result)[:_MOST_RECORDED])
        state.usage.tried(call.name, failed=result.is_error)
        await state.conversation.log.append_tool(
            ToolDraft(
                tool_name=call.name,
                arguments=_object(call.arguments),
                result=text,
                status="error" if result.is_error else "success",
                error=text if result.is_error else None,
                duration_ms=int(seconds * 1000),
            )
        )

    async def _answer(self, call: Call, result: ToolResult) -> None:
        """Put the call's one result into the conversation."""
        await self._put_answer(call, result)

    async def _put_answer(self, call: Call, result: ToolResult) -> ApiRecord:
        content = cast("JsonValue", await self._window.bounded(result.content))
        block: JsonObject = {"type": "tool_result", "tool_use_id": call.id, "content": content}
        if result.is_error:
            block["is_error"] = True
        # On the disk at the end of the turn at the latest.
        return await self._state.conversation.add_api("user", [block])

    async def answered(self, call: Call, text: str) -> None:
        """Give a call a result that came from elsewhere."""
        await self._answer(call, ToolResult(text))

    async def interrupted(self, calls: Sequence[Call], why: str = INTERRUPTED) -> None:
        """Give these calls the result that nobody knows theirs."""
        for call in calls:
            await self._answer(call, ToolResult(why, is_error=True))


async def _saved(tool: Tool, arguments: ToolArguments, context: CallContext, step: SavedStep | None) -> ToolResult:
    """Run a tool; its step ends when the tool does, even if that is after the task was stopped."""
    try:
        return await tool.run(arguments, context)
    finally:
        if step is not None:
            step.ended()


def _object(arguments: str) -> JsonObject:
    try:
        value = parsed_arguments(arguments)
    except ValueError:
        value = arguments
    return value if isinstance(value, dict) else {"invalid_arguments": value}


def _text_of(result: ToolResult) -> str:
    if isinstance(result.content, str):
        return result.content
    return "\n".join(str(block.get("text", "")) for block in result.content if block.get("type") == "text")
