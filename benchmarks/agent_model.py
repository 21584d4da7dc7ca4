"""A model server that speaks Anthropic's protocol and remembers when it wrote the first word of each answer.

Usage: ``python -m benchmarks.agent_model``; says "ready", answers "url" and "report", and ends with its standard input.
Under ``/first`` an answer takes a moment and then a few words; under ``/steady`` it is a long text at an even pace. Both end
with a call of ``update_todo_list``, so that a task goes on and on.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import sys
import time
from collections.abc import AsyncIterator
from itertools import count
from typing import Final

__all__ = ["PER_SECOND", "begins"]

PER_SECOND: Final = 100
"""Tokens a second of one answer under ``/steady``."""

_THINKING_SECONDS: Final = (0.05, 0.09)
_WORDS: Final = 4
_STEADY_SECONDS: Final = (2.0, 6.0)
_BEGINS: Final = re.compile(r"Answer (\d+) begins ")
_VOCABULARY: Final = ("the", "second", "column", "of", "this", "table", "is", "empty", "in", "most", "rows")
_ENDED: Final = b"0\r\n\r\n"


def begins(text: str) -> int | None:
    """The number of the answer that begins in this text."""
    found = _BEGINS.search(text)
    return None if found is None else int(found[1])


def _sse(kind: str, **fields: object) -> bytes:
    event = f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
    return b"%x\r\n%s\r\n" % (len(event), event)


def _text(words: str) -> bytes:
    return _sse("content_block_delta", index=0, delta={"type": "text_delta", "text": words})


class ModelServer:
    """Answers one request after the other on each connection."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._chance = random.Random(4)
        self.written: dict[int, int] = {}
        self.streaming = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer until the client goes away."""
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                length = re.search(r"(?i)content-length: (\d+)", head)
                await reader.readexactly(int(length[1]) if length else 0)
                await self._answer(writer, steady=head.split(" ", 2)[1].startswith("/steady"))
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            # Cancelled as the process ends: asyncio's streams would report that as a failure of theirs.
            writer.close()

    async def _answer(self, writer: asyncio.StreamWriter, *, steady: bool) -> None:
        number = next(self._numbers)
        usage = {"input_tokens": 10, "output_tokens": 1}
        message = {"id": f"m{number}", "type": "message", "role": "assistant", "content": [], "usage": usage}
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        writer.write(_sse("message_start", message={**message, "model": "bench"}))
        writer.write(_sse("content_block_start", index=0, content_block={"type": "text", "text": ""}))
        await asyncio.sleep(self._chance.uniform(*_THINKING_SECONDS))
        first = _text(f"Answer {number} begins here. ")
        self.written[number] = time.monotonic_ns()
        writer.write(first)
        self.streaming += 1
        try:
            # Of many lengths, or tasks that began together would end their answers together for ever.
            seconds = self._chance.uniform(*_STEADY_SECONDS) if steady else _WORDS / PER_SECOND
            async for word in self._words(seconds):
                writer.write(_text(f"{word} "))
                await writer.drain()
        finally:
            self.streaming -= 1
        writer.write(_sse("content_block_stop", index=0))
        self._call(writer, number)
        writer.write(_ENDED)
        await writer.drain()

    async def _words(self, seconds: float) -> AsyncIterator[str]:
        begun = time.monotonic()
        for number in range(1, int(seconds * PER_SECOND) + 1):
            # Against the clock: pauses that add up would be a slower model under load.
            await asyncio.sleep(max(0.0, begun + number / PER_SECOND - time.monotonic()))
            yield _VOCABULARY[number % len(_VOCABULARY)]

    def _call(self, writer: asyncio.StreamWriter, number: int) -> None:
        call = {"type": "tool_use", "id": f"call_{number}", "name": "update_todo_list", "input": {}}
        plan = json.dumps({"todos": f"[x] look at part {number}\n[ ] look at part {number + 1}"})
        writer.write(_sse("content_block_start", index=1, content_block=call))
        writer.write(_sse("content_block_delta", index=1, delta={"type": "input_json_delta", "partial_json": plan}))
        writer.write(_sse("content_block_stop", index=1))
        writer.write(_sse("message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 40}))
        writer.write(_sse("message_stop"))


async def main() -> None:
    """Serve, and answer lines, until standard input ends."""
    model = ModelServer()
    server = await asyncio.start_server(model.serve, "127.0.0.1", 0, limit=2**20)
    host, port = server.sockets[0].getsockname()[:2]
    print("ready", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        if line.strip() == "url":
            print(f"http://{host}:{port}", flush=True)
        else:
            print(json.dumps({"written": model.written, "streaming": model.streaming}), flush=True)
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
