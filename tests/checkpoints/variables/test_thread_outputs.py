"""What the threads of a cell print stays with that cell, whatever is asked of the kernel meanwhile."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from ...notebooks.kernels._helpers.executors import NOTEBOOK, text_of, until
from ...notebooks.kernels.test_shared_kernel import Person, person
from ._helpers.kernel_fixtures import KernelSetup, kernel_setup
from .test_other_kernels import install

THREAD = """import itertools, pathlib, threading, time
def work():
    for number in itertools.count():
        if pathlib.Path({stop!r}).exists():
            break
        print(f'step {{number}}\\n', end='')
        time.sleep(0.002)
    pathlib.Path({count!r}).write_text(str(number))
    print('the end\\n', end='')
thread = threading.Thread(target=work)
kept = [1]
print('begun\\n', end='')
thread.start()
"""
WINDOW_LOOP = """import time
from ipykernel.eventloops import get_shell_stream
def window_loop(kernel):
    stream = get_shell_stream(kernel)
    while not stream.flush(limit=1):
        time.sleep(0.01)
get_ipython().kernel.eventloop = window_loop
"""
"""As with a toolkit for windows: the main thread turns to us only when something comes on shell."""


class Threads:
    """A cell whose thread prints until it is told to end, and what it should have printed."""

    def __init__(self, folder: Path) -> None:
        self._stop, self._count = folder / "stop", folder / "count"
        self.code = THREAD.format(stop=str(self._stop), count=str(self._count))

    def end(self) -> None:
        self._stop.touch()

    @property
    def expected(self) -> str:
        steps = range(int(self._count.read_text()))
        return "begun\n" + "".join(f"step {number}\n" for number in steps) + "the end\n"


@pytest.fixture(scope="module")
def older_kernel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of kernels with an ipykernel from before there were subshells."""
    root = tmp_path_factory.mktemp("older")
    subprocess.run([sys.executable, "-m", "venv", str(root / "python")], check=True, capture_output=True)
    python = str(root / "python" / "bin" / "python")
    install(python, "ipykernel<7")
    spec = root / "kernels" / "python3"
    spec.mkdir(parents=True)
    argv = [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    described = {"argv": argv, "display_name": "older", "language": "python"}
    (spec / "kernel.json").write_text(json.dumps(described), encoding="utf-8")
    return root


@pytest.fixture(params=["installed", "older"])
def either_kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test runs with the kernel that is installed, and with one that has no subshells."""
    if request.param == "older":
        monkeypatch.setenv("JUPYTER_PATH", str(request.getfixturevalue("older_kernel")))


@asynccontextmanager
async def beside_a_person(tmp_path: Path) -> AsyncIterator[tuple[KernelSetup, Person, Threads]]:
    async with kernel_setup(tmp_path) as it, person(it.work) as other:
        yield it, other, Threads(tmp_path)


async def ask_everything(it: KernelSetup) -> None:
    manifest = await it.save()
    await it.work.executor.inspect(NOTEBOOK)
    await it.checkpoints.follow(await it.link())
    await it.save(thorough=False)
    await it.plan(manifest)
    report = await it.restore(manifest)
    await it.restore(report.before)


@pytest.mark.in_short(1)
@pytest.mark.slow
@pytest.mark.usefixtures("either_kernel")
async def test_a_persons_thread_keeps_its_outputs_while_variables_are_looked_at_saved_and_restored(
    tmp_path: Path,
) -> None:
    async with beside_a_person(tmp_path) as (it, other, threads):
        theirs = other.execute(threads.code)
        await until(lambda: theirs.ended and "step 3\n" in other.printed)
        await ask_everything(it)
        threads.end()
        await until(lambda: other.printed.endswith("the end\n"))
        assert other.printed == threads.expected


async def test_a_connection_made_while_a_thread_prints_moves_nothing(tmp_path: Path) -> None:
    async with beside_a_person(tmp_path) as (it, other, threads):
        theirs = other.execute(threads.code)
        await until(lambda: theirs.ended and "step 3\n" in other.printed)
        async with person(it.work):
            pass
        # Of another server, which has asked this kernel nothing yet.
        (await it.link()).lose("connection_lost")
        await ask_everything(it)
        threads.end()
        await until(lambda: other.printed.endswith("the end\n"))
        assert other.printed == threads.expected


@pytest.mark.in_short(1)
@pytest.mark.usefixtures("either_kernel")
async def test_a_late_thread_of_the_agents_cell_keeps_its_outputs(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as it:
        threads = Threads(tmp_path)
        cell = await it.work.cell(threads.code)
        await ask_everything(it)
        threads.end()
        await until(lambda: text_of(cell).endswith("the end\n"))
        assert text_of(cell) == threads.expected


async def test_a_run_that_is_taken_back_before_its_turn_moves_nothing(tmp_path: Path) -> None:
    async with beside_a_person(tmp_path) as (it, other, threads):
        theirs = other.execute(threads.code + "time.sleep(1)")
        await until(lambda: theirs.busy)
        ours = await it.work.start("1")
        await asyncio.sleep(0.3)
        await ours.interrupt()
        assert await ours.wait(30)
        await until(lambda: theirs.ended)
        threads.end()
        await until(lambda: other.printed.endswith("the end\n"))
        assert other.printed == threads.expected


async def test_a_kernel_that_shows_windows_is_asked_on_shell_and_its_threads_keep_their_outputs(tmp_path: Path) -> None:
    async with beside_a_person(tmp_path) as (it, other, threads):
        theirs = other.execute(WINDOW_LOOP + threads.code)
        await until(lambda: theirs.ended and "step 3\n" in other.printed)
        for _ in range(3):
            await ask_everything(it)
        threads.end()
        await until(lambda: other.printed.endswith("the end\n"))
        assert other.printed == threads.expected


@pytest.mark.in_short(1)
@pytest.mark.usefixtures("either_kernel")
async def test_variables_are_saved_only_between_cells(tmp_path: Path) -> None:
    async with beside_a_person(tmp_path) as (it, other, _):
        await it.save()
        for code in ("import time; time.sleep(0.5)", "import asyncio; await asyncio.sleep(0.5)"):
            theirs = other.execute(f"pair = [1]\n{code}\npair.append(2)")
            await until(lambda: theirs.busy)  # noqa: B023 -- waited for here
            manifest = await it.save()
            await it.run("pair.clear()")
            await it.restore(manifest)
            assert await it.told("pair") == "[1, 2]"
