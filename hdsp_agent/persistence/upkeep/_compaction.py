"""A log without the lines that later ones replace: what a message looked like while it streamed.

A line gives way only to a later one of the same key that can be read; a line nobody can read stays. Everything here blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Final

from .._task_streams import UI_FORM

__all__ = ["compacted_ui_lines"]

_PATTERN: Final = UI_FORM.key_pattern()


def compacted_ui_lines(log: IO[bytes], size: int) -> Iterator[bytes]:
    """The lines of a UI log of this size: each message once, in its newest form, where its first line was."""
    newest: dict[int, tuple[int, int]] = {}
    replaced: set[int] = set()
    for offset, line in _lines(log, size):
        key = _key(line)
        if key is None:
            continue
        if key in newest:
            replaced.add(key)
        newest[key] = (offset, len(line))
    compact = {key for key in replaced if _is_readable(log, *newest[key])}
    written: set[int] = set()
    for _, line in _lines(log, size):
        key = _key(line)
        if key is None or key not in compact:
            yield line
        elif key not in written:
            written.add(key)
            position = log.tell()
            yield _newest_form(log, *newest[key])
            log.seek(position)


def _key(line: bytes) -> int | None:
    match = _PATTERN.match(line)
    # Half a line at the end was never acknowledged, and replaces nothing.
    return int(match[1]) if match and line.endswith(b"\n") else None


def _is_readable(log: IO[bytes], offset: int, length: int) -> bool:
    try:
        UI_FORM.parse(_at(log, offset, length))
    except (ValueError, RecursionError):
        return False
    return True


def _newest_form(log: IO[bytes], offset: int, length: int) -> bytes:
    """The line, as that of a message that was recorded once."""
    line = _at(log, offset, length)
    match = _PATTERN.match(line)
    assert match is not None
    return line[: match.start(2)] + line[match.end(2) :] if match[2] else line


def _at(log: IO[bytes], offset: int, length: int) -> bytes:
    log.seek(offset)
    return log.read(length)


def _lines(log: IO[bytes], size: int) -> Iterator[tuple[int, bytes]]:
    """The lines with their ends; the last may have none."""
    log.seek(0)
    offset = 0
    while offset < size and (line := log.readline()):
        yield offset, line
        offset += len(line)
