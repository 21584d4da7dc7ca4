"""Profiles of each protocol at an address, and asking them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from hdsp_agent.config import ProviderSettings
from hdsp_agent.messages import ApiMessage, JsonObject
from hdsp_agent.providers import ModelAnswer, ModelClient, ModelEvent, ModelRequest, Timeouts, ToolSpec, open_client

PROTOCOLS: Final = ("anthropic", "responses", "chat")
WEATHER: Final = ToolSpec(
    "get_weather",
    "The weather of a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
PIXEL: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PATIENT: Final = Timeouts(connect=30, first=60, idle=60)


def profile(protocol: str, url: str, **more: object) -> ProviderSettings:
    """A profile that speaks the protocol at this address."""
    own: dict[str, dict[str, object]] = {
        "anthropic": {
            "apiProvider": "anthropic",
            "apiKey": "sk-ant-test",
            "apiModelId": "claude-sonnet-5-5",
            "anthropicBaseUrl": url,
        },
        "responses": {
            "apiProvider": "openai-native",
            "openAiNativeApiKey": "sk-test",
            "apiModelId": "gpt-5.1",
            "openAiNativeBaseUrl": f"{url}/v1",
        },
        "chat": {"apiProvider": "openai", "openAiModelId": "some-model", "openAiBaseUrl": f"{url}/v1"},
        "mistral": {
            "apiProvider": "mistral",
            "mistralApiKey": "k",
            "apiModelId": "mistral-large-latest",
            "mistralCodestralUrl": f"{url}/v1",
        },
        "openrouter": {
            "apiProvider": "openrouter",
            "openRouterApiKey": "k",
            "openRouterModelId": "anthropic/claude-sonnet-4.5",
            "openRouterBaseUrl": f"{url}/v1",
        },
        "deepseek": {
            "apiProvider": "deepseek",
            "deepSeekApiKey": "k",
            "apiModelId": "deepseek-reasoner",
            "deepSeekBaseUrl": url,
        },
        "ollama": {"apiProvider": "ollama", "ollamaModelId": "qwen3", "ollamaBaseUrl": url},
    }
    return ProviderSettings.model_validate({**own[protocol], **more})


def user(*blocks: str | JsonObject) -> ApiMessage:
    """A message of the person or of their tools."""
    return ApiMessage(
        role="user", content=[{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    )


def result(id: str, content: object, **more: object) -> JsonObject:
    """A tool's result."""
    block: dict[str, object] = {"type": "tool_result", "tool_use_id": id, "content": content, **more}
    return block  # type: ignore[return-value]  # the tests give JSON only


def image() -> JsonObject:
    """A picture of one pixel."""
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}


def request(*messages: ApiMessage, **more: object) -> ModelRequest:
    """A request with a system prompt and a tool."""
    return ModelRequest(**{"system": "Be brief.", "messages": messages, "tools": [WEATHER], **more})  # type: ignore[arg-type]


async def ask(client: ModelClient, asked: ModelRequest) -> tuple[ModelAnswer, list[ModelEvent]]:
    """The whole answer and its events."""
    answer, events = ModelAnswer(), []
    async for event in client.stream(asked):
        answer.add(event)
        events.append(event)
    return answer, events


@asynccontextmanager
async def opened(settings: ProviderSettings, timeouts: Timeouts = PATIENT) -> AsyncIterator[ModelClient]:
    """The profile's client, closed in the end."""
    client = await open_client(settings, timeouts=timeouts)
    try:
        yield client
    finally:
        await client.close()


async def ask_once(settings: ProviderSettings, asked: ModelRequest) -> tuple[ModelAnswer, list[ModelEvent]]:
    """The same with a client of its own."""
    async with opened(settings) as client:
        return await ask(client, asked)


def settings_of(script: Path) -> ProviderSettings:
    """A profile of the scripted model."""
    return ProviderSettings.model_validate({"apiProvider": "fake-ai", "apiModelId": str(script)})
