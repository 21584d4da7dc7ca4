"""The questions a task has open, each with a future of its own, and how they are answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from ..._timeouts import wait_at_most
from ...errors import Conflict
from ...messages import Attachment, ClineAsk, ClineAskResponse, ClineMessage, NotebookRef

__all__ = ["AskAnswer", "AskNotOpen", "Asks", "GivenAnswer"]


class AskNotOpen(Conflict):
    """An answer to a question that is not open: answered already, or never asked."""


@dataclass(frozen=True)
class GivenAnswer:
    """An answer as the person gave it."""

    response: ClineAskResponse
    text: str | None = None
    images: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    edited: tuple[str, ...] | None = None
    """What they made of the texts that were proposed."""
    run: bool = False
    """Whether the cells that are changed may run, too."""
    given_in: str | None = None
    """The program in whose own window it was given; None where it was given here."""
    may_edit: NotebookRef | None = None
    """The cell at which it was given, if that may be changed without another question."""

    @property
    def says_something(self) -> bool:
        """Whether there is more to it than a button."""
        return bool(self.text or self.images or self.attachments)


@dataclass(frozen=True)
class AskAnswer:
    """An answer after it was recorded, to the question of the time ``asked_at``; ``said_at`` is the time of the message that
    repeats the person's words."""

    response: ClineAskResponse
    asked_at: int
    text: str | None = None
    images: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    said_at: int | None = None
    edited: tuple[str, ...] | None = None
    run: bool = False

    @property
    def says_something(self) -> bool:
        """Whether there is more to it than a button."""
        return self.said_at is not None

    @property
    def approved(self) -> bool:
        """Whether the button that lets the agent go on was pressed."""
        return self.response == "yesButtonClicked"


@dataclass
class _Open:
    message: ClineMessage
    answer: asyncio.Future[AskAnswer]


Record = Callable[[ClineMessage, GivenAnswer], Awaitable[AskAnswer]]


class Asks:
    """Each question is answered once, by its own time. ``record`` writes an answer down before anybody acts on it;
    ``on_open`` is told when another one waits.
    """

    def __init__(self, record: Record) -> None:
        self._record = record
        self.on_open: Callable[[], None] | None = None
        self._open: dict[int, _Open] = {}
        self.asked = 0
        """How many questions were put so far."""
        self._changed = asyncio.Event()
        self._begun = asyncio.Event()

    @property
    def open(self) -> list[ClineMessage]:
        """The questions that wait, oldest first."""
        return [entry.message for entry in self._open.values()]

    def newest(self, *kinds: ClineAsk) -> ClineMessage | None:
        """The newest question that waits, of these kinds if any are given."""
        waiting = [message for message in self.open if not kinds or message.ask in kinds]
        return waiting[-1] if waiting else None

    def is_open(self, ts: int) -> bool:
        """Whether this question waits."""
        return ts in self._open

    async def wait(self, message: ClineMessage) -> AskAnswer:
        """Wait for the answer, however long that takes."""
        entry = _Open(message, asyncio.get_running_loop().create_future())
        self._open[message.ts] = entry
        self.asked += 1
        self._changed.set()
        self._begun.set()
        if self.on_open is not None:
            self.on_open()
        try:
            return await entry.answer
        finally:
            self._open.pop(message.ts, None)

    async def answer(self, ts: int, given: GivenAnswer) -> AskAnswer:
        """Answer a question; what was recorded of it. Raises AskNotOpen for a late, second or unknown answer."""
        # Taken out before it is recorded: of two answers that come together one is a duplicate.
        entry = self._open.pop(ts, None)
        if entry is None or entry.answer.done():
            raise AskNotOpen(
                "This question is no longer open: it was answered, or the task continued without it. "
                "Nothing was done with this answer.",
                ask=ts,
            )
        try:
            answer = await self._record(entry.message, given)
        except BaseException:
            if not entry.answer.done():
                self._open[ts] = entry
            raise
        if entry.answer.done():
            raise AskNotOpen("The task was stopped before this answer arrived, so the answer was not used.", ask=ts)
        entry.answer.set_result(answer)
        return answer

    def go_on(self) -> None:
        """The work goes on without a question, or has ended: who waits for the first one waits in vain."""
        self._begun.set()

    async def first(self, seconds: float) -> None:
        """Wait until a question was put or it is known that there is none, but not longer than this."""
        with suppress(asyncio.TimeoutError):
            await wait_at_most(self._begun.wait(), seconds)

    async def next_open(self, seconds: float) -> None:
        """Wait until another question is open, but not longer than this."""
        self._changed.clear()
        with suppress(asyncio.TimeoutError):
            await wait_at_most(self._changed.wait(), seconds)

    async def any_open(self, seconds: float) -> None:
        """Wait until some question is open, but not longer than this."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not self._open:
                    self._changed.clear()
                    await self._changed.wait()
