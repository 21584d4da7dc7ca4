"""Kernels behind a real kernel gateway."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
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
from hdsp_agent.notebooks.kernels._gateway import GatewayTransport
from hdsp_agent.notebooks.kernels._transport import Transport
from hdsp_agent.notebooks.kernels.iopub import IopubListeners
from hdsp_agent.notebooks.kernels.jupyter import JupyterKernels
from tests._helpers.kernel_gateway import GATEWAY_TOKEN, KernelGateway, running_gateway

from ._helpers.executors import NOTEBOOK, text_of, until


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[KernelGateway]:
    """A kernel gateway of its own."""
    with running_gateway(tmp_path) as gateway:
        yield gateway


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
async def remote(address: str, root: Path, limits: Callable[[], RunLimits] = RunLimits) -> AsyncIterator[Remote]:
    GatewayClient.clear_instance()
    GatewayClient.instance(url=address, auth_token=GATEWAY_TOKEN)
    owner = Owner()
    specs = GatewayKernelSpecManager(parent=owner)
    kernels = owner.kernel_manager = GatewayMappingKernelManager(root_dir=str(root), kernel_spec_manager=specs)
    contents = AsyncLargeFileManager(root_dir=str(root))
    sessions = GatewaySessionManager(kernel_manager=kernels, contents_manager=contents)
    port = JupyterKernels(sessions, kernels, specs)
    executor = Executor(port, limits=limits)
    try:
        yield Remote(executor, kernels, port)
    finally:
        await executor.close()
        await kernels.shutdown_all()
        sessions.close()
        sessions.connection.close()
        kernels.context.destroy(0)
        GatewayClient.clear_instance()


async def test_cells_run_remotely_with_outputs_errors_and_variables(gateway: KernelGateway, tmp_path: Path) -> None:
    async with remote(gateway.address, tmp_path) as work:
        run = await work.run("x = 20\nprint('far away')", "x + 1", "1/0")
        assert [cell.state for cell in run.cells] == ["ok", "ok", "error"]
        assert [text_of(cell) for cell in run.cells[:2]] == ["far away\n", "21"]
        assert run.cells[1].execution_count == 2
        (info,) = await work.executor.kernels()
        assert (info.path, info.name, info.language) == (NOTEBOOK, "python3", "python")
        report = await work.executor.inspect(NOTEBOOK)
        assert [(one.name, one.head) for one in report.variables] == [("x", "20")]


async def test_a_remote_cell_is_interrupted_and_the_kernel_restarted(gateway: KernelGateway, tmp_path: Path) -> None:
    limits = [RunLimits()]
    async with remote(gateway.address, tmp_path, lambda: limits[-1]) as work:
        await work.run("x = 1")
        limits.append(RunLimits(total_seconds=1.5))
        run = await work.run("import time; time.sleep(60)")
        assert (run.cells[0].state, run.cells[0].reason) == ("timed_out", "total_limit")
        del limits[1:]
        await work.executor.restart(NOTEBOOK)
        assert text_of((await work.run("'x' in globals()")).cells[0]) == "False"


async def test_a_connection_over_which_nothing_is_heard_is_made_anew(
    gateway: KernelGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one is that a gateway made to the ports at which the kernel was before it restarted it."""
    opened: list[GatewayTransport] = []
    connect = JupyterKernels.connect

    async def deaf_at_first(port: JupyterKernels, kernel_id: str) -> Transport:
        transport = await connect(port, kernel_id)
        assert isinstance(transport, GatewayTransport)
        opened.append(transport)
        if len(opened) == 1:
            monkeypatch.setattr(transport, "start", lambda receive, lost: None)
        return transport

    monkeypatch.setattr(GatewayTransport, "silent_seconds", 0.5)
    monkeypatch.setattr(JupyterKernels, "connect", deaf_at_first)
    async with remote(gateway.address, tmp_path) as work:
        assert text_of((await work.run("6 * 7")).cells[0]) == "42"
    assert len(opened) > 1


async def test_another_language_runs_remotely(gateway: KernelGateway, tmp_path: Path) -> None:
    async with remote(gateway.address, tmp_path) as work:
        run = await work.run("echo $((6 * 7))", kernel_name="bash")
        assert text_of(run.cells[0]) == "42\n"


async def test_a_remote_kernel_that_is_shut_down_ends_the_run(gateway: KernelGateway, tmp_path: Path) -> None:
    async with remote(gateway.address, tmp_path) as work:
        run = await work.start("import time\nprint('begun', flush=True)\ntime.sleep(60)")
        await until(lambda: "begun" in text_of(run.cells[0]))
        (info,) = await work.executor.kernels()
        await asyncio.to_thread(gateway.ask, "DELETE", f"kernels/{info.id}")
        assert await run.wait(30)
        assert run.cells[0].state == "dead"
        assert run.cells[0].reason in ("kernel_gone", "connection_lost")
        assert (await work.run("'new'")).cells[0].state == "ok"


async def test_a_gateway_that_goes_away_ends_the_run_with_a_sentence(gateway: KernelGateway, tmp_path: Path) -> None:
    async with remote(gateway.address, tmp_path) as work:
        run = await work.start("import time\nprint('begun', flush=True)\ntime.sleep(60)")
        await until(lambda: "begun" in text_of(run.cells[0]))
        gateway.stop()
        assert await run.wait(30)
        assert run.cells[0].state == "dead" and run.cells[0].advice
        with pytest.raises(Unavailable):
            await work.executor.kernel_specs()
        work.kernels._kernels.clear()


async def test_a_remote_kernel_is_not_listened_to(gateway: KernelGateway, tmp_path: Path) -> None:
    async with remote(gateway.address, tmp_path) as work:
        await work.run("1")
        iopub_listeners = IopubListeners(work.kernels)
        (kernel_id,) = iopub_listeners.kernel_ids()
        assert iopub_listeners.address(kernel_id) == ""
