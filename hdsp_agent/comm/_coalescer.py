"""Streaming text, gathered so that a message costs one frame per 33 ms however small its pieces are.

Offsets count UTF-16 code units, because the page is JavaScript: ``offset`` is the ``length`` the string must have there
before ``append`` is added to it. A page whose string has another length asks for the whole message.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..agent.conversation.conversation import sound_text

__all__ = ["Delta", "DeltaCoalescer", "utf16_length"]

MessageKey = tuple[str, int]
"""A message: the id of its task, and its ``ts``."""


@dataclass(frozen=True)
class Delta:
    """Text to add to one field of one message."""

    task_id: str
    ts: int
    field: str
    offset: int
    append: str


@dataclass
class _Stream:
    """One field that grows: how long it is on the wire, and what waits to be added."""

    length: int
    waiting: str = ""


class DeltaCoalescer:
    """Gathers what is appended to messages and emits it at most once per interval and message.

    The first piece after a pause goes at once; the next ones wait for the tick of the one timer that serves all messages.
    """

    def __init__(self, emit: Callable[[Delta], None], *, interval: float, max_waiting: int) -> None:
        self._emit = emit
        self._interval = interval
        self._max_waiting = max_waiting
        self._streams: dict[MessageKey, dict[str, _Stream]] = {}
        self._sent_since_tick: set[MessageKey] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = False

    def __len__(self) -> int:
        return len(self._streams)

    def add(self, task_id: str, ts: int, field: str, append: str) -> None:
        """Append to a field; the first of a message that is not known starts at length 0."""
        if not append:
            return
        key = (task_id, ts)
        stream = self._streams.setdefault(key, {}).setdefault(field, _Stream(0))
        stream.waiting += append
        if self._stopped or len(stream.waiting) >= self._max_waiting:
            self._send(key, field, stream, whole=True)
        elif key not in self._sent_since_tick:
            self._send(key, field, stream, whole=False)

    def flush(self, task_id: str, ts: int) -> None:
        """Emit what waits for one message: something else about it is to follow."""
        self._flush_message((task_id, ts), whole=True)

    def flush_all(self) -> None:
        """Emit what waits for any message."""
        for key in list(self._streams):
            self._flush_message(key, whole=True)

    def settle(self, task_id: str, ts: int, lengths: Mapping[str, int] | None) -> None:
        """Take over the lengths that a whole message just published has; None when it will not grow any more."""
        self.flush(task_id, ts)
        if lengths is None:
            self._streams.pop((task_id, ts), None)
        else:
            self._streams[task_id, ts] = {field: _Stream(length) for field, length in lengths.items()}

    def forget_task(self, task_id: str) -> None:
        """Emit what waits for a task's messages and stop counting for them: it is closed or aborted."""
        for key in [key for key in self._streams if key[0] == task_id]:
            self._flush_message(key, whole=True)
            del self._streams[key]

    def stop(self) -> None:
        """Emit everything that waits; from here on nothing waits."""
        self._stopped = True
        self.flush_all()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self) -> None:
        if self._timer is None and not self._stopped:
            self._timer = asyncio.get_running_loop().call_later(self._interval, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._sent_since_tick.clear()
        for key in list(self._streams):
            self._flush_message(key, whole=False)

    def _flush_message(self, key: MessageKey, *, whole: bool) -> None:
        for field, stream in self._streams.get(key, {}).items():
            self._send(key, field, stream, whole=whole)

    def _send(self, key: MessageKey, field: str, stream: _Stream, *, whole: bool) -> None:
        text = stream.waiting
        # Models stream JSON escapes: the halves of one emoji may come apart, and half of one cannot be encoded.
        held = text[-1:] if not whole and "\ud800" <= text[-1:] <= "\udbff" else ""
        text = sound_text(text[: len(text) - len(held)])
        if not text:
            return
        stream.waiting = held
        offset = stream.length
        stream.length += utf16_length(text)
        self._sent_since_tick.add(key)
        self._arm()
        self._emit(Delta(key[0], key[1], field, offset, text))


def utf16_length(text: str) -> int:
    """The ``length`` JavaScript sees."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
