"""What a first profile can be made of: keys that are there already, and model servers that run on this machine."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import JsonValue
from tornado.httpclient import AsyncHTTPClient, HTTPError

from ..config import (
    ContextProxy,
    OperatorPolicy,
    ProviderInfo,
    ProviderSettings,
    provider_info,
    providers,
    secret_fields,
)
from ..errors import HdspAgentError, InvalidInput, NotFound
from ..providers import connection_of
from ..wire import WireModel

__all__ = [
    "Candidates",
    "LocalServer",
    "SetupCandidateView",
    "find_candidates",
    "is_ready",
    "use_candidate",
    "use_settings",
]

_CONNECT_SECONDS: Final = 0.5
_ANSWER_SECONDS: Final = 1.5
_LARGEST_ANSWER: Final = 1_000_000
_MOST_MODELS: Final = 500
_LONGEST_ID: Final = 200


@dataclass(frozen=True)
class LocalServer:
    """A program that serves models, where it listens unless told otherwise."""

    id: str
    name: str
    provider: str
    address: str
    path: str = ""
    """What of the protocol's path belongs to that address."""
    owner: str | None = None
    """What it calls itself in its list of models."""


LOCAL_SERVERS: Final = (
    LocalServer("ollama", "Ollama", "ollama", "http://127.0.0.1:11434"),
    LocalServer("lmstudio", "LM Studio", "lmstudio", "http://127.0.0.1:1234"),
    LocalServer("vllm", "vLLM", "openai", "http://127.0.0.1:8000", "/v1", "vllm"),
    LocalServer("llamacpp", "llama.cpp", "openai", "http://127.0.0.1:8080", "/v1", "llamacpp"),
    LocalServer("litellm", "LiteLLM", "litellm", "http://127.0.0.1:4000"),
)


class SetupCandidateView(WireModel):
    """One way to a model that is there already. Its key, if it has one, is named and never told."""

    id: str
    kind: Literal["environment", "operator", "local"]
    """A key in the server's environment, one the administrator provides, or a server on this machine."""
    provider: str
    name: str
    variable: str | None = None
    """The environment variable that holds the key."""
    base_url: str | None = None
    models: list[str]
    """Those of a server on this machine; of others ``models?provider=`` tells."""
    suggested_model: str | None = None
    in_use: bool
    """Whether a profile uses it already."""


@dataclass(frozen=True)
class Candidates:
    """What was found, and the providers that were found and that the operator does not allow."""

    offered: tuple[SetupCandidateView, ...]
    refused: tuple[str, ...]


async def find_candidates(config: ContextProxy) -> Candidates:
    """Everything that is there now. It asks nobody but programs on this machine, and none of them for long."""
    policy = config.policy
    found = [*_with_key(policy), *await _local_servers()]
    offered = [candidate for candidate in found if policy.allows_provider(candidate.provider)]
    refused = dict.fromkeys(candidate.name for candidate in found if not policy.allows_provider(candidate.provider))
    return Candidates(tuple(_seen_by(config, candidate) for candidate in offered), tuple(refused))


async def use_candidate(config: ContextProxy, id: str, model: str | None, name: str | None) -> str:
    """Make a profile of it and the current one; its id. A profile that is the same already is used again."""
    found = await find_candidates(config)
    candidate = next((one for one in found.offered if one.id == id), None)
    if candidate is None:
        raise NotFound(f"{id} is no longer available. Reload the list.", candidate=id)
    model = model or candidate.suggested_model
    if model is None:
        raise InvalidInput(f"Choose a model from {candidate.name}.", field="model")
    info = provider_info(candidate.provider)
    assert info is not None
    settings: dict[str, JsonValue] = {"apiProvider": candidate.provider, info.model_field: model}
    if candidate.base_url is not None and info.base_url_field is not None:
        settings[info.base_url_field] = candidate.base_url
    return await use_settings(config, settings, name or candidate.name)


async def use_settings(config: ContextProxy, settings: Mapping[str, JsonValue], name: str) -> str:
    """Make a profile of these settings and the current one; its id. One that has them already is used again."""
    book = config.profiles
    same = next((entry.id for entry in book.entries if _has(book.settings(entry.id), settings)), None)
    if same is None:
        same = await _made(config, name, settings)
    await book.activate(same)
    return same


