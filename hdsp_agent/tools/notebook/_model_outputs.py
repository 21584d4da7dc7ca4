"""A cell's outputs as the model is told them: masked before anything is cut, bounded, the whole kept, images shown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from ..._threads import in_thread
from ...config import GlobalSettings
from ...context import (
    TOOL_OUTPUT_FACTOR,
    Budget,
    fair_share,
    has_shape,
    last_written,
    texts_told,
    truncation_header,
    utf8_length,
)
from ...errors import InvalidInput, NotFound
from ...messages import JsonObject
from ...notebooks import bounded_outputs
from ...notebooks.kernels import ModelImage, images_of
from .._output_buffer import middle_left_out
from .._tool import ToolContext, image_block

__all__ = [
    "MOST_IMAGES",
    "ModelOutput",
    "most_characters",
    "outputs_text",
    "shown_texts",
    "told_outputs",
    "with_outputs",
]

_PREVIEW: Final = {"small": 5_000, "medium": 10_000, "large": 20_000}
_AT_ONCE: Final = 30
_LEAST_SHARE: Final = 400
MOST_IMAGES: Final = 5
_LONG: Final = 50_000
_BETWEEN: Final = "\n\x1e\n"


@dataclass(frozen=True)
class ModelOutput:
    """What is told of one cell."""

    header: str
    text: str = ""
    """All its text, masked."""
    pieces: Sequence[str] = ()
    """The text of each output, masked, with a progress bar only as it ended."""
    images: Sequence[ModelImage] = field(default=())
    artifact: str | None = None
    """Where the whole text is already."""
    goes_on: bool = False
    """Whether more will come, so that there is no whole yet."""


def most_characters(settings: GlobalSettings) -> int:
    """How much text of outputs one result has."""
    return _PREVIEW[settings.terminal_output_preview_size]


async def told_outputs(
    header: str,
    outputs: Sequence[JsonObject],
    context: ToolContext,
    *,
    artifact: str | None = None,
    goes_on: bool = False,
    images: bool = True,
) -> ModelOutput:
    """A cell's outputs, read and masked in a thread where there are many."""
    if sum(_size(output) for output in outputs) > _LONG:
        text, pieces = await in_thread(lambda _stop: _masked(outputs, context.mask))
    else:
        text, pieces = _masked(outputs, context.mask)
    return ModelOutput(header, text, pieces, await images_of(outputs) if images else (), artifact, goes_on)


def outputs_text(outputs: Sequence[JsonObject]) -> str:
    """All text of these outputs, as a person would read it."""
    return _joined(_texts(outputs))


def _texts(outputs: Sequence[JsonObject]) -> list[str]:
    parts: list[str] = []
    for first in range(0, len(outputs), _AT_ONCE):
        for output in bounded_outputs(outputs[first : first + _AT_ONCE], characters=sys.maxsize):
            parts.append(_text(output))
    return [part.rstrip("\n") for part in parts if part]


def _joined(texts: Sequence[str]) -> str:
    return "\n".join(texts).strip("\n")


def _masked(outputs: Sequence[JsonObject], mask: Callable[[str], str]) -> tuple[str, list[str]]:
    """All text, and that of each output."""
    texts = _texts(outputs)
    whole = mask(_joined(texts))
    parts = mask(_BETWEEN.join(texts)).split(_BETWEEN) if len(texts) > 1 else [whole]
    # A key may be printed in several outputs: then it is known as one only in the whole.
    return whole, [last_written(part) for part in (parts if _joined(parts) == whole else [whole])]


async def shown_texts(told: Sequence[ModelOutput], context: ToolContext) -> list[str]:
    """The text of each cell's outputs: long ones share the room there is."""
    whole = [_joined(one.pieces) for one in told]
    share = fair_share([len(text) for text in whole], most_characters(context.settings))
    return [
        text if len(text) <= share * TOOL_OUTPUT_FACTOR else await _shortened(one, text, share, context)
        for one, text in zip(told, whole, strict=True)
    ]


def with_outputs(
    told: Sequence[ModelOutput], shown: Sequence[str], *, before: str = "", after: str = ""
) -> str | list[JsonObject]:
    """A tool's result that tells of these cells with these texts; images follow the text."""
    parts = [before] if before else []
    images = [image for one in told for image in one.images]
    left_out = max(0, len([image for image in images if image.data is not None]) - MOST_IMAGES)
    for one, text in zip(told, shown, strict=True):
        parts.append(f"{one.header}\n{text}" if text else one.header)
    if left_out:
        parts.append(f"[{left_out} earlier images are not shown]")
    parts += [f"[{image.alternative}]" for image in images if image.data is None]
    if after:
        parts.append(after)
    text = "\n\n".join(parts)
    urls = [url for image in images if (url := image.data_url) is not None][left_out:]
    return text if not urls else [{"type": "text", "text": text}, *(image_block(url) for url in urls)]


async def _shortened(told: ModelOutput, shown: str, most: int, context: ToolContext) -> str:
    """What is shown of it in so much room: tables and tracebacks by what they mean, all else without its middle."""
    whole = await _whole(told, context)
    where = await _where(told, context)
    header, length = truncation_header(whole), len(whole)
    if any(len(piece) > _LEAST_SHARE and has_shape(piece) for piece in told.pieces):
        room = Budget("bytes", most * utf8_length(shown) // max(1, len(shown)))
        text = await in_thread(lambda _stop: texts_told(told.pieces, room))
        return f"{header}\n\n{text}\n[… part of {length:,} characters is left out{where} …]"
    return (
        f"{header}\n\n{middle_left_out(shown, most, f'[… the middle of {length:,} characters is left out{where} …]')}"
    )


async def _whole(told: ModelOutput, context: ToolContext) -> str:
    """All there was: of very much, the notebook itself has only the beginning and the end."""
    if told.artifact is not None:
        with suppress(NotFound, InvalidInput):
            data = await context.read_artifact(told.artifact)
            return data.decode("utf-8", "replace")
    return told.text


async def _where(told: ModelOutput, context: ToolContext) -> str:
    """Where the rest can be read."""
    if told.goes_on:
        return ": all of it can be read when the cell has ended"
    if not any(group == "command" or group[0] == "command" for group in context.mode.groups):
        # Whoever may not run anything has no tool to read what was kept.
        return ""
    artifact = told.artifact
    if artifact is None:
        try:
            artifact = await context.put_artifact(told.text.encode("utf-8", "replace"))
        except InvalidInput as error:
            return f": {error.message}"
    return f": read or search it with read_command_output and artifact_id {artifact}"


def _text(output: JsonObject) -> str:
    match output.get("output_type"):
        case "stream":
            return str(output.get("text", ""))
        case "error":
            lines = output.get("traceback")
            text = "\n".join(str(line) for line in lines) if isinstance(lines, list) else ""
            return text or f"{output.get('ename', 'Error')}: {output.get('evalue', '')}"
        case _:
            return _bundle_text(output)


def _bundle_text(output: JsonObject) -> str:
    data, omitted = output.get("data"), output.get("omitted")
    text = "".join(str(value) for value in data.values()) if isinstance(data, dict) else ""
    kinds = [str(one.get("mime")) for one in omitted if isinstance(one, dict)] if isinstance(omitted, list) else []
    shown = [kind for kind in kinds if kind.startswith("image/") or not text]
    return "\n".join(part for part in (text, f"[{', '.join(shown)}]" if shown else "") if part)


def _size(output: JsonObject) -> int:
    text = output.get("text")
    return len(text) if isinstance(text, (str, list)) else 1_000
