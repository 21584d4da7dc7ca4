"""What one provider profile holds: flat, with Roo Code's names, each field saying which providers it applies to.

Every field may be absent. A field marked ``Secret`` travels in from a person or an import, goes to the secret storage,
and never comes out again: not into ``config.json``, not into an export, not to the panel.

Descriptions stand in ``shown`` and annotations are not postponed, as in ``_settings``.
"""

from functools import cache
from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field, JsonValue, SecretStr, field_validator

from .._storage_dir import ARTIFACT_STORE_URL_VARIABLE, STORAGE_URL_VARIABLE
from ..wire import WireModel
from ._fields import CREDENTIAL_NAME, BaseUrl, Choices, Secret, field_providers, number_properties, secret_fields, shown
from ._providers import ProviderName, provider_info, providers
from ._settings import GlobalSettings

__all__ = [
    "PASSPHRASE_VARIABLE",
    "PROVIDER_GROUPS",
    "ProviderSettings",
    "ToolSet",
    "model_id",
    "secret_environment",
    "secret_keys",
    "secret_keys_of",
    "tool_set",
]

PASSPHRASE_VARIABLE: Final = "HDSP_AGENT_PASSPHRASE"  # noqa: S105 -- the name of a variable, not its value
"""The environment variable whose value encrypts the key file."""

PROVIDER_GROUPS: Final[tuple[tuple[str, str], ...]] = (
    ("connection", "Connection"),
    ("model", "Model"),
    ("limits", "Limits and prices"),
    ("behaviour", "Behavior"),
)
"""The groups of the profile form, in its order."""

Name = Annotated[str, Field(min_length=1, max_length=500)]
FilePath = Annotated[str, Field(min_length=1, max_length=4096)]
Key = Annotated[SecretStr, Field(min_length=1, max_length=65_536)]
# It becomes a part of the host name that the key is sent to.
Region = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9-]+$")]
Tokens = Annotated[int, Field(ge=1, le=100_000_000)]
Headers = Annotated[
    dict[Annotated[str, Field(min_length=1, max_length=200)], Annotated[str, Field(max_length=8192)]],
    Field(max_length=50),
]
ToolSet = Literal["full", "compound"]
"""Which tools the model is given: all there are, or a handful that each do a whole step, for weak models."""
Price = Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)]


def _provider_schema_extra(schema: dict[str, JsonValue]) -> None:
    number_properties(schema)
    schema["x-groups"] = [{"id": group, "title": title} for group, title in PROVIDER_GROUPS]
    schema["x-provider-list"] = [provider.to_wire() for provider in providers()]


