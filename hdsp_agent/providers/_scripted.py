"""The scripted model: answers by a script instead of thinking, for tests and demonstrations without any network."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias, get_args

from ..errors import InvalidSetting
from ..messages import ApiProtocol
from ._content_blocks import blocks_of, text_of
from ._model import (
    KnownModel,
    ModelEvent,
    ModelRequest,
    Stop,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ThinkingDone,
    ToolCallDelta,
    ToolCallDone,
    ToolCallStart,
    UsageReport,
)
from ._model_error import ERROR_CLASSES, ErrorClass, ModelError
from ._safe_parse import count, items, mapping, number, text
from ._transport import broken_stream

__all__ = ["SCRIPTED_INFO", "ScriptedModel", "Step", "Turn", "call_tool", "load_script", "say"]

Step: TypeAlias = ModelEvent | float | Exception
"""An event, a pause in seconds, or what goes wrong."""
Turn: TypeAlias = Sequence[Step] | Callable[[ModelRequest], Iterable[Step]]
"""One answer, or what makes it from the request."""

PROVIDER: Final = "fake-ai"
SCRIPTED_INFO: Final = KnownModel(
    id="scripted",
    provider=PROVIDER,
    name="Scripted model",
    context_window=200_000,
    max_output=8192,
    supports_images=True,
    supports_thinking=True,
    supports_cache=True,
    input_price=3.0,
    output_price=15.0,
    cache_reads_price=0.3,
    cache_writes_price=3.75,
    counts_tokens=False,
)


def say(words: str, *, pause: float = 0) -> list[Step]:
    """A whole answer of text, a word at a time."""
    steps: list[Step] = []
    for word in words.split(" "):
        steps.extend([TextDelta(f" {word}" if steps else word), *([pause] if pause else [])])
    return [*steps, UsageReport(input=10, output=len(words.split(" "))), Stop("end")]


def call_tool(name: str, arguments: object, *, id: str = "call_1", index: int = 0, stop: bool = True) -> list[Step]:
    """A call of a tool, with the end of the answer unless more is to follow."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    middle = len(written) // 2
    steps: list[Step] = [
        ToolCallStart(index, id, name),
        ToolCallDelta(index, written[:middle]),
        ToolCallDelta(index, written[middle:]),
        ToolCallDone(index, id, name, written),
    ]
    return [*steps, UsageReport(input=10, output=5), Stop("tool_use")] if stop else steps


def _echo(request: ModelRequest) -> Iterable[Step]:
    asked = next((message for message in reversed(request.messages) if message.role == "user"), None)
    words = " ".join(text_of(block) for block in blocks_of(asked)) if asked else ""
    return say(f"This is the scripted model. You said: {words.strip()[:200]}")


@dataclass
class ScriptedModel:
    """A ModelClient that plays its turns in order; without turns, or after them, it repeats what it was told."""

    turns: Sequence[Turn] = ()
    info: KnownModel = SCRIPTED_INFO
    protocol: ApiProtocol = "anthropic"
    requests: list[ModelRequest] = field(default_factory=list)
    """What it was asked, for tests."""
    closed: bool = False

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Play the next turn."""
        turn = self.turns[len(self.requests)] if len(self.requests) < len(self.turns) else _echo
        self.requests.append(request)
        stopped = False
        for step in turn(request) if callable(turn) else turn:
            if isinstance(step, Exception):
                raise step
            if isinstance(step, int | float):
                await asyncio.sleep(step)
                continue
            # As with a socket, others get their turn between two events.
            await asyncio.sleep(0)
            stopped = isinstance(step, Stop)
            yield step
        if not stopped:
            raise broken_stream(PROVIDER, "ended its answer without saying why.")

    async def close(self) -> None:
        """Nothing is open."""
        self.closed = True


def load_script(path: Path) -> list[Turn]:
    """The turns of a JSON file: a list of answers, each a list of objects with one key, what happens.

    ``text``, ``thinking`` (with ``signature``), ``tool`` (with ``arguments`` and ``id``), ``usage``, ``wait``,
    ``error`` (with ``kind``), ``stop``, ``drop``. An answer that ends in neither of the last three stops by itself.
    """
    try:
        script = json.loads(path.read_text("utf-8"))
        turns = script["turns"] if isinstance(script, dict) else script
        return [_turn(turn) for turn in items(turns)]
    except (OSError, ValueError, KeyError) as error:
        raise InvalidSetting(f"The script {path.name} cannot be used: {error}.", field="apiModelId") from error


def _turn(turn: object) -> list[Step]:
    steps: list[Step] = []
    calls = 0
    for entry in items(turn):
        step = mapping(entry)
        if "tool" in step:
            id = text(step.get("id")) or f"call_{calls + 1}"
            arguments = step.get("arguments", {})
            steps.extend(call_tool(text(step["tool"]), arguments, id=id, index=calls, stop=False))
            calls += 1
        elif "drop" in step:
            return steps
        else:
            steps.extend(_steps(step))
    if not steps or not isinstance(steps[-1], Stop | Exception):
        steps.append(Stop("tool_use" if calls else "end"))
    return steps


def _steps(step: object) -> list[Step]:
    entry = mapping(step)
    if "text" in entry:
        return [TextDelta(text(entry["text"]))]
    if "thinking" in entry:
        return [ThinkingDelta(text(entry["thinking"])), ThinkingDone(signature=text(entry.get("signature")) or None)]
    if "wait" in entry:
        return [number(entry["wait"]) or 0.0]
    if "usage" in entry:
        usage = mapping(entry["usage"])
        return [
            UsageReport(
                input=count(usage.get("input")),
                output=count(usage.get("output")),
                cache_read=count(usage.get("cacheRead")),
                cache_write=count(usage.get("cacheWrite")),
            )
        ]
    if "error" in entry:
        kind: ErrorClass = next((name for name in ERROR_CLASSES if name == entry.get("kind")), "other")
        words = text(entry["error"])
        return [ModelError(words, kind=kind, provider=PROVIDER, retry_after=number(entry.get("retryAfter")), raw=words)]
    if "stop" in entry:
        reason: StopReason | None = next((name for name in get_args(StopReason) if name == entry["stop"]), None)
        if reason is not None:
            return [Stop(reason)]
    raise ValueError(f"a step is not understood: {json.dumps(step)[:200]}")
