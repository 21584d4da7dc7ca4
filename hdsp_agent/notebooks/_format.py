"""What a notebook file is: JSON of nbformat 4, read without a change and begun anew."""

from __future__ import annotations

from typing import Final

from pydantic import JsonValue

from ..errors import InvalidInput, Unsupported
from ..messages import JsonObject
from ._json_pieces import loads_in_pieces

__all__ = ["as_notebook", "has_cell_ids", "new_notebook", "parse_notebook", "version_of"]

_MAJOR: Final = 4
_FIRST_MINOR_WITH_IDS: Final = 5


def parse_notebook(text: str, path: str) -> JsonObject:
    """The notebook in a file's text, exactly as it is there."""
    try:
        content = loads_in_pieces(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{path} is not a notebook: its JSON is not valid ({error}). Nothing was changed. Restore the file from a "
            "copy or a checkpoint, or repair it in a text editor.",
            path=path,
            why="not_a_notebook",
        ) from error
    return as_notebook(content, path)


def as_notebook(content: JsonValue, path: str) -> JsonObject:
    """This JSON as a notebook of format 4; the rest of this package relies on what is checked here."""
    if not isinstance(content, dict) or not isinstance(content.get("nbformat"), int):
        raise InvalidInput(f"{path} is JSON, but not a notebook. Nothing was changed.", path=path, why="not_a_notebook")
    major, _ = version_of(content)
    if major < _MAJOR:
        raise Unsupported(
            f"{path} is a notebook of format {major}; the agent works with format {_MAJOR}. Open it in JupyterLab and "
            "save it, which brings it to the present format.",
            path=path,
            format=major,
            why="other_format",
        )
    if major > _MAJOR:
        raise Unsupported(
            f"{path} is a notebook of format {major}, which this version does not know.",
            path=path,
            format=major,
            why="other_format",
        )
    cells = content.get("cells")
    if not isinstance(cells, list) or not all(_is_cell(cell) for cell in cells):
        raise InvalidInput(
            f"{path} is not a valid notebook: its cells are missing or damaged.", path=path, why="not_a_notebook"
        )
    if not isinstance(content.get("metadata", {}), dict):
        raise InvalidInput(
            f"{path} is not a valid notebook: its metadata are not an object.", path=path, why="not_a_notebook"
        )
    return content


def version_of(notebook: JsonObject) -> tuple[int, int]:
    """Its format, major and minor."""
    major, minor = notebook.get("nbformat"), notebook.get("nbformat_minor")
    return (major if isinstance(major, int) else _MAJOR, minor if isinstance(minor, int) else 0)


def has_cell_ids(notebook: JsonObject) -> bool:
    """Whether its format gives cells ids; in an older one an id is an error."""
    return version_of(notebook) >= (_MAJOR, _FIRST_MINOR_WITH_IDS)


def new_notebook(kernelspec: JsonObject | None = None) -> JsonObject:
    """An empty notebook, for the kernel with this ``name``, ``display_name`` and, if known, ``language``."""
    metadata: JsonObject = {}
    if kernelspec is not None:
        metadata["kernelspec"] = kernelspec
        language = kernelspec.get("language")
        if isinstance(language, str):
            metadata["language_info"] = {"name": language}
    return {"cells": [], "metadata": metadata, "nbformat": _MAJOR, "nbformat_minor": _FIRST_MINOR_WITH_IDS}


def _is_cell(cell: JsonValue) -> bool:
    return (
        isinstance(cell, dict)
        and cell.get("cell_type") in ("code", "markdown", "raw")
        and _is_text(cell.get("source", ""))
        and isinstance(cell.get("metadata", {}), dict)
        and _are_outputs(cell.get("outputs", []))
    )


def _is_text(text: JsonValue) -> bool:
    return isinstance(text, str) or (isinstance(text, list) and all(isinstance(line, str) for line in text))


def _are_outputs(outputs: JsonValue) -> bool:
    return isinstance(outputs, list) and all(isinstance(output, dict) for output in outputs)
