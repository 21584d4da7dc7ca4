"""Filling a gap: what a model writes between the text before a place and the text after it.

Not every model can: it needs tokens of its own for that, and a provider a route of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from pydantic import SecretStr

from ..config import OperatorPolicy, ProviderSettings
from ..errors import Unsupported
from ..local import LocalModels, ModelEndpoint
from ..messages import JsonObject
from ._chat_usage import chat_usage
from ._model import KnownModel, UsageReport
from ._model_info import model_info
from ._openai_client import openai_sdk
from ._provider_connection import ProviderConnection, connection_of
from ._safe_parse import count, items, mapping, text
from ._transport import Timeouts, in_time, model_error

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["FillInClient", "Filling", "Gap", "can_fill_in", "open_fill_in"]

_TIMEOUTS: Final = Timeouts(connect=5.0, first=20.0, idle=20.0)
"""What comes later is of no use to who types."""


@dataclass(frozen=True)
class Gap:
    """A place in a text, and how much may be written there."""

    before: str
    after: str
    most_tokens: int = 64
    stop: tuple[str, ...] = ()
    temperature: float = 0.0


@dataclass(frozen=True)
class Filling:
    """What a model would write into a gap."""

    text: str
    is_cut: bool
    """Whether it had not come to an end."""
    usage: UsageReport | None = None
    """None where the provider does not say."""


class FillInClient(Protocol):
    """A model that fills gaps."""

    @property
    def info(self) -> KnownModel:
        """What is known of it, its prices too."""

    async def fill(self, gap: Gap) -> Filling:
        """What it would write there. Raises ModelError, and for the embedded model why it cannot be run."""

    async def close(self) -> None:
        """Let go of all connections."""


@dataclass(frozen=True)
class _Route:
    """How a provider is asked to fill a gap."""

    path: Callable[[str], str]
    """Of the address of the profile, with the version in it or not."""
    body: Callable[[Gap, str], JsonObject]
    answer: Callable[[Mapping[str, object]], Filling]


def can_fill_in(provider: str | None) -> bool:
    """Whether models of this provider may be asked to; not each of them can."""
    return provider == "local" or provider in _ROUTES


async def open_fill_in(
    settings: ProviderSettings, *, policy: OperatorPolicy | None = None, local: LocalModels | None = None
) -> FillInClient:
    """The profile's model, to fill gaps. Nothing is sent yet, and no embedded model is started.

    Raises InvalidSetting naming what the profile lacks, ForbiddenByOperator, or Unsupported for who cannot do that.
    """
    connection = connection_of(settings, policy)
    info = await asyncio.to_thread(model_info, settings)
    if connection.info.id == "local" and local is not None:
        return _EmbeddedModel(info, connection, settings, local)
    route = _ROUTES.get(connection.info.id)
    if route is None:
        raise Unsupported(
            f"{connection.info.name} cannot complete code at the cursor. Choose another profile for ghost text.",
            provider=connection.info.id,
        )
    sdk = await asyncio.to_thread(openai_sdk, connection, settings, _TIMEOUTS)
    return _RemoteModel(info, connection, route, sdk)


class _RemoteModel:
    """A model behind a provider's own route."""

    def __init__(self, info: KnownModel, connection: ProviderConnection, route: _Route, sdk: AsyncOpenAI) -> None:
        self.info: Final = info
        self._connection = connection
        self._route = route
        self._sdk = sdk

    async def fill(self, gap: Gap) -> Filling:
        """See ``FillInClient``."""
        path = self._route.path(str(self._sdk.base_url).rstrip("/"))
        return await _asked(
            self._sdk, path, self._route.body(gap, self._connection.model), self._connection, self._route
        )

    async def close(self) -> None:
        """See ``FillInClient``."""
        await self._sdk.close()


