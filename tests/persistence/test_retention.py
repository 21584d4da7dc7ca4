from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hdsp_agent.messages import TaskId
from hdsp_agent.persistence import ApiDraft, FileStore, NewTaskRecord
from hdsp_agent.persistence.upkeep._doctor import examine
from hdsp_agent.persistence.upkeep._retention import RetentionRules, clean

from .._helpers.forked_python import forked_python
from .._helpers.long_tests import rounds
from .._helpers.stored_tasks import spoil_state
from ._helpers.history_samples import history
from ._helpers.old_tasks import contents, days_ago, file_store, finished, kept_store
from .test_crashes import ROOT, Disk, quick_folder, unix

__all__ = ["quick_folder"]

RULES = RetentionRules(compress_days=7, delete_days=30)


def folder(home: Path, task_id: TaskId) -> Path:
    return home / "contexts" / "completed" / task_id


def packed(home: Path, task_id: TaskId) -> set[str]:
    return {path.name for path in folder(home, task_id).glob("*.gz")}


async def test_finished_tasks_are_packed_after_a_week_and_deleted_after_a_month(tmp_path: Path) -> None:
    async with file_store(tmp_path) as store:
        young, week, month = [await finished(store, days) for days in (6.9, 7.1, 30.1)]
        before = await contents(store, week)
        report = await clean(store, RULES)
        assert [task.task_id for task in report.packed] == [week]
        assert [task.task_id for task in report.deleted] == [month]
        assert report.freed > 0
        assert packed(tmp_path, young) == set()
        assert packed(tmp_path, week) == {
            "messages.jsonl.gz", "ui_messages.jsonl.gz", "tools.jsonl.gz", "summaries.jsonl.gz"
        }  # fmt: skip
        assert set(await store.tasks()) == {young, week}
        assert await contents(store, week) == before
        assert len(before["ui"]) == 5
        again = await clean(store, RULES)
        assert (again.done, again.failed, again.busy) == ([], {}, [])
        assert not [name for name in os.listdir(tmp_path / "contexts" / "completed") if name.startswith(".")]


async def test_nothing_is_done_by_rules_that_say_never_or_in_a_dry_run(tmp_path: Path) -> None:
    async with file_store(tmp_path) as store:
        week, month = await finished(store, 8), await finished(store, 400)
        assert (await clean(store, RetentionRules(0, 0))).done == []
        report = await clean(store, RULES, dry_run=True)
        assert [(task.task_id, task.step) for task in sorted(report.done, key=lambda task: task.age_days)] == [
            (week, "packed"),
            (month, "deleted"),
        ]
        assert packed(tmp_path, week) == set()
        assert set(await store.tasks()) == {week, month}
        assert [task.step for task in (await clean(store, RetentionRules(0, 30))).done] == ["deleted"]


@pytest.mark.each_backend
async def test_what_can_go_on_is_never_deleted(tmp_path: Path) -> None:
    async with kept_store(tmp_path) as store:
        died, failed = await finished(store, 400, outcome="failed"), await finished(store, 400, outcome="failed")
        await store.amend(died, lambda state: state.model_copy(update={"resumable": True}))
        paused = await store.create(NewTaskRecord())
        await paused.append_api(ApiDraft(role="user", content="hi"))
        await paused.close()
        await store.amend(paused.task_id, lambda state: state.model_copy(update={"updated_at": days_ago(400)}))
        for _ in range(2):
            report = await clean(store, RULES)
            assert report.failed == {} and report.busy == []
        assert set(await store.tasks()) == {died, paused.task_id}
        assert failed not in await store.tasks()
        log = await store.resume(died)
        assert len([record async for record in log.api.iterate()]) == 5


@pytest.mark.each_backend
async def test_pinned_and_favourite_tasks_and_their_subtasks_stay_as_they_are(tmp_path: Path) -> None:
    async with kept_store(tmp_path) as store:
        pinned = await finished(store, 400, pinned=True)
        favorite = await finished(store, 400, favorite=True)
        child = await finished(store, 400, parent=favorite)
        grandchild = await finished(store, 400, parent=child)
        report = await clean(store, RULES)
        assert report.done == []
        assert report.exempt == 4
        assert set(await store.tasks()) == {pinned, favorite, child, grandchild}


@pytest.mark.each_backend
async def test_a_task_that_is_worked_on_is_never_touched(tmp_path: Path) -> None:
    async with kept_store(tmp_path) as store, kept_store(tmp_path) as other:
        task_id = await finished(store, 400)
        log = await other.resume(task_id)
        new = await store.create(NewTaskRecord())
        later = datetime.now(tz=UTC) + timedelta(days=400)
        assert (await clean(store, RULES, now=later)).done == []
        await log.append_api(ApiDraft(role="user", content="still here"), durable=True)
        await log.finish()
        await new.close()
        assert (await clean(store, RULES)).done == []


async def test_tasks_in_a_database_are_deleted_after_a_month_and_never_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HDSP_AGENT_STORAGE_BACKEND", "sqlite")
    async with kept_store(tmp_path) as store, kept_store(tmp_path) as other:
        week, month, doubted = [await finished(store, days, messages=40) for days in (8, 31, 40)]
        before = await contents(store, week)
        dry = await clean(other, RULES, dry_run=True)
        assert {task.task_id: task.step for task in dry.done} == {month: "deleted", doubted: "deleted"}
        assert set(await store.tasks()) == {week, month, doubted}
        worked_on = await other.resume(doubted)
        report = await clean(store, RULES)
        assert [(task.task_id, task.step) for task in report.done] == [(month, "deleted")]
        assert report.freed > 10_000
        assert await contents(store, week) == before
        await worked_on.close()
        executions = tmp_path / ".tasks.db.clean.json"
        executions.write_text(json.dumps({"at": "2024-01-01T00:00:00Z"}))
        later = await finished(store, 50)
        report = await clean(store, RULES)
        assert (report.clock_doubted, report.done) == (True, [])
        assert later in await store.tasks()
    assert (await examine(tmp_path, backend="sqlite")).problems == []


