"""The text of one stream output, as JupyterLab would show it, of any length in little memory."""

from __future__ import annotations

import re
from collections import deque
from typing import Final

__all__ = ["StreamText"]

_CONTROLS: Final = re.compile(r"[\n\b\r]")
_LONGEST_LINE: Final = 64 * 1024
"""A carriage return does not reach back further than this in a line without end."""


class StreamText:
    """Text in which carriage returns and backspaces have done their work; beyond ``room`` its head and tail stay.

    Only the last line can still change, because a newline always goes to the end of the text.
    """

    def __init__(self, room: int, *, tail: int) -> None:
        self._room = room
        self._most_tail = tail
        self._head: list[str] = []
        self._head_length = 0
        self._tail: deque[str] = deque()
        self._tail_length = 0
        self._left_out = 0
        self._line = ""
        self._column = 0

    @property
    def length(self) -> int:
        """How many characters are held."""
        return self._head_length + self._tail_length + len(self._line)

    @property
    def room(self) -> int:
        """How many characters of head it may have."""
        return self._room

    @property
    def head_length(self) -> int:
        """How many of the first will not change any more."""
        return self._head_length

    @property
    def left_out(self) -> int:
        """How many characters between head and tail are gone."""
        return self._left_out

    @property
    def overflowing(self) -> bool:
        """Whether the room for the head is used up."""
        return bool(self._tail) or self._left_out > 0

    def add(self, text: str) -> int:
        """Write ``text`` at the cursor; how many characters from the start of ``text()`` are surely as before."""
        stays = self._head_length + self._column
        position = 0
        for control in _CONTROLS.finditer(text):
            self._overwrite(text[position : control.start()])
            position = control.end()
            match control.group():
                case "\n":
                    self._end_line("\n")
                case "\r":
                    self._column = 0
                    stays = min(stays, self._head_length)
                case _ if self._column:
                    self._line = self._line[: self._column - 1] + self._line[self._column + 1 :]
                    self._column -= 1
                    stays = min(stays, self._head_length + self._column)
        self._overwrite(text[position:])
        if len(self._line) > _LONGEST_LINE:
            self._end_line("")
        # Behind the head of a long text stands how much is missing, and that changes.
        return min(stays, self._head_length) if self.overflowing else stays

    def shrink_tail(self, most: int) -> None:
        """Keep less of the end: another output follows."""
        self._most_tail = most
        self._trim()

    def text(self, *, tail: int | None = None) -> str:
        """What is to be seen; of a long one's end only so much as ``tail``."""
        head = "".join(self._head)
        if not self.overflowing:
            return head + self._line
        end = "".join(self._tail) + self._line
        missing = self._left_out
        if tail is not None and len(end) > tail:
            missing += len(end) - tail
            end = end[-tail:]
        if not missing:
            return head + end
        return f"{head}\n[… {missing:,} characters left out …]\n{end}"

    def _overwrite(self, text: str) -> None:
        if not text:
            return
        end = self._column + len(text)
        self._line = self._line[: self._column] + text + self._line[end:]
        self._column = end

    def _end_line(self, ending: str) -> None:
        self._settle(self._line + ending)
        self._line = ""
        self._column = 0

    def _settle(self, text: str) -> None:
        room = self._room - self._head_length
        if room > 0 and not self.overflowing:
            self._head.append(text[:room])
            self._head_length += min(room, len(text))
            text = text[room:]
        if text:
            self._tail.append(text)
            self._tail_length += len(text)
            self._trim()

    def _trim(self) -> None:
        while self._tail and self._tail_length - len(self._tail[0]) >= self._most_tail:
            gone = len(self._tail.popleft())
            self._tail_length -= gone
            self._left_out += gone
        if self._tail_length > 2 * self._most_tail:
            first = self._tail[0]
            cut = min(len(first), self._tail_length - self._most_tail)
            self._tail[0] = first[cut:]
            self._tail_length -= cut
            self._left_out += cut
