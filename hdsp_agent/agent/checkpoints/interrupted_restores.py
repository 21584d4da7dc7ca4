"""A restore that was cut short: whoever goes on in that folder is asked first what becomes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from ...errors import HdspAgentError
from ...messages import ClineMessage, FollowUpData, Suggestion

if TYPE_CHECKING:
    from ..conversation.asks import AskAnswer
    from ..task.task_state import TaskState
    from .checkpoint_service import CheckpointService

__all__ = ["InterruptedRestores"]


@dataclass(frozen=True)
class _Question:
    """What is asked, and what each answer that it suggests means."""

    text: str
    choices: Mapping[str, Literal["roll_back", "keep"]]


def _question(text: str, put_back: str, keep: str) -> _Question:
    data = FollowUpData(question=text, suggest=[Suggestion(answer=answer) for answer in (put_back, keep)])
    return _Question(data.to_json(), {put_back: "roll_back", keep: "keep"})


_OF_FILES: Final = _question(
    "The server stopped while files in this folder were being restored, so only some of them are restored. What should "
    "happen to them? What you changed since is kept either way.",
    "Roll back the files",
    "Keep the files as they are now",
)
_OF_SEVERAL_PARTS: Final = _question(
    "The server stopped while this folder was being restored to an earlier checkpoint, so only some of its files, cells and "
    "variables are restored. What should happen to them? What you changed since is kept either way.",
    "Roll back everything",
    "Keep everything as it is now",
)
_OF_A_CONVERSATION_TOO: Final = _question(
    "The server stopped while this folder was being restored to an earlier checkpoint. Only some of its files, cells and "
    "variables, or of the conversation that belongs to them, are restored. What should happen to them? What you changed or "
    "said since is kept either way.",
    "Roll back everything",
    "Keep everything as it is now",
)
_QUESTIONS: Final = (_OF_FILES, _OF_SEVERAL_PARTS, _OF_A_CONVERSATION_TOO)
# As version 0.1 put them: they stand in conversations from then.
_FORMER_QUESTIONS: Final = (
    _question(
        "The server was stopped while files of this folder were being brought back, so some of them are as they were "
        "then and some are not. What should become of them? What you changed since stays either way.",
        "Put the files back as they were before",
        "Keep the files as they are now",
    ),
    _question(
        "The server was stopped while this folder was being brought back to an earlier checkpoint, so some of its files, cells and "
        "variables are as they were then and some are not. What should become of them? What you changed since stays either way.",
        "Put everything back as it was before",
        "Keep everything as it is now",
    ),
    _question(
        "The server was stopped while this folder was being brought back to an earlier checkpoint, so some of its files, cells and "
        "variables, or the conversation that belongs to them, are as they were then and some are not. What should become of them? "
        "What you changed or said since stays either way.",
        "Put everything back as it was before",
        "Keep everything as it is now",
    ),
)
_KNOWN: Final = (*_QUESTIONS, *_FORMER_QUESTIONS)


class InterruptedRestores:
    """Asks in one task's conversation, and does as the person says."""

    def __init__(self, state: TaskState, add_later: Callable[[AskAnswer], None]) -> None:
        self._state = state
        self._add_later = add_later

    async def settle(self, waiting: ClineMessage | None = None) -> bool:
        """Ask if there is such a restore; ``waiting`` is this question if it waits in the log. Says whether this conversation
        is another now, because it had gone back with the rest and was put back."""
        state, checkpoints = self._state, self._state.services.checkpoints
        before = state.conversation.history.view
        question = None if checkpoints is None else await self._question(checkpoints)
        if checkpoints is None or question is None:
            if waiting is not None:
                # Settled in another conversation.
                await state.dialogue.withdraw(waiting)
            return False
        state.dialogue.expect(waiting)
        answer = await state.dialogue.ask("followup", question.text)
        choice = question.choices.get(answer.text or "") if not answer.attachments else None
        if choice is None:
            # It is asked again when the conversation is opened again; what was said is meant for the model.
            self._add_later(answer)
            return False
        try:
            await checkpoints.recover(state.folder, choice, asked_in=state.task_id)
        except HdspAgentError as error:
            await state.conversation.say("error", f"This could not be done: {error.message}")
        return state.conversation.history.view is not before

    @staticmethod
    def is_its_own(message: ClineMessage) -> bool:
        """Whether this is the question, or an answer it suggests: both are nothing to the model and its calls."""
        if message.ask == "followup":
            return any(message.text == question.text for question in _KNOWN)
        said = (message.text or "") if message.say == "user_feedback" and not message.attachments else None
        return any(said in question.choices for question in _KNOWN)

    async def _question(self, checkpoints: CheckpointService) -> _Question | None:
        try:
            restore = await (await checkpoints.timeline(self._state.folder)).interrupted()
        except HdspAgentError as error:
            self._state.logger.warning("It is not known whether a restore was interrupted: %s", error.message)
            return None
        if restore is None:
            return None
        parts = restore.parts
        if parts is not None and parts.conversation is not None:
            return _OF_A_CONVERSATION_TOO
        several = parts is not None and bool(parts.notebooks or parts.variables)
        return _OF_SEVERAL_PARTS if several else _OF_FILES
