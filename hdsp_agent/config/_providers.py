"""The model providers we serve, as data: how each is spoken to, where it lives and which fields it uses."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Final, Literal, get_args

from ..wire import WireModel
from ._fields import Choices

__all__ = ["RETIRED_PROVIDERS", "Protocol", "ProviderInfo", "ProviderName", "provider_info", "providers"]

Protocol = Literal["anthropic", "openai-chat", "openai-responses", "bedrock", "vertex", "local", "fake"]
"""How a provider is spoken to."""

ProviderName = Annotated[
    Literal[
        "anthropic",
        "openai-native",
        "openai",
        "openrouter",
        "bedrock",
        "vertex",
        "gemini",
        "mistral",
        "deepseek",
        "xai",
        "groq",
        "ollama",
        "lmstudio",
        "litellm",
        "local",
        "fake-ai",
    ],
    Choices(
        (
            ("anthropic", "Anthropic"),
            ("openai-native", "OpenAI"),
            ("openai", "OpenAI compatible"),
            ("openrouter", "OpenRouter"),
            ("bedrock", "Amazon Bedrock"),
            ("vertex", "Google Vertex AI"),
            ("gemini", "Google Gemini"),
            ("mistral", "Mistral"),
            ("deepseek", "DeepSeek"),
            ("xai", "xAI"),
            ("groq", "Groq"),
            ("ollama", "Ollama"),
            ("lmstudio", "LM Studio"),
            ("litellm", "LiteLLM"),
            ("local", "Embedded model"),
            ("fake-ai", "Scripted model for tests"),
        )
    ),
]
"""The provider's name on the wire; Roo Code's where it has the provider."""

RETIRED_PROVIDERS: Final = frozenset(
    {"cerebras", "chutes", "deepinfra", "doubao", "featherless", "huggingface", "io-intelligence"}
)
"""Providers Roo Code once had and dropped; their profiles are kept on import and cannot be used."""


class ProviderInfo(WireModel):
    """What the panel and the adapters need to know about a provider."""

    id: ProviderName
    name: str
    """What people call it."""
    protocol: Protocol
    key_required: bool
    """Whether it cannot be used without the key in ``key_field``."""
    model_field: str = "apiModelId"
    """The setting that holds the model's id."""
    key_field: str | None = None
    """The secret setting that holds its main key."""
    base_url_field: str | None = None
    """The setting that overrides its address."""
    default_base_url: str | None = None
    hidden: bool = False
    """Not offered to people."""


@cache
def providers() -> tuple[ProviderInfo, ...]:
    """All providers, in the order they are offered."""
    labels = next(mark for mark in get_args(ProviderName) if isinstance(mark, Choices)).labels
    names = dict(labels)

    def info(id: ProviderName, protocol: Protocol, **more: str | bool) -> ProviderInfo:
        required = protocol in ("anthropic", "openai-chat", "openai-responses")
        return ProviderInfo.model_validate(
            {"id": id, "name": names[id], "protocol": protocol, "key_required": required, **more}
        )

    return (
        info(
            "anthropic",
            "anthropic",
            key_field="apiKey",
            base_url_field="anthropicBaseUrl",
            default_base_url="https://api.anthropic.com",
        ),
        info(
            "openai-native",
            "openai-responses",
            key_field="openAiNativeApiKey",
            base_url_field="openAiNativeBaseUrl",
            default_base_url="https://api.openai.com/v1",
        ),
        info(
            "openai",
            "openai-chat",
            key_required=False,
            model_field="openAiModelId",
            key_field="openAiApiKey",
            base_url_field="openAiBaseUrl",
        ),
        info(
            "openrouter",
            "openai-chat",
            model_field="openRouterModelId",
            key_field="openRouterApiKey",
            base_url_field="openRouterBaseUrl",
            default_base_url="https://openrouter.ai/api/v1",
        ),
        info("bedrock", "bedrock", key_field="awsApiKey", base_url_field="awsBedrockEndpoint"),
        info("vertex", "vertex", key_field="vertexJsonCredentials"),
        info(
            "gemini",
            "openai-chat",
            key_field="geminiApiKey",
            base_url_field="googleGeminiBaseUrl",
            default_base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        ),
        info(
            "mistral",
            "openai-chat",
            key_field="mistralApiKey",
            base_url_field="mistralCodestralUrl",
            default_base_url="https://api.mistral.ai/v1",
        ),
        info(
            "deepseek",
            "openai-chat",
            key_field="deepSeekApiKey",
            base_url_field="deepSeekBaseUrl",
            default_base_url="https://api.deepseek.com",
        ),
        info("xai", "openai-chat", key_field="xaiApiKey", default_base_url="https://api.x.ai/v1"),
        info("groq", "openai-chat", key_field="groqApiKey", default_base_url="https://api.groq.com/openai/v1"),
        info(
            "ollama",
            "openai-chat",
            key_required=False,
            model_field="ollamaModelId",
            key_field="ollamaApiKey",
            base_url_field="ollamaBaseUrl",
            default_base_url="http://localhost:11434",
        ),
        info(
            "lmstudio",
            "openai-chat",
            key_required=False,
            model_field="lmStudioModelId",
            base_url_field="lmStudioBaseUrl",
            default_base_url="http://localhost:1234",
        ),
        info(
            "litellm",
            "openai-chat",
            key_required=False,
            model_field="litellmModelId",
            key_field="litellmApiKey",
            base_url_field="litellmBaseUrl",
            default_base_url="http://localhost:4000",
        ),
        info("local", "local"),
        info("fake-ai", "fake", hidden=True),
    )


def provider_info(name: str) -> ProviderInfo | None:
    """The provider of this name, or None if we do not serve it."""
    return _by_name().get(name)


@cache
def _by_name() -> Mapping[str, ProviderInfo]:
    return {provider.id: provider for provider in providers()}
