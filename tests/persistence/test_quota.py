from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.persistence import NewTaskRecord
from hdsp_agent.persistence.upkeep._quota import PlaceUse, StorageLimits, StorageUse, alert_level, measure
from hdsp_agent.persistence.upkeep._retention import RetentionRules, clean

from ._helpers.old_tasks import contents, file_store, finished, kept_store

GB = 10**9


@pytest.mark.parametrize(
    ("gigabytes", "level"), [(0, "ok"), (10, "ok"), (10.1, "warning"), (50, "warning"), (50.1, "critical")]
)
def test_people_are_told_from_ten_gigabytes_on_and_urgently_from_fifty(gigabytes: float, level: str) -> None:
    use = StorageUse(completed=PlaceUse(bytes=round(gigabytes * GB)))
    assert alert_level(use) == level


def test_the_limits_are_the_operators() -> None:
    use = StorageUse(running=PlaceUse(bytes=3 * GB), parts={"checkpoints": 3 * GB})
    assert alert_level(use, StorageLimits.of_gigabytes(5, 7)) == "warning"
    assert alert_level(use, StorageLimits.of_gigabytes(0, 5)) == "critical"
    assert alert_level(use, StorageLimits.of_gigabytes(0, 0)) == "ok"


async def test_everything_below_the_home_is_added_up(tmp_path: Path) -> None:
    async with file_store(tmp_path) as store:
        await finished(store, 8, messages=50)
        await finished(store, 1, messages=50)
        log = await store.create(NewTaskRecord())
        before = await measure(tmp_path)
        await clean(store, RetentionRules(7, 30))
        (tmp_path / "checkpoints" / "w").mkdir(parents=True)
        (tmp_path / "checkpoints" / "w" / "object").write_bytes(bytes(12_345))
        use = await measure(tmp_path)
        await log.close()
    assert (use.running.tasks, use.completed.tasks, use.completed.packed_tasks) == (1, 2, 1)
    assert before.completed.bytes == before.completed.unpacked_bytes
    assert use.completed.bytes < use.completed.unpacked_bytes <= before.completed.bytes
    assert use.parts["checkpoints"] == 12_345
    on_disk = sum(path.lstat().st_size for path in tmp_path.rglob("*") if path.is_file() and path.name != ".lock")
    assert abs(use.total_bytes - on_disk) <= 2048


async def test_a_database_is_told_by_what_its_tasks_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HDSP_AGENT_STORAGE_BACKEND", "sqlite")
    async with kept_store(tmp_path) as store:
        done = await finished(store, 8, messages=50)
        log = await store.create(NewTaskRecord())
        await log.put_artifact(bytes(100_000))
        await log.close()
        use = await measure(tmp_path)
        on_disk = sum(path.lstat().st_size for path in tmp_path.rglob("*") if path.is_file())
        assert (use.running.tasks, use.completed.tasks, use.completed.packed_tasks) == (1, 1, 0)
        said = sum(len(line.encode()) for lines in (await contents(store, done)).values() for line in lines)
        # Beside what is shown there are earlier forms of messages, metadata and state.
        assert said < use.completed.bytes < 4 * said
        assert 100_000 < use.running.bytes < 110_000
        assert use.total_bytes == on_disk


async def test_a_database_that_cannot_be_read_counts_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "tasks.db").write_bytes(bytes(5_000))
    use = await measure(tmp_path)
    assert (use.parts["tasks.db"], use.total_bytes, use.running.tasks) == (5_000, 5_000, 0)


async def test_a_home_that_is_not_there_takes_nothing(tmp_path: Path) -> None:
    assert (await measure(tmp_path / "nowhere")).total_bytes == 0
