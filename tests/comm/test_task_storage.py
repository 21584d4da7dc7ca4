"""The store inside the running server: it opens late, recovers, says what is wrong, and never keeps the server from starting."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tornado.httpclient import HTTPClientError

from hdsp_agent.comm import retention_job
from hdsp_agent.comm._rounds import Times
from hdsp_agent.comm.identity import server_owner
from hdsp_agent.comm.retention_job import RetentionJob
from hdsp_agent.comm.services import Services
from hdsp_agent.comm.storage_notices import StorageNotices
from hdsp_agent.comm.task_storage import TaskStorage
from hdsp_agent.errors import StorageUnavailable
from hdsp_agent.messages import TaskId
from hdsp_agent.persistence import (
    ApiDraft,
    Backend,
    HistoryChange,
    HistoryQuery,
    NewTaskRecord,
    backups,
    open_store,
    parse_iso_time,
    verify_backup,
)
from hdsp_agent.persistence.exchange._migration import migrate
from hdsp_agent.persistence.postgres import _artifact_upkeep, _stored_artifacts
from tests._helpers.jupyter_fetch import Fetch
from tests.comm._helpers.stored_tasks import eventually, keep
from tests.comm.conftest import Connect, messages

from .._helpers.postgres import TasksDatabase
from .._helpers.stored_tasks import backend_under_test, change_state, damage_line, storage_of, storage_url
from .._helpers.timing import until

ME = server_owner()
ROOT = Path(__file__).parents[2]


def codes(services: Services) -> list[str]:
    return [notice.code for notice in services.notices.standing]


class TestAFolderThatCannotBeUsed:
    @pytest.fixture
    def storage_dir(self, tmp_path: Path) -> Path:
        home = tmp_path / "hdsp-home"
        home.mkdir()
        # Root may do everything but make a folder where a file is.
        storage_of(home).mkdir() if backend_under_test() == "sqlite" else storage_of(home).write_text("in the way")
        return home

    @pytest.mark.each_backend("files", "sqlite")
    async def test_the_server_starts_says_why_and_recovers(
        self, services: Services, storage_dir: Path, jp_fetch: Fetch, connect: Connect
    ) -> None:
        services.storage._look_seconds = 0.1
        await eventually(lambda: "storage_unavailable" in codes(services))
        health = json.loads((await jp_fetch("hdsp-agent", "api", "health")).body)
        assert health["status"] == "degraded"
        async with connect() as panel:
            ack = await panel.ask("loadMessages", taskId="any")
            assert ack["error"]["code"] == "storage_unavailable"
            assert str(storage_dir) in ack["error"]["message"]
            with pytest.raises(HTTPClientError) as refused:
                await jp_fetch("hdsp-agent", "api", "history")
            assert refused.value.code == 503
            # Settings do not need it.
            assert (await panel.ask("mode", text="ask"))["ok"]

            if storage_of(storage_dir).is_dir():
                storage_of(storage_dir).rmdir()
            else:
                storage_of(storage_dir).unlink()
            await eventually(lambda: "storage_unavailable" not in codes(services))
            await panel.until(lambda: [told["notices"] for told in messages(panel, "noticesUpdated")][-1:] == [[]])
            assert (await jp_fetch("hdsp-agent", "api", "history")).code == 200
        await keep(services, "it works again")


@pytest.mark.parametrize("storage_backend", ["postgres"], indirect=True)
class TestADatabaseThatCannotBeReached:
    @pytest.fixture
    def storage_dir(self, tmp_path: Path, storage_backend: str, postgres_database: TasksDatabase) -> Path:
        postgres_database.let_in(False)
        return tmp_path / "hdsp-home"

    async def test_the_server_starts_says_why_and_recovers(
        self, services: Services, jp_fetch: Fetch, connect: Connect, postgres_database: TasksDatabase
    ) -> None:
        services.storage._look_seconds = 0.1
        await eventually(lambda: "storage_unavailable" in codes(services))
        async with connect() as panel:
            ack = await panel.ask("loadMessages", taskId="any")
            assert ack["error"]["code"] == "storage_unavailable"
            assert postgres_database.name in ack["error"]["params"]["database"]
            postgres_database.let_in(True)
            await eventually(lambda: "storage_unavailable" not in codes(services))
        await keep(services, "it works")
        log = await services.storage.unopened.create(NewTaskRecord())
        postgres_database.let_in(False)
        await log.append_api(ApiDraft(role="user", content="kept here"))
        await eventually(lambda: "here" in [notice.params.get("kept") for notice in services.notices.standing])
        assert json.loads((await jp_fetch("hdsp-agent", "api", "health")).body)["status"] == "degraded"
        postgres_database.let_in(True)
        await eventually(lambda: "storage_unavailable" not in codes(services))
        await keep(services, "it works again")
        assert [
            record.content for record in await (await services.storage.unopened.view(log.task_id)).api.newest()
        ] == ["kept here"]


@pytest.mark.parametrize("storage_backend", ["postgres"], indirect=True)
class TestAnArtifactStoreThatIsAway:
    @pytest.fixture
    def storage_dir(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        (tmp_path / "shared").mkdir()
        monkeypatch.setenv("HDSP_AGENT_ARTIFACT_STORE_URL", (tmp_path / "shared").as_uri())
        return tmp_path / "hdsp-home"

    async def test_the_server_says_so_and_goes_on_and_moves_what_waits(
        self, services: Services, tmp_path: Path, jp_fetch: Fetch, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_artifact_upkeep, "_AGAIN_SECONDS", 0.05)
        monkeypatch.setattr(_stored_artifacts, "_AGAIN_SECONDS", 0.0)
        services.storage._look_seconds = 0.05
        log = await (await services.storage.store()).create(NewTaskRecord())
        name = await log.put_artifact(b"kept in the store")
        (tmp_path / "shared").rename(tmp_path / "away")
        with pytest.raises(HTTPClientError) as refused:
            await jp_fetch("hdsp-agent", "api", "tasks", log.task_id, "artifacts", name)
        assert refused.value.code == 503 and refused.value.response is not None
        assert json.loads(refused.value.response.body)["code"] == "artifact_store_unavailable"
        await eventually(lambda: codes(services) == ["artifact_store_unavailable"])
        waits = await log.put_artifact(b"kept in the database")
        got = await jp_fetch("hdsp-agent", "api", "tasks", log.task_id, "artifacts", waits)
        assert got.body == b"kept in the database"
        (tmp_path / "away").rename(tmp_path / "shared")
        await eventually(lambda: codes(services) == [])
        await eventually(
            lambda: b"kept in the database" in [p.read_bytes() for p in (tmp_path / "shared").rglob("*") if p.is_file()]
        )
        got = await jp_fetch("hdsp-agent", "api", "tasks", log.task_id, "artifacts", name)
        assert got.body == b"kept in the store"


@pytest.mark.each_backend("files", "sqlite")
async def test_a_folder_that_vanishes_while_the_server_runs_is_told_until_it_is_back(
    services: Services, storage_dir: Path
) -> None:
    await services.storage.store()
    services.storage._look_seconds = 0.05
    kept = storage_of(storage_dir)
    kept.rename(storage_dir / "elsewhere")
    await eventually(lambda: "storage_unavailable" in codes(services))
    (storage_dir / "elsewhere").rename(kept)
    await eventually(lambda: "storage_unavailable" not in codes(services))


@pytest.mark.each_backend
async def test_a_line_that_cannot_be_read_is_told_and_the_rest_is_read(
    services: Services, storage_dir: Path, connect: Connect
) -> None:
    task = await keep(services, "one", "two", "three")
    damage_line(storage_dir, task, "ui", 1)
    async with connect() as panel:
        await panel.ask("loadMessages", taskId=task)
        (page,) = messages(panel, "messagesPage")
        shown = page["clineMessages"]
        assert isinstance(shown, list) and [message["text"] for message in shown] == ["one", "three"]
        await panel.until(lambda: messages(panel, "noticesUpdated"))
        (notice,) = services.notices.standing
        assert (notice.code, notice.params) == ("conversations_damaged", {"lines": 1, "tasks": 1})
        assert (await panel.ask("dismissNotice", id=notice.id))["ok"]
        assert codes(services) == []


_KILLED = """
import asyncio, sys
from pathlib import Path
from hdsp_agent.persistence import NewTaskRecord
from tests._helpers.stored_tasks import make_store

