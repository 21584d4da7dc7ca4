"""The end of a log: where a crash may have left half a line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

from .corrupt_lines import CorruptLine, keep_aside

__all__ = ["is_record", "repair_tail"]

_BLOCK: Final = 64 * 1024


def repair_tail(path: Path, descriptor: int) -> int:
    """Make the log end with a whole line, and return its size. Only the holder of the task's lock may call this.

    Half a line was never acknowledged: its bytes are kept aside and cut off. A line that lacks nothing but its end
    gets it.
    """
    size = os.fstat(descriptor).st_size
    fragment = _fragment(descriptor, size)
    if not fragment:
        return size
    if is_record(fragment):
        os.write(descriptor, b"\n")
        return size + 1
    start = size - len(fragment)
    keep_aside(path, [CorruptLine(start, fragment, "torn")])
    os.ftruncate(descriptor, start)
    return start


def is_record(line: bytes) -> bool:
    """Whether the bytes are one JSON object."""
    if not line.startswith(b"{") or not line.rstrip().endswith(b"}"):
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _fragment(descriptor: int, size: int) -> bytes:
    pieces: list[bytes] = []
    end = size
    while end > 0:
        start = max(0, end - _BLOCK)
        os.lseek(descriptor, start, os.SEEK_SET)
        block = _read_exactly(descriptor, end - start)
        cut = block.rfind(b"\n")
        pieces.append(block[cut + 1 :])
        if cut >= 0:
            break
        end = start
    return b"".join(reversed(pieces))


def _read_exactly(descriptor: int, length: int) -> bytes:
    data = b""
    while len(data) < length and (more := os.read(descriptor, length - len(data))):
        data += more
    return data
