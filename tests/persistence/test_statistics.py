from __future__ import annotations

import tracemalloc
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from hdsp_agent.persistence import ModelUse, NewTaskRecord, TaskStore
from hdsp_agent.persistence.upkeep._retention import RetentionRules, clean
from hdsp_agent.persistence.upkeep._statistics import statistics

from ._helpers.old_tasks import file_store, finished, kept_store


async def some_tasks(store: TaskStore) -> None:
    await finished(store, user="ada", model="gpt", messages=4)
    await finished(store, user="ada", model="claude", messages=2, outcome="failed")
    await finished(store, user="bob", model="gpt", messages=6)
    await store.create(NewTaskRecord(user="bob"))


@pytest.mark.each_backend
async def test_tasks_are_counted_by_status_user_model_and_day(tmp_path: Path) -> None:
    async with kept_store(tmp_path) as store:
        await some_tasks(store)
        later = datetime.now(tz=UTC) + timedelta(days=8)
        await clean(store, RetentionRules(7, 30), now=later)
        told: list[tuple[str, int, int | None]] = []
        found = await statistics(store, progress=lambda *what: told.append(what))
    assert (found.total.tasks, found.running, found.completed) == (4, 1, 3)
    assert (found.total.messages, found.total.llm_calls, found.total.tool_calls) == (12, 9, 3)
    assert (found.total.tokens, found.total.cost, found.total.compressions) == (2100, 1.5, 3)
    assert found.total.compression_ratio == 0.25
    assert found.total.timed_tasks == 3
    assert 0 < found.total.average_seconds <= found.total.longest_seconds < 60
    assert {user: totals.tasks for user, totals in found.by_user.items()} == {"ada": 2, "bob": 2}
    assert found.by_user["ada"].tokens == 1400
    assert {model: totals.tasks for model, totals in found.by_model.items()} == {"gpt": 2, "claude": 1, "": 1}
    assert {status: totals.tasks for status, totals in found.by_status.items()} == {
        "completed": 2, "failed": 1, "initializing": 1
    }  # fmt: skip
    assert sum(totals.tasks for totals in found.by_day.values()) == 4
    assert all(isinstance(day, date) for day in found.by_day)
    assert round(found.failure_rate, 2) == 0.33
    assert told[-1] == ("statistics", 4, 4)


@pytest.mark.each_backend
async def test_a_conversation_that_was_closed_is_paused_and_no_failure(tmp_path: Path) -> None:
    async with kept_store(tmp_path) as store:
        for _ in range(2):
            await (await store.create(NewTaskRecord())).close()
        await store.recover()
        later = datetime.now(tz=UTC) + timedelta(days=3)
        found = await statistics(store, now=later)
    assert (found.paused, found.running, found.completed, found.failure_rate) == (2, 0, 0, 0.0)
    assert found.long_running == []
    assert {status: totals.tasks for status, totals in found.by_status.items()} == {"paused": 2}


async def test_only_what_is_asked_for_is_counted(tmp_path: Path) -> None:
    async with file_store(tmp_path) as store:
        await some_tasks(store)
        now = datetime.now(tz=UTC)
        assert (await statistics(store, user="ada")).total.tasks == 2
        assert (await statistics(store, user="nobody")).total.tasks == 0
        assert (await statistics(store, status="failed")).total.tasks == 1
        assert (await statistics(store, status=["failed", "completed"], user="ada")).total.tasks == 2
        assert (await statistics(store, since=now - timedelta(hours=1))).total.tasks == 4
        assert (await statistics(store, since=now + timedelta(hours=1))).total.tasks == 0
        assert (await statistics(store, until=now + timedelta(hours=1))).total.tasks == 4
        assert (await statistics(store, until=now - timedelta(hours=1))).total.tasks == 0


async def test_a_task_that_runs_for_hours_is_named_and_a_clock_set_back_counts_no_time(tmp_path: Path) -> None:
    async with file_store(tmp_path) as store:
        log = await store.create(NewTaskRecord())
        await finished(store, 10)  # completed before it was created
        found = await statistics(store, now=datetime.now(tz=UTC) + timedelta(hours=7))
        assert found.long_running == [log.task_id]
        assert found.total.timed_tasks == 0


async def test_a_damaged_task_is_counted_as_far_as_it_can_be_read(tmp_path: Path) -> None:
    async with file_store(tmp_path) as store:
        await finished(store)
        broken = await finished(store, 8)
        await clean(store, RetentionRules(7, 30))
        (tmp_path / "contexts" / "completed" / broken / "messages.jsonl.gz").write_bytes(b"\x1f\x8bnonsense")
        found = await statistics(store)
        assert (found.total.tasks, found.unreadable) == (1, 1)


@pytest.mark.long
async def test_memory_does_not_grow_with_the_number_of_tasks(tmp_path: Path) -> None:
    async with file_store(tmp_path) as store:
        kept: list[int] = []
        for more in (20, 150):
            for _ in range(more):
                await finished(store, messages=1)
            await statistics(store)
            tracemalloc.start()
            try:
                await statistics(store)
                left, peak = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            kept.append(left)
            # A few blocks of logs at a time, however many tasks there are.
            assert peak < 20_000_000
    # No task waits to be found by the collector of cycles.
    assert kept[1] - kept[0] < 150_000


async def test_what_was_asked_of_models_counts_on_the_day_it_was_asked(tmp_path: Path) -> None:
    async with file_store(tmp_path) as store:
        task_id = await finished(store, user="ada")
        other = await finished(store, user="ada", model="gpt")
        use = [
            ModelUse(day="2026-01-30", model="claude", requests=2, tokens_in=20, tokens_out=4, cost=0.5),
            ModelUse(day="2026-01-31", model="claude", requests=1, tokens_in=10, tokens_out=2, cost=0.25),
            ModelUse(day="2026-01-31", model="gpt", requests=1, tokens_in=1, tokens_out=1),
            ModelUse(day="someday", model="gpt", requests=1),
        ]
        await store.amend(task_id, lambda state: state.model_copy(update={"model_use": use}))
        found = await statistics(store)
        begun = (await store.view(other)).metadata.created_at
    assert {
        (day.isoformat(), model): (one.requests, one.tokens_in, one.cost) for (day, model), one in found.use.items()
    } == {
        ("2026-01-30", "claude"): (2, 20, 0.5),
        ("2026-01-31", "claude"): (1, 10, 0.25),
        ("2026-01-31", "gpt"): (1, 1, 0.0),
        (datetime.fromisoformat(begun).astimezone().date().isoformat(), "gpt"): (3, 10, 0.5),
    }
    assert {model: totals.tasks for model, totals in found.by_model.items()} == {"claude": 1, "gpt": 1}
