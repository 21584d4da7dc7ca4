"""The newest messages of conversations that are worked on, as they are told: the disk follows a streaming one by a second."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..messages import ClineMessage

__all__ = ["LiveMessages", "ends_in_failure"]

_FAILURES: Final = frozenset({"api_req_failed", "mistake_limit_reached"})
_RESUMES: Final = frozenset({"resume_task", "resume_completed_task"})
_KEPT: Final = 50
_JOINED_AT: Final = 256


def ends_in_failure(newest: Sequence[ClineMessage]) -> bool:
    """Whether these, the two newest messages of a conversation, end with an error after which nothing goes on by itself."""
    last = newest[-1] if newest else None
    if last is not None and last.ask in _RESUMES and last.is_answered is None:
        last = newest[-2] if len(newest) > 1 else None
    if last is None or last.partial:
        return False
    # The traceback of a cell is what the cell gave, not why nothing goes on.
    is_error = last.say == "error" and last.notebook is None
    return is_error or (last.ask in _FAILURES and last.is_answered is None)


class LiveMessages:
    """What was told of one conversation since it was opened; as many messages as a first page holds."""

    def __init__(self) -> None:
        self._messages: dict[int, ClineMessage] = {}
        self._grown: dict[tuple[int, str], list[str]] = {}
        self._has_older = False

    def put(self, message: ClineMessage) -> None:
        """A message is new, or is this now."""
        self._messages[message.ts] = message
        for field in ("text", "reasoning"):
            self._grown.pop((message.ts, field), None)
        if len(self._messages) > _KEPT:
            # The oldest: a page of the newest never needs it.
            oldest = min(self._messages)
            del self._messages[oldest]
            self._has_older = True
            for key in [key for key in self._grown if key[0] == oldest]:
                del self._grown[key]

    def append(self, ts: int, field: str, text: str) -> None:
        """A message got longer."""
        if ts not in self._messages:
            return
        pieces = self._grown.setdefault((ts, field), [])
        pieces.append(text)
        if len(pieces) >= _JOINED_AT:
            self._settle(ts)

    def clear(self) -> None:
        """The conversation shows other messages now; the disk has all of them."""
        self._messages.clear()
        self._grown.clear()
        self._has_older = False

    def over(self, page: Sequence[ClineMessage], limit: int) -> tuple[list[ClineMessage], bool]:
        """A page of the newest messages read from the disk, brought up to date; and whether there are others before them.

        The page may be empty: a conversation is on screen before its first message is.
        """
        for ts, _ in list(self._grown):
            self._settle(ts)
        messages = {message.ts: message for message in page} | self._messages
        newest = sorted(messages)
        return [messages[ts] for ts in newest[-limit:]], self._has_older or len(newest) > limit

    @property
    def end_in_failure(self) -> bool:
        """Whether the last word is an error after which nothing goes on by itself."""
        newest = sorted(self._messages)[-2:]
        return ends_in_failure([self._messages[ts] for ts in newest])

    def _settle(self, ts: int) -> None:
        for field in ("text", "reasoning"):
            pieces = self._grown.pop((ts, field), None)
            if pieces:
                message = self._messages[ts]
                before = message.text if field == "text" else message.reasoning
                self._messages[ts] = message.model_copy(update={field: (before or "") + "".join(pieces)})
