"""Cells as nbformat keeps them: their ids, their texts as lines or as one string."""

from __future__ import annotations

import hashlib
import uuid
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from typing import Final, cast

from pydantic import JsonValue

from ..messages import CellId, JsonObject
from ._document import CellType

__all__ = [
    "cell_ids",
    "cell_source",
    "cells_of",
    "is_json_mime",
    "joined",
    "new_cell_id",
    "outputs_of",
    "split_output",
    "splits_text",
    "text_in_style",
    "type_of",
]

_ID_LENGTH: Final = 8
_SPLIT_MIMES: Final = frozenset({"application/javascript", "image/svg+xml"})


def cells_of(notebook: JsonObject) -> list[JsonObject]:
    """Its cells, in a list of its own."""
    return list(cast("list[JsonObject]", notebook["cells"]))


def type_of(cell: JsonObject) -> CellType:
    """Code, Markdown or raw."""
    return cast(CellType, cell["cell_type"])


def cell_source(cell: JsonObject) -> str:
    """Its source as one string."""
    return joined(cell.get("source"))


def outputs_of(cell: JsonObject) -> list[JsonObject]:
    """A code cell's outputs, in a list of its own."""
    return list(cast("list[JsonObject]", cell.get("outputs", [])))


def joined(text: JsonValue) -> str:
    """A text that nbformat keeps as a string or as lines."""
    if isinstance(text, str):
        return text
    if not isinstance(text, list):
        return ""
    try:
        return "".join(cast("list[str]", text))
    except TypeError:
        return "".join(line for line in text if isinstance(line, str))


def is_json_mime(mime: str) -> bool:
    """Whether nbformat keeps this type as JSON rather than as text."""
    return mime == "application/json" or (mime.startswith("application/") and mime.endswith("+json"))


def cell_ids(cells: Sequence[JsonObject]) -> list[CellId]:
    """What each cell is called by, in their order.

    That is the id in the file. A cell that has none, or one that an earlier cell has already, gets the first eight
    characters of a hash over its type, its source and how many such cells alike come before: the same each time the
    file is read, wherever the cell is moved, until its source changes.
    """
    stored = [cell.get("id") for cell in cells]
    counts = Counter(each for each in stored if isinstance(each, str))
    taken = set(counts)
    seen: set[str] = set()
    alike: Counter[tuple[str, str]] = Counter()
    ids: list[CellId] = []
    for cell, own in zip(cells, stored, strict=True):
        if isinstance(own, str) and own and own not in seen:
            seen.add(own)
            ids.append(CellId(own))
            continue
        content = (type_of(cell), cell_source(cell))
        derived = _derived_id(content, alike[content], taken)
        alike[content] += 1
        taken.add(derived)
        ids.append(CellId(derived))
    return ids


def new_cell_id(taken: Container[str] = ()) -> CellId:
    """An id for a new cell, as nbformat makes them, that none of these has."""
    while (made := uuid.uuid4().hex[:_ID_LENGTH]) in taken:
        pass
    return CellId(made)


def _derived_id(content: tuple[str, str], number: int, taken: set[str]) -> str:
    text = f"{content[0]}\0{number}\0{content[1]}".encode("utf-8", errors="surrogatepass")
    digest = hashlib.sha256(text).hexdigest()
    while digest[:_ID_LENGTH] in taken:
        digest = hashlib.sha256(digest.encode()).hexdigest()
    return digest[:_ID_LENGTH]


def splits_text(cells: Iterable[JsonObject]) -> bool:
    """Whether a file's style is to keep texts as lists of lines, as nbformat writes them; its first source tells."""
    for cell in cells:
        source = cell.get("source")
        if source:
            return isinstance(source, list)
    return True


def text_in_style(text: str, *, split: bool) -> JsonValue:
    """A text as a file of that style keeps it."""
    return list[JsonValue](text.splitlines(keepends=True)) if split else text


def split_output(output: JsonObject, *, split: bool) -> JsonObject:
    """An output whose texts are strings, as a file of that style keeps it."""
    if not split:
        return output
    text, data = output.get("text"), output.get("data")
    styled = dict(output)
    if isinstance(text, str):
        styled["text"] = text_in_style(text, split=True)
    if isinstance(data, dict):
        styled["data"] = {
            mime: text_in_style(value, split=True) if isinstance(value, str) and _is_split(mime) else value
            for mime, value in data.items()
        }
    return styled


def _is_split(mime: str) -> bool:
    return mime.startswith("text/") or mime in _SPLIT_MIMES
