"""A restore of files that was cut short: whoever goes on in that folder is asked first what becomes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from ..errors import HdspAgentError
from ..messages import ClineMessage, FollowUpData, Suggestion

if TYPE_CHECKING:
    from ._task import Task
    from ._workspace_history import WorkspaceHistory

__all__ = ["HalfRestores"]

_CHOICES: Final[dict[str, Literal["roll_back", "keep"]]] = {
    "Put the files back as they were before": "roll_back",
    "Keep the files as they are now": "keep",
}
_QUESTION: Final = FollowUpData(
    question=(
        "The server was stopped while files of this folder were being brought back, so some of them are as they were "
        "then and some are not. What should become of them? What you changed since stays either way."
    ),
    suggest=[Suggestion(answer=choice) for choice in _CHOICES],
).to_json()


class HalfRestores:
    """Asks in one task's conversation, and does as the person says."""

    def __init__(self, task: Task) -> None:
        self._task = task

    async def settle(self, waiting: ClineMessage | None = None) -> None:
        """Ask if there is such a restore; ``waiting`` is this question if it waits in the log."""
        task, files = self._task, self._task.services.files
        if files is None or not await self._is_interrupted(files):
            if waiting is not None:
                # Settled in another conversation.
                await task.dialogue.withdraw(waiting)
            return
        task.dialogue.expect(waiting)
        answer = await task.dialogue.ask("followup", _QUESTION)
        choice = _CHOICES.get(answer.text or "")
        if choice is None:
            # It is asked again when the conversation is opened again; what was said is meant for the model.
            task.words.add_later(answer)
            return
        try:
            await files.recover(task.folder, choice)
        except HdspAgentError as error:
            await task.conversation.say("error", f"The files could not be seen to: {error.message}")

    @staticmethod
    def is_its_own(message: ClineMessage) -> bool:
        """Whether this is the question, or an answer it suggests: both are nothing to the model and its calls."""
        if message.ask == "followup":
            return message.text == _QUESTION
        return message.say == "user_feedback" and (message.text or "") in _CHOICES

    async def _is_interrupted(self, files: WorkspaceHistory) -> bool:
        try:
            return await files.is_interrupted(self._task.folder)
        except HdspAgentError as error:
            self._task.logger.warning("Whether a restore was cut short is not known: %s", error.message)
            return False
