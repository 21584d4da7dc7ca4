"""Whether two outputs are the same, but for what does not matter: float noise, addresses, how a table is laid out."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Final

from ..notebooks import without_escapes

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["ShownOutput", "Tolerance", "cut", "difference", "outputs_of"]

_ADDRESS: Final = re.compile(r"\bat 0x[0-9a-fA-F]{6,16}\b")
_PLACEHOLDER: Final = re.compile(r"\s*<(?:IPython\.core\.display\.\w+ object|Figure .*)>\s*", re.DOTALL)
_NUMBER: Final = re.compile(r"(?<![\w.])[-+]?+(?:\d[\d_]*+(?:\.\d*+)?+|\.\d++)(?:[eE][-+]?\d++)?+(?!\w)")
_OF_SVG: Final = re.compile(r"""\b(?:id|xlink:href|href|clip-path)="[^"]*"|url\([^)]*\)|<dc:date>[^<]*</dc:date>""")
_WIDGET: Final = "application/vnd.jupyter.widget-view+json"
_PICTURES: Final = ("image/png", "image/jpeg")
_TEXTS: Final = ("text/markdown", "text/latex")
_MOST_SHOWN: Final = 60
_MOST_COMPARED: Final = 2_000_000
_SIGNIFICANT: Final = 4
"""Of two numbers with as many decimals and at least so many digits, the last digit may be off by one."""
_SHADE: Final = 16
"""A pixel that differs by no more is the same to the eye."""
_TILE: Final = 16
_TILE_SHARE: Final = 0.12
"""Of a tile's pixels that may be others: what is small, such as a point or a title, is large in its tile."""
_MOST_PIXELS: Final = 20_000_000


@dataclass(frozen=True)
class Tolerance:
    """How far numbers and pictures may be apart."""

    relative: float = 1e-8
    absolute: float = 1e-15
    pixels: float = 0.005
    """The share of a picture's pixels that may be others."""


@dataclass(frozen=True)
class ShownOutput:
    """What a cell shows, of one kind: ``stream``, ``text``, ``html``, ``picture``, ``svg``, ``json``, ``error``, ``other``."""

    kind: str
    content: str


def outputs_of(cell: Mapping[str, object], places: Mapping[str, str] | None = None) -> list[ShownOutput]:
    """What a cell shows, without what was told on the side: standard error, and widgets.

    ``places`` are paths that are to be called otherwise, such as those of a copy.
    """
    found: list[ShownOutput] = []
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, Sequence) and not isinstance(outputs, str) else ():
        if not isinstance(output, Mapping):
            continue
        match output.get("output_type"):
            case "stream" if output.get("name") == "stdout":
                text = _joined(output.get("text"))
                if found and found[-1].kind == "stream":
                    text = found.pop().content + text
                found.append(ShownOutput("stream", text))
            case "execute_result" | "display_data":
                data = output.get("data")
                shown = _shown(data if isinstance(data, Mapping) else {})
                if shown is not None:
                    found.append(shown)
            case "error":
                found.append(ShownOutput("error", f"{output.get('ename')}: {output.get('evalue')}"))
            case _:
                pass
    for old, new in (places or {}).items():
        found = [ShownOutput(one.kind, one.content.replace(old, new)) for one in found]
    texts = [ShownOutput(one.kind, _plain(one.content)) if one.kind in ("stream", "text") else one for one in found]
    return [one for one in texts if one.content.strip()]


def difference(saved: Sequence[ShownOutput], now: Sequence[ShownOutput], tolerance: Tolerance) -> str | None:
    """What is different, in a few words; None if nothing is that matters."""
    for at, (before, after) in enumerate(zip(saved, now, strict=False)):
        found = _difference(before, after, tolerance)
        if found is not None:
            return found if len(saved) == 1 else f"output {at + 1}: {found}"
    if len(saved) > len(now):
        return f"{_short(saved[len(now)])} is not shown any more"
    if len(now) > len(saved):
        return f"{_short(now[len(saved)])} is shown as well"
    return None


def _difference(saved: ShownOutput, now: ShownOutput, tolerance: Tolerance) -> str | None:
    if saved.kind != now.kind:
        return f"{_short(saved)} is {_short(now)} now"
    match saved.kind:
        case "picture":
            return _of_pictures(saved.content, now.content, tolerance)
        case "error":
            # What an error says may hold a path.
            names = [one.content.partition(":")[0] for one in (saved, now)]
            return None if names[0] == names[1] else f"{names[0]} is {_short(now)} now"
        case "svg" | "other":
            return None if saved.content == now.content else f"{_short(saved)} is another now"
        case _:
            return _of_texts(saved.content, now.content, tolerance)


def _of_texts(saved: str, now: str, tolerance: Tolerance) -> str | None:
    if saved == now:
        return None
    if max(len(saved), len(now)) > _MOST_COMPARED:
        return "the text is another, and too long to be compared"
    words = [_NUMBER.split(text) for text in (saved, now)]
    numbers = [_NUMBER.findall(text) for text in (saved, now)]
    flat = [[" ".join(part.split()) for part in parts] for parts in words]
    if flat[0] == flat[1]:
        return next(
            (
                f"{one} is {other} now"
                for one, other in zip(*numbers, strict=True)
                if not _is_close(one, other, tolerance)
            ),
            None,
        )
    lines = [[" ".join(line.split()) for line in text.split("\n")] for text in (saved, now)]
    for before, after in zip(*lines, strict=False):
        if before != after:
            return f"“{cut(before)}” is “{cut(after)}” now"
    return f"{len(lines[0])} lines are {len(lines[1])} now"


