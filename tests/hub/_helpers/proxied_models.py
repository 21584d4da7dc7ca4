"""Policies with a model of each protocol, and what such models answer."""

from __future__ import annotations

from ..._helpers.model_server import RawServer, sse
from .running import RunningService


def policies(openai: RawServer, anthropic: RawServer | None = None, more: str = "") -> str:
    return f"""
        ask: "Ask the course team."
        providers:
          far:
            protocol: openai
            url: {openai.url}/v1
            key_env: A_KEY
            models:
              qwen3: {{input_price: 1, output_price: 10, context_window: 32768}}
              other: {{input_price: 1, output_price: 10}}
          claude:
            protocol: anthropic
            url: {(anthropic or openai).url}
            key_env: A_KEY
            models:
              claude-sonnet-5-5:
        default:
          models: [qwen3, "claude-*"]
          {more}
    """


def piece(text: str) -> dict[str, object]:
    return {"id": "1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": text}}]}


USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18, "prompt_tokens_details": {"cached_tokens": 1}}
END = {"id": "1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
TOLD = {"id": "1", "object": "chat.completion.chunk", "choices": [], "usage": USAGE}
CHAT = sse(piece("Hel"), piece("lo"), END, TOLD, "[DONE]")
MESSAGES = sse(
    {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": [],
     "model": "claude-sonnet-5-5", "usage": {"input_tokens": 20, "cache_read_input_tokens": 5, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
    named=True,
)  # fmt: skip
RESPONSES = sse(
    {"type": "response.output_text.delta", "delta": "Hi", "item_id": "i", "output_index": 0, "content_index": 0},
    {
        "type": "response.completed",
        "response": {
            "id": "r",
            "usage": {"input_tokens": 30, "output_tokens": 4, "input_tokens_details": {"cached_tokens": 10}},
        },
    },
    named=True,
)


async def used(running: RunningService, token: str = "ada-token") -> list[tuple[object, ...]]:
    await running.settled()
    usage = await running.json("api/usage", token)
    return [
        (row["model"], row["tokens_in"], row["tokens_cached"], row["tokens_out"], row["estimated"], row["errors"])
        for row in usage["usage"]
    ]
