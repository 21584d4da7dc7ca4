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
    if rule is None or size is None:
        return None
    if rule is _claude and _SMALLER_CLAUDE.search(model):
        return _claude(*size, longest=1568, most=1568)
    return rule(*size)


def _size(data: str) -> tuple[int, int] | None:
    from PIL import Image

    try:
        raw = base64.b64decode(data[: len(data) // 4 * 4])
        with Image.open(io.BytesIO(raw)) as image:
            return image.size
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError, Image.DecompressionBombWarning):
        return None


def _claude(width: float, height: float, *, longest: int = 2576, most: int = 4784) -> int:
    """A patch of 28 pixels a side is a token."""
    scale = min(1, longest / max(width, height), math.sqrt(most * 28 * 28 / (width * height)))
    return min(most, math.ceil(width * scale / 28) * math.ceil(height * scale / 28))


def _gpt(width: float, height: float) -> int:
    """Scaled into 2048 pixels, then its shorter side to 768; tiles of 512."""
    scale = min(1, 2048 / max(width, height))
    scale *= min(1, 768 / (min(width, height) * scale))
    return 85 + 170 * math.ceil(width * scale / 512) * math.ceil(height * scale / 512)


def _gemini(width: float, height: float) -> int:
    """A small one is one tile, of others one is 768 pixels a side."""
    if max(width, height) <= 384:
        return 258
    return 258 * math.ceil(width / 768) * math.ceil(height / 768)


_RULES: Final[tuple[tuple[re.Pattern[str], _Rule], ...]] = (
    (re.compile(r"claude"), _claude),
    (re.compile(r"gemini"), _gemini),
    (re.compile(r"\bgpt-|\bo[134]\b|chatgpt"), _gpt),
)
