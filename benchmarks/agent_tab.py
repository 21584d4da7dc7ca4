"""A tab without a browser that asks the agent for what it is told, and remembers when the first word of each answer came.

Usage: ``python -m benchmarks.agent_tab URL TOKEN``; says "ready" and answers lines of JSON: ``{"request": {…}}`` with what
the server acknowledged, ``{"question": "resume_task"}`` with the time of that question once it is asked, and
``{"report": true}`` with the times. It ends with its standard input.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from itertools import count
from typing import Final

from tornado.websocket import WebSocketClientConnection

from hdsp_agent.messages import ClientPong

from .agent_model import begins
from .readers import open_tab

_PATIENCE_SECONDS: Final = 60.0


class Tab:
    """One connection."""

    def __init__(self, socket: WebSocketClientConnection) -> None:
        self._socket = socket
        self._ids = count(1)
        self._acks: dict[str, asyncio.Future[object]] = {}
        self._questions: dict[str, int] = {}
        self._news = asyncio.Event()
        self.arrived: dict[int, int] = {}

    async def read(self) -> None:
        """Take in all that comes."""
        while (message := await self._socket.read_message()) is not None:
            now = time.monotonic_ns()
            content = json.loads(message)
            for frame in content if isinstance(content, list) else [content]:
                await self._take(frame, now)

    async def request(self, request: dict[str, object]) -> object:
        """What the server answers."""
        request_id = f"bench-{next(self._ids)}"
        answer = self._acks[request_id] = asyncio.get_running_loop().create_future()
        data = {**request, "requestId": request_id}
        await self._socket.write_message(json.dumps({"op": "msg", "commId": "bench-tab", "data": data}))
        return await asyncio.wait_for(answer, _PATIENCE_SECONDS)

    async def question(self, kind: str) -> int:
        """The time of the newest question of this kind, once there is one; each is told once."""
        while kind not in self._questions:
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), _PATIENCE_SECONDS)
        return self._questions.pop(kind)

    async def _take(self, frame: dict[str, object], now: int) -> None:
        data = frame.get("data")
        if frame["op"] == "ping":
            await self._socket.write_message(ClientPong(comm_id="bench-tab").to_json())
        elif frame["op"] == "ack" and isinstance(data, dict):
            self._acks.pop(data["requestId"]).set_result(data.get("result") if data["ok"] else data)
        elif frame["op"] == "msg" and isinstance(data, dict):
            self._look_at(data, now)

    def _look_at(self, data: dict[str, object], now: int) -> None:
        match data:
            case {"type": "messageDelta", "append": str(text)} | {
                "type": "messageCreated",
                "message": {"text": str(text)},
            }:
                number = begins(text)
                if number is not None:
                    self.arrived.setdefault(number, now)
            case _:
                pass
        if data["type"] == "state":
            # The state is the truth: what was asked before belongs to another conversation.
            self._questions.clear()
        for message in _messages(data):
            if message.get("type") == "ask" and not message.get("partial") and "isAnswered" not in message:
                self._questions[str(message.get("ask"))] = int(str(message["ts"]))
                self._news.set()


def _messages(data: dict[str, object]) -> list[dict[str, object]]:
    match data:
        case {"type": "messageCreated", "message": dict(message)} | {
            "type": "messageUpdated",
            "clineMessage": dict(message),
        }:
            return [message]
        case {"type": "state", "state": {"clineMessages": list(messages)}}:
            return messages[-1:]
        case _:
            return []


async def main(url: str, token: str) -> None:
    """Connect, and answer lines until standard input ends."""
    tab = Tab(await open_tab(url, token, "bench-tab"))
    reading = asyncio.create_task(tab.read())
    print("ready", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        match json.loads(line):
            case {"request": request}:
                said = await tab.request(request)
            case {"question": kind}:
                said = await tab.question(kind)
            case _:
                said = {"arrived": tab.arrived}
        print(json.dumps(said), flush=True)
    reading.cancel()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