async def main():
    store = make_store(Path(sys.argv[1]))
    await store.start()
    task = await store.create(NewTaskRecord(user=sys.argv[2]))
    print(task.task_id, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


def _killed_task(storage_dir: Path) -> str:
    process = subprocess.Popen(
        [sys.executable, "-c", _KILLED, str(storage_dir), ME], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    task = process.stdout.readline().strip()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    return task


def _other(storage_backend: str) -> Backend:
    return "files" if storage_backend == "sqlite" else "sqlite"


def _kept_in_the_other(storage_dir: Path, storage_backend: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HDSP_AGENT_STORAGE_BACKEND", _other(storage_backend))
    process = subprocess.run(
        [sys.executable, "-c", _KILLED.replace("sleep(60)", "sleep(0)"), str(storage_dir), ME],
        stdout=subprocess.PIPE, text=True, cwd=ROOT, check=True,
    )  # fmt: skip
    monkeypatch.setenv("HDSP_AGENT_STORAGE_BACKEND", storage_backend)
    return process.stdout.strip()


class TestOtherProgramsWhileTheServerRuns:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, dict[str, object]]) -> dict[str, dict[str, object]]:
        jp_server_config["HdspAgentApp"] |= {"monitor_seconds": 1.0}
        return jp_server_config

    @pytest.mark.each_backend
    async def test_its_task_is_found_as_often_as_the_operator_set(self, services: Services, storage_dir: Path) -> None:
        await services.storage.store()
        # It looks too, a minute after the start.
        await services.retention_job.stop()
        services.storage._look_seconds = 0.1
        task = _killed_task(storage_dir)

        async def is_found() -> bool:
            state = await (await services.storage.unopened.view(TaskId(task))).read_state()
            return (state.status, state.resumable) == ("failed", True)

        await until(is_found)

    @pytest.mark.each_backend
    async def test_what_another_program_keeps_in_the_other_backend_is_told_until_it_is_copied(
        self, services: Services, storage_dir: Path, storage_backend: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store = await services.storage.store()
        services.storage._look_seconds = 0.1
        kept = _kept_in_the_other(storage_dir, storage_backend, monkeypatch)
        await eventually(lambda: "conversations_elsewhere" in codes(services))
        shown = await keep(services, "shown")
        source = open_store(storage_dir, _other(storage_backend))
        await source.start()
        report = await migrate(source, store)
        await source.stop()
        assert report.copied == [kept]
        await eventually(lambda: "conversations_elsewhere" not in codes(services))
        assert set(await store.tasks()) == {shown, kept}


class TestATaskWhoseServerWasKilled:
    @pytest.fixture
    def killed(self, storage_dir: Path) -> str:
        return _killed_task(storage_dir)

    @pytest.mark.each_backend
    async def test_it_is_told_and_can_be_resumed(self, killed: str, services: Services) -> None:
        reader = await services.history.task(ME, killed)
        state = await reader.read_state()
        assert (state.status, state.resumable) == ("failed", True)
        (notice,) = services.notices.standing
        assert (notice.code, notice.level, notice.params) == ("tasks_interrupted", "info", {"tasks": 1})


class TestConversationsThatTheOtherBackendKeeps:
    @pytest.fixture
    def kept(self, storage_dir: Path, storage_backend: str, monkeypatch: pytest.MonkeyPatch) -> str:
        return _kept_in_the_other(storage_dir, storage_backend, monkeypatch)

    @pytest.mark.each_backend
    async def test_are_told_and_not_shown(self, kept: str, services: Services, storage_backend: str) -> None:
        assert not await services.history.has(ME, kept)
        (notice,) = services.notices.standing
        assert (notice.code, notice.params["conversations"], notice.params["used"]) == (
            "conversations_elsewhere", 1, storage_backend
        )  # fmt: skip
        shown = await keep(services, "shown")
        assert [hit.item.id for hit in (await services.history.page(ME, HistoryQuery())).hits] == [shown]


@pytest.mark.each_backend
async def test_upkeep_deletes_what_is_old_as_the_settings_say_and_tells_the_tabs(
    services: Services, storage_dir: Path, connect: Connect
) -> None:
    old, new = await keep(services, "old"), await keep(services, "new")
    change_state(storage_dir, old, updated_at="2024-01-01T00:00:00Z", completed_at="2024-01-01T00:00:00Z")
    async with connect() as panel:
        await services.config.update({"retentionDeleteDays": 0})
        await services.retention_job.look()
        assert await services.history.has(ME, old)
        await services.config.update({"retentionDeleteDays": 30})
        await services.retention_job.look()
        await panel.until(lambda: messages(panel, "taskHistoryItemsRemoved"))
        assert messages(panel, "taskHistoryItemsRemoved")[-1]["taskIds"] == [old]
    assert not await services.history.has(ME, old)
    assert await services.history.has(ME, new)


async def test_nothing_is_deleted_while_the_settings_cannot_be_read(services: Services, storage_dir: Path) -> None:
    old = await keep(services, "old")
    change_state(storage_dir, old, updated_at="2024-01-01T00:00:00Z", completed_at="2024-01-01T00:00:00Z")
    (storage_dir / "config.json").write_text('{"globalSettings": {"retentionDeleteDays": "never', encoding="utf-8")
    await eventually(lambda: "config_corrupt" in codes(services))
    await services.retention_job.look()
    assert await services.history.has(ME, old)


async def test_a_backup_is_made_once_a_day_if_anything_changed_and_none_where_none_is_wanted(
    services: Services, storage_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = storage_dir / "backups"
    await keep(services, "words")
    await services.config.update({"backupGenerations": 0})
    await services.retention_job.look()
    assert backups(target) == []
    await services.config.update({"backupGenerations": 2})
    await services.retention_job.look()
    (first,) = backups(target)
    assert first.tasks == 1
    assert await verify_backup(first.path) > 0
    await services.retention_job.look()
    assert backups(target) == [first]
    # A day later: nothing is copied again unless something changed since.
    monkeypatch.setattr(retention_job, "_BACKUP_EVERY_SECONDS", 0.0)
    created = parse_iso_time(first.created_at)
    assert created is not None
    earlier, later = created.timestamp() - 10, created.timestamp() + 3600
    for name in retention_job._CHANGES_WITH_ANYTHING:
        if (storage_dir / name).exists():
            os.utime(storage_dir / name, (earlier, earlier))
    await services.retention_job.look()
    assert backups(target) == [first]
    for _ in range(3):
        os.utime(storage_dir / "config.json", (later, later))
        await services.retention_job.look()
    assert [info.generation for info in backups(target)] == [4, 3]


async def test_a_backup_that_cannot_be_made_keeps_nothing_else_from_being_done(
    services: Services, storage_dir: Path
) -> None:
    (storage_dir / "backups").write_text("in the way", encoding="utf-8")
    await services.config.update({"sizeWarningGigabytes": 0.0000001})
    await services.retention_job.look()
    assert "storage_large" in codes(services)


async def test_storage_that_grows_beyond_the_limits_is_told_until_it_is_smaller(services: Services) -> None:
    await keep(services, "x" * 50_000)
    await services.config.update({"sizeWarningGigabytes": 0.00001})
    await services.retention_job.measure()
    assert codes(services) == ["storage_large"]
    await services.config.update({"sizeCriticalGigabytes": 0.00002})
    await services.retention_job.measure()
    (notice,) = services.notices.standing
    assert (notice.code, notice.level) == ("storage_critical", "error")
    await services.config.update({"sizeWarningGigabytes": 10, "sizeCriticalGigabytes": 50})
    await services.retention_job.measure()
    assert codes(services) == []


async def test_the_first_round_of_upkeep_begins_by_itself_and_ends_with_the_server(services: Services) -> None:
    looked = asyncio.Event()
    notices = StorageNotices(services.notices)
    times = Times(first_after_seconds=0.01, every_seconds=3600.0)
    rounds = RetentionJob(services.storage, services.history, services.config, notices, times=times)
    await services.config.update({"sizeWarningGigabytes": 0.0000001})
    services.notices.subscribe(looked.set)
    rounds.start()
    await asyncio.wait_for(looked.wait(), 60)
    assert "storage_large" in codes(services)
    await rounds.stop()
    assert not [
        task for task in asyncio.all_tasks() if task.get_name() == "hdsp-agent upkeep" and task is rounds._rounds._task
    ]


async def test_an_index_that_fell_behind_follows_the_folders_again(services: Services) -> None:
    task = await keep(services, "words")
    index = await services.storage.index()
    await index.forget([task])
    services.storage._look_seconds = 0.05
    services.storage.fell_behind()

    async def found() -> int:
        return (await services.history.page(ME, HistoryQuery(text="words"))).total

    await until(found)


@pytest.mark.each_backend("postgres")
async def test_what_other_servers_did_while_this_one_was_away_is_seen_after_its_start(
    services: Services, tmp_path: Path
) -> None:
    told: list[HistoryChange] = []

    def storage() -> TaskStorage:
        made = TaskStorage(
            tmp_path / "other-home", "postgres", StorageNotices(services.notices), url=storage_url(), person=ME,
            on_change=told.append, remembered=1,
        )  # fmt: skip
        made._look_seconds = 0.05
        made.start()
        return made

    away = storage()
    await until((await away.index()).is_complete)
    await away.stop()
    told.clear()
    await keep(services, "meanwhile")
    back = storage()
    index = await back.index()

    async def is_found() -> bool:
        return (await index.search(HistoryQuery(text="meanwhile"))).total == 1 and bool(told)

    await until(is_found)
    assert told[-1] == HistoryChange(everything=True)
    await back.stop()


async def test_no_number_of_changes_elsewhere_fills_the_memory(services: Services) -> None:
    storage = services.storage
    await storage.store()
    for number in range(1_001):
        storage._hear(TaskId(f"task-{number}"))
    assert storage._behind
    assert storage._changed_elsewhere == set()


async def test_what_this_server_never_showed_is_not_told_as_removed(services: Services) -> None:
    await services.storage.index()
    assert await services.storage._brought_in_line(TaskId("never-here")) == HistoryChange()


async def test_other_servers_are_followed_whatever_goes_wrong_once(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = services.storage
    await storage.store()
    seen: list[TaskId] = []

    async def bring(task_id: TaskId) -> HistoryChange:
        seen.append(task_id)
        raise RuntimeError("Nobody thought of this")

    monkeypatch.setattr(storage, "_brought_in_line", bring)
    for name in ("one", "two"):
        storage._hear(TaskId(name))
        await until(lambda name=name: name in seen)  # type: ignore[misc]


async def test_nothing_is_promised_while_it_is_being_opened(services: Services, tmp_path: Path) -> None:
    storage = TaskStorage(
        tmp_path / "never", "files", StorageNotices(services.notices), person="me", on_change=lambda _: None,
        remembered=1,
    )  # fmt: skip
    storage._failure = StorageUnavailable("No.", path="p", reason="r")
    storage._tried.set()
    with pytest.raises(StorageUnavailable) as refused:
        await storage.index()
    assert refused.value.params == {"path": "p", "reason": "r"}
    await storage.stop()


def test_loading_the_extension_does_not_load_the_store() -> None:
    code = (
        "import sys, hdsp_agent.app; print([name for name in sys.modules if name.startswith('hdsp_agent.persistence')])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


class TestWhatTheOperatorDecidesAboutStorage:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, dict[str, object]]) -> dict[str, dict[str, object]]:
        jp_server_config["HdspAgentApp"] |= {
            "delete_after_days": 0,
            "compress_after_days": 2.5,
            "storage_warning_gb": 0,
        }
        return jp_server_config

    async def test_is_seen_and_cannot_be_changed(self, services: Services, connect: Connect) -> None:
        settings = services.config.settings
        assert (settings.retention_delete_days, settings.retention_compress_days) == (0, 3)
        assert settings.size_warning_gigabytes >= 100_000
        assert services.config.fixed == {"retentionDeleteDays", "retentionCompressDays", "sizeWarningGigabytes"}
        async with connect() as panel:
            ack = await panel.ask("updateSettings", updatedSettings={"retentionDeleteDays": 1})
            assert ack["error"]["code"] == "forbidden_by_operator"
            assert (await panel.ask("updateSettings", updatedSettings={"sizeCriticalGigabytes": 70}))["ok"]
