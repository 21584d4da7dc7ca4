"""What hostile inputs cost a server: how long each stops its loop, and how much memory it takes.

A real server, its real tools, and a model that calls them by a script. Before each input is measured, a harmless one of
the same kind is taken: what is imported at first use is no input's doing.
"""

from __future__ import annotations

import asyncio
import gzip
import http.server
import json
import struct
import tempfile
import threading
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import Final

from .agent_tab import Tab
from .readers import open_tab
from .results import Result, result
from .server import TOKEN, Server, jupyter_server

__all__ = ["INPUTS", "Cost", "Taker", "costs", "measure"]

_NAME: Final = "bench-tab"
_LONG_NAME: Final = "src/" + "a_rather_long_module_name_" * 9 + ".py"
_ENDLESS: Final = r"^(?:\w?\w?){40}!$|(x?){64}x{64}$|((\w)?(\w)?){50}!|\w*\w*\w*\w*\w*\w*\w*\w*!"


@dataclass(frozen=True)
class Cost:
    """What the loop and the memory had to do with an input, and what the server or the tool said of it."""

    stall_ms: float
    memory_mb: float
    said: str
    harmless_stall_ms: float
    """What the loop had to do with a harmless input of the same kind."""
    busy_ms: float
    """How long the process computed at most while the loop stood still, whatever else the machine did."""


class Taker:
    """Gives inputs to a server. ``root`` is its folder, ``pages`` the address of a web server of strangers."""

    def __init__(self, server: Server, root: Path, pages: str, tab: Tab) -> None:
        self.server = server
        self.root = root
        self.pages = pages
        self._tab = tab
        self._numbers = count(1)

    async def body(self, method: str, path: str, body: bytes) -> str:
        """What REST answers."""
        return await asyncio.to_thread(self._body, method, path, body)

    async def call(self, tool: str, **arguments: object) -> str:
        """Have the agent call a tool, and wait until it has ended."""
        # The model of one script has said all of it.
        script = self.root / f"script-{next(self._numbers)}.json"
        turns = [[{"tool": tool, "arguments": arguments}], [_call("attempt_completion", result="Done.")]]
        script.write_text(json.dumps(turns), encoding="utf-8")
        await self.body("PATCH", "profiles/default", json.dumps({"settings": {"apiModelId": str(script)}}).encode())
        await self._tab.request({"type": "clearTask"})
        task = await self._tab.request({"type": "newTask", "text": "Go."})
        await self._tab.question("completion_result")
        return await self.body("GET", f"tasks/{task}/logs/api", b"")

    def settings(self, **values: object) -> None:
        """Change settings."""
        self.server.patch("/hdsp-agent/api/settings", values)

    def _body(self, method: str, path: str, body: bytes) -> str:
        request = urllib.request.Request(
            f"{self.server.url}/hdsp-agent/api/{path}", data=body or None, method=method,
            headers={"Authorization": f"token {TOKEN}", "Content-Type": "application/json"},
        )  # fmt: skip
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return str(answer.read().decode())
        except urllib.error.HTTPError as error:
            return error.read().decode()


def _call(tool: str, **arguments: object) -> dict[str, object]:
    return {"tool": tool, "arguments": arguments}


async def profiles(taker: Taker, hostile: bool) -> str:
    """A settings file of six thousand profiles."""
    configs = {f"p{number}": {"apiProvider": "openai"} for number in range(6_000 if hostile else 2)}
    # The current one stays the scripted one.
    document = {"providerProfiles": {"apiConfigs": configs, "currentApiConfigName": "default"}}
    return await taker.body("POST", "settings/import", json.dumps(document).encode())


async def keys(taker: Taker, hostile: bool) -> str:
    """A settings file of names that nobody knows."""
    names = {f"k{number}": 1 for number in range(18_000 if hostile else 2)}
    document = {"globalSettings": {**names, "requestDelaySeconds": 10}}
    return await taker.body("POST", "settings/import", json.dumps(document).encode())


