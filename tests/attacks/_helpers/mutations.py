"""Right frames made wrong: in their fields, their types, their sizes, their text and their bytes. By a seed, so again."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final

__all__ = ["mutated"]

Frame = dict[str, Any]

_ODD: Final[tuple[object, ...]] = (
    None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 2**64, -(2**63), 10**400, 1.5, -0.0, 1e308, "", " ", "0", "null", "\0", "a\0b",
    "../../etc/passwd", "/etc/passwd", "..\\..\\x", "~", "$(touch PWN)", "`id`", "'; DROP TABLE tasks; --", "%00", "{{7*7}}",
    "\u202e\u2066", "\ufeff", "\u200b", "e\u0301" * 50, "👩‍👩‍👧‍👦" * 50, "\ud800", "a" * 300, "x" * 100_000, "__proto__",
    "constructor", [], {}, [[]], [None], {"": ""}, {"__proto__": {"x": 1}}, [1] * 2_000, {"a": {"b": {"c": {"d": {}}}}},
    "0b8f9d0e-6f2c-4d7b-9d52-6a1f3c2b4e5d", "data:image/png;base64,AAAA", "javascript:alert(1)", "2|1:0|", "\x1b[2J",
)  # fmt: skip
_OPS: Final = ("open", "msg", "ping", "pong", "ack", "close", "OPEN", "comm_open", "", "msg ")
_RAW: Final[tuple[str, ...]] = (
    "NaN", "Infinity", "-Infinity", "1e999", "-1e999", "01", "+1", ".5", "0x10", "undefined", "1" * 5_000, "[" * 500,
    '{"a":' * 300, '"\\ud800"', '"\\u0000"', '"\\x41"', "'a'", "/* */1", '{"a":1,"a":2}', '"' + "\\u0041" * 2_000 + '"',
)  # fmt: skip


def mutated(rng: random.Random, frame: Frame) -> str | bytes:
    """The frame with one to three things wrong."""
    frame = json.loads(json.dumps(frame))
    for _ in range(rng.randint(1, 3)):
        rng.choice(_CHANGES)(rng, frame)
    text = (
        json.dumps(frame, ensure_ascii=rng.random() < 0.9).encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    )
    return rng.choice(_WRITINGS)(rng, text) if rng.random() < 0.25 else text


def _place(rng: random.Random, frame: Frame) -> tuple[Frame, str]:
    """Somewhere in it."""
    place = frame
    if isinstance(frame.get("data"), dict) and rng.random() < 0.8:
        place = frame["data"]
    while True:
        name = rng.choice([*place, "more"])
        below = place.get(name)
        if not isinstance(below, dict) or not below or rng.random() < 0.3:
            return place, name
        place = below


def _drop(rng: random.Random, frame: Frame) -> None:
    place, name = _place(rng, frame)
    place.pop(name, None)


def _replace(rng: random.Random, frame: Frame) -> None:
    place, name = _place(rng, frame)
    place[name] = rng.choice(_OPS) if name == "op" else deepcopy(rng.choice(_ODD))


def _rename(rng: random.Random, frame: Frame) -> None:
    place, name = _place(rng, frame)
    place[str(rng.choice(("", "Type", "__class__", "op", "data", "x" * 200)))] = place.pop(name, None)


def _wrap(rng: random.Random, frame: Frame) -> None:
    place, name = _place(rng, frame)
    there = deepcopy(place.get(name))
    place[name] = rng.choice(([there], {name: there}, [there] * 50))


def _jump(rng: random.Random, frame: Frame) -> None:
    frame["seq"] = rng.choice((0, -1, 10**9, 2**63, 1.5, "7"))


def _crowd(rng: random.Random, frame: Frame) -> None:
    place, _ = _place(rng, frame)
    place.update({f"field{number}": number for number in range(rng.choice((3, 63, 70, 500)))})


_CHANGES: Final[tuple[Callable[[random.Random, Frame], None], ...]] = (
    _drop, _replace, _replace, _replace, _rename, _wrap, _jump, _crowd,
)  # fmt: skip


def _cut(rng: random.Random, text: str) -> str:
    return text[: rng.randrange(len(text))]


def _spliced(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text))
    return text[:at] + rng.choice(_RAW) + text[at + rng.randint(0, 6) :]


def _bytes(rng: random.Random, text: str) -> bytes:
    raw = bytearray(text.encode())
    for _ in range(rng.randint(0, 4)):
        raw[rng.randrange(len(raw))] = rng.randrange(256)
    return bytes(raw)


def _many(rng: random.Random, text: str) -> str:
    return "[" + ",".join([text] * rng.choice((2, 30, 1_001))) + "]"


def _twice(rng: random.Random, text: str) -> str:
    return text + rng.choice(("", "\n", ",", "\0", "\f")) + text


def _framed(rng: random.Random, text: str) -> str:
    return rng.choice(("\ufeff", " " * 5_000, "\n", "")) + text + rng.choice(("\0", "}", "//", " " * 5_000))


_WRITINGS: Final[tuple[Callable[[random.Random, str], str | bytes], ...]] = (
    _cut, _spliced, _spliced, _bytes, _many, _twice, _framed,
)  # fmt: skip