def _is_close(one: str, other: str, tolerance: Tolerance) -> bool:
    texts = [text.replace("_", "").lstrip("+") for text in (one, other)]
    if texts[0] == texts[1]:
        return True
    if not any(sign in text for text in texts for sign in ".eE"):
        # Whole numbers have no noise.
        return False
    values = [float(text) for text in texts]
    if not all(map(math.isfinite, values)):
        return False
    if math.isclose(*values, rel_tol=tolerance.relative, abs_tol=tolerance.absolute):
        return True
    decimals = [_decimals(text) for text in texts]
    return (
        decimals[0] == decimals[1]
        and min(map(_digits, texts)) >= _SIGNIFICANT
        and decimals[0] >= _SIGNIFICANT
        and abs(values[0] - values[1]) <= 1.000001 * 10.0 ** -decimals[0]
    )


def _decimals(number: str) -> int:
    mantissa, _, exponent = number.lower().partition("e")
    return len(mantissa.partition(".")[2]) - int(exponent or 0)


def _digits(number: str) -> int:
    """How many digits count."""
    mantissa = number.lower().partition("e")[0].lstrip("-").replace(".", "")
    return len(mantissa.lstrip("0"))


def _of_pictures(saved: str, now: str, tolerance: Tolerance) -> str | None:
    if saved == now:
        return None
    from PIL import Image, ImageChops, UnidentifiedImageError

    try:
        with (
            Image.open(BytesIO(base64.b64decode(saved))) as before,
            Image.open(BytesIO(base64.b64decode(now))) as after,
        ):
            if before.size != after.size:
                sizes = [f"{width} by {height} pixels" for width, height in (after.size, before.size)]
                return f"the picture is {sizes[0]} now, not {sizes[1]}"
            if before.size[0] * before.size[1] > _MOST_PIXELS:
                return "the picture is another, and too large to be compared"
            bands = ImageChops.difference(_on_white(before), _on_white(after)).split()
    except (OSError, binascii.Error, UnidentifiedImageError):
        return "the picture cannot be read"
    largest = bands[0]
    for band in bands[1:]:
        largest = ImageChops.lighter(largest, band)
    others = largest.point([255 if shade > _SHADE else 0 for shade in range(256)])
    share = others.histogram()[255] / (others.size[0] * others.size[1])
    tiles = others.resize([max(1, side // _TILE) for side in others.size], Image.Resampling.BOX)
    worst = float(tiles.getextrema()[1]) / 255  # type: ignore[arg-type]  # of one band
    if share <= tolerance.pixels and worst <= _TILE_SHARE:
        return None
    return f"{100 * share:.1f} % of the picture is different"


def _on_white(picture: Image) -> Image:
    from PIL import Image

    clear = picture.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", clear.size, "white"), clear).convert("RGB")


def _shown(data: Mapping[str, object]) -> ShownOutput | None:
    """The richest of what may be compared."""
    if _WIDGET in data:
        return None
    for kind in _PICTURES:
        if kind in data:
            return ShownOutput("picture", _joined(data[kind]))
    if "text/html" in data:
        return ShownOutput("html", _page_text(_joined(data["text/html"])))
    plain = _joined(data.get("text/plain", ""))
    if plain and not _PLACEHOLDER.fullmatch(plain):
        return ShownOutput("text", plain)
    for kind in _TEXTS:
        if kind in data:
            return ShownOutput("text", _joined(data[kind]))
    if "image/svg+xml" in data:
        return ShownOutput("svg", _OF_SVG.sub("", _joined(data["image/svg+xml"])))
    for kind in data:
        if kind.endswith("json"):
            return ShownOutput("json", json.dumps(data[kind], sort_keys=True, default=str))
    return ShownOutput("other", ", ".join(sorted(data))) if data else None


def _page_text(html: str) -> str:
    """The words of a page, each cell of a table on a line of its own."""
    from bs4 import BeautifulSoup

    page = BeautifulSoup(html, "html.parser")
    for part in page.find_all(["style", "script"]):
        part.decompose()
    # A page without words is still there.
    return _plain(page.get_text("\n", strip=True)) or "a page"


def _plain(text: str) -> str:
    """Text as it was seen: without escapes, addresses, and what a line wrote over itself."""
    lines = [line.rstrip().rpartition("\r")[2] for line in without_escapes(text).split("\n")]
    return _ADDRESS.sub("at 0x…", "\n".join(lines)).strip("\n")


def _joined(value: object) -> str:
    return value if isinstance(value, str) else "".join(map(str, value)) if isinstance(value, Sequence) else ""


def _short(output: ShownOutput) -> str:
    match output.kind:
        case "picture" | "svg":
            return "a picture"
        case "html":
            return "a table or page"
        case "error":
            return cut(output.content.partition("\n")[0])
        case "json" | "other":
            return "an output"
        case _:
            return f"“{cut(' '.join(output.content.split()))}”"


def cut(text: str, most: int = _MOST_SHOWN) -> str:
    """Its beginning."""
    return text if len(text) <= most else f"{text[:most]}…"
