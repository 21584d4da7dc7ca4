"""What a command writes: kept within bounds, and made readable."""

from __future__ import annotations

import re
import threading
from typing import Final

__all__ = ["OutputBuffer", "middle_left_out", "readable"]

_HEAD_BYTES: Final = 8 * 1024 * 1024
_TAIL_BYTES: Final = 2 * 1024 * 1024
_NEAR_BYTES: Final = 2_000
_ESCAPES: Final = re.compile(
    # Control sequences (colours, cursor), operating system commands (titles, links), and other escapes.
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])"
)
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_REWRITTEN: Final = re.compile(r"[^\n]*\r(?!\n)(?=[^\n])")


class OutputBuffer:
    """The beginning and the end of an output of any length. A thread may write while others read."""

    def __init__(self, *, head: int = _HEAD_BYTES, tail: int = _TAIL_BYTES) -> None:
        self._lock = threading.Lock()
        self._most_head = head
        self._most_tail = tail
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    @property
    def total(self) -> int:
        """How many bytes were written in all."""
        return self._total

    def write(self, data: bytes) -> None:
        """Add to the output."""
        with self._lock:
            self._total += len(data)
            room = self._most_head - len(self._head)
            if room > 0:
                self._head += data[:room]
                data = data[room:]
            if data:
                self._tail += data
                if len(self._tail) > 2 * self._most_tail:
                    del self._tail[: -self._most_tail]

    def text(self) -> str:
        """All that is kept, as readable text; where something is missing it says so."""
        with self._lock:
            head, tail, total = bytes(self._head), bytes(self._tail), self._total
        missing = total - len(head) - len(tail)
        if not missing:
            return readable(head + tail)
        return f"{readable(head)}\n[… {missing:,} bytes were not kept …]\n{readable(tail)}"

    def glimpse(self, most: int) -> str:
        """The beginning and the end as readable text of about so many characters, made in little time."""
        with self._lock:
            half = most // 2
            if self._total <= most:
                whole = bytes(self._head) + bytes(self._tail)
                missing = 0
            else:
                whole = b""
                head = bytes(self._head[:half])
                end = bytes(self._tail[-half:])
                if len(end) < half:
                    end = bytes(self._head[max(half, len(self._head) - (half - len(end))) :]) + end
                # Half a key at the cut would not be known as one, and not be masked.
                if (cut := head.rfind(b"\n")) > max(0, half - _NEAR_BYTES):
                    head = head[:cut]
                if 0 <= (cut := end.find(b"\n")) < _NEAR_BYTES:
                    end = end[cut + 1 :]
                missing = self._total - len(head) - len(end)
        if not missing:
            return readable(whole or head + end)
        return f"{readable(head)}\n[… {missing:,} bytes …]\n{readable(end)}"


def readable(data: bytes) -> str:
    """Terminal output as plain text: no colours, and of a line that was rewritten only what it ended as."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if "\r" in text:
        text = _REWRITTEN.sub("", text).replace("\r", "\n")
    return _CONTROLS.sub("", text)


def middle_left_out(text: str, most: int, note: str) -> str:
    """The beginning and the end of a long text around a note; cut at line ends where one is near."""
    half = most // 2
    head, tail = text[:half], text[-half:]
    if (end := head.rfind("\n", half - half // 8)) > 0:
        head = head[: end + 1]
    if 0 <= (start := tail.find("\n", 0, half // 8)) < len(tail) - 1:
        tail = tail[start + 1 :]
    return f"{head}{'' if head.endswith(chr(10)) else chr(10)}{note}\n{tail}"