class _EmbeddedModel:
    """The model on this machine, while no conversation wants it."""

    def __init__(
        self, info: KnownModel, connection: ProviderConnection, settings: ProviderSettings, models: LocalModels
    ) -> None:
        self.info: Final = info
        self._connection = connection
        self._settings = settings
        self._models = models
        self._opened: tuple[ModelEndpoint, AsyncOpenAI] | None = None

    async def fill(self, gap: Gap) -> Filling:
        """See ``FillInClient``. Raises ModelInUse while a conversation has the model, or as soon as one wants it."""
        self._models.check_allowed()
        async with self._models.runtime.spare_turn(lambda: self._models.file_of(self._settings)) as endpoint:
            sdk = await self._sdk(endpoint)
            path = _INFILL.path(endpoint.url.removesuffix("/v1"))
            return await _asked(sdk, path, _INFILL.body(gap, self._connection.model), self._connection, _INFILL)

    async def close(self) -> None:
        """See ``FillInClient``."""
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened[1].close()

    async def _sdk(self, endpoint: ModelEndpoint) -> AsyncOpenAI:
        if self._opened is not None and self._opened[0] == endpoint:
            return self._opened[1]
        await self.close()
        connection = replace(self._connection, base_url=endpoint.url, key=SecretStr(endpoint.key))
        sdk = await asyncio.to_thread(openai_sdk, connection, self._settings, _TIMEOUTS)
        self._opened = endpoint, sdk
        return sdk


async def _asked(
    sdk: AsyncOpenAI, path: str, body: JsonObject, connection: ProviderConnection, route: _Route
) -> Filling:
    provider = connection.info.id
    try:
        answer = await in_time(sdk.post(path, cast_to=object, body=body), _TIMEOUTS.first, provider, "answer")
    except Exception as error:
        raise model_error(error, provider) from error
    return route.answer(mapping(answer))


def _of_completions(gap: Gap, model: str) -> JsonObject:
    body: JsonObject = {
        "model": model,
        "prompt": gap.before,
        "suffix": gap.after,
        "max_tokens": gap.most_tokens,
        "temperature": gap.temperature,
    }
    return body | ({"stop": [*gap.stop]} if gap.stop else {})


def _of_ollama(gap: Gap, model: str) -> JsonObject:
    return {
        "model": model,
        "prompt": gap.before,
        "suffix": gap.after,
        "stream": False,
        "options": {"num_predict": gap.most_tokens, "temperature": gap.temperature, "stop": [*gap.stop]},
    }


def _of_llama(gap: Gap, model: str) -> JsonObject:
    return {
        "input_prefix": gap.before,
        "input_suffix": gap.after,
        "n_predict": gap.most_tokens,
        "temperature": gap.temperature,
        "stop": [*gap.stop],
        "cache_prompt": True,
        "stream": False,
    }


def _first_choice(answer: Mapping[str, object]) -> Filling:
    choice = mapping(next(iter(items(answer.get("choices"))), None))
    written = text(choice.get("text")) or text(mapping(choice.get("message")).get("content"))
    usage = mapping(answer.get("usage"))
    return Filling(written, choice.get("finish_reason") == "length", chat_usage(usage) if usage else None)


def _from_ollama(answer: Mapping[str, object]) -> Filling:
    usage = UsageReport(input=count(answer.get("prompt_eval_count")), output=count(answer.get("eval_count")))
    return Filling(text(answer.get("response")), answer.get("done_reason") == "length", usage)


def _from_llama(answer: Mapping[str, object]) -> Filling:
    return Filling(text(answer.get("content")), is_cut=answer.get("stop_type") == "limit")


_INFILL: Final = _Route(lambda base: f"{base}/infill", _of_llama, _from_llama)
_COMPLETIONS: Final = _Route(lambda base: f"{base}/completions", _of_completions, _first_choice)
_ROUTES: Final[Mapping[str, _Route]] = {
    "openai": _COMPLETIONS,
    "litellm": _COMPLETIONS,
    "mistral": _Route(lambda base: f"{base}/fim/completions", _of_completions, _first_choice),
    "deepseek": _Route(lambda base: f"{base.removesuffix('/v1')}/beta/completions", _of_completions, _first_choice),
    "ollama": _Route(lambda base: f"{base.removesuffix('/v1')}/api/generate", _of_ollama, _from_ollama),
}
