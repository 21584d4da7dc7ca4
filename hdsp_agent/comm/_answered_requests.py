"""What one client asked and was answered, so that a request sent again after a reconnect is not done again."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from ._tab_session import Session

__all__ = ["AnsweredRequests"]


class AnsweredRequests:
    """The requests of one client that are under way, and the newest answers, bounded by count and bytes.

    A page that has more requests unanswered than answers are remembered here loses the protection for the oldest.
    """

    def __init__(self, *, max_answers: int, max_bytes: int) -> None:
        self.tasks: set[asyncio.Task[None]] = set()
        self._max_answers = max_answers
        self._max_bytes = max_bytes
        self._bytes = 0
        self._running: dict[str, list[Session]] = {}
        self._done: OrderedDict[str, bytes] = OrderedDict()

    def __len__(self) -> int:
        return len(self._done)

    @property
    def bytes_held(self) -> int:
        """The size of the answers remembered."""
        return self._bytes

    def knows(self, request_id: str) -> bool:
        """Whether the request is under way or was answered."""
        return request_id in self._running or request_id in self._done

    def find(self, request_id: str) -> bytes | None:
        """The answer given to this request, if it is remembered."""
        return self._done.get(request_id)

    def join(self, request_id: str, session: Session) -> bool:
        """Let ``session`` have the answer of this request, once; True if the request has yet to be begun."""
        waiting = self._running.get(request_id)
        if waiting is None:
            self._running[request_id] = [session]
            return True
        if session not in waiting:
            waiting.append(session)
        return False

    def finish(self, request_id: str, answer: bytes) -> list[Session]:
        """Remember the answer and return those who wait for it."""
        self._done[request_id] = answer
        self._bytes += len(answer)
        while len(self._done) > 1 and (len(self._done) > self._max_answers or self._bytes > self._max_bytes):
            self._bytes -= len(self._done.popitem(last=False)[1])
        return self._running.pop(request_id, [])

    def abandon(self, request_id: str) -> None:
        """Forget a request that was cancelled; nobody gets an answer."""
        self._running.pop(request_id, None)
