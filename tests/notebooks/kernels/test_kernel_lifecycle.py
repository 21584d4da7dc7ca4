"""Kernels that die, are restarted, shut down or culled while cells run."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from jupyter_core.utils import ensure_async

from hdsp_agent.errors import NotFound, Unavailable
from hdsp_agent.messages import TaskId
from hdsp_agent.notebooks.kernels import RunLimits

from ..._helpers.timing import until as soon
from .._helpers.headless import end_kernel
from ._helpers.executors import NOTEBOOK, headless_executor, text_of, until

SLEEP = "import time\nprint('begun', flush=True)\ntime.sleep(60)"


async def test_a_kernel_that_dies_in_a_cell_is_noticed_and_the_next_run_works(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        await work.run("x = 1")
        run = await work.start("import os; os._exit(1)", "'never'")
        queued = await work.start("'never either'")
        assert await run.wait(30)
        assert [(cell.state, cell.reason) for cell in run.cells] == [("dead", "kernel_died")] * 2
        assert [text_of(cell) for cell in run.cells] == ["", ""]
        assert await queued.wait(30) and queued.cells[0].reason == "kernel_died"
        after = await work.cell("'x' in globals()")
        assert (after.state, text_of(after)) == ("ok", "False")


@pytest.mark.long
async def test_a_kernel_that_is_started_anew_before_anybody_looked_is_said_to_have_died(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with headless_executor(tmp_path) as work:
        monkeypatch.setattr(work.kernels.port, "watch_seconds", lambda kernel_id: 3_600.0)
        run = await work.run("import os; os._exit(1)")
        assert run.cells[0].reason == "kernel_died"


async def test_a_run_does_not_wait_for_the_cell_that_the_kernel_died_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with headless_executor(tmp_path) as work:
        await work.run("import os; os._exit(1)")
        # The server has not heard of the new life.
        monkeypatch.setattr(work.kernels.port, "state", lambda kernel_id: "busy")
        assert (await work.cell("'again'")).state == "ok"


async def test_a_restart_by_the_person_ends_the_run(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        run = await work.start(SLEEP, "'never'")
        queued = await work.start("'never'")
        await until(lambda: "begun" in text_of(run.cells[0]))
        kernel = await work.kernel_id()
        restart = asyncio.ensure_future(work.kernels.port.restart(kernel))
        assert await run.wait(30)
        assert run.cells[0].reason == "kernel_restarted" and queued.cells[0].reason == "kernel_restarted"
        await restart
        assert (await work.cell("'fresh'")).state == "ok"
        assert await work.kernel_id() == kernel


async def test_a_restart_while_jupyter_starts_the_kernel_anew_succeeds(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        await work.run("1")
        kernel = await work.kernel_id()
        manager = work.kernels.kernels.get_kernel(kernel)
        # As Jupyter's own restarter does with a kernel that died.
        own = asyncio.ensure_future(ensure_async(manager.restart_kernel(now=True)))
        await until(lambda: not manager.ready.done())
        await work.kernels.port.restart(kernel)
        await own
        assert (await work.cell("'fresh'")).state == "ok"


async def test_a_kernel_restarted_between_runs_is_found_fresh(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        before = await work.cell("x = 1")
        await work.kernels.port.restart(await work.kernel_id())
        cell = await work.cell("print('early'); x")
        assert text_of(before) == ""
        assert cell.state == "error" and cell.error is not None and cell.error.ename == "NameError"
        assert "early" in text_of(cell)


async def test_a_kernel_the_person_shuts_down_ends_the_run_and_a_new_one_is_started(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        run = await work.start(SLEEP)
        await until(lambda: "begun" in text_of(run.cells[0]))
        kernel = await work.kernel_id()
        session = (await work.kernels.port.sessions())[0]
        await work.kernels.sessions.delete_session(session.id)
        assert await run.wait(30)
        assert (run.cells[0].state, run.cells[0].reason) == ("dead", "kernel_gone")
        assert (await work.cell("'new'")).state == "ok"
        assert await work.kernel_id() != kernel


async def test_a_culled_kernel_gives_way_to_a_new_one(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        await work.run("x = 1", task_id=TaskId("t"))
        kernel = await work.kernel_id()
        work.kernels.kernels.cull_idle_timeout = 1
        await asyncio.sleep(1.2)
        await work.kernels.kernels.cull_kernels()
        assert await work.kernel_id() == kernel, "a task needs it"
        await work.executor.release(TaskId("t"))

        async def is_culled() -> bool:
            # Jupyter may have heard something of it a moment ago.
            await work.kernels.kernels.cull_kernels()
            return await work.executor.kernels() == []

        await soon(is_culled)
        assert text_of(await work.cell("'x' in globals()")) == "False"


async def test_a_task_ends_although_its_kernel_cannot_be_interrupted_just_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuses(_: str) -> None:
        raise Unavailable("The gateway does not answer.")

    async with headless_executor(tmp_path, RunLimits(interrupt_seconds=1)) as work:
        run = await work.start(SLEEP, task_id=TaskId("t"))
        await until(lambda: run.cells[0].state == "running")
        kernel = await work.kernel_id()
        with monkeypatch.context() as patched:
            patched.setattr(work.kernels.port, "interrupt", refuses)
            await work.executor.release(TaskId("t"))
        assert await run.wait(30)
        await until(lambda: work.kernels.kernels.kernel_model(kernel)["connections"] == 0)


async def test_restart_by_the_agent_and_a_kernel_that_is_shut_down(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        run = await work.start(SLEEP, "'never'")
        await until(lambda: run.cells[0].state == "running")
        await work.executor.restart(NOTEBOOK)
        assert run.done and run.cells[0].reason == "kernel_restarted"
        assert (await work.cell("1")).state == "ok"
        await end_kernel(work.executor, NOTEBOOK)
        assert await work.executor.kernels() == []
        with pytest.raises(NotFound, match="No kernel runs"):
            await work.executor.interrupt(NOTEBOOK)


async def test_interrupting_the_kernel_stops_whoevers_cell_it_is(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        run = await work.start(SLEEP)
        await until(lambda: "begun" in text_of(run.cells[0]))
        await work.executor.interrupt(NOTEBOOK)
        assert await run.wait(30) and run.cells[0].state == "interrupted"


async def test_closing_lets_kernels_go_on_and_ends_waiting(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        run = await work.start(SLEEP)
        await until(lambda: "begun" in text_of(run.cells[0]))
        waiter = asyncio.ensure_future(run.wait())
        await work.executor.close()
        assert await waiter and len(work.kernels.kernels.list_kernel_ids()) == 1
