"""A whole agent that talks through an official SDK: real profiles and keys, real store, real tools, real sockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from pydantic import JsonValue

from hdsp_agent.agent import Headless, Task, TaskManager, TaskRequest, headless_agent
from hdsp_agent.config import ContextProxy, OperatorPolicy, provider_info
from hdsp_agent.messages import ClineAsk, ClineMessage, TaskId
from hdsp_agent.persistence import TaskStore

from ..._helpers.model_gateway import TOKEN_ANSWER
from ..._helpers.model_server import RawRequest, RawServer, Script, raw_server
from .scripted_agent import ExpandedMessage, until

__all__ = [
    "CHAT_SERVERS",
    "KEY",
    "PROTOCOLS",
    "ProviderAgent",
    "agent_behind",
    "call",
    "completion",
    "conversation_of",
    "profile_of",
    "sent_by",
    "speaking_agent",
    "turn",
    "unmarked",
]

PROTOCOLS: Final = ("anthropic", "responses", "chat", "bedrock", "vertex")
KEY: Final = "sk-test-0123456789abcdef-secret"
_MODELS: Final = {
    "deepseek": "deepseek-reasoner",
    "mistral": "mistral-large-latest",
    "gemini": "gemini-2.5-pro",
}
CHAT_SERVERS: Final = ("openrouter", "ollama", *_MODELS)
"""Servers of the Chat Completions protocol with ways of their own."""
_AUTO: Final[dict[str, JsonValue]] = {
    "autoApprovalEnabled": True,
    "alwaysAllowReadOnly": True,
    "alwaysAllowWrite": True,
    "includeCurrentTime": False,
    # The tools for it would take room in windows that tests reckon with.
    "memoryEnabled": False,
}


@cache
def _private_key() -> str:
    """A service account's key, made once: that takes a moment."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


def profile_of(protocol: str, url: str) -> dict[str, JsonValue]:
    """The settings and keys of a profile that speaks the protocol at this address."""
    match protocol:
        case "anthropic":
            return {
                "apiProvider": "anthropic",
                "apiKey": KEY,
                "apiModelId": "claude-sonnet-4-5",
                "anthropicBaseUrl": url,
            }
        case "responses":
            return {
                "apiProvider": "openai-native",
                "openAiNativeApiKey": KEY,
                "apiModelId": "gpt-5.1",
                "openAiNativeBaseUrl": f"{url}/v1",
            }
        case "chat":
            return {
                "apiProvider": "openai",
                "openAiApiKey": KEY,
                "openAiModelId": "some-model",
                "openAiBaseUrl": f"{url}/v1",
            }
        case "openrouter":
            return {
                "apiProvider": "openrouter",
                "openRouterApiKey": KEY,
                "openRouterModelId": "anthropic/claude-sonnet-4.5",
                "openRouterBaseUrl": f"{url}/v1",
            }
        case "ollama":
            return {"apiProvider": "ollama", "ollamaModelId": "qwen3", "ollamaBaseUrl": url}
        case "deepseek" | "mistral" | "gemini":
            info = provider_info(protocol)
            assert info is not None and info.key_field and info.base_url_field
            return {
                "apiProvider": protocol,
                info.key_field: KEY,
                info.base_url_field: f"{url}/v1",
                "apiModelId": _MODELS[protocol],
            }
        case "bedrock":
            return {
                "apiProvider": "bedrock",
                "awsAccessKey": "AKIAFAKEFAKEFAKEFAKE",
                "awsSecretKey": KEY,
                "awsRegion": "us-east-1",
                "apiModelId": "anthropic.claude-sonnet-4-5-20250929-v1:0",
                "awsBedrockEndpointEnabled": True,
                "awsBedrockEndpoint": url,
            }
        case "vertex":
            account = {
                "type": "service_account",
                "client_email": "agent@tests.invalid",
                "private_key": _private_key(),
                "token_uri": f"{url}/token",
            }
            return {
                "apiProvider": "vertex",
                "vertexProjectId": "project-of-tests",
                "vertexRegion": "us-east5",
                "vertexJsonCredentials": json.dumps(account),
                "apiModelId": "claude-sonnet-4-5@20250929",
            }
    raise AssertionError(protocol)


