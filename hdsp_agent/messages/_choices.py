"""What can be chosen from or looked up: modes, commands, models, files."""

from typing import Literal

from ._base import Record

__all__ = [
    "Command",
    "CommandSource",
    "FileResult",
    "GitCommit",
    "ModeName",
    "ModelInfo",
    "ModelRecord",
    "ReasoningEffort",
    "Source",
]

Source = Literal["global", "project"]
CommandSource = Literal["global", "project", "team", "built-in"]
ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]


class ModeName(Record):
    """A mode as a list shows it."""

    slug: str
    name: str


class Command(Record):
    """A slash command."""

    name: str
    source: CommandSource
    file_path: str | None = None
    description: str | None = None
    argument_hint: str | None = None
    cell_label: str | None = None
    """What it is called in the menus of cells; without it, it is in none."""


class ModelInfo(Record):
    """What a model can do and costs; prices are in dollars a million tokens."""

    max_tokens: int | None = None
    context_window: int
    supports_images: bool | None = None
    supports_prompt_cache: bool
    supported_parameters: list[Literal["max_tokens", "temperature", "reasoning", "include_reasoning"]] | None = None
    input_price: float | None = None
    output_price: float | None = None
    cache_writes_price: float | None = None
    cache_reads_price: float | None = None
    description: str | None = None
    reasoning_effort: ReasoningEffort | None = None
    deprecated: bool | None = None


ModelRecord = dict[str, ModelInfo]
"""Models by id."""


class GitCommit(Record):
    """A commit found by a search."""

    hash: str
    short_hash: str
    subject: str
    author: str
    date: str


class FileResult(Record):
    """A file or folder found by a search."""

    path: str
    type: Literal["file", "folder"]
    label: str | None = None