class ProviderSettings(WireModel):
    """How one profile reaches its model."""

    model_config = ConfigDict(json_schema_extra=_provider_schema_extra, use_attribute_docstrings=False)

    # ---- which model
    api_provider: Annotated[
        ProviderName | None, shown("connection", "Provider", "The service or program that runs the model.")
    ] = None
    api_model_id: Annotated[
        Name | None,
        shown(
            "model",
            "Model",
            "The model's ID, as the provider calls it.",
            providers=(
                "anthropic",
                "openai-native",
                "bedrock",
                "vertex",
                "gemini",
                "mistral",
                "deepseek",
                "xai",
                "groq",
                "local",
                "fake-ai",
            ),
        ),
    ] = None
    open_router_model_id: Annotated[
        Name | None, shown("model", "Model", "The model's ID on OpenRouter.", providers=("openrouter",))
    ] = None
    open_ai_model_id: Annotated[
        Name | None,
        shown("model", "Model", "The model's ID, or the deployment's name on Azure.", providers=("openai",)),
    ] = None
    ollama_model_id: Annotated[
        Name | None, shown("model", "Model", "The model's name in Ollama.", providers=("ollama",))
    ] = None
    lm_studio_model_id: Annotated[
        Name | None, shown("model", "Model", "The model's name in LM Studio.", providers=("lmstudio",))
    ] = None
    litellm_model_id: Annotated[
        Name | None, shown("model", "Model", "The model's name on the LiteLLM proxy.", providers=("litellm",))
    ] = None
    local_model_path: Annotated[
        FilePath | None,
        shown(
            "model",
            "Model file",
            "A GGUF file to use instead of the embedded model's own weights.",
            providers=("local",),
            advanced=True,
        ),
    ] = None
    local_idle_minutes: Annotated[
        Annotated[int, Field(ge=1, le=10_080)] | None,
        shown(
            "limits",
            "Unload after (minutes)",
            "An embedded model that is not used frees its memory after this time. Empty means 10.",
            providers=("local",),
            advanced=True,
        ),
    ] = None

    # ---- anthropic
    api_key: Annotated[
        Key | None,
        Secret(env=("ANTHROPIC_API_KEY",)),
        shown("connection", "Anthropic API key", "Your key from the Anthropic console.", providers=("anthropic",)),
    ] = None
    anthropic_base_url: Annotated[
        BaseUrl | None,
        shown(
            "connection",
            "Base URL",
            "Another address that speaks Anthropic's protocol.",
            providers=("anthropic",),
            advanced=True,
        ),
    ] = None
    anthropic_use_auth_token: Annotated[
        bool | None,
        shown(
            "connection",
            "Send the key as a bearer token",
            "Some gateways want the key in the Authorization header.",
            providers=("anthropic",),
            advanced=True,
        ),
    ] = None
    anthropic_beta_1m_context: Annotated[
        bool | None,
        Field(alias="anthropicBeta1MContext"),
        shown(
            "model",
            "Context window of 1 million tokens",
            "Use the long context window where the model offers it.",
            providers=("anthropic",),
            advanced=True,
        ),
    ] = None

    # ---- openai
    open_ai_native_api_key: Annotated[
        Key | None,
        Secret(env=("OPENAI_API_KEY",)),
        shown("connection", "OpenAI API key", "Your key from the OpenAI platform.", providers=("openai-native",)),
    ] = None
    open_ai_native_base_url: Annotated[
        BaseUrl | None,
        shown(
            "connection",
            "Base URL",
            "Another address that speaks OpenAI's Responses protocol.",
            providers=("openai-native",),
            advanced=True,
        ),
    ] = None
    open_ai_native_service_tier: Annotated[
        Annotated[
            Literal["default", "flex", "priority"],
            Choices((("default", "Standard"), ("flex", "Flex"), ("priority", "Priority"))),
        ]
        | None,
        shown(
            "model",
            "Service tier",
            "Flex is cheaper and slower. Priority is faster and more expensive.",
            providers=("openai-native",),
            advanced=True,
        ),
    ] = None

    # ---- openai compatible
    open_ai_base_url: Annotated[
        BaseUrl | None,
        shown(
            "connection",
            "Base URL",
            "Where the server speaks OpenAI's Chat Completions protocol, usually ending in /v1.",
            providers=("openai",),
        ),
    ] = None
    # Not OPENAI_API_KEY: it would send a person's OpenAI key to whatever address this profile names.
    open_ai_api_key: Annotated[
        Key | None,
        Secret(env=("OPENAI_COMPATIBLE_API_KEY",)),
        shown("connection", "API key", "Leave empty if the server needs none.", providers=("openai",)),
    ] = None
    open_ai_headers: Annotated[
        Headers | None,
        shown(
            "connection",
            "Extra headers",
            "Sent with every request. Put headers that contain a key into the secret headers.",
            providers=("openai",),
            advanced=True,
        ),
    ] = None
    open_ai_secret_headers: Annotated[
        Key | None,
        Secret(),
        shown(
            "connection",
            "Secret headers",
            "Headers that contain a key, one per line: Name: value. They are kept like keys.",
            providers=("openai",),
            advanced=True,
        ),
    ] = None
    open_ai_use_azure: Annotated[
        bool | None,
        shown(
            "connection",
            "Azure OpenAI",
            "The address is an Azure OpenAI resource.",
            providers=("openai",),
            advanced=True,
        ),
    ] = None
    azure_api_version: Annotated[
        Annotated[str, Field(min_length=1, max_length=100)] | None,
        shown("connection", "Azure API version", "Such as 2025-04-01-preview.", providers=("openai",), advanced=True),
    ] = None
    open_ai_streaming_enabled: Annotated[
        bool | None,
        shown(
            "model",
            "Streaming",
            "Turn off for servers that cannot stream. On by default.",
            providers=("openai",),
            advanced=True,
        ),
    ] = None
    open_ai_r1_format_enabled: Annotated[
        bool | None,
        Field(alias="openAiR1FormatEnabled"),
        shown(
            "model",
            "R1 message format",
            "Needed by some servers for DeepSeek R1 and QwQ.",
            providers=("openai",),
            advanced=True,
        ),
    ] = None

    # ---- openrouter
    open_router_api_key: Annotated[
        Key | None,
        Secret(env=("OPENROUTER_API_KEY",)),
        shown("connection", "OpenRouter API key", "Your key from OpenRouter.", providers=("openrouter",)),
    ] = None
    open_router_base_url: Annotated[
        BaseUrl | None,
        shown(
            "connection",
            "Base URL",
            "Another address that speaks OpenRouter's protocol.",
            providers=("openrouter",),
            advanced=True,
        ),
    ] = None
    open_router_specific_provider: Annotated[
        Name | None,
        shown(
            "model",
            "Upstream provider",
            "Always use this provider behind OpenRouter.",
            providers=("openrouter",),
            advanced=True,
        ),
    ] = None

    # ---- bedrock
    aws_region: Annotated[
        Region | None,
        shown("connection", "AWS region", "Such as us-east-1.", providers=("bedrock",)),
    ] = None
    aws_use_profile: Annotated[
        bool | None,
        shown(
            "connection", "Use an AWS profile", "Take credentials from your AWS configuration.", providers=("bedrock",)
        ),
    ] = None
    aws_profile: Annotated[
        Name | None, shown("connection", "AWS profile", "The profile's name.", providers=("bedrock",))
    ] = None
    aws_use_api_key: Annotated[
        bool | None, shown("connection", "Use a Bedrock API key", "Instead of AWS credentials.", providers=("bedrock",))
    ] = None
    aws_api_key: Annotated[
        Key | None,
        Secret(env=("AWS_BEARER_TOKEN_BEDROCK",)),
        shown("connection", "Bedrock API key", "A key made in the Bedrock console.", providers=("bedrock",)),
    ] = None
    aws_access_key: Annotated[
        Key | None,
        Secret(env=("AWS_ACCESS_KEY_ID",)),
        shown(
            "connection", "AWS access key ID", "Leave empty to use the AWS default credentials.", providers=("bedrock",)
        ),
    ] = None
    aws_secret_key: Annotated[
        Key | None,
        Secret(env=("AWS_SECRET_ACCESS_KEY",)),
        shown("connection", "AWS secret access key", "Belongs to the access key ID.", providers=("bedrock",)),
    ] = None
    aws_session_token: Annotated[
        Key | None,
        Secret(env=("AWS_SESSION_TOKEN",)),
        shown(
            "connection",
            "AWS session token",
            "Only for temporary credentials.",
            providers=("bedrock",),
            advanced=True,
        ),
    ] = None
    aws_use_cross_region_inference: Annotated[
        bool | None,
        shown(
            "model", "Cross-region inference", "Let AWS pick a region nearby.", providers=("bedrock",), advanced=True
        ),
    ] = None
    aws_use_global_inference: Annotated[
        bool | None,
        shown("model", "Global inference", "Let AWS pick any region.", providers=("bedrock",), advanced=True),
    ] = None
    aws_use_prompt_cache: Annotated[
        bool | None,
        shown("model", "Prompt cache", "Use caching where the model offers it.", providers=("bedrock",), advanced=True),
    ] = None
    aws_custom_arn: Annotated[
        Name | None,
        shown("model", "Custom ARN", "Of an inference profile or deployment.", providers=("bedrock",), advanced=True),
    ] = None
    aws_bedrock_endpoint_enabled: Annotated[
        bool | None,
        shown("connection", "Use a VPC endpoint", "Instead of the public one.", providers=("bedrock",), advanced=True),
    ] = None
    aws_bedrock_endpoint: Annotated[
        BaseUrl | None,
        shown("connection", "VPC endpoint", "Its address.", providers=("bedrock",), advanced=True),
    ] = None
    aws_bedrock_1m_context: Annotated[
        bool | None,
        Field(alias="awsBedrock1MContext"),
        shown(
            "model",
            "Context window of 1 million tokens",
            "Use the long context window where the model offers it.",
            providers=("bedrock",),
            advanced=True,
        ),
    ] = None
    aws_bedrock_service_tier: Annotated[
        Annotated[
            Literal["STANDARD", "FLEX", "PRIORITY"],
            Choices((("STANDARD", "Standard"), ("FLEX", "Flex"), ("PRIORITY", "Priority"))),
        ]
        | None,
        shown(
            "model",
            "Service tier",
            "Flex is cheaper and slower. Priority is faster and more expensive.",
            providers=("bedrock",),
            advanced=True,
        ),
    ] = None

    # ---- vertex
    vertex_project_id: Annotated[
        Name | None, shown("connection", "Project", "Your Google Cloud project ID.", providers=("vertex",))
    ] = None
    vertex_region: Annotated[
        Region | None,
        shown("connection", "Region", "Such as us-east5 or global.", providers=("vertex",)),
    ] = None
    vertex_key_file: Annotated[
        FilePath | None,
        shown("connection", "Service account file", "The path of its JSON file on this server.", providers=("vertex",)),
    ] = None
    vertex_json_credentials: Annotated[
        Key | None,
        Secret(),
        shown(
            "connection",
            "Service account JSON",
            "The content of the file, instead of its path.",
            providers=("vertex",),
            advanced=True,
        ),
    ] = None
    vertex_1m_context: Annotated[
        bool | None,
        Field(alias="vertex1MContext"),
        shown(
            "model",
            "Context window of 1 million tokens",
            "Use the long context window where the model offers it.",
            providers=("vertex",),
            advanced=True,
        ),
    ] = None

    # ---- other services
    gemini_api_key: Annotated[
        Key | None,
        Secret(env=("GEMINI_API_KEY", "GOOGLE_API_KEY")),
        shown("connection", "Gemini API key", "Your key from Google AI Studio.", providers=("gemini",)),
    ] = None
    google_gemini_base_url: Annotated[
        BaseUrl | None,
        shown(
            "connection",
            "Base URL",
            "Another address that speaks OpenAI's protocol for Gemini.",
            providers=("gemini",),
            advanced=True,
        ),
    ] = None
    mistral_api_key: Annotated[
        Key | None,
        Secret(env=("MISTRAL_API_KEY",)),
        shown("connection", "Mistral API key", "Your key from Mistral.", providers=("mistral",)),
    ] = None
    mistral_codestral_url: Annotated[
        BaseUrl | None,
        shown(
            "connection", "Base URL", "The address of Codestral, or another one.", providers=("mistral",), advanced=True
        ),
    ] = None
    deep_seek_api_key: Annotated[
        Key | None,
        Secret(env=("DEEPSEEK_API_KEY",)),
        shown("connection", "DeepSeek API key", "Your key from DeepSeek.", providers=("deepseek",)),
    ] = None
    deep_seek_base_url: Annotated[
        BaseUrl | None,
        shown("connection", "Base URL", "Another address of DeepSeek.", providers=("deepseek",), advanced=True),
    ] = None
    xai_api_key: Annotated[
        Key | None,
        Secret(env=("XAI_API_KEY",)),
        shown("connection", "xAI API key", "Your key from xAI.", providers=("xai",)),
    ] = None
    groq_api_key: Annotated[
        Key | None,
        Secret(env=("GROQ_API_KEY",)),
        shown("connection", "Groq API key", "Your key from Groq.", providers=("groq",)),
    ] = None
    litellm_base_url: Annotated[
        BaseUrl | None, shown("connection", "Base URL", "Where the LiteLLM proxy runs.", providers=("litellm",))
    ] = None
    litellm_api_key: Annotated[
        Key | None,
        Secret(env=("LITELLM_API_KEY",)),
        shown("connection", "LiteLLM API key", "Leave empty if the proxy needs none.", providers=("litellm",)),
    ] = None
    litellm_use_prompt_cache: Annotated[
        bool | None,
        shown("model", "Prompt cache", "Use caching where the model offers it.", providers=("litellm",), advanced=True),
    ] = None

    # ---- on this machine
    ollama_base_url: Annotated[
        BaseUrl | None, shown("connection", "Base URL", "Where Ollama runs.", providers=("ollama",))
    ] = None
    ollama_api_key: Annotated[
        Key | None,
        Secret(env=("OLLAMA_API_KEY",)),
        shown(
            "connection",
            "Ollama API key",
            "Only if your Ollama server requires a login.",
            providers=("ollama",),
            advanced=True,
        ),
    ] = None
    ollama_num_ctx: Annotated[
        Annotated[int, Field(ge=128, le=100_000_000)] | None,
        shown(
            "model", "Context window (tokens)", "Empty uses the model's default.", providers=("ollama",), advanced=True
        ),
    ] = None
    lm_studio_base_url: Annotated[
        BaseUrl | None, shown("connection", "Base URL", "Where LM Studio runs.", providers=("lmstudio",))
    ] = None
    lm_studio_speculative_decoding_enabled: Annotated[
        bool | None,
        shown("model", "Speculative decoding", "Use a draft model.", providers=("lmstudio",), advanced=True),
    ] = None
    lm_studio_draft_model_id: Annotated[
        Name | None, shown("model", "Draft model", "Its name in LM Studio.", providers=("lmstudio",), advanced=True)
    ] = None

    # ---- answers
    model_temperature: Annotated[
        Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] | None,
        shown("model", "Temperature", "Higher is more varied. Empty uses the model's default.", advanced=True),
    ] = None
    enable_reasoning_effort: Annotated[
        bool | None, shown("model", "Thinking", "Let the model think before it answers, if it can.")
    ] = None
    reasoning_effort: Annotated[
        Annotated[
            Literal["disable", "none", "minimal", "low", "medium", "high", "xhigh"],
            Choices(
                (
                    ("disable", "Off"),
                    ("none", "None"),
                    ("minimal", "Minimal"),
                    ("low", "Low"),
                    ("medium", "Medium"),
                    ("high", "High"),
                    ("xhigh", "Very high"),
                )
            ),
        ]
        | None,
        shown("model", "Thinking effort", "How much the model thinks, if it supports this."),
    ] = None
    verbosity: Annotated[
        Annotated[Literal["low", "medium", "high"], Choices((("low", "Low"), ("medium", "Medium"), ("high", "High")))]
        | None,
        shown("model", "Verbosity", "How long answers are, if the model supports this.", advanced=True),
    ] = None
    include_max_tokens: Annotated[
        bool | None, shown("limits", "Send the answer limit", "Turn off for servers that refuse it.", advanced=True)
    ] = None
    model_max_tokens: Annotated[
        Tokens | None, shown("limits", "Longest answer (tokens)", "Empty uses the model's default.", advanced=True)
    ] = None
    model_max_thinking_tokens: Annotated[
        Tokens | None, shown("limits", "Longest thinking (tokens)", "Empty uses the model's default.", advanced=True)
    ] = None

    # ---- limits of a model we do not know
    model_context_window: Annotated[
        Tokens | None,
        shown(
            "limits",
            "Context window (tokens)",
            "How many tokens the model accepts. Needed for unknown models.",
            advanced=True,
        ),
    ] = None
    model_supports_images: Annotated[
        bool | None, shown("limits", "Sees images", "For unknown models.", advanced=True)
    ] = None
    model_supports_tools: Annotated[
        bool | None, shown("limits", "Calls tools", "For unknown models.", advanced=True)
    ] = None
    model_supports_prompt_cache: Annotated[
        bool | None, shown("limits", "Caches prompts", "For unknown models.", advanced=True)
    ] = None
    model_input_price: Annotated[
        Price | None, shown("limits", "Input price", "US$ per million tokens.", advanced=True)
    ] = None
    model_output_price: Annotated[
        Price | None, shown("limits", "Output price", "US$ per million tokens.", advanced=True)
    ] = None
    model_cache_reads_price: Annotated[
        Price | None, shown("limits", "Price of cache reads", "US$ per million tokens.", advanced=True)
    ] = None
    model_cache_writes_price: Annotated[
        Price | None, shown("limits", "Price of cache writes", "US$ per million tokens.", advanced=True)
    ] = None

    # ---- behaviour
    tool_set: Annotated[
        Annotated[ToolSet, Choices((("full", "All tools"), ("compound", "A few simple tools, for small models")))]
        | None,
        shown(
            "behaviour",
            "Tools",
            "Which tools the model can use. Empty means a few simple tools for the embedded model, and all tools for others.",
            advanced=True,
        ),
    ] = None
    todo_list_enabled: Annotated[
        bool | None, shown("behaviour", "To-do list", "Let the agent keep a to-do list. On by default.")
    ] = None
    consecutive_mistake_limit: Annotated[
        Annotated[int, Field(ge=0, le=1000)] | None,
        shown(
            "behaviour",
            "Mistakes in a row before the agent asks",
            "Empty means 3, 0 means no limit.",
            advanced=True,
        ),
    ] = None
    rate_limit_seconds: Annotated[
        Annotated[int, Field(ge=0, le=3600)] | None,
        shown("behaviour", "Minimum time between requests (s)", "Empty uses the general setting.", advanced=True),
    ] = None

    @field_validator("open_ai_headers")
    @classmethod
    def _no_credentials_in_headers(cls, value: dict[str, str] | None) -> dict[str, str] | None:
        for name in value or {}:
            if CREDENTIAL_NAME.search(name):
                raise ValueError(f"the header {name} looks like it holds a key; put it into the secret headers")
        return value


