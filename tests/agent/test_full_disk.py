"""A disk that is full when a task ends: nobody keeps its lock, so it goes on when there is space again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from hdsp_agent.errors import StorageUnavailable
from hdsp_agent.messages import TaskId
from hdsp_agent.providers import ModelRequest, TextDelta, call_tool
from hdsp_agent.providers._scripted import Step

from ..checkpoints._helpers.volumes import small_volume
from ..checkpoints.files.test_full_disk import fill
from ._helpers.scripted_agent import Agent, running_agent, until
from .test_recorded_fields import AUTO_SUBTASKS, DONE, status_becomes, working_child

WHY = "The time is over. " * 1_000


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_volume(tmp_path / "disk", 24) as folder:
        yield folder


async def go_on(agent: Agent, task_id: TaskId) -> None:
    await agent.manager.resume(task_id)
    ask = await agent.asked(task_id, "resume_task")
    await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")


@pytest.mark.each_backend("files", "sqlite")
async def test_a_task_and_its_subtask_whose_time_is_over_can_go_on_later(disk: Path) -> None:
    hand_over = call_tool("new_task", {"mode": "code", "message": "Find it"}, id="n")
    silent: list[Step] = [TextDelta("I look."), 600]
    async with running_agent(disk, [hand_over, silent, DONE, DONE], settings=AUTO_SUBTASKS) as agent:
        parent = await agent.start()
        child = await working_child(agent, parent)
        filler = fill(disk)
        with pytest.raises(StorageUnavailable, match="Free some space on that disk"):
            await agent.manager.run_out(parent, WHY)
        assert not agent.manager.tasks.open
        filler.unlink()
        await go_on(agent, child)
        for task_id in (child, parent):
            await status_becomes(agent, task_id, "completed")


# The last page of a log in a file may have space for what the person is told.
@pytest.mark.parametrize("storage_backend", ["sqlite"], indirect=True)
async def test_a_task_whose_end_cannot_be_recorded_can_go_on_later(disk: Path) -> None:
    def fills_the_disk(request: ModelRequest) -> Iterable[Step]:
        fill(disk)
        yield from call_tool("attempt_completion", {"result": "All done " * 1_000}, id="end")

    async with running_agent(disk, [fills_the_disk, DONE]) as agent:
        task_id = await agent.start()
        await until(lambda: not agent.manager.tasks.open and agent.model.requests)
        await agent.manager.tasks._held.drain()
        (disk / "filler").unlink()
        await go_on(agent, task_id)
        await status_becomes(agent, task_id, "completed")
