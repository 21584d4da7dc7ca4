"""The numbers of the memory pipeline, and that the limits among them hold."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from hdsp_agent.agent.memory import consolidator
from hdsp_agent.memory import extraction, pipeline, pipeline_limits
from hdsp_agent.memory.conversation_text import token_limit
from hdsp_agent.memory.extracted_files import file_slug
from hdsp_agent.memory.job_table import JobClaim, claim_extraction

from ._helpers.held_model import HeldModel
from ._helpers.memory_home import (
    ME,
    NOTHING,
    OneModel,
    extraction_answer,
    memory_home,
    writes_memory,
)


def test_the_numbers_are_those_of_the_design() -> None:
    assert {name: getattr(pipeline_limits, name) for name in pipeline_limits.__all__} == {
        "CONSOLIDATION_COOLDOWN_SECONDS": 21_600,
        "CONTEXT_WINDOW_PERCENT": 70,
        "DEFAULT_STAGE_ONE_ROLLOUT_TOKEN_LIMIT": 150_000,
        "EFFECTIVE_WINDOW_PERCENT": 95,
        "EXTRACTION_CONCURRENCY_LIMIT": 8,
        "JOB_HEARTBEAT_SECONDS": 90,
        "JOB_LEASE_SECONDS": 3_600,
        "JOB_RETRIES": 3,
        "JOB_RETRY_SECONDS": 3_600,
        "MAX_CONSOLIDATION_INPUTS": 256,
        "MAX_CONVERSATIONS_PER_ROUND": 16,
        "MAX_CONVERSATION_AGE_DAYS": 30,
        "MAX_UNUSED_DAYS": 30,
        "MEMORY_TOOL_DEVELOPER_INSTRUCTIONS_SUMMARY_TOKEN_LIMIT": 5_000,
        "MIN_IDLE_HOURS": 6,
        "THREAD_SCAN_LIMIT": 5_000,
    }


def test_whoever_is_stuck_fails_before_their_lease_ends() -> None:
    lease = pipeline_limits.JOB_LEASE_SECONDS
    assert lease / pipeline_limits.JOB_HEARTBEAT_SECONDS == 40, "some heartbeats may be missed"
    assert consolidator._MOST_SECONDS == 3_000 == lease - 600
    # An extraction has no heartbeat.
    assert extraction._SECONDS * extraction._MOST_ATTEMPTS == 1_800 == lease - 1_800


@pytest.mark.parametrize(
    ("window", "tokens"),
    [(None, 150_000), (200_000, 133_000), (128_000, 85_120), (8_192, 5_447), (1_000, 665), (1, 0)],
)
def test_a_conversation_takes_seventy_hundredths_of_what_a_window_really_holds(window: int | None, tokens: int) -> None:
    assert token_limit(window) == tokens


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("churn_cleaning", "churn_cleaning"),
        ("Churn Cleaning, Part 2", "churn_cleaning__part_2"),
        ("../../etc/passwd", "______etc_passwd"),
        ("trailing...", "trailing"),
        ("정리", ""),
        ("clean 정리 Ünï", "clean_____n"),
        ("", ""),
        ("a" * 61, "a" * 60),
        ("a" * 59 + "-b", "a" * 59),
        ("a" * 60 + "_", "a" * 60),
    ],
)
def test_a_slug_is_short_lower_case_and_plain(text: str, slug: str) -> None:
    assert file_slug(text) == slug


async def test_eight_conversations_are_read_at_a_time_and_the_others_wait(tmp_path: Path) -> None:
    model = HeldModel([*[extraction_answer()] * 10, *writes_memory()])
    async with memory_home(tmp_path, models=OneModel(model)) as at:
        for number in range(10):
            await at.conversation(task_id=f"t-{number}")
        at.later(7)
        work = asyncio.create_task(at.pipeline.round(ME, is_asked_for=True))
        for _ in range(8):
            await model.held.get()
        for _ in range(20):
            # Whoever could begin too has begun by now.
            running = [job.key for job in await at.pipeline.jobs(ME) if job.status == "running"]
        assert (model.at_work, len(running)) == (8, 8)
        model.may_answer.set()
        report = await work
        assert (report.saved, report.failed, report.consolidation) == (10, 0, "done")
        assert model.most_at_work == 8


async def test_what_other_processes_read_counts_among_the_eight(tmp_path: Path) -> None:
    async with memory_home(tmp_path, [NOTHING]) as at:
        await at.conversation()
        at.later(7)
        for number in range(8):
            claim = await at.database.write(
                partial(
                    claim_extraction,
                    task_id=f"elsewhere-{number}",
                    owner=ME,
                    watermark=1,
                    most_running=8,
                    now=int(at.clock[0]),
                )
            )
            assert isinstance(claim, JobClaim)
        report = await at.pipeline.round(ME)
        assert (report.nothing, report.failed) == (0, 0) and not at.model.requests
        at.later(1)
        assert (await at.pipeline.round(ME)).nothing == 1, "their leases are over"


async def test_a_round_reads_sixteen_conversations(tmp_path: Path) -> None:
    async with memory_home(tmp_path, [NOTHING] * 17) as at:
        for number in range(17):
            await at.conversation(task_id=f"t-{number:02}")
        at.later(7)
        assert (await at.pipeline.round(ME)).nothing == 16
        assert (await at.pipeline.round(ME)).nothing == 1


async def test_a_round_looks_at_no_more_of_the_history_than_the_limit_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "_PAGE", 1)
    monkeypatch.setattr(pipeline, "THREAD_SCAN_LIMIT", 2)
    async with memory_home(tmp_path, [NOTHING] * 3) as at:
        for number in range(3):
            await at.conversation(task_id=f"t-{number}")
        at.later(7)
        assert (await at.pipeline.round(ME)).nothing == 2
        assert (await at.pipeline.round(ME)).nothing == 0
        assert {job.key for job in await at.pipeline.jobs(ME)} == {"t-1", "t-2"}, "the newest ones"
        monkeypatch.setattr(pipeline, "THREAD_SCAN_LIMIT", 3)
        assert (await at.pipeline.round(ME)).nothing == 1
