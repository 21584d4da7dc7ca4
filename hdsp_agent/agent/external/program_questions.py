"""A question about a program's call, put to the person in the program's own window as well, where they allow that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..._background_tasks import BackgroundTasks
from ...errors import HdspAgentError
from ...messages import ClineMessage
from ...question_texts import flag_lines, question_lines
from ..approval import Decision
from ..conversation.asks import AskNotOpen, GivenAnswer
from ..conversation.dialogue import Beside

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..task.task_state import TaskState
    from .port import AskProgram

__all__ = ["LONGEST_QUESTION", "ProgramQuestions"]

LONGEST_QUESTION: Final = 4_000
"""Characters. What is longer is asked here alone: nobody should say yes to what they did not see whole."""
_FIRST_LINE: Final = "Allow this in JupyterLab?"


class ProgramQuestions:
    """Asks there beside the question here. ``on_answer`` is told of each answer from there that counted.

    A program can answer by itself, so this is off until the person switches it on for programs of its name, and never
    counts for what the operator wants to be asked about, or for what only a person may allow.
    """

    def __init__(self, state: TaskState, ask: AskProgram | None, on_answer: Callable[[], None]) -> None:
        self._state = state
        self._ask = ask
        self._on_answer = on_answer
        self._held = BackgroundTasks()

    def beside(self, decision: Decision) -> Beside | None:
        """What is done while the question here waits; None where it is asked here alone."""
        ask = self._ask
        if ask is None or decision.only_here or not self._is_allowed:
            return None

        async def put(question: ClineMessage) -> None:
            await self._put(question, ask)

        return put

    @property
    def _is_allowed(self) -> bool:
        """Looked at once more when an answer comes: the person may have changed their mind."""
        services, name = self._state.services, self._state.external_agent
        # Where the operator decides what other agents may do, it is they who want the question asked.
        fixed = services.policy().forced_settings()
        return (
            name is not None
            and "clientApprovals" not in fixed
            and services.settings().client_questions.get(name, False)
        )

    async def _put(self, question: ClineMessage, ask: AskProgram) -> None:
        text = "\n".join([_FIRST_LINE, "", *question_lines(question), *flag_lines(question)])
        if len(text) > LONGEST_QUESTION:
            return
        try:
            approved = await ask(text)
        except Exception as error:  # noqa: BLE001 -- whatever the program says or does, the question here stays
            self._state.logger.info("Another agent could not be asked in its own window: %r", error)
            return
        if approved is None or not self._is_allowed:
            return
        # To its end, even if the call is given up just now.
        await self._held.finish(self._take(question.ts, approved))

    async def _take(self, ts: int, approved: bool) -> None:
        given = GivenAnswer("yesButtonClicked" if approved else "noButtonClicked", given_in=self._state.external_agent)
        try:
            await self._state.dialogue.answer(ts, given)
        except AskNotOpen:
            # It was answered here first.
            return
        except HdspAgentError as error:
            self._state.logger.error(
                "An answer from another agent could not be recorded; the question stays: %s", error
            )
            return
        self._on_answer()
