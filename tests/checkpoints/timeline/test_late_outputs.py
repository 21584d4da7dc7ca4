"""What the agent's cell prints after the agent's step was saved is the agent's; what a person makes of it is theirs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hdsp_agent.messages import CellId, ClearOutputs, JsonObject, SetOutputs
from hdsp_agent.notebooks.kernels import CellRunSpec, Run

from ...notebooks._helpers.pages import code
from ._helpers.timeline_fixtures import CELLS, PATH, TASK, TimelineSetup, timeline_setup

ONE = CellId("one")
SLOW = "import time\nfor n in range(4):\n    print(n, flush=True)\n    time.sleep(0.4)"
THREAD = """import threading, time
def later():
    time.sleep(1)
    print('late')
threading.Thread(target=later).start()
print('soon')"""
PROGRESS = "import time\nfor n in range(4):\n    print(f'\\r{n} %', end='', flush=True)\n    time.sleep(0.4)\n1 / 0"


async def until(holds: Callable[[], bool]) -> None:
    """Wait until this is so."""
    for _ in range(1000):
        if holds():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it never came to that")


async def run_by_agent(here: TimelineSetup, source: str) -> tuple[str, Run]:
    """A cell that goes on when its step is saved; the moment before."""
    target = await here.save()
    run = await here.notebooks.run(PATH, [CellRunSpec(ONE, source)], task_id=TASK)
    await until(lambda: run.cells[0].started_at is not None)
    await here.save("after run_cells", by="agent")
    return target.id, run


async def ended(here: TimelineSetup, run: Run, last: str) -> None:
    assert await run.wait(60)
    await until(lambda: last in json.dumps(run.cells[0].outputs.outputs))
    await here.notebooks.live_outputs.settled(run)


def shown(here: TimelineSetup) -> list[JsonObject]:
    if here.tabs.pages:
        outputs = here.tabs.pages[0].cells[0]["outputs"]
        assert isinstance(outputs, list)
        return outputs
    return here.outputs[0]


@pytest.mark.in_short(2)
@pytest.mark.parametrize("open_in_tab", [False, True], ids=["closed", "open"])
@pytest.mark.parametrize(("source", "last"), [(SLOW, "3"), (THREAD, "late"), (PROGRESS, "ZeroDivisionError")])
async def test_what_comes_later_goes_back_with_the_cell(
    tmp_path: Path, source: str, last: str, open_in_tab: bool
) -> None:
    async with timeline_setup(tmp_path, code("one", source), code("two", "b = 2")) as here:
        if open_in_tab:
            here.open()
        target, run = await run_by_agent(here, source)
        # A person's checkpoints in between see a part of it.
        await here.save("asked for")
        await ended(here, run, last)
        await here.save("asked for, again")
        assert last in json.dumps(shown(here))
        preview = await here.line.preview(target, CELLS)
        assert [cell.action for one in preview.notebooks for cell in one.cells] == ["outputs"]
        done = await here.line.restore(target, CELLS)
        assert shown(here) == []
        await here.line.undo(done.operation.id)
        assert last in json.dumps(shown(here))


async def test_what_came_later_is_still_the_agents_when_the_person_writes_elsewhere(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path, code("one", SLOW), code("two", "b = 2")) as here:
        page = here.open()
        target, run = await run_by_agent(here, SLOW)
        await ended(here, run, "3")
        page.type_in(1, "the person's")
        await here.save("asked for")
        await here.line.restore(target, CELLS)
        assert shown(here) == [] and page.sources == [SLOW, "the person's"]


PERSONS = {
    "cleared": [ClearOutputs(cell_id=ONE)],
    "written": [SetOutputs(cell_id=ONE, outputs=[{"output_type": "stream", "name": "stdout", "text": "mine"}])],
    "shortened": [
        SetOutputs(cell_id=ONE, outputs=[{"output_type": "stream", "name": "stdout", "text": "0\n"}], execution_count=1)
    ],
}


@pytest.mark.in_short(1)
@pytest.mark.parametrize("change", PERSONS.values(), ids=PERSONS)
async def test_what_a_person_made_of_the_outputs_stays(tmp_path: Path, change: list[ClearOutputs | SetOutputs]) -> None:
    old: JsonObject = {"output_type": "stream", "name": "stdout", "text": "old"}
    async with timeline_setup(tmp_path, {**code("one", SLOW), "outputs": [old]}, code("two", "b = 2")) as here:
        target, run = await run_by_agent(here, SLOW)
        await ended(here, run, "3")
        await here.save("asked for")
        await here.notebooks.access.document(PATH).apply(change)
        persons = shown(here)
        plan = (await here.line.preview(target, CELLS)).notebooks[0].cells
        assert [cell.action for cell in plan] == ["keep"]
        await here.line.restore(target, CELLS)
        assert shown(here) == persons


async def test_a_cell_the_person_wrote_anew_stays_with_what_it_shows(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path, code("one", SLOW), code("two", "b = 2")) as here:
        target, run = await run_by_agent(here, SLOW)
        await ended(here, run, "3")
        await here.edit("one", "range(4)", "range(5)")
        before = here.outputs
        await here.line.restore(target, CELLS)
        assert "range(5)" in here.sources[0] and here.outputs == before


async def test_what_the_person_ran_again_is_theirs(tmp_path: Path) -> None:
    source = "import random\nprint(random.random())"
    async with timeline_setup(tmp_path, code("one", source), code("two", "b = 2")) as here:
        target, run = await run_by_agent(here, source)
        await ended(here, run, ".")
        await here.save("asked for")
        here.notebooks.live_outputs.run_by_person(PATH, ONE)
        persons = SetOutputs(
            cell_id=ONE, outputs=[{"output_type": "stream", "name": "stdout", "text": "0.5\n"}], execution_count=2
        )
        await here.notebooks.access.document(PATH).apply([persons])
        await here.line.restore(target, CELLS)
        assert "0.5" in json.dumps(shown(here))
