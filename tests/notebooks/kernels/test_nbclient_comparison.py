"""Kernels that are interrupted, die, or work at the same time: side by side with nbclient, or with a bare kernel."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import nbformat
import pytest
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.manager import start_new_async_kernel

from hdsp_agent.notebooks.kernels import RunLimits

from ._helpers.executors import headless_executor, text_of

NBCLIENT = """
import sys
import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], 4)
try:
    NotebookClient(notebook, timeout=float(sys.argv[2]), interrupt_on_timeout=True, allow_errors=True).execute()
finally:
    nbformat.write(notebook, sys.argv[1])
"""
MEETS = """
import pathlib, time
pathlib.Path({own!r}).write_text("here")
end = time.monotonic() + 60
while not pathlib.Path({other!r}).exists():
    assert time.monotonic() < end
    time.sleep(0.02)
print("met")
"""
THREADS = {
    "a thread of the cell": (
        "import threading\nt = threading.Thread(target=print, args=('inside',)); t.start(); t.join(); print('after')"
    ),
    "threads in turn": (
        "import threading\nfor n in range(5):\n    t = threading.Thread(target=print, args=(n,)); t.start(); t.join()"
    ),
    "a child process": (
        "import subprocess, sys\n"
        "print(subprocess.run([sys.executable, '-c', 'print(1)'], capture_output=True, text=True).stdout)"
    ),
    "an error of a thread": (
        "import threading\nthreading.excepthook = lambda error: print('failed:', error.exc_type.__name__)\n"
        "t = threading.Thread(target=lambda: 1 / 0); t.start(); t.join()"
    ),
    "logging": "import logging, sys\nlogging.basicConfig(stream=sys.stdout, force=True)\nlogging.warning('careful')",
}


async def with_nbclient(codes: list[str], path: Path, *, seconds: float) -> list[list[str]]:
    """What each cell shows, run in a process of its own: nbclient's loop is not the tests'."""
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in codes]), path)
    command = [sys.executable, "-c", NBCLIENT, str(path), str(seconds)]
    await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True)
    return [shown(cell.outputs) for cell in nbformat.read(path, 4).cells]


def shown(outputs: Sequence[Mapping[str, object]]) -> list[str]:
    return [str(output.get("ename") or output.get("text")) for output in outputs]


@pytest.mark.long
async def test_a_cell_that_is_interrupted_and_the_one_behind_it(tmp_path: Path) -> None:
    codes = ["print('first')\nwhile True: continue", "print('done')"]
    async with headless_executor(tmp_path, RunLimits(total_seconds=1)) as work:
        ours = [shown((await work.cell(code)).outputs.outputs) for code in codes]
    assert ours == await with_nbclient(codes, tmp_path / "beside.ipynb", seconds=1)
    assert ours == [["first\n", "KeyboardInterrupt"], ["done\n"]]


@pytest.mark.long
async def test_a_cell_that_ends_its_own_kernel(tmp_path: Path) -> None:
    killing = "import os, signal\nprint('here', flush=True)\nos.kill(os.getpid(), signal.SIGTERM)"
    with pytest.raises(subprocess.CalledProcessError) as died:
        await with_nbclient([killing], tmp_path / "beside.ipynb", seconds=120)
    assert b"DeadKernelError" in died.value.stderr
    async with headless_executor(tmp_path) as work:
        cell = await work.cell(killing)
        assert (cell.state, cell.reason) == ("dead", "kernel_died")
        # Unlike there, one goes on: with a new kernel.
        assert (await work.cell("'again'")).state == "ok"


async def test_two_notebooks_meet_while_they_run(tmp_path: Path) -> None:
    own, other = str(tmp_path / "a"), str(tmp_path / "b")
    async with headless_executor(tmp_path) as work:
        runs = await asyncio.gather(
            work.run(MEETS.format(own=own, other=other), path="a.ipynb"),
            work.run(MEETS.format(own=other, other=own), path="b.ipynb"),
        )
    assert [text_of(run.cells[0]) for run in runs] == ["met\n", "met\n"]


@pytest.mark.in_short(2)
@pytest.mark.parametrize("name", list(THREADS))
async def test_threads_print_as_in_a_bare_kernel(tmp_path: Path, name: str) -> None:
    codes = [THREADS[name], "print('next')"]
    async with headless_executor(tmp_path) as work:
        ours = [text_of(await work.cell(code)) for code in codes]
    manager, client = await start_new_async_kernel(kernel_name="python3")
    try:
        theirs = [await _bare(client, code) for code in codes]
    finally:
        client.stop_channels()
        await manager.shutdown_kernel(now=True)
    assert ours == theirs
    assert ours[1] == "next\n" and ours[0]


async def _bare(client: AsyncKernelClient, code: str) -> str:
    texts: list[str] = []
    await client.execute_interactive(code, output_hook=lambda told: texts.append(str(told["content"].get("text", ""))))
    return "".join(texts)
