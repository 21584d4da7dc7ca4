"""One conversation that is being worked on: an asyncio task of its own, made of the parts that do the work."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final

from ..._background_tasks import BackgroundTasks
from ...config import ModeConfig
from ...errors import HdspAgentError
from ...messages import (
    ClineMessage,
    CompletionInfo,
    Ending,
    EndingReason,
    StoppedBy,
    TaskAborted,
    TaskCompleted,
    TaskId,
    attachments_text,
    ending_text,
)
from ...persistence import MessageManager, TaskLog, as_left
from ...persistence import Outcome as LogOutcome
from ...tools import ActionRequest, Approval, ApprovalAsk, PutBack
from ...tools.compound import put_back
from .._agent_services import AgentServices
from ..context_window import ContextWindow
from ..conversation.asks import AskAnswer, AskNotOpen, GivenAnswer
from ..conversation.auto_answer import AutoAnswer
from ..conversation.notebook_copy import NotebookCopy
from ..conversation.user_input import PendingUserInput
from ..conversation.user_text import Spoken
from ..external.calls import ProgramCalls, ProgramContact
from ..external.loop import ExternalLoop
from ..lite import PUT_BACK
from ..user_messages import ExpandedMessage, MessageExpander
from .flow_port import TaskFlow
from .loop import Loop
from .model_requests import ModelRequests
from .outcomes import Again, ChildDone, Completed, Delegated, Opening, Outcome, TaskStopped
from .start_resume import TaskStarter
from .task_state import TaskState
from .tool_calls import ToolCalls
from .tool_context import CallContext, CallParts, QuietContext

__all__ = ["CANCEL_SECONDS", "Task"]

CANCEL_SECONDS: Final = 0.18
"""A cancel answers within 200 ms, whatever is running."""

_LAST_SECONDS: Final = 1.0
_READY_SECONDS: Final = 30.0
_LOOK_SECONDS: Final = 0.05
_GO_ON: Final = ("resume_task", "resume_completed_task", "mistake_limit_reached")
"""Questions that any words answer. Words typed before a question was read answer no other."""
OnSettled = Callable[["Task", Outcome], Awaitable[None]]
OnFailure = Callable[["Task"], Awaitable[None]]


class Task:
    """Works on one conversation: ``launch`` begins the work, ``cancel`` and ``close`` end it."""

    def __init__(
        self,
        services: AgentServices,
        log: TaskLog,
        history: MessageManager,
        mode: ModeConfig,
        profile: str,
        *,
        parent_waits: bool,
        on_settled: OnSettled,
        on_failure: OnFailure,
    ) -> None:
        state = TaskState(services, log, history, mode, profile, parent_waits=parent_waits)
        self.state: Final = state
        self.window: Final = ContextWindow(state)
        self.expander: Final = MessageExpander(state)
        self.auto_answer: Final = AutoAnswer(state, self.answer)
        self.flow: Final = TaskFlow(state, self._approve, self._cells_back)
        self._parts: Final = CallParts(self.flow, self.auto_answer, self.expander.expand)
        self.user_input: Final = PendingUserInput(state, self.expander.expand)
        self.calls: Final = ToolCalls(state, self._parts, self.window, self.user_input)
        self.requests: Final = ModelRequests(state, self.window, self.user_input, self.calls.preview)
        self.external: Final = (
            ExternalLoop(state, self.user_input, self._program_calls) if state.external_agent is not None else None
        )
        """Where the calls of a program outside arrive; None for a task of our own agent."""
        loop = self.external or Loop(state, self.requests, self.calls, self.window, self.user_input)
        self._starter: Final = TaskStarter(state, loop, self.calls, self.user_input, self.expander.expand)
        self._notebook_copy: Final = NotebookCopy(state)
        state.on_queue_changed = self._heed_queue
        state.on_halt = self._halted
        state.dialogue.asks.on_open = self._asked
        self._ending = asyncio.Lock()
        self._on_settled = on_settled
        self._on_failure = on_failure
        self._worker: asyncio.Task[None] | None = None
        self._cancelled: asyncio.Task[None] | None = None
        self._settled = False
        self._held = BackgroundTasks()

    def _program_calls(self, contact: ProgramContact) -> ProgramCalls:
        """What makes one call of a program outside: what is denied or decided in it is nothing to another one."""
        parts = CallParts(TaskFlow(self.state, self._approve, self._cells_back), self.auto_answer, _as_said)
        return ProgramCalls(self.state, parts, self.window, self.user_input, contact)

    @property
    def task_id(self) -> TaskId:
        """Its id."""
        return self.state.task_id

    # ---- life

    def launch(self, opening: Opening) -> None:
        """Begin to work."""
        self._worker = asyncio.create_task(self._work(opening), name=f"hdsp-agent task {self.task_id}")

    async def answer(self, ts: int, given: GivenAnswer) -> AskAnswer:
        """The person's answer to the question ``ts``. Raises AskNotOpen for a late, second or unknown one."""
        deadline = asyncio.get_running_loop().time() + _READY_SECONDS
        while await self._is_about_to_ask(ts) and asyncio.get_running_loop().time() < deadline:
            await self.state.dialogue.asks.next_open(_LOOK_SECONDS)
        # To its end, even if whoever brings the answer goes away.
        return await self._held.finish(self.state.dialogue.answer(ts, given))

    async def _is_about_to_ask(self, ts: int) -> bool:
        """Whether its log shows a question that it has not put yet: a page that opens just now reads the log too."""
        asks = self.state.dialogue.asks
        if self.state.stopping or self.state.is_over or asks.is_open(ts):
            return False
        if any(other.ts > ts and other.ask != "command_output" for other in asks.open):
            # Something else was asked instead.
            return False
        message = await self.state.conversation.log.ui.get(ts)
        return message is not None and message.type == "ask" and message.is_answered is None and not message.partial

    async def cancel(self, by: StoppedBy = "person") -> None:
        """Stop what is being done; afterwards the person is asked whether to go on. Answers within 200 ms."""
        self.window.give_up()
        worker = self._worker
        if (
            worker is None
            or worker.done()
            or self._settled
            or self.state.dialogue.asks.newest("resume_task", "resume_completed_task")
        ):
            return
        if worker is not self._cancelled:
            # Who cancels again waits with the first; the work is taken up once.
            self._cancelled = worker
            self.state.stopped_by = by
            self.state.queue.leave()
            asked = self.state.dialogue.asks.open
            worker.cancel()
            self.state.tool_state.runs.interrupt_all()
            self._held.begin(self._after_cancel(worker, asked, by))
        await asyncio.wait({worker}, timeout=CANCEL_SECONDS)

    async def halt(self) -> None:
        """End the work where it is, without a word; ``launch`` goes on."""
        self.state.stopping = True
        worker = self._worker
        if worker is not None:
            worker.cancel()
            await asyncio.wait({worker})
        await self.window.stop()
        await self._held.drain()
        self.state.stopping = False
        self.state.dialogue.at_rest()

    async def go_on_with(self, opening: ChildDone) -> None:
        """Its subtask is done while it asks whether to go on: the question has an answer. One that went on needs none."""
        asked = self.state.dialogue.asks.newest("resume_task")
        if asked is None:
            return
        await self.halt()
        await self.state.dialogue.withdraw(asked)
        self.launch(opening)

    async def close(self) -> None:
        """Stop with the server, and let go of the log: a question that waits goes on waiting in it."""
        self.state.server_ends = True
        await self.halt()
        self.state.stopping = True
        await self.let_go()

    async def ended(self) -> None:
        """Wait until the work has come to its end by itself."""
        if self._worker is not None:
            await asyncio.wait({self._worker})

    async def let_go(self) -> None:
        """Let go of everything: a task that was done already is completed again, any other is paused. The work has ended."""
        await self._end("completed" if self.state.item.status == "completed" else None)

    async def finish(self) -> None:
        """The task is over: put its log with the completed ones. The work has ended."""
        await self._end("completed")

    async def run_out(self, why: str) -> None:
        """Its time is over: put it with the completed ones, from where it can go on. The work has ended."""
        try:
            await self.state.conversation.say("error", why, durable=True)
        except HdspAgentError as error:
            self.state.logger.error("The time limit could not be noted in the conversation: %s", error)
        await self._end("timeout", why)

    async def _end(self, outcome: LogOutcome | None, error: str | None = None) -> None:
        # The server may stop just when the task comes to its end by itself.
        async with self._ending:
            if self.state.is_over:
                return
            self.state.dialogue.asks.go_on()
            if self.external is not None:
                self.external.close()
            log = self.state.conversation.log
            try:
                if not self.state.completed and not self.state.server_ends:
                    await self._halted(EndingReason(code="stopped"), run_again=False)
                await self._end_tools()
                await self.state.history_sync.told()
                await self._notebook_copy.write()
                if outcome is not None:
                    await log.finish(outcome, error=error, resumable=outcome == "timeout")
            finally:
                # Whatever was refused, such as by a full disk: with its lock kept nobody could go on with the task.
                await log.close()
                self.state.is_over = True
            self.state.history_sync.tell(as_left(self.state.item, log.state))
            await self.state.history_sync.told()

    async def _end_tools(self) -> None:
        """Nothing the task has begun goes on without it: no command, and no cell."""
        await self.state.cancellation.gone(_LAST_SECONDS)
        if self.state.services.notebooks is not None:
            await self.state.services.notebooks.executor.release(self.task_id)
        await self.state.tool_state.close()

    async def _after_cancel(self, worker: asyncio.Task[None], asked: Sequence[ClineMessage], by: StoppedBy) -> None:
        await asyncio.wait({worker})
        for message in asked:
            # Whoever stops the task does not want to be asked this again.
            await self.state.dialogue.withdraw(message)
        await self._notebook_copy.write()
        self.state.services.events.emit(TaskAborted(payload=(self.task_id,)))
        if not self.state.stopping and not self._settled:
            self.launch(Again(stopped_by=by))

    async def _work(self, opening: Opening) -> None:
        self.state.logger.info(
            "Work begins (%s): mode %s, profile %s", type(opening).__name__, self.state.mode.slug, self.state.profile
        )
        outcome: Outcome | None = None
        failed_at: int | None = None
        while outcome is None:
            try:
                outcome = await self._starter.run(opening)
            except TaskStopped:
                self.state.queue.leave()
                opening = Again(stopped_by="person")
            except Exception as error:  # noqa: BLE001 -- a task ends with a word to the person, whatever it was
                self.state.queue.leave()
                # What fails even before a question is put would fail again and again.
                for_good, failed_at = failed_at == self.state.dialogue.asks.asked, self.state.dialogue.asks.asked
                if not await self._tell_failure(error, for_good=for_good):
                    return
                opening = Again()
        try:
            await self._held.finish(self._settle(outcome))
        except Exception as error:
            self.state.logger.error("The end of the task could not be saved: %s", error, exc_info=error)
            self._held.begin(self._give_up())

    async def _tell_failure(self, error: Exception, *, for_good: bool) -> bool:
        """Say what went wrong; whether the conversation can go on."""
        self.state.logger.error("The task stopped: %s", error, exc_info=error)
        text = error.message if isinstance(error, HdspAgentError) else f"{type(error).__name__}: {error}"
        try:
            await self.state.conversation.say("error", f"The task stopped because of an error: {text}", durable=True)
        except HdspAgentError as second:
            self.state.logger.error("Nothing can be saved, so the task is paused: %s", second)
            for_good = True
        if for_good:
            self.state.dialogue.at_rest()
            self._held.begin(self._give_up())
        return not for_good

    async def _give_up(self) -> None:
        await self._on_failure(self)

    async def _settle(self, outcome: Outcome) -> None:
        self._settled = True
        self.state.logger.info(
            "Work ended (%s): %d tokens in, %d out, $%.4f",
            type(outcome).__name__,
            self.state.usage.tokens_in,
            self.state.usage.tokens_out,
            self.state.cost,
        )
        match outcome:
            case Completed(again=again, result=result):
                self.state.completed = True
                if not again:
                    await self._tell_completed(result)
            case Delegated():
                self.state.dialogue.at_rest()
        await self._on_settled(self, outcome)

    async def _tell_completed(self, result: str) -> None:
        waits = self.state.parent is not None and not self.state.returned
        if not waits:
            await self.state.conversation.create(
                self.state.conversation.ask_message("completion_result", ""), durable=True
            )
        await self.state.note_item(status="completed", completion_result_summary=result)
        info = CompletionInfo(is_subtask=self.state.parent is not None)
        payload = (self.task_id, self.state.usage.tokens(), self.state.usage.tool_usage(), info)
        self.state.services.events.emit(TaskCompleted(payload=payload, tools=self.state.usage.own_tools()))
        if not waits:
            self.state.dialogue.resting_with("completion_result")

    # ---- cells of work that did not come to its end

    async def _cells_back(self, failed_only: bool, *, run_again: bool = True) -> PutBack:
        if self.state.services.notebooks is None:
            return "nothing"
        context = QuietContext(self.state, self._parts)
        return await put_back(context, failed_only=failed_only, run_again=run_again)

    async def _halted(self, reason: EndingReason, *, run_again: bool = True) -> None:
        """Put the cells back that were changed half-way, and say so; the model hears of it before its next turn."""
        if not list(self.state.tool_state.changed):
            return
        await self.state.cancellation.gone(_LAST_SECONDS)
        came = await self._cells_back(False, run_again=run_again)
        if came == "nothing":
            return
        ending = Ending(state="not_done", checks=[], reason=reason, put_back=came == "done")
        await self.state.conversation.say("text", ending_text(ending), durable=True, ending=ending.to_wire())
        if came == "done":
            self.user_input.note(PUT_BACK)

    # ---- what waits in the queue

    def _asked(self) -> None:
        self._heed_queue()
        if self.state.dialogue.asks.newest("followup") is not None:
            self._held.begin(self._notebook_copy.write())

    def _heed_queue(self) -> None:
        """What was said since the work stopped is the answer to a question whether to go on; it is told in the next turn."""
        question = self.state.dialogue.asks.newest(*_GO_ON)
        if question is not None and self.state.queue.wants_to_go_on and not self.state.stopping:
            self._held.begin(self._go_on(question.ts))

    async def _go_on(self, ts: int) -> None:
        # Whoever answers first does.
        with suppress(AskNotOpen):
            await self.state.dialogue.answer(ts, GivenAnswer("messageResponse"))

    async def _approve(self, action: ActionRequest, ask: ApprovalAsk, text: str) -> Approval:
        """Have the person decide about something that is no call of a tool."""
        return await CallContext(self.state, self._parts).approve(action, ask, text)


async def _as_said(spoken: Spoken) -> ExpandedMessage:
    """The person's words to a program outside, word for word: nothing is read that they name."""
    return ExpandedMessage(spoken.text, tuple(spoken.images or ()), attachments_text(spoken.attachments or ()))
