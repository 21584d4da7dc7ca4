"""One task from its beginning to its end, with somebody who answers what it asks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from .._timeouts import wait_at_most
from ..agent import AskNotOpen
from ..messages import TaskCompleted, TaskId, TaskIdle, TaskInteractive, TaskResumable
from ..question_texts import visible
from ._command import ExitCode
from ._responder import Reply, Responder

if TYPE_CHECKING:
    from ..agent import TaskManager
    from ..messages import ClineMessage, TaskEvent
    from ._terminal import Terminal

__all__ = ["TaskRun"]

_LOOK_SECONDS: Final = 1.0
_TAKES_UP: Final = frozenset({"resume_task", "resume_completed_task", "completion_result"})
_UNDONE: Final = frozenset({"tool", "command", "use_mcp_server", "followup", "auto_approval_max_req_reached"})


class TaskRun:
    """Drives one task and its subtasks; ``end`` says how the program ends."""

    def __init__(
        self, manager: TaskManager, terminal: Terminal, responder: Responder, *, answers_itself: bool = False
    ) -> None:
        self._manager = manager
        self._terminal = terminal
        self._responder = responder
        self._answers_itself = answers_itself
        self._asking: asyncio.Queue[TaskId] = asyncio.Queue()
        self._completed = asyncio.Event()
        self._task: TaskId | None = None
        self._words: str | None = None
        self._takes_up = False
        self._refused = False

    def begun(self, task_id: TaskId, *, words: str | None = None) -> None:
        """This is the task. One that is taken up again is told ``words`` when it asks whether to go on."""
        self._takes_up = self._task is None and task_id not in self._manager.tasks.open
        self._task, self._words = task_id, words
        self._terminal.note(f"task {task_id}")

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Hear what happens, from before the beginning."""
        hush = self._manager.tasks.events.on_any(self._heard)
        try:
            yield
        finally:
            hush()

    async def end(self, task_id: TaskId) -> ExitCode:
        """Answer what is asked until the task is done or cannot go on."""
        idle = 0
        while not self._completed.is_set():
            question = await self._next_question()
            if question is not None:
                idle = 0
                if not await self._answer(*question):
                    self.say_kept()
                    return ExitCode.FOUND if question[1].ask in _UNDONE else ExitCode.FAILED
            elif not self._manager.tasks.open and not self._completed.is_set():
                # Nothing could be recorded any more: the log says why.
                idle += 1
                if idle > 1:
                    self._terminal.error(f"task {task_id} was paused; see the warnings above")
                    self.say_kept()
                    return ExitCode.FAILED
        self._terminal.note(
            f"task {task_id} is completed" + (", but something was left undone" if self._refused else "")
        )
        return ExitCode.FOUND if self._refused else ExitCode.OK

    async def run_out(self, why: str) -> ExitCode:
        """End the task because its time is over. One that came to its end just now is completed all the same."""
        assert self._task is not None
        await self._manager.run_out(self._task, why)
        if self._completed.is_set():
            return ExitCode.OK
        self._terminal.error(why)
        self.say_kept()
        return ExitCode.TIMED_OUT

    def say_kept(self) -> None:
        """Tell how to go on."""
        if self._task is not None:
            self._terminal.error(f"task {self._task} is saved. To continue it: hdsp-agent run --resume {self._task}")

    def _heard(self, event: TaskEvent) -> None:
        if self._terminal.json:
            self._terminal.record(event.to_wire())
            self._terminal.flush()
        match event:
            case TaskCompleted(payload=(task_id, *_)) if task_id == self._task:
                self._completed.set()
                self._asking.put_nowait(TaskId(task_id))
            case TaskInteractive(payload=(task_id,)) | TaskIdle(payload=(task_id,)) | TaskResumable(payload=(task_id,)):
                self._asking.put_nowait(TaskId(task_id))
            case _:
                pass

    async def _next_question(self) -> tuple[TaskId, ClineMessage] | None:
        try:
            task_id = await wait_at_most(self._asking.get(), _LOOK_SECONDS)
        except TimeoutError:
            return None
        task = self._manager.tasks.opened(task_id)
        question = task.state.dialogue.asks.newest() if task is not None else None
        return (task_id, question) if question is not None else None

    async def _answer(self, task_id: TaskId, question: ClineMessage) -> bool:
        """Whether it was answered."""
        reply = await self._taking_up(task_id, question)
        if reply is None:
            if self._answers_itself and question.ask == "followup":
                return True
            if question.ask not in _UNDONE and question.text:
                self._terminal.warn(visible(question.text))
            reply = await self._responder.answer(question)
        if reply is None:
            return False
        self._refused = self._refused or reply.refused
        try:
            await self._manager.answer(task_id, question.ts, reply.response, reply.text)
        except AskNotOpen:
            # Answered from elsewhere, or the task went on without it.
            self._terminal.note("the question was already answered")
        return True

    async def _taking_up(self, task_id: TaskId, question: ClineMessage) -> Reply | None:
        """The first question of a task taken up again is whether to go on; that was said on the command line."""
        if not self._takes_up:
            return None
        self._takes_up = False
        if question.ask in _TAKES_UP:
            return Reply("messageResponse", self._words) if self._words else Reply("yesButtonClicked")
        if self._words:
            # Something else waits for an answer, which words must not be.
            await self._manager.queue(task_id, self._words)
        return None
