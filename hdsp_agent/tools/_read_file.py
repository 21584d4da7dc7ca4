"""Reading a file: lines of text with their numbers, or an image."""

from __future__ import annotations

import base64
import io
import os
from dataclasses import dataclass
from io import BufferedReader
from typing import Annotated, BinaryIO, ClassVar, Final, Self

from pydantic import Field, StringConstraints, model_validator

from .._threads import Stop, in_thread
from ..config import ToolGroup
from ..messages import ClineSayTool, JsonObject
from ._action import ActionRequest
from ._file_access import Stamp, open_file, stamp_of
from ._image_file import DamagedImage, TooManyPixels, image_for_model
from ._path_policy import NOTEBOOK_ADVICE, CheckedPath
from ._pdf import pdf_text
from ._text_file import decode_window, looks_binary, text_encoding
from ._tool import SimpleTool, ToolArguments, ToolContext, ToolResult, answered, data_url, denied
from ._tool_failed import ToolFailed

__all__ = ["ReadFile", "ReadFileArguments"]

_MOST_LINES: Final = 2_000
_MOST_BYTES: Final = 100_000
_LONGEST_LINE: Final = 2_000
_CHUNK: Final = 1 << 20
_COUNTED_BYTES: Final = 64 << 20
"""Up to this size the lines of a whole file are counted."""
_IMAGES: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_OTHER_IMAGES: Final = (".bmp", ".tif", ".tiff", ".ico", ".heic", ".avif")


class ReadFileArguments(ToolArguments):
    """The arguments of ``read_file``."""

    path: Annotated[str, StringConstraints(min_length=1, max_length=4096)]
    """The file, relative to the workspace."""
    start_line: Annotated[int, Field(ge=1)] | None = None
    """The first line to read; 1 if absent."""
    end_line: Annotated[int, Field(ge=1)] | None = None
    """The last line to read."""

    @model_validator(mode="after")
    def _forwards(self) -> Self:
        if self.start_line and self.end_line and self.end_line < self.start_line:
            raise ValueError(f"end_line {self.end_line} comes before start_line {self.start_line}")
        return self


class ReadFile(SimpleTool[ReadFileArguments]):
    """Reads a file."""

    name: ClassVar[str] = "read_file"
    group: ClassVar[ToolGroup | None] = "read"
    description: ClassVar[str] = (
        f"Read a text file, with line numbers in front that are not part of it; at most {_MOST_LINES} lines at once, so use "
        "start_line and end_line on longer files. Of a PDF you get the text. PNG, JPEG, GIF and WebP images are shown to you. Notebooks (.ipynb) have "
        "tools of their own."
    )
    parallel_safe: ClassVar[bool] = True

    async def _run(self, arguments: ReadFileArguments, context: ToolContext) -> ToolResult:
        place = await in_thread(lambda _stop: _place(arguments.path, context))
        shown = ClineSayTool(
            tool="readFile",
            path=place.shown,
            content=str(place.path),
            start_line=arguments.start_line,
            is_outside_workspace=place.is_outside or None,
            reason=_lines_asked(arguments),
        )
        approval = await context.approve(
            ActionRequest(risks=place.read_risks, tool=self.name, path=place.shown), "tool", shown.to_json()
        )
        if not approval.approved:
            return denied(approval)
        most_image = int(context.settings.max_image_file_size * 1_000_000)
        read = await in_thread(lambda stop: _read(place, arguments, most_image, stop))
        context.state.seen.saw(place.path, read.stamp)
        if pictures := [url for block in read.content if isinstance(block, dict) and (url := data_url(block))]:
            # The person sees what the model is shown.
            await context.say("image", place.shown, images=pictures)
        return answered(approval, ToolResult(read.content))

    def preview(self, partial: JsonObject, context: ToolContext) -> str | None:
        path = partial.get("path")
        return ClineSayTool(tool="readFile", path=path).to_json() if isinstance(path, str) and path else None


@dataclass(frozen=True)
class _Read:
    content: str | list[JsonObject]
    stamp: Stamp


def _place(given: str, context: ToolContext) -> CheckedPath:
    place = context.paths.resolve(given)
    if place.path.suffix.lower() == ".ipynb":
        raise ToolFailed(f"{place.shown} {NOTEBOOK_ADVICE}")
    # What can be refused is refused before anybody is asked.
    open_file(place).close()
    return place


def _lines_asked(arguments: ReadFileArguments) -> str | None:
    if arguments.start_line is None and arguments.end_line is None:
        return None
    return f"lines {arguments.start_line or 1}-{arguments.end_line or ''}"


def _read(place: CheckedPath, arguments: ReadFileArguments, most_image: int, stop: Stop) -> _Read:
    with open_file(place) as file:
        stamp = stamp_of(os.fstat(file.fileno()))
        start = file.read(_CHUNK)
        if media_type := _image_type(start):
            return _Read(_image(place, file, start, stamp[1], media_type, most_image), stamp)
        if start.startswith(b"%PDF-"):
            text = io.BytesIO(pdf_text(place.shown, file, stamp[1], stop))
            return _Read(_numbered(place, _lines(text, arguments, stop), arguments, "utf-8", stamp[1]), stamp)
        bom, encoding = text_encoding(start)
        if not bom and looks_binary(start):
            raise ToolFailed(_binary(place, stamp[1]))
        if not start:
            return _Read(f"{place.shown} is empty.", stamp)
        if encoding.startswith(("utf-16", "utf-32")):
            lines = _wide_lines(place, file, start, encoding, len(bom), stamp[1], arguments)
        else:
            file.seek(len(bom))
            lines = _lines(file, arguments, stop)
    return _Read(_numbered(place, lines, arguments, encoding, stamp[1]), stamp)


