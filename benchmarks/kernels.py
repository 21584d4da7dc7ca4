"""Running cells against a bare jupyter_client on the same kernel, and a flood of outputs inside a running server.

The flood runs in the server's own loop, loaded as an extension, beside an endpoint that is asked meanwhile.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
import urllib.error
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hdsp_agent.messages import CellId
from hdsp_agent.notebooks.kernels import CellRunSpec, Executor

from .probe import Probe
from .results import Result, percentile, result
from .server import Server, jupyter_server

if TYPE_CHECKING:
    from jupyter_client.asynchronous.client import AsyncKernelClient
    from jupyter_server.serverapp import ServerApp

RUNS = 300
MESSAGES = 50_000
ROUNDS = 3
IDLE_SECONDS = 20
NOTEBOOK = "bench.ipynb"
FLOOD = (
    "from IPython.display import publish_display_data\n"
    f"for n in range({MESSAGES}): publish_display_data({{'text/plain': str(n)}})"
)


def measure() -> list[Result]:
    """Overhead of a small cell without a server, then the flood within one."""
    return [asyncio.run(_overhead()), *_flood()]


async def _overhead() -> Result:
    from hdsp_agent.notebooks.kernels.headless import HeadlessKernels

    with tempfile.TemporaryDirectory(prefix="hdsp-bench-") as folder:
        kernels = HeadlessKernels(Path(folder))
        executor = Executor(kernels.port)
        info = await executor.start(NOTEBOOK)
        client = await _bare_client(kernels.kernels.get_kernel(info.id))
        ours: list[float] = []
        bare: list[float] = []
        for number in range(RUNS + 20):
            # Turn about, so that whatever the machine does else falls on both.
            mine, theirs = await _timed(lambda: _run(executor, "1 + 1")), await _timed(lambda: _bare(client, "1 + 1"))
            if number >= 20:
                ours.append(mine)
                bare.append(theirs)
        _close(client)
        await executor.close()
        await kernels.close()
    value, baseline = statistics.median(ours), statistics.median(bare)
    return result(
        "kernel.run.overhead",
        "p50 of a small cell through the executor, against jupyter_client on the same kernel",
        value,
        "ms",
        goal="≤ 1.3× a bare execute",
        met=value <= 1.3 * baseline,
        runs=RUNS,
        baseline=baseline,
    )


def _flood() -> list[Result]:
    with jupyter_server(lab=False, extensions=("benchmarks.kernels",), wait_for="/api/status") as server:
        _ask(server, "warm")
        idle = Probe(server)
        with idle.running():
            time.sleep(IDLE_SECONDS)
        ours: list[float] = []
        bare: list[float] = []
        loaded_times: list[float] = []
        bare_times: list[float] = []
        for _ in range(ROUNDS):
            beside_bare = Probe(server)
            with beside_bare.running():
                bare.append(_ask(server, "bare"))
            bare_times += beside_bare.milliseconds
            loaded = Probe(server)
            with loaded.running():
                ours.append(_ask(server, "executor"))
            loaded_times += loaded.milliseconds
    value, baseline = max(ours), max(bare)
    quiet, busy = percentile(idle.milliseconds, 0.99), percentile(loaded_times, 0.99)
    beside_a_bare_one = percentile(bare_times, 0.99)
    return [
        result(
            "kernel.flood",
            f"{MESSAGES:,} displays through the executor, against a bare client's loop; best of {ROUNDS}",
            value,
            "msg/s",
            goal="≥ 0.7× a bare client",
            met=value >= 0.7 * baseline,
            runs=ROUNDS,
            baseline=baseline,
        ),
        result(
            "kernel.flood.other_endpoint.p99",
            "another endpoint of the same server during the flood, beside a bare client's loop there, which makes the server's"
            f" own watching of the kernel cost the same; at rest {quiet:.1f} ms",
            busy,
            "ms",
            goal="≤ 0.75× a bare client",
            met=busy <= 0.75 * beside_a_bare_one,
            runs=len(loaded_times),
            baseline=beside_a_bare_one,
        ),
    ]


def _ask(server: Server, how: str) -> float:
    """Messages a second."""
    try:
        return float(server.post(f"/bench/kernels/{how}", {}, patience=300))
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"The flood ({how}) failed: {error.read().decode(errors='replace')}") from error


# ---- what both measure with


async def _run(executor: Executor, code: str, *, messages: int = 0) -> None:
    run = await executor.run(NOTEBOOK, [CellRunSpec(CellId("bench"), code)])
    await run.wait()
    if run.cells[0].state != "ok":
        raise RuntimeError(f"The cell ended as {run.cells[0].state}: {run.cells[0].advice}")
    if (heard := run.cells[0].outputs.messages) < messages:
        raise RuntimeError(f"Only {heard:,} of {messages:,} messages came")


async def _bare_client(manager: object) -> AsyncKernelClient:
    import zmq.asyncio
    from jupyter_client.asynchronous.client import AsyncKernelClient
    from jupyter_client.manager import KernelManager

    assert isinstance(manager, KernelManager)
    # With ZeroMQ's own limit the loop loses messages of the flood, "idle" among them, and never ends.
    context = zmq.asyncio.Context()
    context.setsockopt(zmq.RCVHWM, 0)
    client = AsyncKernelClient(parent=manager, context=context)
    client.load_connection_info(manager.get_connection_info())
    client.start_channels()
    await client.wait_for_ready(timeout=60)
    return client


def _close(client: AsyncKernelClient) -> None:
    client.stop_channels()
    client.context.destroy(0)


async def _bare(client: AsyncKernelClient, code: str) -> int:
    """Outputs until the kernel is idle, then the reply: what the documentation of jupyter_client shows."""
    name = client.execute(code)
    heard = 0
    while True:
        message = await client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != name:
            continue
        heard += 1
        if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            break
    while (await client.get_shell_msg(timeout=60))["parent_header"].get("msg_id") != name:
        pass
    return heard


async def _timed(work: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await work()
    return (time.perf_counter() - started) * 1000


# ---- inside the server


def _load_jupyter_server_extension(app: ServerApp) -> None:
    """Answer to ``POST /bench/kernels/…`` by flooding this very loop."""
    from jupyter_server.base.handlers import APIHandler
    from tornado.web import authenticated

    from hdsp_agent.notebooks.kernels.jupyter import JupyterKernels

    executor = Executor(JupyterKernels.of(app))

    class FloodHandler(APIHandler):
        @authenticated
        async def post(self, how: str) -> None:
            info = await executor.start(NOTEBOOK)
            if how == "warm":
                await _run(executor, "1")
                await self.finish("0")
                return
            if how == "executor":
                milliseconds = await _timed(lambda: _run(executor, FLOOD, messages=MESSAGES))
            else:
                client = await _bare_client(app.kernel_manager.get_kernel(info.id))
                milliseconds = await _timed(lambda: _bare(client, FLOOD))
                _close(client)
            await self.finish(str(MESSAGES / milliseconds * 1000))

    handlers = [(app.base_url + r"bench/kernels/(\w+)", FloodHandler)]
    app.web_app.add_handlers(".*$", handlers)  # type: ignore[no-untyped-call]  # Tornado leaves it untyped
