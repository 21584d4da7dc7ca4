"""What ``run_cells`` costs as the agent calls it, beyond a bare client of the same kernel.

A real server; the model is scripted and thinks for a moment between its calls. The notebook is open in a tab that does in
memory what a page does, or only on the disk. Each cell tells when the kernel was at it, which splits the time into before
and after. A call is timed by the agent itself, as it records its tools: from the whole call to the result for the model.
"""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

from tornado.httpclient import AsyncHTTPClient

from hdsp_agent.messages import JsonObject

from .notebook_tab import Tab
from .readers import open_tab
from .results import Result, percentile, result
from .server import TOKEN, Server, jupyter_server

if TYPE_CHECKING:
    from jupyter_client.blocking.client import BlockingKernelClient

CALLS: Final = 40
WARM: Final = 5
GOAL_MS: Final = 50.0

_NOTEBOOK: Final = "open.ipynb"
_CELLS: Final = 30
_FILES: Final = 200
_THINKING_SECONDS: Final = 0.3
_PATIENCE_SECONDS: Final = 180.0
_CODE: Final = "__import__('time').time()"
_VARIABLES: Final = (
    "rows = [{'number': n, 'name': f'row {n}'} for n in range(2000)]\ntotal = sum(r['number'] for r in rows)"
)


def measure() -> list[Result]:
    """In an open notebook, and in one that nobody has open."""
    with tempfile.TemporaryDirectory(prefix="hdsp-bench-cells-") as folder:
        script = Path(folder, "script.json")
        script.write_text(json.dumps(list(_turns())), encoding="utf-8")
        return [asyncio.run(_measure(script, is_open=is_open)) for is_open in (True, False)]


@dataclass(frozen=True)
class _Call:
    """Milliseconds of one call."""

    whole: float
    before: float
    after: float


async def _measure(script: Path, *, is_open: bool) -> Result:
    runtime = script.parent
    with jupyter_server(lab=False, prepare=_files, environment={"JUPYTER_RUNTIME_DIR": str(runtime)}) as server:
        allowed = {"autoApprovalEnabled": True, "alwaysAllowRunCells": True, "secretStorage": "file"}
        server.patch("/hdsp-agent/api/settings", allowed)
        speaks = {"apiProvider": "fake-ai", "apiModelId": str(script)}
        server.patch("/hdsp-agent/api/profiles/default", {"settings": speaks})
        async with _tab(server, is_open=is_open) as tab:
            await tab.request("newTask", text="Run the cells.", notebook={"path": _NOTEBOOK})
            calls = await _calls(server)
        bare = await asyncio.to_thread(_bare, server, runtime)
    whole, alone = median(call.whole for call in calls), median(bare)
    before, after = (median(getattr(call, part) for call in calls) for part in ("before", "after"))
    where = "an open notebook" if is_open else "a notebook that nobody has open"
    return result(
        "agent.run_cells.open" if is_open else "agent.run_cells.closed",
        f"run_cells of a light cell of {where}, p50 beyond a bare client of the same kernel ({alone:.1f} ms); {before:.1f} ms"
        f" before the kernel begins, {after:.1f} ms after; p95 {percentile([call.whole for call in calls], 0.95) - alone:.1f} ms",
        whole - alone, "ms", goal=f"<= {GOAL_MS:g} ms", met=whole - alone <= GOAL_MS, runs=len(calls),
    )  # fmt: skip


def _turns() -> Iterator[list[JsonObject]]:
    for number in range(CALLS + WARM):
        # Never the same cell twice in a row: a model that repeats itself is asked about.
        cell = "variables" if number == 0 else f"cell-{number % 2}"
        yield [
            {"wait": _THINKING_SECONDS},
            {"tool": "run_cells", "arguments": {"cells": [cell]}, "id": f"call_{number}"},
            {"usage": {"input": 10, "output": 20}},
        ]
    yield [{"tool": "attempt_completion", "arguments": {"result": "All of them ran."}, "id": "done"}]


def _files(home: Path) -> None:
    workspace = home.parent
    (workspace / _NOTEBOOK).write_text(json.dumps(_notebook(), indent=1), encoding="utf-8")
    (workspace / "data").mkdir()
    for number in range(_FILES):
        (workspace / "data" / f"part-{number}.csv").write_text(f"number\n{number}\n" * 50, encoding="utf-8")


def _notebook() -> JsonObject:
    sources = {"variables": _VARIABLES, **{f"cell-{number}": _CODE for number in range(_CELLS)}}
    cells: list[JsonObject] = [
        {"cell_type": "code", "id": name, "metadata": {}, "source": source, "outputs": [], "execution_count": None}
        for name, source in sources.items()
    ]
    return {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


@asynccontextmanager
async def _tab(server: Server, *, is_open: bool) -> AsyncIterator[Tab]:
    connection = await open_tab(server.url, TOKEN, "bench")
    client = AsyncHTTPClient()

    async def save(notebook: JsonObject) -> None:
        body = json.dumps({"type": "notebook", "format": "json", "content": notebook})
        headers = {"Authorization": f"token {TOKEN}"}
        await client.fetch(f"{server.url}/api/contents/{_NOTEBOOK}", method="PUT", body=body, headers=headers)

    tab = Tab(connection, _notebook(), save)
    if is_open:
        await tab.tell()
    worker = asyncio.create_task(tab.work())
    try:
        yield tab
    finally:
        worker.cancel()
        await asyncio.wait([worker])
        connection.close()


async def _calls(server: Server) -> Sequence[_Call]:
    """What the agent recorded of them, once all are done."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    records: list[JsonObject] = []
    while len(records) < CALLS + WARM:
        if time.monotonic() > deadline:
            raise RuntimeError("The task does not go on; the server's log may say why.")
        await asyncio.sleep(0.5)
        records = await asyncio.to_thread(_recorded, server)
    return [_split(record) for record in records[WARM:]]


def _recorded(server: Server) -> list[JsonObject]:
    history = json.loads(server.get("/hdsp-agent/api/history"))["taskHistory"]
    if not history:
        return []
    page = json.loads(server.get(f"/hdsp-agent/api/tasks/{history[0]['id']}/logs/tools?limit=500"))
    return [record for record in page["records"] if record["tool_name"] == "run_cells"]


def _split(record: JsonObject) -> _Call:
    said = re.search(r"\b\d{10}\.\d+", str(record["result"]))
    if said is None:
        raise RuntimeError(f"A cell did not tell when it ran: {record['result']}")
    whole = float(str(record["duration_ms"]))
    ended = datetime.fromisoformat(str(record["timestamp"])).timestamp()
    after = (ended - float(said[0])) * 1000
    return _Call(whole, whole - after, after)


def _bare(server: Server, runtime: Path) -> list[float]:
    """The same code, by a client that does nothing else."""
    session = json.loads(server.get("/api/sessions"))[0]
    with _client(runtime / f"kernel-{session['kernel']['id']}.json") as client:
        times = []
        for _ in range(CALLS + WARM):
            time.sleep(_THINKING_SECONDS / 3)
            started = time.perf_counter()
            client.execute_interactive(_CODE, output_hook=lambda message: None, timeout=30)
            times.append((time.perf_counter() - started) * 1000)
    return times[WARM:]


@contextmanager
def _client(connection_file: Path) -> Iterator[BlockingKernelClient]:
    from jupyter_client.blocking.client import BlockingKernelClient

    client = BlockingKernelClient(connection_file=str(connection_file))
    client.load_connection_file()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=30)
        yield client
    finally:
        client.stop_channels()