async def is_ready(config: ContextProxy) -> bool:
    """Whether the current profile names a provider, a model, and has the key that provider needs."""
    try:
        connection_of(await config.with_keys(config.profiles.current.id), config.policy)
    except HdspAgentError:
        return False
    return True


async def _made(config: ContextProxy, name: str, settings: Mapping[str, JsonValue]) -> str:
    book = config.profiles
    if book.current.api_provider is None:
        # The empty one that the first start made.
        return (await book.update(book.current.id, settings)).id
    taken = {entry.name for entry in book.entries}
    free = next(each for number in range(1, len(taken) + 2) if (each := _numbered(name, number)) not in taken)
    return (await book.create(free, settings)).id


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name} {number}"


def _has(own: ProviderSettings, wanted: Mapping[str, JsonValue]) -> bool:
    wire = own.to_wire()
    return all(wire.get(key) == value for key, value in wanted.items())


# ---- keys


def _with_key(policy: OperatorPolicy) -> list[SetupCandidateView]:
    """Providers that need nothing but a key and a model, and whose key is there."""
    found: list[SetupCandidateView] = []
    for info in providers():
        if info.hidden or not info.key_required or info.default_base_url is None:
            continue
        variable = _variable_of(info)
        if variable is None and info.id not in policy.provider_keys:
            continue
        found.append(
            SetupCandidateView(
                id=f"{'operator' if variable is None else 'environment'}:{info.id}",
                kind="operator" if variable is None else "environment",
                provider=info.id,
                name=info.name,
                variable=variable,
                models=[],
                in_use=False,
            )
        )
    return found


def _variable_of(info: ProviderInfo) -> str | None:
    names = secret_fields(ProviderSettings)[info.key_field].env if info.key_field else ()
    return next((name for name in names if os.environ.get(name, "").strip()), None)


# ---- servers on this machine


async def _local_servers() -> list[SetupCandidateView]:
    client = AsyncHTTPClient(force_instance=True, defaults={"decompress_response": False})
    try:
        asked = await asyncio.gather(*(_asked(client, server) for server in LOCAL_SERVERS))
    finally:
        client.close()
    return [candidate for candidate in asked if candidate is not None]


async def _asked(client: AsyncHTTPClient, server: LocalServer) -> SetupCandidateView | None:
    """The server, if something that lists models in OpenAI's form listens there."""
    try:
        answer = await client.fetch(
            f"{server.address}/v1/models",
            connect_timeout=_CONNECT_SECONDS,
            request_timeout=_ANSWER_SECONDS,
            follow_redirects=False,
        )
        listed = json.loads(answer.body[:_LARGEST_ANSWER])
    except (HTTPError, OSError, ValueError):
        return None
    entries = listed.get("data") if isinstance(listed, dict) else None
    if not isinstance(entries, list):
        return None
    models = [id for entry in entries[:_MOST_MODELS] if (id := _id_of(entry)) is not None]
    if entries and not models:
        return None
    name = server.name if server.owner is None or server.owner in _owners(entries) else "OpenAI compatible"
    base_url = f"{server.address}{server.path}"
    return SetupCandidateView(
        id=f"local:{server.id}",
        kind="local",
        provider=server.provider,
        name=name,
        base_url=base_url,
        models=models,
        suggested_model=models[0] if models else None,
        in_use=False,
    )


def _id_of(entry: object) -> str | None:
    id = entry.get("id") if isinstance(entry, dict) else None
    return id if isinstance(id, str) and 0 < len(id) <= _LONGEST_ID else None


def _owners(entries: Sequence[object]) -> set[object]:
    return {
        entry.get("owned_by") for entry in entries if isinstance(entry, dict) and isinstance(entry.get("owned_by"), str)
    }


def _seen_by(config: ContextProxy, candidate: SetupCandidateView) -> SetupCandidateView:
    book = config.profiles
    in_use = any(_uses(book.settings(entry.id), candidate) for entry in book.entries)
    return candidate.model_copy(update={"in_use": in_use})


def _uses(own: ProviderSettings, candidate: SetupCandidateView) -> bool:
    """Whether a profile is of this provider, and at this address if it is one of several."""
    info = provider_info(candidate.provider)
    if own.api_provider != candidate.provider or info is None:
        return False
    if candidate.base_url is None:
        return True
    address = own.to_wire().get(info.base_url_field or "") or info.default_base_url
    return str(address).rstrip("/").replace("//localhost", "//127.0.0.1") == candidate.base_url
