"""What is forgotten while it is being learned stays forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from sqlite3 import Connection

from hdsp_agent.memory.memory_folder import HANDBOOK, RAW_MEMORIES, SUMMARIES_FOLDER, SUMMARY
from hdsp_agent.memory.pipeline import RoundReport
from hdsp_agent.memory.run_log import RunLog
from hdsp_agent.providers._scripted import Turn

from ._helpers.held_model import HeldModel
from ._helpers.memory_home import ME, MemoryHome, OneModel, extraction_answer, memory_home, writes_memory

Meanwhile = Callable[[], Awaitable[None]]


async def round_with(at: MemoryHome, model: HeldModel, meanwhile: Meanwhile) -> RoundReport:
    """A round, and what happens while the model is asked."""
    running = asyncio.create_task(at.pipeline.round(ME))
    await model.held.get()
    await meanwhile()
    model.may_answer.set()
    return await running


def texts(at: MemoryHome) -> str:
    """Everything that is remembered, but for the record of the runs."""
    files = (path for path in at.folder.root.rglob("*") if path.is_file() and path.name != "runs.jsonl")
    return "\n".join(path.read_text() for path in files)


def held_after(free: int, *turns: Turn) -> HeldModel:
    return HeldModel([*turns], free=free)


async def test_a_conversation_that_is_deleted_while_it_is_read_teaches_nothing(tmp_path: Path) -> None:
    model = held_after(0, extraction_answer())
    async with memory_home(tmp_path, models=OneModel(model)) as at:
        task_id = await at.conversation()
        at.later(7)
        report = await round_with(at, model, lambda: at.pipeline.forget(ME, [task_id]))
        assert (report.saved, report.consolidation) == (0, "up_to_date")
        assert at.extracted.get(task_id) is None and "months" not in texts(at)
        # What it took is accounted for all the same.
        [run] = RunLog(at.folder).runs()
        assert run.outcome == "nothing" and run.used.cost > 0


async def test_what_is_read_while_everything_is_forgotten_is_not_kept_or_read_again(tmp_path: Path) -> None:
    model = held_after(0, extraction_answer(), extraction_answer())
    async with memory_home(tmp_path, models=OneModel(model)) as at:
        await at.conversation()
        at.later(7)
        await round_with(at, model, lambda: at.pipeline.forget_all(ME))
        assert "months" not in texts(at)
        at.later(24)
        await at.pipeline.round(ME)
        assert len(model.requests) == 1


async def test_a_conversation_that_is_deleted_while_memory_is_written_is_in_no_file(tmp_path: Path) -> None:
    model = held_after(
        2, extraction_answer("Ages are in days."), extraction_answer("Rows are sorted."), *writes_memory("Of both")
    )
    async with memory_home(tmp_path, models=OneModel(model)) as at:
        first, second = await at.conversation(task_id="a-1"), await at.conversation(task_id="b-2")
        at.later(7)
        report = await round_with(at, model, lambda: at.pipeline.forget(ME, [first]))
        await at.index.forget([first])
        assert report.consolidation == "put_off"
        assert at.folder.text(SUMMARY) == "" and at.folder.text(HANDBOOK) == ""
        assert [each.task_id for each in at.extracted.all()] == [second]
        assert len(at.folder.names(SUMMARIES_FOLDER)) == 1
        # It begins anew, with what is left.
        model.turns = [*model.turns[: len(model.requests)], *writes_memory("Of what is left")]
        assert (await at.pipeline.round(ME)).consolidation == "done"
        assert "Of what is left" in at.folder.text(SUMMARY) and "a-1" not in at.folder.text(RAW_MEMORIES)


async def test_memory_that_is_written_while_everything_is_forgotten_is_not_write_if_leased(tmp_path: Path) -> None:
    model = held_after(1, extraction_answer(), *writes_memory())
    async with memory_home(tmp_path, models=OneModel(model)) as at:
        await at.conversation()
        at.later(7)
        report = await round_with(at, model, lambda: at.pipeline.forget_all(ME))
        assert report.consolidation == "put_off"
        assert at.folder.text(SUMMARY) == "" and "months" not in texts(at)
        asked = len(model.requests)
        at.later(24)
        assert (await at.pipeline.round(ME)).consolidation == "up_to_date"
        assert len(model.requests) == asked


async def test_who_lost_the_job_to_another_process_writes_nothing(tmp_path: Path) -> None:
    model = held_after(0, extraction_answer("Of the one that was too slow"))
    async with memory_home(tmp_path, models=OneModel(model)) as at:
        task_id = await at.conversation()
        at.later(7)

        def take(connection: Connection) -> None:
            connection.execute("UPDATE memory_jobs SET token = 'another'")

        await round_with(at, model, lambda: at.database.write(take))
        assert at.extracted.get(task_id) is None and "too slow" not in texts(at)
        [job] = await at.pipeline.jobs(ME)
        assert (job.status, job.token) == ("running", "another")


async def test_where_nothing_was_learned_deleting_a_conversation_makes_no_folder(tmp_path: Path) -> None:
    async with memory_home(tmp_path) as at:
        await at.pipeline.forget(ME, [await at.conversation()])
        assert not at.folder.root.exists()
