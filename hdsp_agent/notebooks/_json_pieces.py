"""A large notebook's JSON, cell by cell.

The standard parser holds Python's lock until it is done: half a second for ten thousand cells, in which nothing else of
the server runs, whatever thread it is called in.
"""

from __future__ import annotations

import json
import re
from json.decoder import JSONDecodeError
from typing import Final

from pydantic import JsonValue

__all__ = ["loads_in_pieces"]

_BLANK: Final = re.compile(r"[ \t\n\r]*")
_DECODER: Final = json.JSONDecoder()
_IN_PIECES: Final = "cells"


def loads_in_pieces(text: str) -> JsonValue:
    """What ``json.loads`` makes of it, with the same errors."""
    at = _after_blank(text, 0)
    if not text.startswith("{", at):
        whole: JsonValue = json.loads(text)
        return whole
    content, end = _object(text, at + 1)
    end = _after_blank(text, end)
    if end != len(text):
        raise JSONDecodeError("Extra data", text, end)
    return content


def _object(text: str, at: int) -> tuple[dict[str, JsonValue], int]:
    found: dict[str, JsonValue] = {}
    at = _after_blank(text, at)
    if text.startswith("}", at):
        return found, at + 1
    while True:
        if not text.startswith('"', at):
            raise JSONDecodeError("Expecting property name enclosed in double quotes", text, at)
        name, at = _value(text, at)
        at = _after_blank(text, at)
        if not text.startswith(":", at):
            raise JSONDecodeError("Expecting ':' delimiter", text, at)
        at = _after_blank(text, at + 1)
        assert isinstance(name, str)
        found[name], at = _list(text, at + 1) if name == _IN_PIECES and text.startswith("[", at) else _value(text, at)
        at = _after_blank(text, at)
        if text.startswith("}", at):
            return found, at + 1
        if not text.startswith(",", at):
            raise JSONDecodeError("Expecting ',' delimiter", text, at)
        at = _after_blank(text, at + 1)


def _list(text: str, at: int) -> tuple[list[JsonValue], int]:
    found: list[JsonValue] = []
    at = _after_blank(text, at)
    if text.startswith("]", at):
        return found, at + 1
    while True:
        value, at = _value(text, at)
        found.append(value)
        at = _after_blank(text, at)
        if text.startswith("]", at):
            return found, at + 1
        if not text.startswith(",", at):
            raise JSONDecodeError("Expecting ',' delimiter", text, at)
        at = _after_blank(text, at + 1)


def _value(text: str, at: int) -> tuple[JsonValue, int]:
    value, end = _DECODER.raw_decode(text, at)
    return value, end


def _after_blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    assert found is not None
    return found.end()
