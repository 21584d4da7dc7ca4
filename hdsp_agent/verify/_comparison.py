"""Whether two outputs are the same, but for what does not matter: float noise, addresses, how a table is laid out."""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Final

__all__ = ["ShownOutput", "Tolerance", "difference", "outputs_of"]

_ESCAPES: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_ADDRESS: Final = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")
_FIGURE: Final = re.compile(r"^<Figure size .*>$", re.MULTILINE)
_NUMBER: Final = re.compile(r"(?<![\w.])[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w])")
_IGNORED: Final = frozenset({"application/vnd.jupyter.widget-view+json"})
_MOST_SHOWN: Final = 60
_LEAST_DECIMALS: Final = 4
"""Of two numbers that were printed with as many, at least so many, the last digit may be off by one."""
_COLOUR_STEPS: Final = 32
"""A pixel that differs by less is the same to the eye."""
_MOST_PIXELS: Final = 20_000_000


@dataclass(frozen=True)
class Tolerance:
    """How far numbers and pictures may be apart."""

    relative: float = 1e-8
    absolute: float = 1e-9
    pixels: float = 0.005
    """The share of a picture's pixels that may be others."""


@dataclass(frozen=True)
class ShownOutput:
    """What a cell shows, of one kind: ``text``, ``html``, ``png`` or ``error``."""

    kind: str
    content: str


def outputs_of(cell: Mapping[str, object]) -> list[ShownOutput]:
    """What a cell shows, without what was told on the side: standard error, and widgets."""
    found: list[ShownOutput] = []
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, Sequence) else ():
        match output.get("output_type"):
            case "stream" if output.get("name") == "stdout":
                text = _joined(output.get("text"))
                if found and found[-1].kind == "stream":
                    text = found.pop().content + text
                found.append(ShownOutput("stream", text))
            case "execute_result" | "display_data":
                shown = _shown(output.get("data") or {})
                if shown is not None:
                    found.append(shown)
            case "error":
                found.append(ShownOutput("error", f"{output.get('ename')}: {output.get('evalue')}"))
            case _:
                pass
    texts = [ShownOutput("text", _plain(one.content)) if one.kind == "stream" else one for one in found]
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
        case "png":
            return _of_pictures(saved.content, now.content, tolerance)
        case "error":
            # What an error says may hold a path.
            names = [one.content.partition(":")[0] for one in (saved, now)]
            return None if names[0] == names[1] else f"{names[0]} is {_short(now)} now"
        case "html":
            return _of_texts(_table_text(saved.content), _table_text(now.content), tolerance)
        case _:
            return _of_texts(saved.content, now.content, tolerance)


def _of_texts(saved: str, now: str, tolerance: Tolerance) -> str | None:
    if saved == now:
        return None
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
            return f"“{_cut(before)}” is “{_cut(after)}” now"
    return f"{len(lines[0])} lines are {len(lines[1])} now"


def _is_close(one: str, other: str, tolerance: Tolerance) -> bool:
    if one == other:
        return True
    try:
        values = float(one.replace("_", "")), float(other.replace("_", ""))
    except ValueError:
        return False
    if math.isclose(*values, rel_tol=tolerance.relative, abs_tol=tolerance.absolute):
        return True
    decimals = _decimals(one)
    return (
        decimals == _decimals(other)
        and decimals >= _LEAST_DECIMALS
        and abs(values[0] - values[1]) <= 1.000001 * 10.0**-decimals
    )


def _decimals(number: str) -> int:
    mantissa, _, exponent = number.lower().partition("e")
    return len(mantissa.partition(".")[2]) - int(exponent or 0)


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
                return f"the picture is {after.size[0]} by {after.size[1]} pixels now, not {before.size[0]} by {before.size[1]}"
            count = before.size[0] * before.size[1]
            if count > _MOST_PIXELS:
                return "the picture is another, and too large to be compared"
            bands = ImageChops.difference(before.convert("RGB"), after.convert("RGB")).split()
    except (OSError, binascii.Error, UnidentifiedImageError):
        return "the picture cannot be read"
    largest = bands[0]
    for band in bands[1:]:
        largest = ImageChops.lighter(largest, band)
    others = sum(largest.histogram()[_COLOUR_STEPS:])
    share = others / count
    return None if share <= tolerance.pixels else f"{100 * share:.1f} % of the picture is different"


def _shown(data: Mapping[str, object]) -> ShownOutput | None:
    """The richest of what may be compared."""
    if _IGNORED & data.keys():
        return None
    if "image/png" in data:
        return ShownOutput("png", _joined(data["image/png"]))
    html = _joined(data.get("text/html", ""))
    if "<table" in html:
        return ShownOutput("html", html)
    plain = _joined(data.get("text/plain", ""))
    return ShownOutput("text", _plain(plain)) if plain else None


def _table_text(html: str) -> str:
    from bs4 import BeautifulSoup

    page = BeautifulSoup(html, "html.parser")
    for style in page.find_all("style"):
        style.decompose()
    rows = [
        " ".join(cell.get_text(" ", strip=True) for cell in row.find_all(["td", "th"])) for row in page.find_all("tr")
    ]
    outside = [part for part in page.find_all("p")]
    return "\n".join([*rows, *(part.get_text(" ", strip=True) for part in outside)])


def _plain(text: str) -> str:
    """Text as it was seen: without escapes, addresses, and what a line wrote over itself."""
    lines = [line.rstrip().rpartition("\r")[2] for line in _ESCAPES.sub("", text).split("\n")]
    return _FIGURE.sub("", _ADDRESS.sub("0x…", "\n".join(lines))).strip("\n")


def _joined(value: object) -> str:
    return value if isinstance(value, str) else "".join(map(str, value)) if isinstance(value, Sequence) else ""


def _short(output: ShownOutput) -> str:
    match output.kind:
        case "png":
            return "a picture"
        case "html":
            return "a table"
        case "error":
            return _cut(output.content)
        case _:
            return f"“{_cut(' '.join(output.content.split()))}”"


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
