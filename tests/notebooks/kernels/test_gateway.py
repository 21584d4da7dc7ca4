"""Kernels behind a real kernel gateway."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from jupyter_server.gateway.gateway_client import GatewayClient
from jupyter_server.gateway.managers import (
    GatewayKernelSpecManager,
    GatewayMappingKernelManager,
    GatewaySessionManager,
)
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from traitlets import Instance, Unicode
from traitlets.config import LoggingConfigurable

from hdsp_agent.errors import Unavailable
from hdsp_agent.messages import CellId
from hdsp_agent.notebooks.kernels import CellRunSpec, Executor, Run, RunLimits
from hdsp_agent.notebooks.kernels.iopub import IopubListeners
from hdsp_agent.notebooks.kernels.jupyter import JupyterKernels
from tests._helpers.free_port import free_port

from ._helpers.executors import NOTEBOOK, text_of, until

TOKEN = "gateway-secret"


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A kernel gateway of its own, with a token."""
    pytest.importorskip("kernel_gateway")
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [
        *(sys.executable, "-m", "kernel_gateway", "--KernelGatewayApp.ip=127.0.0.1"),
        *(f"--KernelGatewayApp.port={port}", f"--KernelGatewayApp.auth_token={TOKEN}"),
    ]
    with (tmp_path / "gateway.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=tmp_path, env=dict(os.environ))
        try:
            end = time.monotonic() + 180
            while not answers(address):
                assert process.poll() is None and time.monotonic() < end, (tmp_path / "gateway.log").read_text()
                time.sleep(0.1)
            yield address, process
        finally:
            process.terminate()
            process.wait(timeout=30)


def answers(address: str) -> bool:
    try:
        request = urllib.request.Request(f"{address}/api", headers={"Authorization": f"token {TOKEN}"})
        with urllib.request.urlopen(request, timeout=2):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


class Owner(LoggingConfigurable):
    """Whose kernel manager is asked for the default kernel, as a ServerApp's is."""

    kernel_manager = Instance(GatewayMappingKernelManager, allow_none=True)
    base_url = Unicode("/")


class Remote:
    def __init__(self, executor: Executor, kernels: GatewayMappingKernelManager, port: JupyterKernels) -> None:
        self.executor, self.kernels, self.port = executor, kernels, port

    async def start(self, *codes: str, kernel_name: str | None = None) -> Run:
        specs = [CellRunSpec(CellId(f"c{number}"), code) for number, code in enumerate(codes)]
        return await self.executor.run(NOTEBOOK, specs, kernel_name=kernel_name)

    async def run(self, *codes: str, kernel_name: str | None = None) -> Run:
        run = await self.start(*codes, kernel_name=kernel_name)
        assert await run.wait(60)
        return run


@asynccontextmanager
async def remote(address: str, root: Path, limits: RunLimits | None = None) -> AsyncIterator[Remote]:
    GatewayClient.clear_instance()
    GatewayClient.instance(url=address, auth_token=TOKEN)
    owner = Owner()
    specs = GatewayKernelSpecManager(parent=owner)
    kernels = owner.kernel_manager = GatewayMappingKernelManager(root_dir=str(root), kernel_spec_manager=specs)
    contents = AsyncLargeFileManager(root_dir=str(root))
    sessions = GatewaySessionManager(kernel_manager=kernels, contents_manager=contents)
    port = JupyterKernels(sessions, kernels, specs)
    executor = Executor(port, limits=lambda: limits or RunLimits())
    try:
        yield Remote(executor, kernels, port)
    finally:
        await executor.close()
        await kernels.shutdown_all()
        sessions.close()
        sessions.connection.close()
        kernels.context.destroy(0)
        GatewayClient.clear_instance()


async def test_cells_run_remotely_with_outputs_errors_and_variables(
    gateway: tuple[str, subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    async with remote(gateway[0], tmp_path) as work:
        run = await work.run("x = 20\nprint('far away')", "x + 1", "1/0")
        assert [cell.state for cell in run.cells] == ["ok", "ok", "error"]
        assert [text_of(cell) for cell in run.cells[:2]] == ["far away\n", "21"]
        assert run.cells[1].execution_count == 2
        (info,) = await work.executor.kernels()
        assert (info.path, info.name, info.language) == (NOTEBOOK, "python3", "python")
        report = await work.executor.inspect(NOTEBOOK)
        assert [(one.name, one.head) for one in report.variables] == [("x", "20")]


async def test_a_remote_cell_is_interrupted_and_the_kernel_restarted(
    gateway: tuple[str, subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    async with remote(gateway[0], tmp_path, RunLimits(total_seconds=1.5)) as work:
        await work.run("x = 1")
        run = await work.run("import time; time.sleep(60)")
        assert (run.cells[0].state, run.cells[0].reason) == ("timed_out", "total_limit")
        await work.executor.restart(NOTEBOOK)
        assert text_of((await work.run("'x' in globals()")).cells[0]) == "False"


async def test_another_language_runs_remotely(gateway: tuple[str, subprocess.Popen[bytes]], tmp_path: Path) -> None:
    async with remote(gateway[0], tmp_path) as work:
        run = await work.run("echo $((6 * 7))", kernel_name="bash")
        assert text_of(run.cells[0]) == "42\n"


async def test_a_remote_kernel_that_is_shut_down_ends_the_run(
    gateway: tuple[str, subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    async with remote(gateway[0], tmp_path) as work:
        run = await work.start("import time\nprint('begun', flush=True)\ntime.sleep(60)")
        await until(lambda: "begun" in text_of(run.cells[0]))
        (info,) = await work.executor.kernels()
        request = urllib.request.Request(
            f"{gateway[0]}/api/kernels/{info.id}", method="DELETE", headers={"Authorization": f"token {TOKEN}"}
        )
        await asyncio.to_thread(lambda: urllib.request.urlopen(request, timeout=20).close())
        assert await run.wait(30)
        assert run.cells[0].state == "dead"
        assert run.cells[0].reason in ("kernel_gone", "connection_lost")
        assert (await work.run("'new'")).cells[0].state == "ok"


async def test_a_gateway_that_goes_away_ends_the_run_with_a_sentence(
    gateway: tuple[str, subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    async with remote(gateway[0], tmp_path) as work:
        run = await work.start("import time\nprint('begun', flush=True)\ntime.sleep(60)")
        await until(lambda: "begun" in text_of(run.cells[0]))
        gateway[1].terminate()
        assert await run.wait(30)
        assert run.cells[0].state == "dead" and run.cells[0].advice
        with pytest.raises(Unavailable):
            await work.executor.kernel_specs()
        work.kernels._kernels.clear()


async def test_a_remote_kernel_is_not_listened_to(gateway: tuple[str, subprocess.Popen[bytes]], tmp_path: Path) -> None:
    async with remote(gateway[0], tmp_path) as work:
        await work.run("1")
        iopub_listeners = IopubListeners(work.kernels)
        (kernel_id,) = iopub_listeners.kernel_ids()
        assert iopub_listeners.address(kernel_id) == ""
