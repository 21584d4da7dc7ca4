"""A lease is extended while the work goes on, and whoever lost theirs writes nothing."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from sqlite3 import Connection

import pytest

from hdsp_agent.agent.memory import consolidator
from hdsp_agent.memory import pipeline
from hdsp_agent.memory.job_table import JobKind, JobRow, claim_consolidation
from hdsp_agent.memory.memory_folder import HANDBOOK, RAW_MEMORIES, SUMMARY
from hdsp_agent.memory.run_log import RunLog
from hdsp_agent.providers import ModelRequest, Stop, UsageReport
from hdsp_agent.providers._scripted import Step, Turn

from ._helpers.held_model import HeldModel
from ._helpers.memory_home import ME, MemoryHome, OneModel, extraction_answer, memory_home, writes_memory

PATIENCE = 60.0


async def job(at: MemoryHome, kind: JobKind) -> JobRow:
    [row] = [row for row in await at.pipeline.jobs(ME) if row.kind == kind and row.status == "running"]
    return row


async def take_over(at: MemoryHome, kind: JobKind) -> None:
    """As another process that found the lease ended."""

    def write(connection: Connection) -> None:
        changed = connection.execute(
            "UPDATE memory_jobs SET token = 'another' WHERE kind = ? AND status = 'running'", (kind,)
        )
        assert changed.rowcount == 1

    await at.database.write(write)


async def test_the_lease_is_extended_while_the_work_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "JOB_HEARTBEAT_SECONDS", 0.001)
    model = HeldModel([extraction_answer(), *writes_memory()], free=1)
    async with memory_home(tmp_path, models=OneModel(model)) as at:
        await at.conversation()
        at.later(7)
        work = asyncio.create_task(at.pipeline.round(ME))
        await model.held.get()
        token = (await job(at, "consolidate")).token
        for _ in range(3):
            at.later(0.75)
            async with asyncio.timeout(PATIENCE):
                while (row := await job(at, "consolidate")).lease_until != int(at.clock[0]) + 3_600:
                    assert not work.done()
            assert row.token == token
        claim = partial(claim_consolidation, owner=ME, now=int(at.clock[0]), is_asked_for=True)
        assert await at.database.write(claim) == "running", "two hours and a quarter after it began"
        model.may_answer.set()
        assert (await work).consolidation == "done"


@pytest.mark.parametrize("heartbeat", [0.001, 90])
async def test_a_consolidation_that_was_taken_over_leaves_what_is_in_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, heartbeat: float
) -> None:
    """With the second heartbeat it finds that out only when it is done."""
    turns = [extraction_answer(), *writes_memory(), extraction_answer("Rows are sorted."), *writes_memory()]
    model = HeldModel(turns, free=4)
    async with memory_home(tmp_path, models=OneModel(model)) as at:
        await at.conversation()
        at.later(7)
        assert (await at.pipeline.round(ME)).consolidation == "done"
        before = [at.folder.text(name) for name in (SUMMARY, HANDBOOK, "consolidated.json")]
        monkeypatch.setattr(pipeline, "JOB_HEARTBEAT_SECONDS", heartbeat)
        await at.conversation()
        at.later(7)
        work = asyncio.create_task(at.pipeline.round(ME))
        await model.held.get()
        await take_over(at, "consolidate")
        if heartbeat == 90:
            model.may_answer.set()
        report = await work
        assert (report.saved, report.consolidation) == (1, "put_off")
        assert [at.folder.text(name) for name in (SUMMARY, HANDBOOK, "consolidated.json")] == before
        assert model.at_work == 0 and not list(at.folder.root.glob(".staging*"))
        row = await job(at, "consolidate")
        assert (row.token, row.retries_remaining, row.last_error) == ("another", 3, None), "it is not theirs to end"
        # What was asked is recorded as what it cost; where nothing was answered, nothing was done.
        last = RunLog(at.folder).runs()[-1]
        assert (last.kind, last.outcome) == (("consolidate", "nothing") if heartbeat == 90 else ("extract", "saved"))


async def test_an_extraction_that_was_taken_over_leaves_no_file(tmp_path: Path) -> None:
    model = HeldModel([extraction_answer()])
    async with memory_home(tmp_path, models=OneModel(model)) as at:
        task_id = await at.conversation()
        at.later(7)
        work = asyncio.create_task(at.pipeline.round(ME))
        await model.held.get()
        await take_over(at, "extract")
        model.may_answer.set()
        report = await work
        assert (report.saved, report.failed, report.consolidation) == (0, 0, "up_to_date")
        assert at.extracted.get(task_id) is None and at.folder.text(RAW_MEMORIES) == ""
        row = await job(at, "extract")
        assert (row.token, row.last_success_watermark) == ("another", None)


def costly(turn: Turn) -> Turn:
    """The same, for thirty cents."""

    def steps(request: ModelRequest) -> list[Step]:
        made = list(turn(request)) if callable(turn) else list(turn)
        return [*made[:-2], UsageReport(input=100_000, output=0), Stop("tool_use")]

    return steps


@pytest.mark.parametrize("how", ["time", "busy", "lease", "cancel"])
async def test_what_was_spent_on_a_consolidation_that_is_broken_off_is_accounted_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    first, done = writes_memory()
    model, busy = HeldModel([costly(extraction_answer()), costly(first), done], free=2), [False]
    limits, timeout = list[asyncio.Timeout](), asyncio.timeout

    def noted(seconds: float | None) -> asyncio.Timeout:
        made = timeout(seconds)
        if seconds == consolidator._MOST_SECONDS:
            limits.append(made)
        return made

    monkeypatch.setattr(asyncio, "timeout", noted)
    async with memory_home(tmp_path, models=OneModel(model, lambda: busy[0])) as at:
        await at.conversation()
        at.later(7)
        if how == "lease":
            monkeypatch.setattr(pipeline, "JOB_HEARTBEAT_SECONDS", 0.001)
        work = asyncio.create_task(at.pipeline.round(ME, is_asked_for=True))
        await model.held.get()
        if how == "time":
            limits[0].reschedule(asyncio.get_running_loop().time())
        elif how == "busy":
            busy[0] = True
        elif how == "lease":
            await take_over(at, "consolidate")
        elif how == "cancel":
            work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        runs = RunLog(at.folder).runs()
        assert [run.kind for run in runs] == ["extract", "consolidate"]
        assert sum(run.used.cost for run in runs) == pytest.approx(0.6)
