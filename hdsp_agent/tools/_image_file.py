"""An image for a model: whole, and no larger than its service takes.

A model service refuses a request with an image that is damaged or too large, and the image would be in every request
after it: so it is looked at before.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["DamagedImage", "ImageForModel", "TooManyPixels", "image_for_model"]

_LONGEST_SIDE: Final = 8_000
"""Services refuse longer ones."""
_MOST_DECODED: Final = 50_000_000
"""Pixels of an image that is made smaller: decoding more takes more than 200 MB."""
_SMALLEST_SIDE: Final = 64


class DamagedImage(Exception):
    """It begins like an image and is none, or its end is missing."""


class TooManyPixels(Exception):
    """Making it smaller would take too much memory."""


@dataclass(frozen=True)
class ImageForModel:
    """What a model is given of an image."""

    data: bytes
    media_type: str
    made_smaller: tuple[int, int] | None = None
    """Its width and height, if it was larger before."""


def image_for_model(data: bytes, media_type: str, most: int) -> ImageForModel:
    """The image as it is if it fits, else smaller and at most so many bytes. Raises DamagedImage, TooManyPixels.

    It takes time: call it in a thread.
    """
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data), formats=[media_type.removeprefix("image/").upper()]) as image:
            if not _looks_whole(data, media_type):
                raise DamagedImage
            if max(image.size) <= _LONGEST_SIDE:
                return ImageForModel(data, media_type)
            if image.width * image.height > _MOST_DECODED:
                raise TooManyPixels
            return _smaller(image, most)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise TooManyPixels from None
    except (OSError, ValueError, SyntaxError, EOFError) as error:
        raise DamagedImage from error


def _looks_whole(data: bytes, media_type: str) -> bool:
    """Whether the end of the image is there, as far as can be told without decoding it."""
    match media_type:
        case "image/png":
            return b"IDAT" in data and data.rfind(b"IEND") > 0
        case "image/gif":
            return data.rstrip(b"\0").endswith(b";")
        case "image/jpeg":
            return data.rfind(b"\xff\xd9") > 0
        case _:
            return len(data) >= int.from_bytes(data[4:8], "little") + 8


def _smaller(image: Image, most: int) -> ImageForModel:
    from PIL import ImageOps

    is_photo = image.format == "JPEG"
    # A JPEG can be decoded smaller at once.
    image.draft(None, (_LONGEST_SIDE, _LONGEST_SIDE))
    if image.mode == "P":
        image = image.convert("RGBA")
    image.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
    upright = ImageOps.exif_transpose(image)
    while max(upright.size) >= _SMALLEST_SIDE:
        target = io.BytesIO()
        upright.save(target, "JPEG" if is_photo else "PNG")
        if target.tell() <= most:
            return ImageForModel(target.getvalue(), "image/jpeg" if is_photo else "image/png", upright.size)
        upright.thumbnail((upright.width * 2 // 3, upright.height * 2 // 3))
    raise TooManyPixels
