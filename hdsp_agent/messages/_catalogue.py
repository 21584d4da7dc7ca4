"""What can be chosen from or looked up: modes, commands, skills, models, MCP servers, files, commits."""

from typing import Literal

from ._base import Record

__all__ = [
    "Command",
    "CommandSource",
    "FileResult",
    "ModeName",
    "ModelInfo",
    "ModelRecord",
    "ModelTier",
    "ReasoningEffort",
    "Source",
]

Source = Literal["global", "project"]
CommandSource = Literal["global", "project", "built-in"]
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


class ModelTier(Record):
    """Prices of one service tier of a model."""

    name: Literal["default", "flex", "priority"] | None = None
    context_window: int
    input_price: float | None = None
    output_price: float | None = None
    cache_writes_price: float | None = None
    cache_reads_price: float | None = None


class ModelInfo(Record):
    """What a model can do and costs; prices are in dollars a million tokens."""

    max_tokens: int | None = None
    max_thinking_tokens: int | None = None
    context_window: int
    supports_images: bool | None = None
    supports_prompt_cache: bool
    prompt_cache_retention: Literal["in_memory", "24h"] | None = None
    supports_verbosity: bool | None = None
    supports_reasoning_budget: bool | None = None
    supports_reasoning_binary: bool | None = None
    supports_temperature: bool | None = None
    default_temperature: float | None = None
    required_reasoning_budget: bool | None = None
    supports_reasoning_effort: bool | list[Literal["disable", ReasoningEffort]] | None = None
    required_reasoning_effort: bool | None = None
    preserve_reasoning: bool | None = None
    supported_parameters: list[Literal["max_tokens", "temperature", "reasoning", "include_reasoning"]] | None = None
    input_price: float | None = None
    output_price: float | None = None
    cache_writes_price: float | None = None
    cache_reads_price: float | None = None
    description: str | None = None
    reasoning_effort: ReasoningEffort | None = None
    min_tokens_per_cache_point: int | None = None
    max_cache_points: int | None = None
    cachable_fields: list[str] | None = None
    deprecated: bool | None = None
    is_stealth_model: bool | None = None
    is_free: bool | None = None
    excluded_tools: list[str] | None = None
    included_tools: list[str] | None = None
    tiers: list[ModelTier] | None = None


ModelRecord = dict[str, ModelInfo]
"""Models by id."""


class FileResult(Record):
    """A file or folder found by a search."""

    path: str
    type: Literal["file", "folder"]
    label: str | None = None
