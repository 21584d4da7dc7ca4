"""Models that speak Anthropic's Messages protocol: at Anthropic, behind a gateway, on Bedrock and on Vertex."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from ..config import ProviderSettings
from ..errors import InvalidSetting, Unsupported
from ..messages import JsonObject
from ._anthropic_request import AnthropicOptions, messages_body, thinking_of
from ._anthropic_stream import AnthropicStream
from ._guarded_http import guarded
from ._model import KnownModel, ModelClient, ModelRequest
from ._provider_connection import ProviderConnection
from ._sdk_client import Decoder, Post, SdkClient
from ._transport import EventStream, Timeouts, http_timeout

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic, AsyncAnthropicBedrock, AsyncAnthropicVertex

    AnySdk = AsyncAnthropic | AsyncAnthropicBedrock | AsyncAnthropicVertex

__all__ = ["anthropic_sdk", "open_anthropic"]

_LONG_WINDOW: Final = "context-1m-2025-08-07"
# Without it, models that think within a budget think only before the first call.
_INTERLEAVED: Final = "interleaved-thinking-2025-05-14"
_INTERLEAVES: Final = re.compile(r"claude-(?!3)")
_FALLBACK_OUTPUT: Final = 8192
_TIERS: Final = {tier: {"X-Amzn-Bedrock-Service-Tier": tier.lower()} for tier in ("FLEX", "PRIORITY")}


class AnthropicClient(SdkClient):
    """A model behind the Anthropic SDK."""

    def __init__(
        self, info: KnownModel, sdk: AnySdk, options: AnthropicOptions, betas: tuple[str, ...], timeouts: Timeouts
    ) -> None:
        super().__init__(info, "anthropic", _post(sdk, betas), sdk.close, timeouts)
        self._options = options

    def _body(self, request: ModelRequest) -> JsonObject:
        return messages_body(request, self._options)

    def _decoder(self) -> Decoder:
        return AnthropicStream()


def open_anthropic(
    connection: ProviderConnection, settings: ProviderSettings, info: KnownModel, timeouts: Timeouts
) -> ModelClient:
    """The model's client. Imports the SDK and reads certificates: call it in a thread."""
    thinking = thinking_of(
        connection.model,
        effort=settings.reasoning_effort,
        enabled=settings.enable_reasoning_effort,
        budget=settings.model_max_thinking_tokens,
    )
    model = _cloud_model(connection, settings)
    options = AnthropicOptions(
        model=model,
        max_output=info.max_output or _FALLBACK_OUTPUT,
        thinking=thinking,
        images=info.supports_images,
        cache=info.supports_cache and not (connection.info.id == "bedrock" and settings.aws_use_prompt_cache is False),
        temperature=settings.model_temperature,
    )
    betas: list[str] = []
    if settings.anthropic_beta_1m_context or settings.aws_bedrock_1m_context or settings.vertex_1m_context:
        betas.append(_LONG_WINDOW)
    if thinking is not None and thinking.budget is not None and _INTERLEAVES.search(connection.model):
        betas.append(_INTERLEAVED)
    return AnthropicClient(info, anthropic_sdk(connection, settings, timeouts), options, tuple(betas), timeouts)


def anthropic_sdk(connection: ProviderConnection, settings: ProviderSettings, timeouts: Timeouts) -> AnySdk:
    """The SDK's client for the profile's way to its model."""
    if connection.info.protocol == "bedrock":
        return _bedrock(connection, settings, timeouts)
    if connection.info.protocol == "vertex":
        return _vertex(settings, timeouts)
    from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient

    timeout = http_timeout(timeouts)
    bearer = bool(settings.anthropic_use_auth_token)
    headers = dict(connection.headers)
    if not bearer and connection.key_text and connection.base_url != connection.info.default_base_url:
        # The SDK sends a bearer token; compatible servers know the key by the protocol's older header.
        headers["X-Api-Key"] = connection.key_text
    return AsyncAnthropic(
        api_key=None if bearer else connection.key_text,
        auth_token=connection.key_text if bearer else None,
        base_url=connection.base_url,
        timeout=timeout,
        max_retries=0,
        default_headers=headers,
        http_client=guarded(DefaultAsyncHttpxClient(timeout=timeout), connection.info.id),
    )


def _post(sdk: AnySdk, betas: tuple[str, ...]) -> Post:
    # Not messages.create(): it walks the whole conversation through its types on every request, on the event loop.
    from anthropic import AsyncStream

    headers = {"anthropic-beta": ",".join(betas)} if betas else {}

    async def post(body: JsonObject, more: Mapping[str, str]) -> EventStream:
        return await sdk.post(
            "/v1/messages",
            cast_to=object,
            body=body,
            options={"headers": {**headers, **more}},
            stream=True,
            stream_cls=AsyncStream[object],
        )

    return post


