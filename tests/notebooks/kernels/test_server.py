"""The same inside a running Jupyter Server, beside its own clients."""

from __future__ import annotations

import json
from typing import Self

from jupyter_server.serverapp import ServerApp
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager

from hdsp_agent.messages import CellId
from hdsp_agent.notebooks.kernels import CellRunSpec, Executor, Run
from hdsp_agent.notebooks.kernels.jupyter import JupyterKernels
from tests._helpers.jupyter_fetch import Fetch

from ._helpers.executors import NOTEBOOK, text_of, until


class Served:
    """An executor on the server's own managers."""

    def __init__(self, app: ServerApp) -> None:
        self.executor = Executor(JupyterKernels.of(app))
        self._app = app

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.executor.close()
        kernels = self._app.kernel_manager
        assert isinstance(kernels, AsyncMappingKernelManager)
        await kernels.shutdown_all(now=True)

    async def start(self, code: str) -> Run:
        return await self.executor.run(NOTEBOOK, [CellRunSpec(CellId("c"), code)])

    async def run(self, code: str) -> Run:
        run = await self.start(code)
        assert await run.wait(60)
        return run


async def test_a_tab_that_opens_the_notebook_later_finds_the_kernel(jp_serverapp: ServerApp, jp_fetch: Fetch) -> None:
    async with Served(jp_serverapp) as work:
        run = await work.run("x = 6 * 7; print(x)")
        assert text_of(run.cells[0]) == "42\n"
        # What JupyterLab does when it opens a notebook.
        asked = {"path": NOTEBOOK, "type": "notebook", "name": NOTEBOOK, "kernel": {"name": "python3"}}
        session = json.loads((await jp_fetch("api", "sessions", method="POST", body=json.dumps(asked))).body)
        (info,) = await work.executor.kernels()
        assert session["kernel"]["id"] == info.id


async def test_a_kernel_the_tab_started_is_used(jp_serverapp: ServerApp, jp_fetch: Fetch) -> None:
    async with Served(jp_serverapp) as work:
        asked = {"path": NOTEBOOK, "type": "notebook", "name": NOTEBOOK, "kernel": {"name": "python3"}}
        session = json.loads((await jp_fetch("api", "sessions", method="POST", body=json.dumps(asked))).body)
        assert (await work.run("1")).cells[0].state == "ok"
        assert [one.id for one in await work.executor.kernels()] == [session["kernel"]["id"]]


async def test_the_persons_restart_and_interrupt_through_the_server_are_noticed(
    jp_serverapp: ServerApp, jp_fetch: Fetch
) -> None:
    async with Served(jp_serverapp) as work:
        run = await work.start("import time\nprint('begun', flush=True)\ntime.sleep(60)")
        await until(lambda: "begun" in text_of(run.cells[0]))
        (info,) = await work.executor.kernels()
        assert (info.state, info.ours) == ("busy", True)
        await jp_fetch("api", "kernels", info.id, "interrupt", method="POST", body="")
        assert await run.wait(30) and run.cells[0].state == "interrupted"
        run = await work.start("time.sleep(60)")
        await until(lambda: run.cells[0].state == "running")
        await jp_fetch("api", "kernels", info.id, "restart", method="POST", body="")
        # Jupyter interrupts a kernel before it restarts it, and the cell may have heeded that.
        assert await run.wait(30) and run.cells[0].reason in ("kernel_restarted", "interrupted")
        assert (await work.run("'fresh'")).cells[0].state == "ok"
