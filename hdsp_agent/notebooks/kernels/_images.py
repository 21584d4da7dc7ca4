"""Images among a cell's outputs, made small enough for a model."""

from __future__ import annotations

import asyncio
import base64
import binascii
import io
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ...messages import JsonObject

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["ImageLimits", "ModelImage", "images_of"]

_KINDS: Final = ("image/png", "image/jpeg")
_SMALLEST_SIDE: Final = 64


@dataclass(frozen=True)
class ImageLimits:
    """What a model is given of images."""

    count: int = 5
    side: int = 1_568
    bytes: int = 1_000_000
    pixels: int = 25_000_000
    """An image with more is not even decoded: it would take more than 100 MB."""


@dataclass(frozen=True)
class ModelImage:
    """One image, and what stands for it where there is none: ``data`` is None when it was left out."""

    media_type: str
    data: bytes | None
    alternative: str

    @property
    def data_url(self) -> str | None:
        """As messages carry images."""
        if self.data is None:
            return None
        return f"data:{self.media_type};base64,{base64.b64encode(self.data).decode('ascii')}"


async def images_of(outputs: Sequence[JsonObject], limits: ImageLimits | None = None) -> list[ModelImage]:
    """The images of these outputs, the last ones where there are too many; each with a word about it."""
    bounds = limits or ImageLimits()
    found = [(kind, data, _alternative(bundle)) for bundle in map(_bundle, outputs) for kind, data in _pictures(bundle)]
    skipped = max(0, len(found) - bounds.count)
    images = [ModelImage(kind, None, f"{word} ({kind}; too many images)") for kind, _, word in found[:skipped]]
    for kind, data, word in found[skipped:]:
        if kind == "image/svg+xml":
            images.append(ModelImage(kind, None, f"{word} (an SVG drawing, which is not shown to the model)"))
        else:
            images.append(await asyncio.to_thread(_fitted, kind, data, word, bounds))
    return images


def _bundle(output: JsonObject) -> JsonObject:
    data = output.get("data")
    return data if isinstance(data, dict) else {}


def _pictures(bundle: JsonObject) -> list[tuple[str, str]]:
    for kind in (*_KINDS, "image/svg+xml"):
        if isinstance(data := bundle.get(kind), str):
            return [(kind, data)]
    return []


def _alternative(bundle: JsonObject) -> str:
    plain = bundle.get("text/plain")
    return plain[:200] if isinstance(plain, str) and plain else "an image"


def _fitted(kind: str, text: str, word: str, limits: ImageLimits) -> ModelImage:
    try:
        data = base64.b64decode(text)
    except (ValueError, binascii.Error):
        return ModelImage(kind, None, f"{word} (an image that cannot be decoded)")
    try:
        from PIL import Image
    except ImportError:
        return _bounded_only(kind, data, word, limits)
    try:
        with Image.open(io.BytesIO(data), formats=["PNG", "JPEG"]) as image:
            size = f"{image.width}×{image.height}"
            if image.width * image.height > limits.pixels:
                return ModelImage(kind, None, f"{word} ({size} pixels, too large to show)")
            if max(image.size) <= limits.side and len(data) <= limits.bytes:
                return ModelImage(kind, data, f"{word} ({size} pixels)")
            image.thumbnail((limits.side, limits.side))
            smaller = _encoded(image, kind, limits)
    except (OSError, ValueError, SyntaxError, struct.error, Image.DecompressionBombError) as error:
        return ModelImage(kind, None, f"{word} (an image that cannot be read: {error})")
    if smaller is None:
        return ModelImage(kind, None, f"{word} ({size} pixels, too large to show)")
    return ModelImage(smaller[0], smaller[1], f"{word} ({size} pixels, shown smaller)")


def _encoded(image: Image, kind: str, limits: ImageLimits) -> tuple[str, bytes] | None:
    """As it was if that fits, else as JPEG, smaller and smaller."""
    if kind == "image/png" and len(data := _saved(image, "PNG")) <= limits.bytes:
        return kind, data
    flat = _without_transparency(image)
    while min(flat.size) >= _SMALLEST_SIDE:
        data = _saved(flat, "JPEG")
        if len(data) <= limits.bytes:
            return "image/jpeg", data
        flat = flat.resize((max(1, flat.width * 2 // 3), max(1, flat.height * 2 // 3)))
    return None


def _without_transparency(image: Image) -> Image:
    """On white: plots are drawn for it, and JPEG would make it black."""
    if "A" not in image.getbands() and "transparency" not in image.info:
        return image.convert("RGB")
    from PIL import Image as images

    layered = image.convert("RGBA")
    white = images.new("RGB", layered.size, "white")
    white.paste(layered, mask=layered.getchannel("A"))
    return white


def _saved(image: Image, form: str) -> bytes:
    target = io.BytesIO()
    image.save(target, form)
    return target.getvalue()


def _bounded_only(kind: str, data: bytes, word: str, limits: ImageLimits) -> ModelImage:
    if len(data) > limits.bytes:
        return ModelImage(kind, None, f"{word} ({len(data):,} bytes, too large to show)")
    return ModelImage(kind, data, word)