def _bedrock(connection: ProviderConnection, settings: ProviderSettings, timeouts: Timeouts) -> AsyncAnthropicBedrock:
    _require("botocore", "Amazon Bedrock", "boto3")
    from anthropic import AsyncAnthropicBedrock, DefaultAsyncHttpxClient

    timeout = http_timeout(timeouts)
    region = settings.aws_region or _region_of(settings.aws_custom_arn)
    if region is None and not settings.aws_use_profile:
        raise InvalidSetting("This profile has no AWS region. Enter one in the settings.", field="awsRegion")
    own = settings.aws_access_key is not None or settings.aws_use_profile
    with_key = bool(settings.aws_use_api_key or (connection.key is not None and not own))
    profile = settings.aws_profile if settings.aws_use_profile and not with_key else None
    sdk = AsyncAnthropicBedrock(
        # Without one the SDK takes the environment's, and then refuses credentials beside it.
        api_key=connection.key_text or "none",
        aws_region=region or _region_of_profile(profile),
        base_url=connection.base_url,
        timeout=timeout,
        max_retries=0,
        http_client=guarded(DefaultAsyncHttpxClient(timeout=timeout), connection.info.id),
        default_headers=_TIERS.get(settings.aws_bedrock_service_tier or ""),
    )
    if not with_key:
        sdk.api_key = None
        sdk.aws_profile = profile
    if not with_key and not settings.aws_use_profile:
        sdk.aws_access_key = _secret(settings, "aws_access_key")
        sdk.aws_secret_key = _secret(settings, "aws_secret_key")
        sdk.aws_session_token = _secret(settings, "aws_session_token")
    return sdk


def _region_of_profile(profile: str | None) -> str:
    """The region of the environment, else of the person's AWS configuration."""
    session = import_module("botocore.session")
    try:
        region = os.environ.get("AWS_REGION") or session.Session(profile=profile).get_config_variable("region")
    except import_module("botocore.exceptions").BotoCoreError as error:
        raise InvalidSetting(f"The AWS profile cannot be used: {error}.", field="awsProfile") from None
    if not region:
        raise InvalidSetting(
            "Neither this profile nor the AWS configuration has a region. Enter one in the settings.",
            field="awsRegion",
        )
    return str(region)


def _vertex(settings: ProviderSettings, timeouts: Timeouts) -> AsyncAnthropicVertex:
    _require("google.auth", "Google Vertex AI", "google-auth[requests]")
    from anthropic import AsyncAnthropicVertex, DefaultAsyncHttpxClient

    timeout = http_timeout(timeouts)
    if not settings.vertex_project_id:
        raise InvalidSetting(
            "This profile has no Google Cloud project. Enter one in the settings.", field="vertexProjectId"
        )
    if not settings.vertex_region:
        raise InvalidSetting("This profile has no Vertex region. Enter one in the settings.", field="vertexRegion")
    return AsyncAnthropicVertex(
        project_id=settings.vertex_project_id,
        region=settings.vertex_region,
        credentials=_google_credentials(settings),
        timeout=timeout,
        max_retries=0,
        http_client=guarded(DefaultAsyncHttpxClient(timeout=timeout), "vertex"),
    )


def _google_credentials(settings: ProviderSettings):  # type: ignore[no-untyped-def]  # its library is an extra
    if settings.vertex_json_credentials is None and settings.vertex_key_file is None:
        return None
    # Imported by name: whether type checkers find an extra's types depends on what is installed.
    credentials = import_module("google.oauth2.service_account").Credentials
    scopes = ["https://www.googleapis.com/auth/cloud-platform"]
    own = settings.vertex_json_credentials
    field = "vertexKeyFile" if own is None else "vertexJsonCredentials"
    try:
        if own is None:
            return credentials.from_service_account_file(settings.vertex_key_file, scopes=scopes)
        return credentials.from_service_account_info(json.loads(own.get_secret_value()), scopes=scopes)
    except (OSError, ValueError) as error:
        # Without its cause, which may quote the key.
        raise InvalidSetting(
            f"The service account cannot be read ({type(error).__name__}). Download it again from Google Cloud.",
            field=field,
        ) from None


def _require(module: str, provider: str, package: str) -> None:
    try:
        found = find_spec(module) is not None
    except ModuleNotFoundError:
        found = False
    if not found:
        raise Unsupported(
            f"{provider} needs the Python package {package}. Install it where Jupyter runs: pip install '{package}'.",
            package=package,
        )


def _secret(settings: ProviderSettings, name: str) -> str | None:
    value = getattr(settings, name)
    return value.get_secret_value() if value is not None else None


def _region_of(arn: str | None) -> str | None:
    parts = (arn or "").split(":")
    # It becomes a part of the host name that the key is sent to.
    return parts[3] if len(parts) > 3 and re.fullmatch("[A-Za-z0-9-]+", parts[3]) else None


_CROSS_REGION: Final = (("us-gov-", "us-gov"), ("us-", "us"), ("eu-", "eu"), ("ap-", "apac"))


def _cloud_model(connection: ProviderConnection, settings: ProviderSettings) -> str:
    """The model's id, for Bedrock with the prefix that lets it run elsewhere if the profile says so."""
    model = connection.model
    if connection.info.id != "bedrock":
        return model
    if settings.aws_custom_arn:
        return settings.aws_custom_arn
    if not model.startswith("anthropic."):
        return model
    if settings.aws_use_global_inference:
        return f"global.{model}"
    if settings.aws_use_cross_region_inference:
        region = settings.aws_region or ""
        prefix = next((prefix for start, prefix in _CROSS_REGION if region.startswith(start)), None)
        return f"{prefix}.{model}" if prefix else model
    return model
