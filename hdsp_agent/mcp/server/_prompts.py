"""Prompts for usual errands, which programs offer their people as commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import mcp_types as types
from mcp.shared.exceptions import MCPError

__all__ = ["PROMPTS", "prompt_result"]

_MOST_CHARACTERS: Final = 1_000
_NOTEBOOK: Final = types.PromptArgument(
    name="notebook", title="Notebook", description="Path of the notebook. Empty: the one that is open."
)
_TABLE: Final = types.PromptArgument(
    name="data", title="Data", description="A file or the name of a variable. Empty: what the notebook uses."
)
_CELL: Final = types.PromptArgument(
    name="cell", title="Cell", description="Id of the cell. Empty: the one that failed."
)
_RULES: Final = (
    "Use the tools of HDSP Agent for notebooks, cells, kernels and variables; never edit an .ipynb file as text. "
    "Look before you change anything."
)


@dataclass(frozen=True)
class _Errand:
    prompt: types.Prompt
    request: str


def _errand(name: str, title: str, description: str, request: str, *arguments: types.PromptArgument) -> _Errand:
    return _Errand(types.Prompt(name=name, title=title, description=description, arguments=list(arguments)), request)


_ERRANDS: Final[Mapping[str, _Errand]] = {
    each.prompt.name: each
    for each in (
        _errand(
            "explain_notebook",
            "Explain this notebook",
            "What the notebook does, step by step, and what its results say.",
            "Explain the notebook: what it is for, what each part does, what its results say, and what looks odd. "
            "Change and run nothing.",
            _NOTEBOOK,
        ),
        _errand(
            "fix_failing_cell",
            "Fix the failing cell",
            "Find out why a cell fails, mend it, and run it.",
            "Find the cell that fails and read its error and what it depends on. Mend the cause with the smallest change, "
            "run the cell, and say what was wrong.",
            _NOTEBOOK,
            _CELL,
        ),
        _errand(
            "summarize_data",
            "Summarize the data",
            "Columns, sizes, missing values and what stands out.",
            "Summarize the data: columns and types, sizes, ranges, missing and odd values, and what stands out. "
            "Look at variables before you run code.",
            _NOTEBOOK,
            _TABLE,
        ),
        _errand(
            "review_notebook",
            "Review the notebook",
            "Mistakes, order of cells, and whether it runs from top to bottom.",
            "Review the notebook: mistakes in code and statistics, cells that depend on being run out of order, whether it "
            "runs from top to bottom, and names and texts that mislead. List what you found by cell, worst first. "
            "Change nothing.",
            _NOTEBOOK,
        ),
        _errand(
            "document_notebook",
            "Document the notebook",
            "Add headings and short explanations between the cells.",
            "Add headings and short explanations in Markdown cells, so that somebody new can follow the notebook. "
            "Leave its code as it is.",
            _NOTEBOOK,
        ),
    )
}

PROMPTS: Final = tuple(errand.prompt for errand in _ERRANDS.values())
"""In the order they are offered."""


def prompt_result(name: str, arguments: Mapping[str, str]) -> types.GetPromptResult:
    """The message that a prompt stands for."""
    errand = _ERRANDS.get(name)
    if errand is None:
        raise MCPError(types.INVALID_PARAMS, f"There is no prompt {name}.")
    about = [
        f"{argument.title}: {value[:_MOST_CHARACTERS]}"
        for argument in errand.prompt.arguments or ()
        if (value := arguments.get(argument.name, "").strip())
    ]
    text = "\n\n".join([errand.request, *(["\n".join(about)] if about else []), _RULES])
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.GetPromptResult(description=errand.prompt.description, messages=[message])
