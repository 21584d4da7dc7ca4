"""A conversation that goes on after it was learned from, and then teaches nothing."""

from __future__ import annotations

from pathlib import Path

from hdsp_agent.memory.job_table import JobRow
from hdsp_agent.memory.memory_folder import HANDBOOK, RAW_MEMORIES, SKILLS_FOLDER, SUMMARIES_FOLDER, SUMMARY
from hdsp_agent.memory.rollout_files import rollout_file

from ._helpers.memory_home import ME, NOTHING, MemoryHome, extraction_answer, memory_home, writes_memory
from ._helpers.resumed_conversation import says_more


async def consolidation(at: MemoryHome) -> JobRow | None:
    return next((job for job in await at.pipeline.jobs(ME) if job.kind == "consolidate"), None)


async def test_what_is_taught_no_more_goes_and_the_memory_is_made_without_it(tmp_path: Path) -> None:
    async with memory_home(tmp_path, [extraction_answer(), *writes_memory(), NOTHING]) as at:
        task_id = await at.conversation()
        at.later(7)
        assert (await at.pipeline.round(ME)).consolidation == "done"
        before = await consolidation(at)
        assert before is not None and before.input_watermark is not None
        assert before.last_success_watermark == before.input_watermark
        await says_more(at, task_id)
        at.later(7)
        report = await at.pipeline.round(ME)
        assert (report.nothing, report.saved, report.consolidation) == (1, 0, "done")
        known = at.extracted.get(task_id)
        assert known is not None and known.is_empty
        assert (known.raw_memory, known.rollout_summary, known.rollout_slug) == ("", "", None)
        assert [at.folder.text(name) for name in (SUMMARY, HANDBOOK, RAW_MEMORIES)] == ["", "", ""]
        assert at.folder.names(SUMMARIES_FOLDER) == at.folder.names(SKILLS_FOLDER) == []
        after = await consolidation(at)
        assert after is not None and after.input_watermark is not None
        assert after.input_watermark > before.input_watermark
        assert len(at.model.requests) == 4, "no model is needed to write nothing"


async def test_where_nothing_was_learned_before_there_is_nothing_to_consolidate(tmp_path: Path) -> None:
    async with memory_home(tmp_path, [NOTHING, NOTHING]) as at:
        task_id = await at.conversation()
        at.later(7)
        await at.pipeline.round(ME)
        await says_more(at, task_id)
        at.later(7)
        report = await at.pipeline.round(ME)
        assert (report.nothing, report.consolidation) == (1, "up_to_date")
        assert len(at.model.requests) == 2 and await consolidation(at) is None


async def test_what_others_taught_stays_and_the_model_is_told_what_is_gone(tmp_path: Path) -> None:
    turns = [extraction_answer(), *writes_memory(), extraction_answer("Rows are sorted."), *writes_memory()]
    async with memory_home(tmp_path, [*turns, NOTHING, *writes_memory("Rows are sorted")]) as at:
        first = await at.conversation(task_id="a-1")
        at.later(7)
        await at.pipeline.round(ME)
        second = await at.conversation(task_id="b-2")
        at.later(7)
        assert (await at.pipeline.round(ME)).consolidation == "done"
        known = at.extracted.get(first)
        assert known is not None
        await says_more(at, first)
        at.later(7)
        report = await at.pipeline.round(ME)
        assert (report.nothing, report.consolidation) == (1, "done")
        told = str(at.model.requests[-2].messages[0].content)
        assert f"- {rollout_file(known)}: gone" in told
        assert second in at.folder.text(RAW_MEMORIES) and first not in at.folder.text(RAW_MEMORIES)
        assert len(at.folder.names(SUMMARIES_FOLDER)) == 1
        assert "Rows are sorted" in at.folder.text(SUMMARY) and "months" not in at.folder.text(SUMMARY)