async def test_a_packed_task_is_resumed_and_packed_again(tmp_path: Path) -> None:
    async with file_store(tmp_path) as store:
        task_id = await finished(store, 8)
        await clean(store, RULES)
        log = await store.resume(task_id)
        await log.append_api(ApiDraft(role="user", content="more"), durable=True)
        await log.finish()
        later = datetime.now(tz=UTC) + timedelta(days=8)
        assert [task.step for task in (await clean(store, RULES, now=later)).done] == ["packed"]
        assert "more" in (await contents(store, task_id))["api"][-1]


@pytest.mark.parametrize("when", ["1970-01-01T00:00:00.000000Z", "2199-01-01T00:00:00.000000Z", "yesterday"])
async def test_a_task_whose_clock_was_wrong_is_as_old_as_its_files(tmp_path: Path, when: str) -> None:
    async with file_store(tmp_path) as store:
        task_id = await finished(store)
        await store.amend(task_id, lambda state: state.model_copy(update={"updated_at": when, "completed_at": when}))
        assert (await clean(store, RULES)).done == []
        for path in folder(tmp_path, task_id).iterdir():
            os.utime(path, (datetime.now().timestamp() - 31 * 86400,) * 2)
        assert [task.step for task in (await clean(store, RULES)).done] == ["deleted"]


@pytest.mark.each_backend
async def test_a_task_whose_state_is_lost_is_not_deleted(tmp_path: Path) -> None:
    async with kept_store(tmp_path) as store:
        task_id = await finished(store, 400)
        spoil_state(tmp_path, task_id)
        assert (await clean(store, RULES, now=datetime.now(tz=UTC) + timedelta(days=999))).done == []


async def test_a_clock_that_leaps_deletes_nothing_until_it_was_seen_twice(tmp_path: Path) -> None:
    async with file_store(tmp_path) as store:
        task_id = await finished(store, 31)
        executions = tmp_path / "contexts" / ".clean.json"
        executions.write_text(json.dumps({"at": "2024-01-01T00:00:00Z"}))
        report = await clean(store, RULES)
        assert report.clock_doubted
        assert [task.step for task in report.done] == ["packed"]
        assert (await clean(store, RULES)).clock_doubted
        kept = json.loads(executions.read_text())
        began = datetime.fromisoformat(kept["leapt_to"]) - timedelta(hours=2)
        executions.write_text(json.dumps({**kept, "leapt_to": began.isoformat()}))
        report = await clean(store, RULES)
        assert not report.clock_doubted
        assert [task.task_id for task in report.deleted] == [task_id]


@pytest.mark.each_backend
async def test_the_history_forgets_deleted_tasks_and_no_others(tmp_path: Path) -> None:
    async with kept_store(tmp_path) as store, history(tmp_path) as index:
        parent = await finished(store, 31, task_id="parent")
        child = await finished(store, 1, task_id="child", parent="parent")
        for task_id in (parent, child):
            item = (await (await store.view(task_id)).read_state()).history_item
            assert item is not None
            await index.upsert(item)
        report = await clean(store, RULES, index=index)
        assert report.forgotten == 1
        assert await index.ids() == ["child"]


async def test_progress_is_told_and_a_cancelled_round_stops(tmp_path: Path) -> None:
    async with file_store(tmp_path) as store:
        for _ in range(3):
            await finished(store, 8)
        told: list[tuple[str, int, int | None]] = []
        await clean(store, RULES, progress=lambda *what: told.append(what))
        assert told[-1] == ("clean", 3, 3)
        for _ in range(3):
            await finished(store, 8)
        begun = asyncio.Event()
        cleaning = asyncio.create_task(clean(store, RULES, progress=lambda *_: begun.set()))
        await begun.wait()
        cleaning.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cleaning
        await asyncio.sleep(0.05)
        await clean(store, RULES)
        assert (await examine(tmp_path)).problems == []


@pytest.mark.slow
async def test_a_disk_that_refuses_any_call_costs_nothing(quick_folder: Path) -> None:
    origin, home = quick_folder / "origin", quick_folder / "home"
    async with file_store(origin) as store:
        week, month = await finished(store, 8), await finished(store, 31)
        before = await contents(store, week)
    for nth in range(1, 10_000):
        shutil.copytree(origin, home)
        store = FileStore(home)
        await store.start()
        disk = Disk(str(home), refuse_at=nth)
        with disk.installed():
            try:
                await clean(store, RULES)
            except Exception as error:  # noqa: BLE001
                assert type(error).__name__ == "StorageUnavailable"
        assert await contents(store, week) == before
        report = await clean(store, RULES)
        assert report.failed == {}
        assert await contents(store, week) == before
        assert "messages.jsonl.gz" in packed(home, week)
        assert set(await store.tasks()) == {week}, month
        await store.stop()
        shutil.rmtree(home)
        if not disk.refused:
            break
    assert nth > 20


@pytest.mark.in_short(1)
@unix
@pytest.mark.parametrize("what", ["clean", "back_up", "restore"])
@pytest.mark.slow
def test_upkeep_that_is_killed_at_any_moment_loses_nothing(quick_folder: Path, what: str) -> None:
    turns = rounds(15, 40)
    done = subprocess.run(
        [forked_python(), "-m", "tests.persistence._helpers.killed_upkeep", quick_folder, what, str(turns), "1"],
        cwd=ROOT, capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    report = json.loads(done.stdout)
    assert report["wrong"] == []
    assert report["killed"] > turns / 4
