"""A kernel that a person uses, too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from hdsp_agent.messages import JsonObject
from hdsp_agent.notebooks.kernels._client import ExecuteRequest, KernelClient
from hdsp_agent.notebooks.kernels._transport import KernelMessage

from ._helpers.executors import NOTEBOOK, HeadlessExecutor, headless_executor, text_of, until


class Person:
    """Somebody else's client of the same kernel."""

    def __init__(self, link: KernelClient) -> None:
        self._link = link
        self.printed = ""

    def execute(self, code: str) -> ExecuteRequest:
        return self._link.execute(code, self._heard, store_history=True, cell_id=None)

    def _heard(self, message: KernelMessage, content: JsonObject) -> None:
        if message.kind == "stream":
            self.printed += str(content["text"])


@asynccontextmanager
async def person(work: HeadlessExecutor) -> AsyncIterator[Person]:
    await work.executor.start(NOTEBOOK)
    kernel = await work.kernel_id()
    link = KernelClient(kernel, await work.kernels.port.connect(kernel))
    assert await link.greet(30)
    try:
        yield Person(link)
    finally:
        await link.close()


def busy_until(file: Path) -> str:
    """Code that runs until this file exists."""
    return f"import pathlib, time; any(iter(lambda: time.sleep(0.02) or pathlib.Path({str(file)!r}).exists(), True))"


async def test_our_cell_waits_behind_the_persons_and_can_be_taken_back(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work, person(work) as other:
        await work.run("x = 0")
        theirs = other.execute(busy_until(tmp_path / "go") + "; print('whole')")
        await until(lambda: theirs.busy)
        ours = await work.start("x = 1")
        # Nothing tells that a cell does not run: it is looked at a few times.
        await asyncio.sleep(0.3)
        assert [cell.state for cell in ours.cells] == ["queued"]
        await ours.interrupt()
        assert await ours.wait(30) and ours.cells[0].state == "interrupted"
        (tmp_path / "go").touch()
        await until(lambda: theirs.ended)
        assert other.printed == "whole\n"
        assert text_of(await work.cell("x")) == "0"


async def spoken(person: Person) -> None:
    first = person.execute("pass")
    await until(lambda: first.ended)


async def test_a_kernel_that_was_busy_before_we_came_is_known_to_be(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work, person(work) as other:
        kernel = await work.kernel_id()
        # We hear of it from the server, on a line of its own. What a kernel says before that line stands it never hears.
        while work.kernels.port.state(kernel) != "idle":
            await spoken(other)
        theirs = other.execute("x = 0; " + busy_until(tmp_path / "go"))
        await until(lambda: theirs.busy and work.kernels.port.state(kernel) == "busy")
        ours = await work.start("x = 1")
        await asyncio.sleep(0.3)
        assert (ours.cells[0].state, ours.cells[0].started_at) == ("queued", None)
        await ours.interrupt()
        assert await ours.wait(30)
        (tmp_path / "go").touch()
        await until(lambda: theirs.ended)
        assert text_of(await work.cell("x")) == "0"


async def test_our_cell_runs_after_the_persons(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work, person(work) as other:
        await work.run("order = []")
        theirs = other.execute(busy_until(tmp_path / "go") + "; order.append('person')")
        await until(lambda: theirs.busy)
        ours = await work.start("order.append('agent')")
        (tmp_path / "go").touch()
        assert await ours.wait(30)
        assert text_of(await work.cell("order")) == "['person', 'agent']"


async def test_two_clients_of_one_kernel_get_their_own_replies(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work, person(work) as other:
        theirs = [other.execute(f"print('p{number}')") for number in range(10)]
        runs = await asyncio.gather(*(work.run(f"print('a{number}')") for number in range(10)))
        await until(lambda: all(one.ended for one in theirs))
        assert [text_of(run.cells[0]) for run in runs] == [f"a{number}\n" for number in range(10)]
        assert other.printed == "".join(f"p{number}\n" for number in range(10))


async def test_a_failing_cell_of_ours_does_not_abort_what_the_person_queued(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work, person(work) as other:
        ours = await work.start(busy_until(tmp_path / "go") + "; 1/0")
        await until(lambda: ours.cells[0].state == "running")
        theirs = other.execute("print('mine')")
        (tmp_path / "go").touch()
        assert await ours.wait(30) and ours.cells[0].state == "error"
        await until(lambda: theirs.ended)
        assert other.printed == "mine\n"
