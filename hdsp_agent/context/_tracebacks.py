"""Tracebacks in little room: where it broke and why stays, how it got there goes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from ._token_estimate import utf8_length
from ._truncation import Budget, truncated

__all__ = ["is_traceback", "shortened_traceback"]

_BEGIN: Final = re.compile(r"Traceback \(most recent call last\)")
_FRAME: Final = re.compile(r'(?:  File "|File | *Cell In ?\[| *Input In ?\[|<ipython-input-)\S|\S+\.py in ')
_CHAIN: Final = re.compile(
    r"(?:During handling of the above exception, another exception occurred:|"
    r"The above exception was the direct cause of the following exception:)$"
)
_MESSAGE: Final = re.compile(r"[A-Za-z_][\w.]*(?:: |:?$)")
_SHARE_OF_MESSAGE: Final = 2
_LEAST: Final = 80


def is_traceback(text: str) -> bool:
    """Whether a text tells of an exception of Python."""
    return _BEGIN.search(text) is not None


def shortened_traceback(text: str, budget: Budget) -> str:
    """A traceback in about this much room: its first line, the last frames and the whole message.

    Of the exceptions that led to it only their messages stay. A message that is too long itself is cut in the middle.
    """
    if utf8_length(text) <= budget.bytes:
        return text
    exceptions = _chained(text.split("\n"))
    *earlier, last = exceptions
    head, frames, message = _parts(last)
    said = truncated("\n".join(message), Budget("bytes", max(_LEAST, budget.bytes // _SHARE_OF_MESSAGE)))
    causes = [truncated("\n".join(_parts(lines)[2]), Budget("bytes", 2 * _LEAST)) for lines in earlier]
    left = budget.bytes - utf8_length("\n".join([*causes, *head, said]))
    kept: list[str] = []
    while frames and (size := utf8_length(frames[-1]) + 1) <= left:
        kept.insert(0, frames.pop())
        left -= size
    if frames and not kept:
        kept.append(truncated(frames.pop(), Budget("bytes", max(_LEAST, left))))
    note = [f"[… {len(frames)} earlier frames left out …]"] if frames else []
    before = [part for cause in causes for part in (cause, "which led to:")]
    return "\n".join([*before, *head, *note, *kept, said])


def _chained(lines: Sequence[str]) -> list[list[str]]:
    """The exceptions of a traceback, the one that was seen last."""
    exceptions: list[list[str]] = [[]]
    for line in lines:
        if _CHAIN.match(line):
            exceptions.append([])
        else:
            exceptions[-1].append(line)
    return [_trimmed(lines) for lines in exceptions if any(line.strip() for line in lines)] or [[]]


def _parts(lines: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """The lines before the first frame, the frames, and the message."""
    begins = [place for place, line in enumerate(lines) if _FRAME.match(line)]
    if not begins:
        return [], [], [line for line in lines if line.strip()]
    # The message is at the very left, as nothing in a frame is but its first line.
    last = begins[-1]
    end = next((place for place in range(last + 1, len(lines)) if _MESSAGE.match(lines[place])), len(lines))
    bounds = [*begins, end]
    frames = ["\n".join(lines[first:after]).rstrip("\n") for first, after in pairwise(bounds)]
    return list(lines[: begins[0]]), frames, _trimmed(lines[end:])


def _trimmed(lines: Sequence[str]) -> list[str]:
    return "\n".join(lines).strip("\n").split("\n")
