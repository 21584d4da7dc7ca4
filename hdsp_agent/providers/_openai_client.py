"""Models that speak OpenAI's protocols, through the OpenAI SDK."""

from __future__ import annotations

import asyncio
import logging
from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from ..config import ProviderSettings, tool_set
from ..messages import JsonObject
from ._chat_request import ChatOptions, chat_body
from ._chat_stream import ChatStream
from ._constrained_stream import ConstrainedStream
from ._encrypted_item_errors import refuses_sealed
from ._guarded_http import guarded
from ._model import KnownModel, ModelClient, ModelEvent, ModelRequest
from ._model_error import ModelError
from ._model_info import reasons
from ._ollama_chat import ollama_post
from ._provider_compaction import Compaction, EncryptedItemRefused, compaction_of, endpoint_of
from ._provider_connection import ProviderConnection
from ._quirks import quirks_of
from ._responses_request import ResponsesOptions, compact_body, responses_body
from ._responses_stream import ResponsesStream
from ._sdk_client import Decoder, Post, SdkClient
from ._transport import EventStream, Timeouts, http_timeout, in_time, model_error
from ._unsupported_parameters import adapted

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

__all__ = ["open_chat", "open_responses", "openai_sdk"]

logger = logging.getLogger(__name__)

# The header of a server that wants no key must not carry anybody's.
_NO_KEY = "none"
_AZURE_VERSION = "2024-10-21"
_COMPACT_PATH: Final = "/responses/compact"
_UNREADABLE: Final = "The provider can no longer read what it condensed of this conversation."


class AdaptingClient(SdkClient):
    """A client that leaves out what its server turns out not to know."""

    def __init__(self, info: KnownModel, sdk: AsyncOpenAI, post: Post, timeouts: Timeouts) -> None:
        super().__init__(info, "openai", post, sdk.close, timeouts)
        self._refused: dict[str, str | None] = {}

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Ask the model. A refused parameter is left out from then on, at one request more for each."""
        while True:
            try:
                async with aclosing(super().stream(request)) as events:
                    async for event in events:
                        yield event
                return
            except ModelError as error:
                if not self._adapt(request, error):
                    raise

    def _adapt(self, request: ModelRequest, error: ModelError) -> bool:
        """Leave out what was refused, from now on; False if that was nothing one can do without."""
        change = adapted(self._body(request), error)
        if change is None or change[0] in self._refused:
            return False
        logger.info("%s does not accept %s; continuing without it", self._info.provider, change[0])
        self._refused[change[0]] = change[1]
        return True

    def _body(self, request: ModelRequest) -> JsonObject:
        body = self._whole_body(request)
        for name, instead in self._refused.items():
            value = body.pop(name, None)
            if instead is not None and value is not None:
                body[instead] = value
        return body

    @abstractmethod
    def _whole_body(self, request: ModelRequest) -> JsonObject: ...


class ResponsesClient(AdaptingClient):
    """A model behind OpenAI's Responses protocol. See ``CompactingClient``."""

    def __init__(self, info: KnownModel, sdk: AsyncOpenAI, options: ResponsesOptions, timeouts: Timeouts) -> None:
        super().__init__(info, sdk, _post(sdk, "/responses"), timeouts)
        self._sdk = sdk
        self._options = replace(options, endpoint=endpoint_of(str(sdk.base_url), options.model))

    @property
    def endpoint(self) -> str | None:
        """See ``CompactingClient``."""
        return self._options.endpoint

    async def compact(self, request: ModelRequest) -> Compaction:
        """Have the provider condense the conversation."""
        provider, endpoint = self._info.provider, self.endpoint
        if endpoint is None:
            raise ModelError(_UNREADABLE, provider=provider)
        body = compact_body(await asyncio.to_thread(self._ordered_body, request))
        try:
            # Not responses.compact(), for the reason ``_post`` gives.
            sent = self._sdk.post(_COMPACT_PATH, cast_to=object, body=body)
            answer = await in_time(sent, self._timeouts.first, provider, "answer")
        except Exception as error:
            self._check_sealed(error, body)
            raise model_error(error, provider) from error
        return compaction_of(answer, endpoint, provider)

    def _adapt(self, request: ModelRequest, error: ModelError) -> bool:
        self._check_sealed(error.__cause__, self._body(request))
        return super()._adapt(request, error)

    def _check_sealed(self, error: BaseException | None, body: JsonObject) -> None:
        """Raise EncryptedItemRefused if that is what the SDK's error says. What to send instead is for the caller to find."""
        if refuses_sealed(error, body):
            logger.info("%s cannot read what it had condensed, so nothing sealed is sent", self._info.provider)
            self._options = replace(self._options, endpoint=None)
            raise EncryptedItemRefused(_UNREADABLE, provider=self._info.provider) from error

    def _whole_body(self, request: ModelRequest) -> JsonObject:
        return responses_body(request, self._options)

    def _decoder(self) -> Decoder:
        return ResponsesStream(self._info.provider)


class ChatClient(AdaptingClient):
    """A model behind the Chat Completions protocol; ``window`` is how large one that Ollama runs is to be, if anybody says."""

    def __init__(
        self, info: KnownModel, sdk: AsyncOpenAI, options: ChatOptions, timeouts: Timeouts, window: int | None = None
    ) -> None:
        post = _post(sdk, "/chat/completions") if window is None else ollama_post(sdk, window)
        super().__init__(info, sdk, post, timeouts)
        self._options = options

    def _headers(self, request: ModelRequest) -> Mapping[str, str]:
        if self._options.quirks.cache_key == "x-grok-conv-id" and request.cache_key:
            return {"x-grok-conv-id": request.cache_key}
        return {}

    def _whole_body(self, request: ModelRequest) -> JsonObject:
        return chat_body(request, self._options)

    def _decoder(self) -> Decoder:
        stream = ChatStream(self._options.quirks, self._info.provider)
        return ConstrainedStream(stream) if self._options.constrained else stream


