"""How many tokens a picture is, by the rule that its model's provider documents."""

from __future__ import annotations

import base64
import io
import math
import re
from collections.abc import Callable
from typing import Final

__all__ = ["picture_tokens"]

_Rule = Callable[[float, float], int]

_SMALLER_CLAUDE: Final = re.compile(r"claude-(?:[23]\b|[a-z]+-4(?!-?\d)|[a-z]+-4[-.][0-6]\b|[a-z]+-4-\d{8})")
"""Those that see at most 1568 pixels a side."""


def picture_tokens(data: str, model: str) -> int | None:
    """The tokens of a picture, which is given in base64, whole or its beginning; None where no rule or no size is known."""
    rule = next((rule for names, rule in _RULES if names.search(model)), None)
    size = None if rule is None else _size(data)
    if rule is None or size is None or 0 in size:
        return None
    if rule is _claude and _SMALLER_CLAUDE.search(model):
        return _claude(*size, longest=1568, most=1568)
    return rule(*size)


def _size(data: str) -> tuple[int, int] | None:
    from PIL import Image

    try:
        raw = base64.b64decode(data[: len(data) // 4 * 4])
        if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
            return _webp_size(raw)
        with Image.open(io.BytesIO(raw), formats=("PNG", "JPEG", "GIF")) as image:
            return image.size
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError, Image.DecompressionBombWarning):
        return None


def _webp_size(raw: bytes) -> tuple[int, int] | None:
    """From its head: Pillow reads no size of one that is not whole."""
    if len(raw) < 30:
        return None
    match raw[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(raw[24:27], "little"), 1 + int.from_bytes(raw[27:30], "little")
        case b"VP8L":
            bits = int.from_bytes(raw[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            return int.from_bytes(raw[26:28], "little") & 0x3FFF, int.from_bytes(raw[28:30], "little") & 0x3FFF
        case _:
            return None


def _claude(width: float, height: float, *, longest: int = 2576, most: int = 4784) -> int:
    """A patch of 28 pixels a side is a token."""
    scale = min(1, longest / max(width, height), math.sqrt(most * 28 * 28 / (width * height)))
    return min(most, math.ceil(width * scale / 28) * math.ceil(height * scale / 28))


def _tiles(base: int, tile: int) -> _Rule:
    """Scaled into 2048 pixels, then its shorter side to 768; tiles of 512."""

    def tokens(width: float, height: float) -> int:
        scale = min(1, 2048 / max(width, height))
        scale *= min(1, 768 / (min(width, height) * scale))
        return base + tile * math.ceil(width * scale / 512) * math.ceil(height * scale / 512)

    return tokens


def _patches(factor: float) -> _Rule:
    """Of 32 pixels a side; a larger one is scaled down to 1536 of them."""
    return lambda width, height: math.ceil(factor * min(1536, math.ceil(width / 32) * math.ceil(height / 32)))


def _gemini(width: float, height: float) -> int:
    """A small one is one tile, of others one is 768 pixels a side."""
    if max(width, height) <= 384:
        return 258
    return 258 * math.ceil(width / 768) * math.ceil(height / 768)


_RULES: Final[tuple[tuple[re.Pattern[str], _Rule], ...]] = (
    (re.compile(r"claude"), _claude),
    (re.compile(r"gemini"), _gemini),
    (re.compile(r"\bgpt-4o-mini\b"), _tiles(2833, 5667)),
    (re.compile(r"\bgpt-4\.1-mini\b"), _patches(1.62)),
    (re.compile(r"\bgpt-4\.1-nano\b"), _patches(2.46)),
    (re.compile(r"\bo4-mini\b"), _patches(1.72)),
    (re.compile(r"\bgpt-4(?:o|\.1|\.5|-turbo)\b"), _tiles(85, 170)),
    (re.compile(r"\bgpt-5(?:\.1)?(?![.\w])(?!.*-(?:mini|nano))"), _tiles(70, 140)),
    (re.compile(r"\bo[13]\b(?!-mini)"), _tiles(75, 150)),
)
"""Of OpenAI's models only those whose rule is known and does not contradict what people were billed."""
