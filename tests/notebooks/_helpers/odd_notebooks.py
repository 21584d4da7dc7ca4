"""Notebooks that are valid or common, and unlike those that a fresh JupyterLab makes."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from pydantic import JsonValue

from hdsp_agent.messages import JsonObject

__all__ = ["ODD_NOTEBOOKS", "code", "notebook", "text_cell"]

_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==\n"


def code(
    source: JsonValue, outputs: list[JsonValue] | None = None, count: int | None = None, **more: JsonValue
) -> JsonObject:
    """A code cell."""
    return {
        "cell_type": "code",
        "execution_count": count,
        "metadata": {},
        "outputs": outputs or [],
        "source": source,
        **more,
    }


def text_cell(source: JsonValue, cell_type: str = "markdown", **more: JsonValue) -> JsonObject:
    """A Markdown or raw cell."""
    return {"cell_type": cell_type, "metadata": {}, "source": source, **more}


def notebook(
    *cells: JsonObject, minor: int = 5, ids: bool | None = None, metadata: JsonObject | None = None
) -> JsonObject:
    """A notebook of these cells, with ids where its format has them."""
    with_ids = minor >= 5 if ids is None else ids
    whole: list[JsonValue] = [
        {"id": f"cell-{place}", **cell} if with_ids else {**cell} for place, cell in enumerate(cells)
    ]
    return {"cells": whole, "metadata": metadata or {}, "nbformat": 4, "nbformat_minor": minor}


def _plain_cells() -> list[JsonObject]:
    return [
        text_cell(["# Title\n", "and *text*"]),
        code(["x = 1\n", "x"], [_result("1")], 1),
        code([]),
        text_cell(["raw text"], "raw"),
        code(["print('a')\n", "print('b')"], [{"name": "stdout", "output_type": "stream", "text": ["a\n", "b\n"]}], 2),
    ]


def _result(text: str) -> JsonObject:
    return {"data": {"text/plain": [text]}, "execution_count": 1, "metadata": {}, "output_type": "execute_result"}


def _every_output() -> JsonObject:
    outputs: list[JsonValue] = [
        {"name": "stderr", "output_type": "stream", "text": "\x1b[31mred\x1b[0m\n"},
        {
            "data": {"image/png": _PIXEL, "text/plain": ["<Figure size 640x480 with 1 Axes>"]},
            "metadata": {"image/png": {"height": 1, "width": 1}},
            "output_type": "display_data",
        },
        {
            "data": {
                "application/vnd.jupyter.widget-view+json": {"model_id": "abc", "version_major": 2, "version_minor": 0},
                "application/vnd.nobody.knows+json": {"deep": [1, {"a": None}]},
                "application/x-unknown": "blob",
                "text/html": ["<table>\n", "</table>"],
                "text/plain": ["   a\n", "0  1"],
            },
            "metadata": {},
            "output_type": "display_data",
        },
        {
            "ename": "ValueError",
            "evalue": "no",
            "output_type": "error",
            "traceback": ["\x1b[0;31m-----\x1b[0m", "ValueError: no"],
        },
    ]
    return code("show()", outputs, 7)


_WIDGETS: JsonObject = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "version": "3.11.0"},
    "widgets": {
        "application/vnd.jupyter.widget-state+json": {"state": {"abc": {}}, "version_major": 2, "version_minor": 0}
    },
    "toc": {"base_numbering": 1},
    "jupytext": {"formats": "ipynb,py:percent"},
}

_HANGUL = "한글 변수 = '값'  # 🧪👩‍🔬"

ODD_NOTEBOOKS: Mapping[str, JsonObject] = {
    **{f"format 4.{minor}": notebook(*_plain_cells(), minor=minor) for minor in range(6)},
    "empty": notebook(),
    "empty 4.0": notebook(minor=0),
    "one cell": notebook(code("1")),
    "missing ids": notebook(*_plain_cells(), ids=False),
    "some ids missing": {
        **notebook(),
        "cells": [code("a"), {**code("b"), "id": "kept"}, code("a"), code("a")],
    },
    "duplicate ids": {
        **notebook(),
        "cells": [{**code("a"), "id": "same"}, {**code("b"), "id": "same"}, {**text_cell("c"), "id": "same"}],
    },
    "sources as strings": notebook(code("a = 1\nb = 2"), text_cell("# one\ntwo"), code("")),
    "mixed sources": notebook(code(["a = 1\n", "b"]), text_cell("# one\ntwo"), code("x\n")),
    "attachments": notebook(
        text_cell("![p](attachment:p.png)", attachments={"p.png": {"image/png": _PIXEL}}),
        text_cell("raw", "raw", attachments={"t.txt": {"text/plain": ["a\n", "b"]}}),
        code("1"),
    ),
    "every output": notebook(_every_output(), text_cell("after")),
    "huge outputs": notebook(
        code("flood()", [{"name": "stdout", "output_type": "stream", "text": ["line of output\n"] * 100_000}], 3),
        code("image()", [{"data": {"image/png": _PIXEL * 5000}, "metadata": {}, "output_type": "display_data"}], 4),
        text_cell("small"),
    ),
    "widgets and tools": notebook(
        code("w", metadata={"tags": ["parameters"], "scrolled": True, "nbgrader": {"grade": False}}),
        text_cell("t", metadata={"slideshow": {"slide_type": "slide"}}),
        metadata=_WIDGETS,
    ),
    "Korean, emoji and NFD": notebook(
        code([_HANGUL + "\n", unicodedata.normalize("NFD", "한글 é")]),
        text_cell(unicodedata.normalize("NFC", "한글 é")),
    ),
    "odd line ends": notebook(code(["a\r\n", "b\x0c\n", "c\u2028d"]), text_cell("x\ry"), code("tail\n\n")),
    "ids in an old format's words": notebook(code("a", id="0123456789abcdef-_ABC"), text_cell("b", id="x" * 64)),
}