def open_responses(
    connection: ProviderConnection, settings: ProviderSettings, info: KnownModel, timeouts: Timeouts
) -> ModelClient:
    """The model's client. Imports the SDK and reads certificates: call it in a thread."""
    options = ResponsesOptions(
        model=connection.model,
        images=info.supports_images,
        max_output=_limit(settings),
        reasons=reasons(connection.model) or bool(settings.enable_reasoning_effort),
        effort=_effort(settings),
        verbosity=settings.verbosity,
        temperature=settings.model_temperature,
        service_tier=settings.open_ai_native_service_tier,
    )
    return ResponsesClient(info, openai_sdk(connection, settings, timeouts), options, timeouts)


def open_chat(
    connection: ProviderConnection, settings: ProviderSettings, info: KnownModel, timeouts: Timeouts
) -> ModelClient:
    """The model's client. Imports the SDK and reads certificates: call it in a thread."""
    quirks = quirks_of(connection.server, connection.model, settings)
    constrained = tool_set(settings) == "compound"
    options = ChatOptions(
        model=connection.model,
        quirks=quirks,
        images=info.supports_images,
        max_output=_limit(settings),
        effort=_effort(settings),
        temperature=0.0 if constrained and settings.model_temperature is None else settings.model_temperature,
        verbosity=settings.verbosity,
        constrained=constrained,
        upstream=settings.open_router_specific_provider if connection.server == "openrouter" else None,
        cache=settings.model_supports_prompt_cache is not False,
        draft_model=_draft_model(settings) if connection.server == "lmstudio" else None,
        streaming=settings.open_ai_streaming_enabled is not False,
    )
    window = settings.ollama_num_ctx if connection.info.id == "ollama" else None
    return ChatClient(info, openai_sdk(connection, settings, timeouts), options, timeouts, window)


def openai_sdk(connection: ProviderConnection, settings: ProviderSettings, timeouts: Timeouts) -> AsyncOpenAI:
    """The SDK's client for the profile's address."""
    from openai import AsyncAzureOpenAI, AsyncOpenAI, DefaultAsyncHttpxClient

    key = connection.key_text or _NO_KEY
    timeout = http_timeout(timeouts)
    local = connection.info.protocol == "local"
    client = _direct_client(timeout) if local else DefaultAsyncHttpxClient(timeout=timeout)
    client = guarded(client, connection.info.id)
    address = urlsplit(connection.base_url or "")
    if connection.server == "azure" and not address.path.rstrip("/").endswith("/openai/v1"):
        version = settings.azure_api_version or _AZURE_VERSION
        headers = connection.headers
        if "/deployments/" in address.path:
            sdk: AsyncOpenAI = AsyncAzureOpenAI(
                base_url=connection.base_url or "",
                api_key=key,
                api_version=version,
                timeout=timeout,
                max_retries=0,
                default_headers=headers,
                http_client=client,
            )
        else:
            sdk = AsyncAzureOpenAI(
                azure_endpoint=f"{address.scheme}://{address.netloc}",
                api_key=key,
                api_version=version,
                timeout=timeout,
                max_retries=0,
                default_headers=headers,
                http_client=client,
            )
    else:
        headers = dict(connection.headers)
        if connection.server == "azure" and connection.key is not None:
            headers["api-key"] = key
        sdk = AsyncOpenAI(
            api_key=key,
            base_url=connection.base_url,
            timeout=timeout,
            max_retries=0,
            default_headers=headers,
            http_client=client,
        )
    if connection.info.id != "openai-native":
        # The SDK reads them from the environment; they are OpenAI's business only.
        sdk.organization = None
        sdk.project = None
    return sdk


def _direct_client(timeout: httpx2.Timeout) -> httpx2.AsyncClient:
    """For a process of our own: past every proxy, and with a new connection each time, because it drops idle ones."""
    import httpx2

    return httpx2.AsyncClient(trust_env=False, timeout=timeout, limits=httpx2.Limits(max_keepalive_connections=0))


class _OneAnswer:
    """An answer that came whole, as a stream of one event."""

    def __init__(self, answer: object) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[object]:
        yield self._answer

    async def close(self) -> None:
        """Nothing is open."""


def _post(sdk: AsyncOpenAI, path: str) -> Post:
    # Not create(): it walks the whole conversation through its types on every request, on the event loop.
    from openai import AsyncStream

    async def post(body: JsonObject, headers: Mapping[str, str]) -> EventStream:
        if body.get("stream") is False:
            return _OneAnswer(await sdk.post(path, cast_to=object, body=body, options={"headers": headers}))
        return await sdk.post(
            path, cast_to=object, body=body, options={"headers": headers}, stream=True, stream_cls=AsyncStream[object]
        )

    return post


def _effort(settings: ProviderSettings) -> str | None:
    if settings.enable_reasoning_effort is False:
        return None
    if settings.reasoning_effort is not None:
        return settings.reasoning_effort
    return "medium" if settings.enable_reasoning_effort else None


def _draft_model(settings: ProviderSettings) -> str | None:
    return settings.lm_studio_draft_model_id if settings.lm_studio_speculative_decoding_enabled else None


def _limit(settings: ProviderSettings) -> int | None:
    return None if settings.include_max_tokens is False else settings.model_max_tokens
