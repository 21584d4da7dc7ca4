"""The system prompt for a small model: what each tool takes, in a few hundred tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...config import GlobalSettings, ModeConfig
from ...providers import ToolSpec

__all__ = ["lite_prompt"]

_LANGUAGES: Final = {"ko": "Korean", "ja": "Japanese"}
_MOST_INSTRUCTIONS: Final = 600

_BEGINNING: Final = (
    "You work in the person's Jupyter notebook, in Python. Each of your messages is one JSON object, the next step:"
)
_CODE: Final = "Code imports what it needs, uses variables, files and columns as they are listed, and ends with the value asked for."


def lite_prompt(
    mode: ModeConfig, settings: GlobalSettings, tools: Sequence[ToolSpec], notes: Sequence[str] = ()
) -> str:
    """All a small model is told beforehand. Of ``notes``, which the person wants remembered, as much as there is room for."""
    names = {tool.name for tool in tools}
    parts = [_BEGINNING, *(f"- {tool.name}: {tool.description}" for tool in tools)]
    if "add_cell" in names:
        parts.append(_CODE)
    instructions = "\n".join([(settings.custom_instructions or "").strip(), *notes]).strip()
    if instructions:
        parts.append(f"The person wants: {instructions[:_MOST_INSTRUCTIONS]}")
    if settings.language in _LANGUAGES:
        parts.append(f"Answers are in {_LANGUAGES[settings.language]}.")
    return "\n".join(parts)
