"""Thousands of frames that are nearly right, over the channel of the real extension, beside somebody who works."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest
from tornado.websocket import WebSocketClosedError

from hdsp_agent.comm._owner import Owner
from hdsp_agent.comm.services import Services
from hdsp_agent.messages import PROTOCOL_VERSION, WebviewMessage
from tests._helpers.long_tests import rounds
from tests.attacks._helpers.mutations import mutated
from tests.attacks._helpers.people import ADA, BOB, server_of
from tests.comm._helpers.scripted_pages import question, speak
from tests.comm.channel._helpers.channel_panel import Panel
from tests.comm.conftest import messages
from tests.messages._helpers.vocabulary_samples import arms, full, minimal

FRAMES: Final = rounds(3_000, 30_000)
AT_A_TIME: Final = 50
MEGABYTES: Final = 100
CLOSED_BY_RULE: Final = (1000, 1007, 1009, 4001, 4002)
"""Closed by the page's own wish, not UTF-8, larger than any frame, of another version, opened again elsewhere."""

_WRITE = ({"tool": "write_to_file", "arguments": {"path": "note.txt", "content": "x"}, "id": "w"},)


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, dict[str, object]]) -> dict[str, dict[str, object]]:
    return server_of(jp_server_config)


def right_frames(comm_id: str, version: str) -> list[dict[str, Any]]:
    """One of each, as a page sends them."""
    hello = {
        "target": "hdsp_agent.webview",
        "clientId": "fuzz",
        "version": version,
        "protocol": PROTOCOL_VERSION,
        "lastSeq": 0,
    }
    samples = [sample(kind) for union in arms(WebviewMessage) for kind in _kinds(union) for sample in (minimal, full)]
    # Asked for in good order these reset what everything else is tried on, or take the processor for long.
    asked = [sample for sample in samples if sample["type"] not in ("updateSettings", "importSettings")]
    return [
        {"op": "ping", "commId": comm_id, "seq": 3},
        {"op": "pong", "commId": comm_id},
        {"op": "open", "commId": comm_id, "data": hello},
        *({"op": "msg", "commId": comm_id, "data": {**sample, "requestId": f"r{number}"}} for number, sample in enumerate(asked)),
    ]  # fmt: skip


def _kinds(union: Any) -> list[Any]:
    from typing import get_args

    return [union] if isinstance(union, type) else [kind for member in get_args(union) for kind in _kinds(member)]


def resident_megabytes() -> float:
    """What the process has of the machine's memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


class Attacker:
    """Throws frames, and connects again where a frame had the connection closed by the rules."""

    def __init__(self, services: Services, connect: Any, seed: int) -> None:
        self._services = services
        self._connect = connect
        self._rng = random.Random(seed)
        self.panel: Panel | None = None
        self.codes: Counter[str] = Counter()
        self.closed: Counter[int | None] = Counter()

    async def throw(self, count: int) -> None:
        """That many, and then something that is right: the connection serves still."""
        panel = await self._connected()
        right = right_frames(panel.comm_id, self._services.version)
        for _ in range(count):
            message = mutated(self._rng, self._rng.choice(right))
            try:
                await panel.socket.write_message(message, binary=isinstance(message, bytes))
            except WebSocketClosedError:
                break
        check = f"check-{self._rng.getrandbits(64)}"
        try:
            answer = await panel.ask("updateSettings", updatedSettings={}, request_id=check)
            assert answer["ok"] is True, answer
        except WebSocketClosedError:
            await asyncio.wait_for(panel.closed.wait(), 60)
        except AssertionError:
            if not panel.closed.is_set():
                raise
        if panel.closed.is_set():
            assert panel.socket.close_code in CLOSED_BY_RULE, panel.socket.close_code
        self._count(panel)

    def _count(self, panel: Panel) -> None:
        for frame in panel.of("ack"):
            data = frame["data"]
            self.codes["ok" if data["ok"] else data["error"]["code"]] += 1
            assert data["ok"] or data["error"]["code"] != "internal", data
        panel.frames.clear()

    async def _connected(self) -> Panel:
        if self.panel is not None and self.panel.closed.is_set():
            self.closed[self.panel.socket.close_code] += 1
            await self.panel.leave()
            self.panel = None
        if self.panel is None:
            self.panel = Panel(await self._connect("hdsp-agent", "comm", headers=BOB), "fuzz")
            await self.panel.open(version=self._services.version)
        return self.panel


@pytest.mark.slow
@pytest.mark.timeout(3600)
async def test_thousands_of_mutated_frames_harm_nobody(
    services: Services, jp_ws_fetch: Any, tmp_path: Path, jp_root_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await speak(services, tmp_path, _WRITE)
    ada = Panel(await jp_ws_fetch("hdsp-agent", "comm", headers=ADA), "tab")
    await ada.open(version=services.version)
    await ada.until(lambda: messages(ada, "state"))
    task = str((await ada.ask("newTask", text="Write a note"))["result"])
    ts = await question(ada, "tool")
    attacker = Attacker(services, jp_ws_fetch, seed=17)
    await attacker.throw(AT_A_TIME)
    before = resident_megabytes()
    for _ in range(FRAMES // AT_A_TIME):
        await attacker.throw(AT_A_TIME)
        caplog.clear()
        assert (await ada.ask("updateSettings", updatedSettings={}))["ok"] is True
    assert resident_megabytes() - before < MEGABYTES
    # Many kinds of refusal, each with a code of its own.
    assert {"malformed_frame", "unknown_type", "invalid_input", "unknown_task"} <= set(attacker.codes)
    manager = await services.agent.manager()
    opened = manager.tasks.opened(task)  # type: ignore[arg-type]
    assert opened is not None and opened.state.status == "interactive"
    assert (await services.history.item(Owner("ada"), task)).task == "Write a note"
    assert not list(jp_root_dir.rglob("*PWN*")) and not (jp_root_dir / "note.txt").exists()
    assert (await ada.ask("askResponse", messageTs=ts, askResponse="noButtonClicked", text="No"))["ok"] is True
    for panel in (ada, attacker.panel):
        assert panel is not None
        await panel.leave()
