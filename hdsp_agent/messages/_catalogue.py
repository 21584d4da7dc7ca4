"""What can be chosen from or looked up: modes, commands, skills, models, MCP servers, files, commits."""

from typing import Literal

from ._base import Flag, JsonObject, Record

__all__ = [
    "Command",
    "CommandSource",
    "CustomTool",
    "FileContent",
    "FileResult",
    "GitCommit",
    "McpErrorEntry",
    "McpResource",
    "McpResourceTemplate",
    "McpServer",
    "McpTool",
    "ModeName",
    "ModelInfo",
    "ModelRecord",
    "ModelTier",
    "ReasoningEffort",
    "Skill",
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


class Skill(Record):
    """A skill the agent can load; ``modeSlugs`` absent or empty means every mode."""

    name: str
    description: str
    path: str
    source: Source
    mode: str | None = None
    mode_slugs: list[str] | None = None


class CustomTool(Record):
    """A tool that somebody added."""

    name: str
    description: str
    parameters: JsonObject | None = None
    source: str | None = None


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


class McpTool(Record):
    """A tool of an MCP server."""

    name: str
    description: str | None = None
    input_schema: JsonObject | None = None
    always_allow: Flag | None = None
    enabled_for_prompt: Flag | None = None


class McpResource(Record):
    """A resource of an MCP server."""

    uri: str
    name: str
    mime_type: str | None = None
    description: str | None = None


class McpResourceTemplate(Record):
    """A template for resources of an MCP server."""

    uri_template: str
    name: str
    description: str | None = None
    mime_type: str | None = None


class McpErrorEntry(Record):
    """One line of an MCP server's log of errors."""

    message: str
    timestamp: int
    level: Literal["error", "warn", "info"]


class McpServer(Record):
    """An MCP server: how it is doing and what it offers."""

    name: str
    config: str
    status: Literal["connected", "connecting", "disconnected"]
    error: str | None = None
    error_history: list[McpErrorEntry] | None = None
    tools: list[McpTool] | None = None
    resources: list[McpResource] | None = None
    resource_templates: list[McpResourceTemplate] | None = None
    disabled: bool | None = None
    timeout: int | None = None
    source: Source | None = None
    project_path: str | None = None
    instructions: str | None = None


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


class FileContent(Record):
    """The content of a file that was asked for, or why there is none."""

    path: str
    content: str | None = None
    error: str | None = None
