"""What the hub service costs between a person's server and a provider: the first token, and 200 streams at once."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final

import httpx2

from .results import Result, percentile, result
from .server import free_port

_RUNS: Final = 300
_STREAMS: Final = 200
_PIECES: Final = 40
_GOAL_MS: Final = 5.0
_TOKEN: Final = "a-token"
_POLICIES: Final = {
    "default": {
        "models": ["*"],
        "budgets": [
            {"tokens": 1_000_000_000, "period": "month", "per": "user"},
            {"money": 1e6, "period": "day", "per": "group"},
        ],
    },
    "budgets": [{"money": 1e6, "period": "month", "per": "all"}],
}
_CONVERSATION: Final = [{"role": "user", "content": "What does this cell do? " * 400}]

# A provider and JupyterHub's API in one: each piece says when it was written. max_tokens is the number of pieces.
_PROVIDER: Final = r"""
import asyncio, json, sys, time
PERSON = json.dumps({"kind": "user", "name": "ada", "groups": [], "scopes": ["custom:hdsp-agent:use"]}).encode()

async def answer(reader, writer):
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            length = next((int(line.split(":")[1]) for line in head.split("\r\n") if line.lower().startswith("content-length")), 0)
            body = await reader.readexactly(length)
            if head.startswith("GET"):
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(PERSON) + PERSON)
                continue
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            for number in range(json.loads(body)["max_tokens"]):
                if number:
                    await asyncio.sleep(0.1)
                send(writer, {"choices": [{"index": 0, "delta": {"content": str(time.monotonic_ns())}}]})
            send(writer, {"choices": [], "usage": {"prompt_tokens": 2400, "completion_tokens": number + 1}})
            writer.write(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()

def send(writer, event):
    data = f"data: {json.dumps(event)}\n\n".encode()
    writer.write(b"%x\r\n" % len(data) + data + b"\r\n")

async def main():
    server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=2**24, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""


def measure() -> list[Result]:
    """One stream after another, then many at once, each beside the provider asked directly."""
    return asyncio.run(_measure())


async def _measure() -> list[Result]:
    with tempfile.TemporaryDirectory() as folder, _running(Path(folder)) as (direct, through, service):
        straight, passed = [], []
        async with _client() as http:
            for url in (direct, through):
                await _stream(http, url, 1)
            for _ in range(_RUNS):
                straight.append((await _stream(http, direct, 1))[0])
                passed.append((await _stream(http, through, 1))[0])
        alone, before = median(passed) - median(straight), _memory(service)
        many_straight = await _many(direct)
        worked = _processor_seconds(service)
        many_passed = await _many(through)
        worked = _processor_seconds(service) - worked
        grown = _memory(service) - before
    whole = sum(len(one) for one in many_passed) == _STREAMS * _PIECES
    delays = [delay for one in many_passed for delay in one[1:]]
    plain = [delay for one in many_straight for delay in one[1:]]
    firsts, plain_firsts = [one[0] for one in many_passed], [one[0] for one in many_straight]
    return [
        result(
            "hub.proxy.first_token",
            f"what the service adds to the first token, p50 (p95 {percentile(passed, 0.95) - percentile(straight, 0.95):.1f} ms)"
            f" of a request of 10 kB with three budgets; {median(passed):.1f} ms through it, {median(straight):.1f} ms directly",
            alone,
            "ms",
            goal=f"<= {_GOAL_MS:g} ms",
            met=alone <= _GOAL_MS,
            runs=_RUNS,
        ),
        result(
            "hub.proxy.streams",
            f"the delay of a token in {_STREAMS} streams at once of 10 tokens a second each, p50"
            f" (p95 {percentile(delays, 0.95):.1f} ms), beside the provider directly (p95 {percentile(plain, 0.95):.1f} ms);"
            f" first tokens {median(firsts):.0f} ms, directly {median(plain_firsts):.0f} ms; {grown:.0f} MB more memory",
            median(delays),
            "ms",
            goal="all of them whole",
            met=whole,
            runs=_STREAMS,
            baseline=median(plain),
        ),
        result(
            "hub.proxy.processor",
            "the processor's time for each token that the service passes on, in those streams",
            worked / (_STREAMS * _PIECES) * 1e6,
            "µs",
            goal="none",
            met=True,
            runs=_STREAMS * _PIECES,
        ),
    ]  # fmt: skip


async def _many(url: str) -> list[list[float]]:
    async with _client() as http:
        return await asyncio.gather(*(_stream(http, url, _PIECES) for _ in range(_STREAMS)))


async def _stream(http: httpx2.AsyncClient, url: str, pieces: int) -> list[float]:
    """The time from asking to the first piece, and of each further one from being written to being here, in ms."""
    body = {"model": "m", "stream": True, "max_tokens": pieces, "messages": _CONVERSATION}
    delays: list[float] = []
    begun = time.monotonic_ns()
    async with http.stream(
        "POST", f"{url}/chat/completions", headers={"Authorization": f"Bearer {_TOKEN}"}, json=body
    ) as answer:
        answer.raise_for_status()
        async for line in answer.aiter_lines():
            if not line.startswith("data: {") or not (choices := json.loads(line[6:])["choices"]):
                continue
            now, written = time.monotonic_ns(), int(choices[0]["delta"]["content"])
            delays.append((now - (written if delays else begun)) / 1e6)
    return delays


def _client() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(trust_env=False, timeout=60, limits=httpx2.Limits(max_connections=None))


def _processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(process: int) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextmanager
def _running(folder: Path) -> Iterator[tuple[str, str, int]]:
    """A provider and the service: their addresses, and the service's process."""
    provider = subprocess.Popen([sys.executable, "-c", _PROVIDER], stdout=subprocess.PIPE, text=True)
    assert provider.stdout is not None
    port = int(provider.stdout.readline())
    model = {"input_price": 1, "output_price": 1}
    far = {"protocol": "openai", "url": f"http://127.0.0.1:{port}/v1", "models": {"m": model}}
    policies = folder / "policies.yml"
    # JSON is YAML.
    policies.write_text(json.dumps({**_POLICIES, "providers": {"far": far}}), encoding="utf-8")
    own = {
        "JUPYTERHUB_API_URL": f"http://127.0.0.1:{port}/hub/api",
        "JUPYTERHUB_SERVICE_URL": f"http://127.0.0.1:{free_port()}",
        "JUPYTERHUB_SERVICE_PREFIX": "/services/hub/",
    }
    service = subprocess.Popen(
        [sys.executable, "-m", "hdsp_agent.cli", "hub", "--policies", str(policies), "--data", str(folder / "data")],
        env={**os.environ, **own},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert service.stdout is not None and service.stdout.readline()
        yield f"http://127.0.0.1:{port}/v1", f"{own['JUPYTERHUB_SERVICE_URL']}/services/hub/openai/v1", service.pid
    finally:
        for process in (service, provider):
            process.terminate()
            process.wait()
