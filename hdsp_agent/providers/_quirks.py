"""How servers of the Chat Completions protocol differ from each other, as data."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, Literal
from urllib.parse import urlsplit

from ..config import ProviderSettings
from ._content_blocks import IdRule

__all__ = ["Quirks", "quirks_of", "server_of"]


@dataclass(frozen=True)
class Quirks:
    """What a server wants otherwise than OpenAI's own. The defaults suit a server nobody knows."""

    max_tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    stream_usage: bool = True
    """It takes ``stream_options``; otherwise it either reports usage unasked or not at all."""
    parallel_switch: bool = True
    """It takes ``parallel_tool_calls``."""
    any_tool: str = "required"
    """Its word for "call some tool"."""
    tool_ids: IdRule = "any"
    text_after_tools: Literal["user", "tool", "assistant"] = "user"
    """Where what the person says along with tool results goes: a message of their own, the last result, or a message
    of their own after an assistant's."""
    alternate: bool = False
    """Two messages of one role in a row are refused."""
    system_role: Literal["system", "developer", "user"] = "system"
    empty_content: Literal["null", "empty"] = "null"
    """The content of an answer that only called tools."""
    images: bool = True
    """Whether its models see images where nobody says otherwise."""
    effort: Literal["reasoning_effort", "openrouter", "deepseek", "groq", "none"] = "reasoning_effort"
    """How the model is told how much to think."""
    thoughts_back: Literal["none", "reasoning_content", "reasoning_details"] = "none"
    """Under which name thoughts are sent back."""
    think_tags: bool = False
    """Thoughts may come as ``<think>`` at the head of the text."""
    schema: Literal["full", "plain"] = "full"
    """``plain``: tool schemas without references and keywords it refuses."""
    cache_marks: bool = False
    """It takes Anthropic's cache marks for models that need them."""
    cache_key: Literal["prompt_cache_key", "x-grok-conv-id"] | None = None
    reports_cost: bool = False
    """It is asked to report what a request cost."""
    grammar: bool = False
    """It holds answers to a grammar of llama.cpp's."""


_OPENAI: Final = Quirks(max_tokens="max_completion_tokens", tool_ids="word40", cache_key="prompt_cache_key")
_LOCAL: Final = Quirks(images=False, think_tags=True)

_SERVERS: Final[dict[str, Quirks]] = {
    "openai": _OPENAI,
    "azure": _OPENAI,
    "openrouter": Quirks(
        effort="openrouter", thoughts_back="reasoning_details", cache_marks=True, reports_cost=True, images=True
    ),
    "groq": Quirks(max_tokens="max_completion_tokens", effort="groq", images=False),
    "mistral": Quirks(
        stream_usage=False,
        any_tool="any",
        tool_ids="mistral",
        text_after_tools="assistant",
        effort="none",
        images=False,
    ),
    "deepseek": Quirks(
        effort="deepseek", thoughts_back="reasoning_content", parallel_switch=False, empty_content="empty", images=False
    ),
    "xai": Quirks(cache_key="x-grok-conv-id", max_tokens="max_completion_tokens"),
    "gemini": Quirks(schema="plain", parallel_switch=False),
    "litellm": Quirks(cache_marks=True),
    "ollama": replace(_LOCAL, parallel_switch=False),
    "lmstudio": replace(_LOCAL, parallel_switch=False, effort="none", empty_content="empty"),
    "llamacpp": replace(_LOCAL, effort="none", empty_content="empty", grammar=True),
    "local": replace(_LOCAL, effort="none", empty_content="empty", grammar=True),
    "vllm": _LOCAL,
    "unknown": Quirks(think_tags=True),
}

_HOSTS: Final[tuple[tuple[str, str], ...]] = (
    (r"(?:^|\.)openai\.azure\.com$|\.(?:cognitiveservices|services\.ai)\.azure\.com$", "azure"),
    (r"(?:^|\.)api\.openai\.com$", "openai"),
    (r"(?:^|\.)openrouter\.ai$", "openrouter"),
    (r"(?:^|\.)groq\.com$", "groq"),
    (r"(?:^|\.)mistral\.ai$", "mistral"),
    (r"(?:^|\.)deepseek\.com$", "deepseek"),
    (r"(?:^|\.)x\.ai$", "xai"),
    (r"(?:^|\.)generativelanguage\.googleapis\.com$", "gemini"),
)
# The ports these programs listen on unless told otherwise.
_PORTS: Final[dict[int, str]] = {11434: "ollama", 1234: "lmstudio", 8080: "llamacpp", 8000: "vllm"}

# Templates of these models refuse two messages of one role in a row, or a system message.
_ALTERNATING: Final = re.compile(r"gemma-?[12]|mistral-7b-instruct-v0\.[12]|codestral-22b", re.IGNORECASE)
_NO_SYSTEM: Final = re.compile(r"gemma-?[12]\b|gemma-2", re.IGNORECASE)
# Sees images, though most of what its server runs does not.
_SEES: Final = re.compile(
    r"llava|vision|pixtral|[-_]vl\b|\dvl\b|gemma-?[34]|llama-?4|minicpm-v|mistral-(?:small|medium|large)|ministral",
    re.IGNORECASE,
)


def server_of(settings: ProviderSettings, base_url: str | None) -> str:
    """The name of the server program or service behind a profile."""
    if settings.api_provider and settings.api_provider != "openai":
        return settings.api_provider
    if settings.open_ai_use_azure:
        return "azure"
    url = urlsplit(base_url or "")
    host = url.hostname or ""
    for pattern, server in _HOSTS:
        if re.search(pattern, host):
            return server
    return _PORTS.get(url.port or 0, "unknown")


def quirks_of(server: str, model: str, settings: ProviderSettings) -> Quirks:
    """The quirks of a server, with the model's own and what the profile says."""
    quirks = _SERVERS.get(server, _SERVERS["unknown"])
    if _ALTERNATING.search(model):
        quirks = replace(quirks, alternate=True)
    if _NO_SYSTEM.search(model):
        quirks = replace(quirks, system_role="user")
    if _SEES.search(model):
        quirks = replace(quirks, images=True)
    if settings.open_ai_r1_format_enabled and settings.api_provider == "openai":
        quirks = replace(quirks, alternate=True, system_role="user", text_after_tools="tool", think_tags=True)
    if server == "litellm" and not settings.litellm_use_prompt_cache:
        quirks = replace(quirks, cache_marks=False)
    return quirks
