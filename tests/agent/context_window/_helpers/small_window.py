"""An agent whose model takes little in, so that a short conversation fills it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from hdsp_agent.config import GlobalSettings
from hdsp_agent.messages import ApiMessage, ClineMessage
from hdsp_agent.providers import ModelRequest, TextDelta, call_tool, say
from hdsp_agent.providers._scripted import SCRIPTED_INFO, Step, Turn

from ..._helpers.scripted_agent import Agent, running_agent

__all__ = [
    "AUTO",
    "DONE",
    "SMALL",
    "SUMMARY",
    "asks_for_summary",
    "condensed",
    "look",
    "small_agent",
    "summarised",
    "text_of",
]

SMALL: Final = replace(SCRIPTED_INFO, context_window=13_400, max_output=3_000)
AUTO: Final = GlobalSettings(auto_approval_enabled=True, always_allow_write=True, include_current_time=False)
DONE: Final = call_tool("attempt_completion", {"result": "done"}, id="end")
SUMMARY: Final = "## Work Completed\nEverything was looked at, and nothing was found."


def look(number: int, characters: int = 8_000) -> list[Step]:
    """A step of work whose answer has so many characters, a fourth as many tokens."""
    words = f"Now part {number}. " + "x" * characters
    return [TextDelta(words), *call_tool("look", {"text": f"part {number}"}, id=f"look-{number}")]


def text_of(messages: Sequence[ApiMessage]) -> str:
    """All of it."""
    return "\n".join(str(message.content) for message in messages)


def asks_for_summary(request: ModelRequest) -> bool:
    """Whether this is the request that the conversation is condensed with."""
    return "CONTEXT CHECKPOINT COMPACTION" in str(request.messages[-1].content)


@asynccontextmanager
async def small_agent(
    home: Path, turns: Sequence[Turn], *, settings: GlobalSettings = AUTO, window: int = 13_400
) -> AsyncIterator[Agent]:
    """An agent with a small model."""
    async with running_agent(home, turns, settings=settings) as agent:
        agent.model.info = replace(SMALL, context_window=window)
        yield agent


async def condensed(agent: Agent, task_id: str) -> list[ClineMessage]:
    """The rows that tell of a condensation."""
    return await agent.says(task_id, "condense_context")  # type: ignore[arg-type]  # ids are text


def summarised(request: ModelRequest) -> list[Step]:
    """Answers a request for a summary, and fails at any other."""
    assert asks_for_summary(request)
    return say(SUMMARY)
