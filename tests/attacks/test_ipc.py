"""The socket for programs outside, abused by one of them while another works."""

from __future__ import annotations

import json
import os
import random
import stat
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from hdsp_agent.ipc import IpcLimits
from tests._helpers.long_tests import rounds
from tests._helpers.parsed_json import ParsedJson
from tests.attacks._helpers.mutations import mutated
from tests.ipc._helpers.fake_agent import FakeAgent, Wire, command_frame, serving, until

FRAMES = rounds(3_000, 60_000)
COMMANDS: list[tuple[str, object]] = [
    ("StartNewTask", {"configuration": {"apiKey": "x"}, "text": "Plot the data", "images": ["data:image/png;base64,AAAA"]}),
    ("CancelTask", None),
    ("CloseTask", None),
    ("ResumeTask", "0b8f9d0e-6f2c-4d7b-9d52-6a1f3c2b4e5d"),
    ("SendMessage", {"text": "more", "images": []}),
    ("GetModes", None),
    ("GetModels", None),
]  # fmt: skip


class Light(FakeAgent):
    """Keeps nothing of what it is told, so that what is kept is the server's."""

    async def command(self, command: Any) -> Any:
        answer = await super().command(command)
        self.done.clear()
        return answer


async def works(wire: Wire, client_id: str) -> None:
    """It is still served."""
    wire.write(command_frame(client_id, "GetModes"))
    while True:
        message = await wire.message()
        if message["type"] == "TaskEvent" and message["data"]["eventName"] == "modesResponse":
            return


def _wrong(rng: random.Random, client_id: str) -> bytes:
    name, data = rng.choice(COMMANDS)
    frame = mutated(rng, command_frame(client_id, name, data))
    raw = frame if isinstance(frame, bytes) else frame.encode("utf-8", "replace")
    return raw + rng.choice((b"\f", b"\f", b"\f", b"\f\f"))


async def test_thousands_of_mutated_frames_are_answered_with_codes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rng, codes = random.Random(17), Counter[str]()
    async with serving(tmp_path, Light(), limits=IpcLimits(max_frame_bytes=150_000)) as (server, _):
        async with Wire.connect(server) as good, Wire.connect(server) as bad:
            good_id, bad_id = await good.greeting(), await bad.greeting()
            for _ in range(FRAMES // 50):
                bad.write(*(_wrong(rng, bad_id) for _ in range(50)))
                # What was cut by the last frame ends here, so that the next is whole.
                bad.write(b"\f")
                bad.write(command_frame(bad_id, "GetModes"))
                while not (heard := await bad.message()) or not _is_modes(heard):
                    if heard["type"] == "Error":
                        codes[str(heard["data"]["code"])] += 1
                await works(good, good_id)
            assert server.clients == 2
            assert server.waiting < 1_000_000
        await until(lambda: server.clients == 0)
    assert {"malformed_frame", "unknown_type", "invalid_input", "not_allowed"} <= set(codes)
    assert "internal" not in codes, codes
    assert len(caplog.records) < 100


def _is_modes(message: ParsedJson) -> bool:
    data: object = message["data"]
    return isinstance(data, dict) and data.get("eventName") == "modesResponse"


async def test_clients_that_send_next_to_nothing_keep_nobody_out_for_ever(tmp_path: Path) -> None:
    most = 20
    async with serving(tmp_path, limits=IpcLimits(clients=most)) as (server, _), AsyncExitStack() as stack:
        good = await stack.enter_async_context(Wire.connect(server))
        good_id = await good.greeting()
        slow = [await stack.enter_async_context(Wire.connect(server)) for _ in range(most - 1)]
        for wire in slow:
            await wire.greeting()
        for byte in json.dumps(command_frame("x", "GetModes")).encode()[:20]:
            for wire in slow:
                wire.write(bytes([byte]))
            await works(good, good_id)
        # There is no more room, and whoever comes is told so.
        async with Wire.connect(server) as late:
            error = await late.error()
            assert [error["code"], error["params"]] == ["unavailable", {"reason": "too_many_clients", "limit": most}]
        slow[0].writer.transport.abort()
        await until(lambda: server.clients == most - 1)
        async with Wire.connect(server) as again:
            await works(again, await again.greeting())


async def test_a_frame_that_never_ends_takes_no_memory(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=IpcLimits(max_frame_bytes=10_000)) as (server, _), Wire.connect(server) as wire:
        client_id = await wire.greeting()
        for _ in range(rounds(200, 20_000)):
            wire.write(b"x" * 65_536)
            await wire.writer.drain()
        wire.write(b"\f")
        error = await wire.error()
        assert error["code"] == "frame_too_large"
        await works(wire, client_id)


async def test_no_client_speaks_for_another(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, access), Wire.connect(server) as ada, Wire.connect(server) as bob:
        ada_id, bob_id = await ada.greeting(), await bob.greeting()
        for pretended in (ada_id, ada_id.upper(), "", "server", bob_id[:-1], f"{bob_id} "):
            bob.write(command_frame(pretended, "CancelTask"))
            assert (await bob.error())["code"] in ("not_allowed", "invalid_input"), pretended
        assert access.done == []
        await works(ada, ada_id)


async def test_the_socket_and_its_folder_stay_closed_to_others_while_it_is_used(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, _), Wire.connect(server) as wire:
        client_id = await wire.greeting()
        await works(wire, client_id)
        assert stat.S_IMODE(os.lstat(server.address).st_mode) == 0o600
        for path in (tmp_path / "ipc", *(tmp_path / "ipc").iterdir()):
            assert stat.S_IMODE(path.lstat().st_mode) & 0o077 == 0, path
