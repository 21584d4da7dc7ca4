"""A notebook in the form in which Jupyter saves it: as nbformat reads it, valid, and trusted as far as it was."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from nbformat import v4
from nbformat.notebooknode import NotebookNode
from nbformat.validator import iter_validate

from ..errors import InvalidInput
from ..messages import JsonObject
from ._apply import ChangedNotebook
from ._cells import cells_of, type_of
from ._format import version_of

__all__ = ["as_read", "require_valid", "to_save"]

_LONGEST_SHOWN: Final = 300


def as_read(notebook: JsonObject) -> NotebookNode:
    """A copy as nbformat reads it from a file: texts joined, and whatever the file says of its own trust left out."""
    node: NotebookNode = v4.to_notebook(_complete(notebook))  # type: ignore[no-untyped-call]  # nbformat's own
    return node


def to_save(
    before: JsonObject, change: ChangedNotebook, *, trusted: bool, sign_outputs: Collection[int] = (), path: str
) -> NotebookNode:
    """What to give to the contents manager, if it is a valid notebook.

    Where the notebook was trusted before, every code cell is marked so but those whose outputs are new: the person
    never saw these in Jupyter. Those at ``sign_outputs`` places are marked too: the person trusts their outputs. Whether the file is signed is then the notary's decision, as for every save.
    """
    node = as_read(change.notebook)
    require_valid(node, before, path)
    for place, cell in enumerate(node.cells):
        stays = trusted and place not in change.new_outputs
        if cell.cell_type == "code" and (stays or place in sign_outputs):
            cell.metadata.trusted = True
    return node


def require_valid(node: NotebookNode, before: JsonObject | None, path: str) -> None:
    """Raise InvalidInput where a notebook is not as nbformat demands, unless it was no better before."""
    problems = _problems(node)
    if not problems or (before is not None and len(problems) <= len(_problems(as_read(before)))):
        return
    raise InvalidInput(f"{path} would no longer be a valid notebook, so nothing was changed: {problems[0]}", path=path)


def _problems(node: NotebookNode) -> list[str]:
    major, minor = version_of(node)
    errors = iter_validate(node, version=major, version_minor=minor)  # type: ignore[no-untyped-call]  # nbformat's own
    return [_sentence(str(error.message), list(error.absolute_path)) for error in errors]


def _sentence(message: str, place: list[object]) -> str:
    where = "".join(f"[{each!r}]" for each in place)
    return f"{message[:_LONGEST_SHOWN]} at notebook{where}"


def _complete(notebook: JsonObject) -> JsonObject:
    """With what nbformat takes for granted when it reads and writes; a notebook without is not valid, but common."""
    return {"metadata": {}, **notebook, "cells": [_complete_cell(cell) for cell in cells_of(notebook)]}


def _complete_cell(cell: JsonObject) -> JsonObject:
    demanded: JsonObject = {"metadata": {}, "source": ""}
    if type_of(cell) == "code":
        demanded |= {"outputs": [], "execution_count": None}
    return cell if demanded.keys() <= cell.keys() else {**demanded, **cell}
