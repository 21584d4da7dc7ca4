"""Connections: given back, also after trouble."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from hdsp_agent.notebooks.kernels import CellRunSpec, Executor
from hdsp_agent.notebooks.kernels._client import KernelClient
from hdsp_agent.notebooks.kernels._transport import KernelMessage

from ._helpers.executors import NOTEBOOK, headless_executor, text_of


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


async def settled(most: int) -> bool:
    """Whether no more than these are open soon; some are closed by threads, which take their time."""
    for _ in range(1000):
        if descriptors() <= most:
            return True
        await asyncio.sleep(0.05)
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="counts files as Linux shows them")
async def test_thirty_connections_leave_no_file_descriptors_behind(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        await work.run("1")
        kernel = await work.kernel_id()

        async def once() -> None:
            link = KernelClient(kernel, await work.kernels.port.connect(kernel))
            assert await link.greet(30)
            await link.close()

        await once()
        before = descriptors()
        for _ in range(30):
            await once()
        # One each time would be thirty; some of the loop's own come and go.
        assert await settled(before + 5)


@pytest.mark.skipif(sys.platform != "linux", reason="counts files as Linux shows them")
async def test_executors_leave_no_file_descriptors_behind(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        await work.run("1")

        async def once() -> None:
            executor = Executor(work.kernels.port)
            run = await executor.run(NOTEBOOK, [CellRunSpec(None, "2")])
            assert await run.wait(30) and run.cells[0].state == "ok"
            await executor.close()

        await once()
        before = descriptors()
        for _ in range(5):
            await once()
        assert await settled(before + 1)


async def test_the_folder_the_program_was_started_in_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started_in = tmp_path / "here"
    started_in.mkdir()
    monkeypatch.chdir(started_in)
    async with headless_executor(tmp_path) as work:
        await work.run("1")
        assert list(started_in.iterdir()) == []


async def test_a_cancelled_wait_loses_no_message(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        run = await work.start("import time\nfor i in range(200): print(i, flush=True); time.sleep(0.005)")
        while not run.done:
            waiter = asyncio.ensure_future(run.wait())
            await asyncio.sleep(0.01)
            waiter.cancel()
            await asyncio.gather(waiter, return_exceptions=True)
        assert text_of(run.cells[0]) == "".join(f"{i}\n" for i in range(200))


async def test_a_forged_message_is_left_out_and_the_next_is_heard(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with headless_executor(tmp_path) as work:
        forged = (
            "s = get_ipython().kernel.session\n"
            "key, s.key = s.key, b'another'\n"
            "print('forged', flush=True)\n"
            "s.key = key\n"
            "print('true')"
        )
        await work.run("1")
        cell = await work.cell(forged)
        assert text_of(cell).endswith("true\n") and "forged" not in text_of(cell)
        assert "cannot be read" in caplog.text


async def test_an_idle_that_is_lost_does_not_keep_a_run_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = KernelClient._status

    def deaf(link: KernelClient, message: KernelMessage) -> None:
        if message.parent_kind != "execute_request" or message.load()["execution_state"] != "idle":
            heard(link, message)

    async with headless_executor(tmp_path) as work:
        await work.run("1")
        monkeypatch.setattr(KernelClient, "_status", deaf)
        cell = await work.cell("print('there')", seconds=60)
        assert (cell.state, text_of(cell)) == ("ok", "there\n")