@cache
def secret_keys() -> frozenset[str]:
    """The wire names of all settings that are secrets."""
    return frozenset(secret_fields(ProviderSettings))


@cache
def secret_keys_of(provider: str | None) -> tuple[str, ...]:
    """The secrets a provider uses, in the order they are shown."""
    secrets = secret_fields(ProviderSettings)
    return tuple(
        key
        for info in ProviderSettings.model_fields.values()
        if (key := info.alias or "") in secrets and provider in field_providers(info)
    )


@cache
def secret_environment() -> frozenset[str]:
    """The environment variables that hold secrets: whoever starts a kernel or a command leaves them out."""
    marks = [*secret_fields(ProviderSettings).values(), *secret_fields(GlobalSettings).values()]
    own = {PASSPHRASE_VARIABLE, STORAGE_URL_VARIABLE, ARTIFACT_STORE_URL_VARIABLE}
    return frozenset({name for mark in marks for name in mark.env} | own)


def model_id(settings: ProviderSettings) -> str | None:
    """The id of the model a profile uses, whichever field its provider keeps it in."""
    provider = provider_info(settings.api_provider) if settings.api_provider else None
    key = provider.model_field if provider else "apiModelId"
    value = settings.to_wire().get(key)
    return value if isinstance(value, str) else None


def tool_set(settings: ProviderSettings | None) -> ToolSet:
    """The tools a profile's model is given."""
    if settings is None:
        return "full"
    return settings.tool_set or ("compound" if settings.api_provider == "local" else "full")
