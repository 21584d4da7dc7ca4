"""A notebook's outputs as a model is told them: bounded by what they mean, not by where their middle is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from ._printed_tables import is_table, shortened_table
from ._token_estimate import utf8_length
from ._tracebacks import is_traceback, shortened_traceback
from ._truncation import Budget, truncated

__all__ = ["fair_share", "has_shape", "texts_told"]

_Shape: TypeAlias = Literal["plain", "table", "traceback"]

_LEAST_SHARE: Final = 400
_NOTES: Final = 400
"""What the notes on what is missing may take beside the room for the text."""


def texts_told(texts: Sequence[str], budget: Budget) -> str:
    """The texts of outputs in about this much room, each as it reads in the end.

    Short ones stay whole, long ones share what is left. Of a table head, tail and shape stay, of a traceback the last
    frames and the message.
    """
    texts = _fewer([text for text in texts if text.strip()], max(2, budget.bytes // _LEAST_SHARE))
    share = fair_share([utf8_length(text) for text in texts], budget.bytes)
    return "\n".join(_bounded(text, Budget("bytes", share)).strip("\n") for text in texts)


def _fewer(texts: list[str], most: int) -> list[str]:
    """No more than so many texts, the first and the last ones."""
    if len(texts) <= most:
        return texts
    first = most // 2
    last = len(texts) - (most - first)
    return [*texts[:first], f"[… {last - first} outputs left out …]", *texts[last:]]


def _bounded(text: str, budget: Budget) -> str:
    if utf8_length(text) <= budget.bytes:
        return text
    match _shape(text):
        case "traceback":
            told = shortened_traceback(text, budget)
        case "table":
            told = shortened_table(text, budget)
        case "plain":
            told = truncated(text, budget)
    # Of very many small tables not even the headers fit.
    return told if utf8_length(told) <= budget.bytes + _NOTES else truncated(told, budget)


def has_shape(text: str) -> bool:
    """Whether a text is cut by what it means, and not in its middle."""
    return _shape(text) != "plain"


def _shape(text: str) -> _Shape:
    if is_traceback(text):
        return "traceback"
    return "table" if is_table(text) else "plain"


def fair_share(lengths: Sequence[int], most: int) -> int:
    """The longest a text may be so that all together keep to the limit."""
    left, waiting = most, len(lengths)
    for length in sorted(lengths):
        if length * waiting > left:
            return max(_LEAST_SHARE, left // waiting)
        left -= length
        waiting -= 1
    return most