@dataclass(frozen=True)
class _Lines:
    lines: list[bytes]
    total: int | None
    """How many lines the file has; None if it is too long to count them."""
    cut_short: bool


def _lines(file: BinaryIO, arguments: ReadFileArguments, stop: Stop) -> _Lines:
    """The lines asked for, without ever holding more than those and one chunk."""
    first = (arguments.start_line or 1) - 1
    last = min(arguments.end_line or first + _MOST_LINES, first + _MOST_LINES)
    taken: list[bytes] = []
    size = number = 0
    rest = b""
    while not stop() and (chunk := file.read(_CHUNK)):
        if number >= last or size >= _MOST_BYTES:
            if file.tell() > _COUNTED_BYTES:
                return _Lines(taken, None, True)
            number += chunk.count(b"\n")
            rest = chunk[-1:] if chunk[-1:] != b"\n" else b""
            continue
        if number + chunk.count(b"\n") < first:
            number += chunk.count(b"\n")
            rest = chunk[chunk.rfind(b"\n") + 1 :][: _LONGEST_LINE * 4]
            continue
        pieces = (rest + chunk).split(b"\n")
        rest = pieces.pop()
        for piece in pieces:
            if first <= number < last and size < _MOST_BYTES:
                taken.append(piece)
                size += min(len(piece), _LONGEST_LINE) + 8
            number += 1
        # Of a line without end only the beginning is wanted.
        rest = rest[: _LONGEST_LINE * 4]
    if rest:
        if first <= number < last and size < _MOST_BYTES:
            taken.append(rest)
        number += 1
    return _Lines(taken, number, first + len(taken) < number)


def _wide_lines(
    place: CheckedPath,
    file: BufferedReader,
    start: bytes,
    encoding: str,
    skip: int,
    size: int,
    arguments: ReadFileArguments,
) -> _Lines:
    if size > _COUNTED_BYTES:
        raise ToolFailed(f"{place.shown} is a large {encoding} file of {size:,} bytes. Convert it to UTF-8 first.")
    data = (start + file.read(_COUNTED_BYTES))[skip:]
    lines = [line.encode() for line in decode_window(data, encoding).split("\n")]
    if lines and not lines[-1]:
        lines.pop()
    first = (arguments.start_line or 1) - 1
    last = min(arguments.end_line or first + _MOST_LINES, first + _MOST_LINES)
    return _Lines(lines[first:last], len(lines), first + len(lines[first:last]) < len(lines))


def _numbered(place: CheckedPath, read: _Lines, arguments: ReadFileArguments, encoding: str, size: int) -> str:
    first = arguments.start_line or 1
    if not read.lines:
        total = f"{read.total:,} lines" if read.total is not None else f"{size:,} bytes"
        raise ToolFailed(f"{place.shown} has {total}; there is no line {first:,}.")
    inner = "utf-8" if encoding.startswith(("utf-16", "utf-32")) else encoding
    shown = [
        f"{number} | {_bounded(decode_window(line, inner).removesuffix(chr(13)))}"
        for number, line in enumerate(read.lines, first)
    ]
    last = first + len(shown) - 1
    notes = [] if encoding == "utf-8" else [f"[{place.shown} is encoded as {encoding}; edits keep that]"]
    wanted_more = arguments.end_line is None or last < arguments.end_line
    if read.cut_short and wanted_more:
        total = f"{read.total:,} lines" if read.total is not None else f"{size:,} bytes and too many lines to count"
        notes.append(f"[… {place.shown} has {total}; go on with start_line {last + 1} …]")
    return "\n".join([*shown, *notes])


def _bounded(line: str) -> str:
    if len(line) <= _LONGEST_LINE:
        return line
    return f"{line[:_LONGEST_LINE]} [… the line goes on …]"


def _image_type(start: bytes) -> str | None:
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "image/webp"
    return next((media_type for magic, media_type in _IMAGES if start.startswith(magic)), None)


def _image(
    place: CheckedPath, file: BufferedReader, start: bytes, size: int, media_type: str, most: int
) -> list[JsonObject]:
    if size > most:
        raise ToolFailed(
            f"{place.shown} is an image of {size:,} bytes; images of more than {most:,} bytes are not sent to you. "
            "Make a smaller copy and read that."
        )
    data = start + file.read(max(0, most + 1 - len(start)))
    try:
        image = image_for_model(data, media_type, most)
    except DamagedImage:
        raise ToolFailed(
            f"{place.shown} begins like an image ({media_type}) and is damaged: it cannot be shown to you."
        ) from None
    except TooManyPixels:
        raise ToolFailed(
            f"{place.shown} is an image of too many pixels to be made smaller here. Make a smaller copy and read that."
        ) from None
    smaller = (
        "" if image.made_smaller is None else ", made smaller for you: {:,} by {:,} pixels".format(*image.made_smaller)
    )
    encoded = base64.b64encode(image.data).decode("ascii")
    return [
        {"type": "text", "text": f"{place.shown}: an image ({media_type}, {size:,} bytes{smaller})."},
        {"type": "image", "source": {"type": "base64", "media_type": image.media_type, "data": encoded}},
    ]


def _binary(place: CheckedPath, size: int) -> str:
    if place.path.suffix.lower() in _OTHER_IMAGES:
        return f"{place.shown} is an image of a kind you cannot be shown. Convert it to PNG and read that."
    return (
        f"{place.shown} is a binary file of {size:,} bytes. Read it with a program made for its format, "
        "in the kernel or by a command."
    )
