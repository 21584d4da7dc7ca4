"""Who answers what a task asks: the person at the terminal, or nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from pydantic import ValidationError

from ..messages import ClineAskResponse, FollowUpData
from ..question_texts import flag_lines, question_lines, question_title, visible, visible_line
from ._keyboard import Keyboard
from ._live_output import LiveOutput

if TYPE_CHECKING:
    from ..messages import ClineMessage
    from ._terminal import Terminal

__all__ = ["APPROVALS", "NoResponder", "Reply", "Responder", "TerminalResponder"]

APPROVALS: Final = frozenset({"tool", "command", "use_mcp_server"})

_NOBODY_APPROVES: Final = "Nobody is there to approve this, so it was not done. Do what can be done without it, and say in the end what is missing."
_NOBODY_ANSWERS: Final = (
    "Nobody is there to answer. Go on as seems best if that can do no harm; else finish and say what you need to know."
)


@dataclass(frozen=True)
class Reply:
    """An answer; ``refused`` says that something was not done, or not known, because nobody was there."""

    response: ClineAskResponse
    text: str | None = None
    refused: bool = False


class Responder(Protocol):
    """Answers questions. None leaves a question open, and ends the run."""

    async def answer(self, question: ClineMessage) -> Reply | None:
        """The answer to a question that waits."""

    async def agrees(self, lines: Sequence[str], prompt: str) -> bool | None:
        """Yes or no to a question of the program itself; None if nobody says."""


class NoResponder:
    """Refuses what would have to be approved, and says so."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    async def answer(self, question: ClineMessage) -> Reply | None:
        """The answer to a question that waits."""
        if question.ask in APPROVALS:
            self._terminal.warn(f"denied, because nobody is here to approve it: {question_title(question)}")
            return Reply("noButtonClicked", _NOBODY_APPROVES, refused=True)
        if question.ask == "followup":
            self._terminal.warn("a question from the agent was not answered, because nobody is here")
            return Reply("messageResponse", _NOBODY_ANSWERS, refused=True)
        return None

    async def agrees(self, lines: Sequence[str], prompt: str) -> bool | None:
        """Yes or no to a question of the program itself; None if nobody says."""
        return None


class TerminalResponder:
    """Asks on the terminal."""

    def __init__(self, terminal: Terminal, output: LiveOutput) -> None:
        self._terminal = terminal
        self._output = output
        self._keyboard = Keyboard()

    async def answer(self, question: ClineMessage) -> Reply | None:
        """The answer to a question that waits."""
        self._output.end_line()
        if question.ask in APPROVALS:
            return await self._approval(question)
        if question.ask == "followup":
            return await self._followup(question)
        self._terminal.line(self._terminal.paint(visible(question.text or "The task was interrupted."), "yellow"))
        said = await self._one_line("Continue? [y]es, [n]o, or your message: ")
        match (said or "").lower():
            case "":
                return None
            case "n" | "no":
                return None
            case "y" | "yes":
                return Reply("yesButtonClicked")
            case _:
                return Reply("messageResponse", said)

    async def agrees(self, lines: Sequence[str], prompt: str) -> bool | None:
        """Yes or no to a question of the program itself; None if nobody says."""
        self._terminal.lines(self._terminal.paint(line, "yellow") for line in lines)
        while (said := await self._one_line(prompt)) is not None:
            match said.lower():
                case "y" | "yes":
                    return True
                case "n" | "no":
                    return False
                case _:
                    continue
        return None

    async def _approval(self, question: ClineMessage) -> Reply | None:
        for line in question_lines(question):
            self._terminal.line(self._terminal.paint(f"  {line}", "yellow"))
        for line in flag_lines(question):
            self._terminal.line(self._terminal.paint(line, "red"))
        while (said := await self._one_line("Allow this? [y]es, [n]o, or what to do instead: ")) is not None:
            match said.lower():
                case "":
                    continue
                case "y" | "yes":
                    return Reply("yesButtonClicked")
                case "n" | "no":
                    return Reply("noButtonClicked", refused=True)
                case _:
                    return Reply("noButtonClicked", said, refused=True)
        return None

    async def _followup(self, question: ClineMessage) -> Reply | None:
        try:
            asked = FollowUpData.model_validate_json(question.text or "")
        except ValidationError:
            asked = FollowUpData(question=question.text or "", suggest=[])
        suggestions = [suggestion.answer for suggestion in asked.suggest or ()]
        self._terminal.line(self._terminal.paint(visible(asked.question or ""), "yellow"))
        self._terminal.lines(f"  {number}. {visible_line(answer)}" for number, answer in enumerate(suggestions, 1))
        while (lines := await self._lines("Your answer, or a number from the list: ")) is not None:
            said = "\n".join(lines).strip()
            if said.isascii() and said.isdigit() and 0 < int(said) <= len(suggestions):
                return Reply("messageResponse", suggestions[int(said) - 1])
            if said:
                return Reply("messageResponse", said)
        return None

    async def _one_line(self, prompt: str) -> str | None:
        """What was typed. Several lines at once were pasted: none of them was meant as a yes to this."""
        while (lines := await self._lines(prompt)) is not None:
            if len(lines) == 1:
                return lines[0]
            self._terminal.line("Several lines arrived at once, so none was used as your answer. Answer in one line.")
        return None

    async def _lines(self, prompt: str) -> list[str] | None:
        # Whoever sees the prompt may answer; what came before was typed by somebody who had not read the question.
        self._terminal.flush()
        self._keyboard.forget_typed()
        self._terminal.text(prompt)
        self._terminal.flush()
        return await self._keyboard.lines()