async def lists(taker: Taker, hostile: bool) -> str:
    """A body of nothing but lists."""
    return await taker.body("POST", "settings/import", b"[" + b"[]," * (600_000 if hostile else 2) + b"[]]")


async def body(taker: Taker, hostile: bool) -> str:
    """A body much larger than any setting."""
    return await taker.body("POST", "settings/import", b'"' + b"a" * (100_000_000 if hostile else 2) + b'"')


async def pattern(taker: Taker, hostile: bool) -> str:
    """A mode whose pattern for files keeps Python's own engine busy for ever."""
    groups = ["read", ["edit", {"fileRegex": _ENDLESS if hostile else r"\.md$"}]]
    mode = {"slug": "endless", "name": "Endless", "roleDefinition": "x", "groups": groups}
    await asyncio.to_thread(taker.settings, customModes=[mode], mode="endless")
    try:
        return await taker.call("write_to_file", path=_LONG_NAME, content="1\n")
    finally:
        await asyncio.to_thread(taker.settings, mode="code")


async def ignored(taker: Taker, hostile: bool) -> str:
    """An ignore file of stars."""
    folder = taker.root / "ignored"
    folder.mkdir(exist_ok=True)
    (folder / ("a" * 200)).write_text("", encoding="utf-8")
    rules = "\n".join(["*a" * 60 + "b", "*a*a*a*a*a*a*a*a*b"] * 500) if hostile else "*.tmp"
    (folder / ".gitignore").write_text(rules, encoding="utf-8")
    return await taker.call("list_files", path="ignored", recursive=True)


async def cells(taker: Taker, hostile: bool) -> str:
    """A notebook of a hundred thousand cells."""
    metadata = {"hdsp_checkpoint": {"id": "x", "variables": "zz"}}
    made = [
        {"cell_type": "code", "id": f"c{number}", "metadata": metadata, "source": "1", "outputs": [], "execution_count": 1}
        for number in range(100_000 if hostile else 3)
    ]  # fmt: skip
    notebook = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    await asyncio.to_thread((taker.root / "many.ipynb").write_text, json.dumps(notebook), "utf-8")
    return await taker.call("read_notebook", path="many.ipynb")


async def unpacked(taker: Taker, hostile: bool) -> str:
    """A page of 1 MB that stands for 1 GB."""
    return await taker.call("fetch_url", url=f"{taker.pages}/{'bomb' if hostile else 'plain'}")


async def unpacked_twice(taker: Taker, hostile: bool) -> str:
    """A page of 2 kB that stands for 1 GB."""
    return await taker.call("fetch_url", url=f"{taker.pages}/{'twice' if hostile else 'plain'}")


async def nested(taker: Taker, hostile: bool) -> str:
    """A page of very many elements, each in the one before."""
    return await taker.call("fetch_url", url=f"{taker.pages}/{'deep' if hostile else 'plain'}")


async def secrets(taker: Taker, hostile: bool) -> str:
    """A file of what almost is a key, again and again."""
    almost = "password=\"' api_key: sk-ant- eyJ. Bearer AKIA a@a. -----BEGIN " * (4_000 if hostile else 2)
    (taker.root / "almost.txt").write_text(almost, encoding="utf-8")
    return await taker.call("read_file", path="almost.txt")


INPUTS: Final = (profiles, keys, lists, body, pattern, ignored, cells, unpacked, unpacked_twice, nested, secrets)


