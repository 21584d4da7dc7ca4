from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import AsyncExitStack
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hdsp_agent.comm import Dispatcher, Owner
from tests._helpers.long_tests import rounds
from tests.comm.channel._helpers.channel_backend import Backend
from tests.comm.channel._helpers.channel_panel import Panel

from .conftest import Server

FRAMES = rounds(2_000, 10_000)
FRAMES_PER_EXAMPLE = 20

# The right commId, so that mutations get past the first checks. Nothing says "close": that would be obeyed.
COMM_ID = "comm-fuzz"
_REQUESTS: list[dict[str, object]] = [
    {"type": "updateSettings", "updatedSettings": {"a": [1, None, {"b": "c"}]}},
    {
        "type": "newTask",
        "text": "안녕",
        "images": ["data:image/png;base64,AAAA"],
        "notebook": {"path": "a.ipynb"},
    },
    {"type": "askResponse", "messageTs": 5, "askResponse": "messageResponse", "text": "x", "taskId": "t"},
    {"type": "checkpointRestore", "payload": {"ts": 1, "commitHash": "abcdef", "mode": "preview"}},
    {"type": "loadMessages", "taskId": "t", "beforeTs": 5, "limit": 10},
    {"type": "searchFiles", "query": "x"},
]
VALID: list[Mapping[str, object]] = [
    {"op": "ping", "commId": COMM_ID, "seq": 3},
    {"op": "pong", "commId": COMM_ID},
    {
        "op": "open",
        "commId": COMM_ID,
        "data": {"target": "hdsp_agent.webview", "clientId": "x", "version": "0.1.0", "protocol": 1, "lastSeq": 0},
    },
    *({"op": "msg", "commId": COMM_ID, "data": {"requestId": "r", **data}} for data in _REQUESTS),
]
OPS = ["open", "msg", "ping", "pong", "ack", "", "comm_open", "OPEN"]

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["", "\x00", "\ud800", "__proto__", "a" * 300, "😀", COMM_ID, *OPS])
)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def mutated(draw: st.DrawFn) -> object:
    """A right frame with one to three things wrong, somewhere in it."""
    frame = json.loads(json.dumps(draw(st.sampled_from(VALID))))
    for _ in range(draw(st.integers(1, 3))):
        place = frame
        while True:
            name = draw(st.sampled_from([*place, "more"]))
            below = place.get(name)
            if not isinstance(below, dict) or not below or draw(st.booleans()):
                break
            place = below
        match draw(st.sampled_from(["drop", "replace", "rename"])):
            case "drop":
                place.pop(name, None)
            case "replace":
                place[name] = draw(st.sampled_from(OPS) if name == "op" else anything)
            case "rename":
                place[draw(st.text(max_size=8))] = place.pop(name, None)
    return frame


@st.composite
def cut(draw: st.DrawFn) -> str:
    """The text of a right frame with a piece replaced."""
    text = json.dumps(draw(st.sampled_from(VALID)))
    start = draw(st.integers(0, len(text)))
    return text[:start] + draw(st.text(max_size=5)) + text[start + draw(st.integers(0, 10)) :]


def is_text(message: str) -> bool:
    try:
        message.encode()
    except UnicodeEncodeError:
        return False
    return True


messages = st.one_of(
    mutated().map(json.dumps),
    st.lists(mutated() | anything, max_size=3).map(json.dumps),
    anything.map(json.dumps),
    cut(),
    st.text(max_size=50),
    st.binary(max_size=50),
).filter(lambda message: isinstance(message, bytes) or is_text(message))


async def only_one_task(_: Owner, task_id: str) -> bool:
    return task_id == "t"


class Quick(Backend):
    """Answers at once."""

    def dispatcher(self) -> Dispatcher:
        self.gate.set()
        dispatcher = Dispatcher(task_exists=only_one_task)
        dispatcher.handle("updateSettings", self.update_settings)
        dispatcher.handle("newTask", self.slow)
        return dispatcher


@pytest.mark.slow
def test_random_frames_harm_nobody(serve, jp_asyncio_loop, caplog) -> None:  # type: ignore[no-untyped-def]
    """All over one connection, while a second one must go on getting its answers."""
    loop: asyncio.AbstractEventLoop = jp_asyncio_loop
    sent = 0
    checks = count()

    async def begin() -> tuple[AsyncExitStack, Server, Panel, Panel]:
        stack = AsyncExitStack()
        server = await stack.enter_async_context(serve(Quick(), answers=100, outbox_frames=64))
        fuzzed = await stack.enter_async_context(server.connect("fuzz"))
        healthy = await stack.enter_async_context(server.connect("healthy"))
        return stack, server, fuzzed, healthy

    stack, server, fuzzed, healthy = loop.run_until_complete(begin())
    tasks_before = len(asyncio.all_tasks(loop))

    async def throw(batch: list[str | bytes]) -> None:
        nonlocal sent
        for message in batch:
            await fuzzed.socket.write_message(message, binary=isinstance(message, bytes))
        sent += len(batch)
        number = next(checks)
        for panel in (fuzzed, healthy):
            answer = await panel.ask("updateSettings", request_id=f"check-{number}", updatedSettings={})
            assert answer["ok"] is True
            panel.frames.clear()

    @settings(
        max_examples=FRAMES // FRAMES_PER_EXAMPLE,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(messages, min_size=FRAMES_PER_EXAMPLE, max_size=FRAMES_PER_EXAMPLE))
    def run(batch: list[str | bytes]) -> None:
        loop.run_until_complete(throw(batch))

    try:
        while sent < FRAMES:
            run()
        assert sent >= FRAMES
        channel = server.channel
        assert {stats.client_id for stats in channel.clients} == {"fuzz", "healthy"}
        assert all(stats.waiting == 0 for stats in channel.clients)
        assert channel._running == set()
        assert len(channel._sessions) == 2
        assert channel.newest == 0
        assert sum(len(answers) for answers in channel._answers.values()) <= 200
        loop.run_until_complete(asyncio.sleep(0.05))
        assert len(asyncio.all_tasks(loop)) <= tasks_before
        assert [record.getMessage() for record in caplog.records if record.levelname in ("ERROR", "CRITICAL")] == []
        assert sum(record.name == "hdsp_agent.test" for record in caplog.records) < 50
    finally:
        loop.run_until_complete(stack.aclose())
