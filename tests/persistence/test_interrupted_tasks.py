from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from hdsp_agent.messages import TaskId
from hdsp_agent.persistence import FileStore, NewTaskRecord
from hdsp_agent.persistence._task_store import MONITOR_SECONDS
from hdsp_agent.persistence.files._state_keeper import HEARTBEAT_SECONDS
from hdsp_agent.persistence.files._task_locks import STALE_SECONDS

from .._helpers.timing import until
from ._helpers.store_contract import asked


async def completed_task(home: Path) -> tuple[TaskId, Path]:
    store = FileStore(home)
    await store.start()
    log = await store.create(NewTaskRecord())
    await log.append_api(asked("hi"))
    await log.finish()
    await store.stop()
    return log.task_id, home / "contexts" / "completed" / log.task_id


def change_state(folder: Path, **fields: object) -> None:
    path = folder / "state.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **fields}), encoding="utf-8")


@pytest.mark.parametrize("outcome", ["completed", "failed", "timeout"])
@pytest.mark.parametrize("moved", [False, True])
async def test_an_interrupted_end_is_finished_as_it_was_meant(tmp_path: Path, outcome: str, moved: bool) -> None:
    task_id, folder = await completed_task(tmp_path)
    change_state(folder, status="completing", outcome=outcome, error="why")
    (folder / ".lock").write_text("", encoding="utf-8")
    if not moved:
        os.rename(folder, tmp_path / "contexts" / "running" / task_id)
    store = FileStore(tmp_path)
    await store.start()
    state = await (await store.view(task_id)).read_state()
    assert (state.status, state.outcome, state.error) == (outcome, None, "why")
    assert await store.tasks("completed") == [task_id]
    assert not (folder / ".lock").exists()
    assert await store.recover() == []
    await store.stop()


async def test_a_lock_left_on_a_completed_task_is_removed_and_changes_nothing(tmp_path: Path) -> None:
    task_id, folder = await completed_task(tmp_path)
    before = (folder / "state.json").read_bytes()
    (folder / ".lock").write_text("", encoding="utf-8")
    store = FileStore(tmp_path)
    await store.start()
    assert not (folder / ".lock").exists()
    assert (folder / "state.json").read_bytes() == before
    assert await store.recover() == []
    await store.stop()
    assert task_id == folder.name


async def test_the_rounds_find_what_dies_later(tmp_path: Path) -> None:
    task_id, folder = await completed_task(tmp_path)
    store = FileStore(tmp_path, monitor_seconds=0.05)
    await store.start()
    change_state(folder, status="processing")
    (folder / ".lock").write_text("", encoding="utf-8")
    os.rename(folder, tmp_path / "contexts" / "running" / task_id)
    reader = await store.view(task_id)

    async def failed() -> bool:
        return (await reader.read_state()).status == "failed"

    await until(failed)
    state = await reader.read_state()
    assert state.resumable and "while the task was processing" in (state.error or "")
    await store.stop()


def test_a_lock_outlives_a_heartbeat_that_is_missed_and_no_second_one() -> None:
    # Of different versions on one home, each judges by its own numbers, so they stay as they are.
    assert (HEARTBEAT_SECONDS, STALE_SECONDS, MONITOR_SECONDS) == (30.0, 60.0, 300.0)


async def test_folders_that_were_never_finished_are_removed_after_a_while(tmp_path: Path) -> None:
    _, folder = await completed_task(tmp_path)
    old, fresh = folder.with_name(".a.1234"), folder.with_name(".b.1234")
    for unfinished in (old, fresh):
        unfinished.mkdir()
        (unfinished / "state.json").write_text("{}", encoding="utf-8")
    os.utime(old, (time.time() - 7200,) * 2)
    store = FileStore(tmp_path)
    await store.start()
    assert (old.exists(), fresh.exists()) == (False, True)
    assert len(await store.tasks()) == 1
    await store.stop()