async def costs(server: Server, root: Path, pages: str) -> dict[str, Cost]:
    """What each input costs."""
    connection = await open_tab(server.url, TOKEN, _NAME)
    tab = Tab(connection)
    reader = asyncio.create_task(tab.read())
    taker = Taker(server, root, pages, tab)
    await asyncio.to_thread(
        taker.settings, autoApprovalEnabled=True, alwaysAllowReadOnly=True, alwaysAllowWrite=True,
        alwaysAllowNetwork=True, fetchUrlEnabled=True, fetchPrivateAddresses=True,
    )  # fmt: skip
    found: dict[str, Cost] = {}
    try:
        for take in INPUTS:
            await take(taker, False)
            await asyncio.to_thread(server.post, "/hdsp-agent-bench/cost", {})
            await take(taker, False)
            harmless = json.loads(await asyncio.to_thread(server.get, "/hdsp-agent-bench/cost"))
            await asyncio.to_thread(server.post, "/hdsp-agent-bench/cost", {})
            said = await take(taker, True)
            cost = json.loads(await asyncio.to_thread(server.get, "/hdsp-agent-bench/cost"))
            found[take.__name__] = Cost(cost["stallMs"], cost["memoryMb"], said, harmless["stallMs"], cost["busyMs"])
    finally:
        connection.close()
        await reader
    return found


def measure() -> list[Result]:
    """Each input on the same server."""
    with hostile_server() as (server, root), strange_pages() as pages:
        found = asyncio.run(costs(server, root, pages))
    results: list[Result] = []
    for take in INPUTS:
        name, cost = take.__name__, found[take.__name__]
        what = (take.__doc__ or "").rstrip(".")
        results += [
            result(
                f"channel.hostile.stall_ms@{name}", f"longest stop of the server's loop, beside a harmless input. {what}",
                cost.stall_ms, "ms", baseline=cost.harmless_stall_ms, goal="<= 50 ms", met=cost.stall_ms <= 50, runs=1,
            ),
            result(
                f"channel.hostile.memory_mb@{name}", f"the server's memory at most, above before. {what}",
                cost.memory_mb, "MB", goal="<= 100 MB", met=cost.memory_mb <= 100, runs=1,
            ),
        ]  # fmt: skip
    return results


@contextmanager
def hostile_server() -> Iterator[tuple[Server, Path]]:
    """A server with the scripted model, and the folder that is its root and its agent's workspace."""
    with tempfile.TemporaryDirectory(prefix="hdsp-hostile-") as folder:
        root = Path(folder)
        script = root / "script.json"
        script.write_text("[]", encoding="utf-8")
        options = {"default_provider": "fake-ai", "default_model": str(script)}
        with jupyter_server(
            lab=False,
            extensions=("hdsp_agent", "benchmarks.loop_watch"),
            config={"HdspAgentApp": options, "ServerApp": {"root_dir": folder}},
        ) as server:
            yield server, root


@cache
def _packed(megabytes: int) -> bytes:
    packer, zeros = zlib.compressobj(9, zlib.DEFLATED, -15), bytes(1 << 20)
    # Each piece stands for itself: packing one is enough.
    piece = packer.compress(zeros) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = 0
    for _ in range(megabytes):
        checksum = zlib.crc32(zeros, checksum)
    end = struct.pack("<II", checksum, megabytes << 20)
    return b"\x1f\x8b\x08\0\0\0\0\0\x02\xff" + piece * megabytes + packer.flush() + end


def _pages(levels: int) -> dict[str, tuple[dict[str, str], bytes]]:
    text = {"Content-Type": "text/plain"}
    return {
        "/plain": ({"Content-Type": "text/html"}, b"<p>Hello</p>"),
        "/bomb": ({**text, "Content-Encoding": "gzip"}, _packed(1000)),
        "/twice": ({**text, "Content-Encoding": "gzip, gzip"}, gzip.compress(_packed(1000), 9)),
        "/deep": ({"Content-Type": "text/html"}, b"<b>" * levels),
    }


@contextmanager
def strange_pages(levels: int = 200_000) -> Iterator[str]:
    """A web server of pages nobody would want, one of so many elements in one another; its address."""
    pages = _pages(levels)

    class Strange(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            headers, content = pages[self.path]
            self.send_response(200)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                self.wfile.write(content)
            except OSError:
                # It was not wanted to its end.
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            return None

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Strange)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