@dataclass
class ProviderAgent:
    """What a test talks to."""

    manager: TaskManager
    config: ContextProxy
    store: TaskStore
    workspace: Path
    home: Path
    heard: ExpandedMessage
    slept: list[float]

    async def start(self, text: str = "Do it") -> TaskId:
        return await self.manager.start(TaskRequest(text))

    async def finished(self, text: str = "Do it") -> TaskId:
        """A task that runs to its end."""
        task_id = await self.start(text)
        await self.ended(task_id)
        return task_id

    async def ended(self, task_id: TaskId) -> None:
        """Once the task is done; fails with what it asks instead."""

        def done() -> bool:
            task = self.manager.tasks.opened(task_id)
            asked = task.state.dialogue.asks.newest() if task is not None else None
            assert asked is None or asked.ask == "completion_result", f"it asks {asked.ask}: {asked.text}"
            return task is None

        await until(done)

    async def asked(self, task_id: TaskId, kind: ClineAsk) -> ClineMessage:
        """The question of this kind, once it is open."""

        def waiting() -> ClineMessage | None:
            task: Task | None = self.manager.tasks.opened(task_id)
            return task.state.dialogue.asks.newest(kind) if task else None

        return await until(waiting)

    async def ui(self, task_id: TaskId) -> list[ClineMessage]:
        reader = await self.store.view(task_id)
        return [message async for message in reader.ui.iterate()]

    async def says(self, task_id: TaskId, kind: str) -> list[ClineMessage]:
        return [message for message in await self.ui(task_id) if message.say == kind]

    async def blocks(self, task_id: TaskId, kind: str) -> list[dict[str, Any]]:
        """The content blocks of a kind in the API history on the disk."""
        reader = await self.store.view(task_id)
        return [
            cast("dict[str, Any]", block)
            async for record in reader.api.iterate()
            if isinstance(record.content, list)
            for block in record.content
            if block.get("type") == kind
        ]


@asynccontextmanager
async def speaking_agent(
    home: Path, profile: dict[str, JsonValue], *, trusted: bool = False, **overrides: JsonValue
) -> AsyncIterator[ProviderAgent]:
    """An agent on this folder whose one profile has these settings; it approves reading and writing itself.

    ``trusted`` is what the person says of the folder before.

    It does not really wait before it tries again; ``slept`` says how long it would have.
    """
    workspace, storage = home / "work", home / "home"
    workspace.mkdir(parents=True, exist_ok=True)
    heard, slept = ExpandedMessage(), []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await asyncio.sleep(0)

    settings: dict[str, JsonValue] = {**_AUTO, **overrides}
    async with headless_agent(storage, OperatorPolicy(), workspace=workspace, sink=heard, overrides=settings) as agent:
        if trusted:
            await asyncio.to_thread(agent.config.trusted_folders.decide, workspace, True)
        await _use(agent, profile)
        object.__setattr__(agent.manager.services, "sleep", sleep)
        yield ProviderAgent(agent.manager, agent.config, agent.store, workspace, storage, heard, slept)


async def _use(agent: Headless, profile: dict[str, JsonValue]) -> None:
    profiles = agent.config.profiles
    if any(entry.name == "tested" for entry in profiles.entries):
        await profiles.update("tested", profile)
        return
    await agent.config.use_storage("file")
    await profiles.create("tested", profile)
    await profiles.activate("tested")


def call(name: str, id: str, **arguments: JsonValue) -> dict[str, Any]:
    """A tool call as aimock's fixtures have it."""
    return {"name": name, "id": id, "arguments": arguments}


def turn(after: str | int | None, *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    """What the model answers: to the first words, to the result of the call with this id, or after this many answers.

    ``sequenceIndex`` says which of several requests alike is meant, ``chunkSize`` how aimock streams; the rest is the
    answer.
    """
    match: dict[str, Any] = {"userMessage": "Do it", "hasToolResult": False}
    if after is not None:
        match = {"toolCallId": after} if isinstance(after, str) else {"turnIndex": after}
    if "sequenceIndex" in more:
        match["sequenceIndex"] = more.pop("sequenceIndex")
    streaming = {key: more.pop(key) for key in ("chunkSize",) if key in more}
    response = {**more, "toolCalls": list(calls)} if calls else more
    return {"match": match, "response": response, **streaming}


def completion(after: str | int | None, **more: Any) -> dict[str, Any]:
    """The model says that it is done."""
    return turn(after, call("attempt_completion", "call_end", result="All done"), **more)


def sent_by(requests: Sequence[RawRequest]) -> list[dict[str, Any]]:
    """The bodies of the requests to the model."""
    return [request.body for request in requests if request.path != "/token"]


def conversation_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of a request, in whatever form its protocol has them."""
    messages: list[dict[str, Any]] = body["input"] if "input" in body else body["messages"]
    return messages


def unmarked(value: Any) -> Any:
    """The same without cache marks."""
    if isinstance(value, dict):
        return {key: unmarked(item) for key, item in value.items() if key != "cache_control"}
    return [unmarked(item) for item in value] if isinstance(value, list) else value


@asynccontextmanager
async def agent_behind(
    *scripts: Script,
    home: Path,
    protocol: str,
    profile: dict[str, JsonValue] | None = None,
    trusted: bool = False,
    **overrides: JsonValue,
) -> AsyncIterator[tuple[RawServer, ProviderAgent]]:
    """A server that answers by these scripts, and an agent whose profile points at it."""
    if protocol == "vertex":
        # Its SDK asks for a token first.
        scripts = (TOKEN_ANSWER, *scripts)
    async with raw_server(*scripts) as server:
        with pytest.MonkeyPatch.context() as patch:
            # Vertex has no setting for its address.
            patch.setenv("ANTHROPIC_VERTEX_BASE_URL", f"{server.url}/v1")
            settings = {**profile_of(protocol, server.url), **(profile or {})}
            async with speaking_agent(home, settings, trusted=trusted, **overrides) as agent:
                yield server, agent
