"""Whether a picture shows anything: axes that nothing was drawn into are found by what is within their frame."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Final

from ...messages import JsonObject

if TYPE_CHECKING:
    from PIL.Image import Image as Grey

__all__ = ["is_empty_picture", "pictures_in"]

_DARK: Final = 110
_FRAME: Final = 0.5
"""Of a row or column of pixels, the part that is dark where a frame runs along it."""
_LEAST_SIDE: Final = 0.1
_INSET: Final = 5
"""Pixels: the frame's own line, and what softens its edges."""
_DIFFERS: Final = 24
_MOST_PIXELS: Final = 25_000_000


def pictures_in(outputs: Sequence[JsonObject]) -> list[bytes]:
    """The PNG pictures of these outputs."""
    found: list[bytes] = []
    for output in outputs:
        data = output.get("data")
        text = data.get("image/png") if isinstance(data, dict) else None
        if isinstance(text, list):
            text = "".join(map(str, text))
        if isinstance(text, str):
            try:
                found.append(base64.b64decode(text))
            except binascii.Error:
                continue
    return found


def is_empty_picture(png: bytes) -> bool:
    """Whether it is plain, or a frame with nothing in it. What cannot be read is not called empty."""
    from PIL import Image, UnidentifiedImageError  # 60 ms, for pictures alone

    try:
        with Image.open(BytesIO(png)) as opened:
            if opened.width * opened.height > _MOST_PIXELS:
                return False
            colours = opened.convert("RGBA")
            ground = Image.new("RGBA", colours.size, "white")
            grey = Image.alpha_composite(ground, colours).convert("L")
    except (OSError, ValueError, UnidentifiedImageError):
        return False
    frame = _frame(grey)
    if frame is None:
        return not _has_marks(grey)
    inside = grey.crop(frame)
    return not _has_marks(inside) and _main_shade(inside) == grey.getpixel((0, 0))


def _frame(grey: Grey) -> tuple[int, int, int, int] | None:
    """What lies within the outermost lines that run across and down; None if there is no frame."""
    from PIL import Image

    dark = grey.point(lambda shade: 255 if shade < _DARK else 0)
    rows = _lines(dark.resize((1, grey.height), Image.Resampling.BOX).tobytes())
    columns = _lines(dark.resize((grey.width, 1), Image.Resampling.BOX).tobytes())
    if rows is None or columns is None:
        return None
    (top, bottom), (left, right) = rows, columns
    if bottom - top < _LEAST_SIDE * grey.height or right - left < _LEAST_SIDE * grey.width:
        return None
    inset = max(_INSET, grey.width // 120)
    box = (left + inset, top + inset, right - inset, bottom - inset)
    return box if box[0] < box[2] and box[1] < box[3] else None


def _lines(shares: Sequence[int]) -> tuple[int, int] | None:
    """The first and the last row that is dark for the most part."""
    found = [at for at, share in enumerate(shares) if share >= 255 * _FRAME]
    return (found[0], found[-1]) if found else None


def _has_marks(grey: Grey) -> bool:
    from PIL import Image, ImageChops

    plain = Image.new("L", grey.size, _main_shade(grey))
    marks = ImageChops.difference(grey, plain).point(lambda shade: 255 if shade > _DIFFERS else 0)
    return marks.getbbox() is not None


def _main_shade(grey: Grey) -> int:
    counts = grey.histogram()
    return counts.index(max(counts))
