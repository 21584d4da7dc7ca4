"""A notebook's outputs as a model is told them: bounded by what they mean, not by where their middle is."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from pydantic import JsonValue

from ..messages import JsonObject
from ._printed_tables import is_table, shortened_table
from ._progress_bars import last_written
from ._token_estimate import utf8_length
from ._tracebacks import is_traceback, shortened_traceback
from ._truncation import Budget, truncated

__all__ = ["ImageNote", "ModelImageLimits", "fitted_size", "has_shape", "outputs_told", "pictures_told", "texts_told"]

_Shape: TypeAlias = Literal["plain", "table", "traceback"]

_ESCAPES: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])"
)
_TEXT_MIMES: Final = ("text/plain", "text/markdown", "text/latex", "application/json", "text/html")
_LEAST_SHARE: Final = 400
_NOTES: Final = 400
"""What the notes on what is missing may take beside the room for the text."""


@dataclass(frozen=True)
class ModelImageLimits:
    """What a model is shown of images."""

    count: int = 5
    side: int = 1_568
    pixels: int = 1_150_000


@dataclass(frozen=True)
class ImageNote:
    """One image: the size it is shown at, None if it is not, and what stands for it in the text."""

    size: tuple[int, int] | None
    text: str


def outputs_told(outputs: Sequence[JsonObject], budget: Budget) -> str:
    """The texts of outputs, as in a notebook's file or fresh from a kernel, in about this much room.

    Short ones stay whole, long ones share what is left. Of a table head, tail and shape stay, of a traceback the last
    frames and the message, of a progress bar how it ended. Images are only named: what becomes of them says ``pictures_told``.
    """
    return texts_told([_text(output) for output in _joined(outputs)], budget)


def texts_told(texts: Sequence[str], budget: Budget) -> str:
    """The same for the texts of outputs, each as it reads in the end."""
    texts = _fewer([text for text in texts if text.strip()], max(2, budget.bytes // _LEAST_SHARE))
    share = _share([utf8_length(text) for text in texts], budget.bytes)
    return "\n".join(_bounded(text, Budget("bytes", share)).strip("\n") for text in texts)


def pictures_told(sizes: Sequence[tuple[int, int]], limits: ModelImageLimits | None = None) -> list[ImageNote]:
    """What becomes of images of these sizes: the last few are shown, made smaller where need be, and all are counted."""
    bounds = limits or ModelImageLimits()
    skipped = max(0, len(sizes) - bounds.count)
    notes: list[ImageNote] = []
    for number, (width, height) in enumerate(sizes, 1):
        name = f"image {number} of {len(sizes)}, {width}×{height}"
        if number <= skipped:
            notes.append(ImageNote(None, f"[{name}, not shown]"))
            continue
        fitted = fitted_size(width, height, bounds)
        scaled = "" if fitted == (width, height) else f", shown at {fitted[0]}×{fitted[1]}"
        notes.append(ImageNote(fitted, f"[{name}{scaled}]"))
    return notes


def fitted_size(width: int, height: int, limits: ModelImageLimits | None = None) -> tuple[int, int]:
    """The size at which an image is within the limits, with its proportions; never larger than it is."""
    bounds = limits or ModelImageLimits()
    scale = min(1.0, bounds.side / max(width, height), math.sqrt(bounds.pixels / (width * height)))
    return max(1, int(width * scale)), max(1, int(height * scale))


def _joined(outputs: Sequence[JsonObject]) -> list[JsonObject]:
    """The outputs with what was printed in several pieces as one: a progress bar may be in all of them."""
    joined: list[JsonObject] = []
    pieces: list[JsonValue] = []
    for output in outputs:
        last = joined[-1] if joined else {}
        if output.get("output_type") != "stream":
            joined.append(output)
            continue
        if last.get("output_type") != "stream" or output.get("name") != last.get("name"):
            pieces = []
            joined.append({**output, "text": pieces})
        pieces.append(_source(output.get("text")))
    return joined


def _fewer(texts: list[str], most: int) -> list[str]:
    """No more than so many texts, the first and the last ones."""
    if len(texts) <= most:
        return texts
    first = most // 2
    last = len(texts) - (most - first)
    return [*texts[:first], f"[… {last - first} outputs left out …]", *texts[last:]]


def _text(output: JsonObject) -> str:
    match output.get("output_type"):
        case "stream":
            return last_written(_plain(output.get("text")))
        case "error":
            lines = output.get("traceback")
            text = "\n".join(_plain(line) for line in lines) if isinstance(lines, list) else ""
            return text or f"{output.get('ename', 'Error')}: {output.get('evalue', '')}"
        case _:
            data = output.get("data")
            return _bundle_text(data) if isinstance(data, dict) else ""


def _bundle_text(data: JsonObject) -> str:
    mime = next((mime for mime in _TEXT_MIMES if mime in data), None)
    text = last_written(_plain(data[mime])) if mime is not None else ""
    pictures = [mime for mime in data if mime.startswith("image/")]
    return "\n".join(part for part in (text, f"[{', '.join(pictures)}]" if pictures else "") if part)


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


def _share(lengths: Sequence[int], most: int) -> int:
    """The longest a text may be so that all together keep to the limit."""
    left, waiting = most, len(lengths)
    for length in sorted(lengths):
        if length * waiting > left:
            return max(_LEAST_SHARE, left // waiting)
        left -= length
        waiting -= 1
    return most


def _plain(value: JsonValue) -> str:
    text = _source(value)
    return _ESCAPES.sub("", text) if "\x1b" in text else text


def _source(value: JsonValue) -> str:
    """A text, which in a file may be a list of its lines."""
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else "" if value is None else str(value)
