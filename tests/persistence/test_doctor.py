from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from hdsp_agent.config import OperatorPolicy, TrustedFolders
from hdsp_agent.messages import TaskId
from hdsp_agent.persistence import (
    ApiDraft,
    Backend,
    HistoryIndex,
    NewTaskRecord,
    StateDatabase,
    history_database,
    kept_aside,
    migrate,
    open_store,
    task_records,
)
from hdsp_agent.persistence.upkeep._doctor import examine
from hdsp_agent.persistence.upkeep._retention import RetentionRules, clean

from .._helpers.stored_tasks import backend_under_test, damage_line, leave_behind, spoil_state, storage_url
from ._helpers.history_samples import history, task
from ._helpers.old_tasks import contents, file_store, finished, kept_store
from .test_crashes import ROOT, unix


async def make_home(home: Path, *, days: float = 1) -> Path:
    async with file_store(home) as store:
        task_id = await finished(store, days, task_id="task")
        await clean(store, RetentionRules(7, 30))
    return home / "contexts" / "completed" / task_id


def every_byte(home: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file() and "state.db" not in path.name
    }  # fmt: skip


async def kinds(home: Path, *, repair: bool = False) -> list[str]:
    return sorted({finding.kind for finding in (await examine(home, repair=repair)).problems})


async def mended(home: Path) -> list[str]:
    report = await examine(home, repair=True)
    assert report.problems == []
    kinds_mended: list[str] = sorted({finding.kind for finding in report.mended})
    assert (await examine(home)).problems == []
    return kinds_mended


@pytest.mark.parametrize("days", [1, 8])
async def test_a_sound_home_has_nothing_wrong_and_is_left_as_it_is(tmp_path: Path, days: float) -> None:
    await make_home(tmp_path, days=days)
    before = every_byte(tmp_path)
    report = await examine(tmp_path)
    assert (report.problems, report.notes, report.tasks) == ([], [], 1)
    assert (await examine(tmp_path, repair=True)).findings == []
    assert every_byte(tmp_path) == before


async def test_the_list_of_trusted_folders_belongs_to_a_home(tmp_path: Path) -> None:
    TrustedFolders(tmp_path / "home", OperatorPolicy).decide(tmp_path, True)
    assert (await examine(tmp_path / "home")).findings == []
    (tmp_path / "home/trusted-folders.json").chmod(0o644)
    if os.name == "posix":
        assert await mended(tmp_path / "home") == ["permissions"]


@unix
async def test_what_others_can_read_is_made_private(tmp_path: Path) -> None:
    folder = await make_home(tmp_path)
    folder.chmod(0o755)
    (folder / "messages.jsonl").chmod(0o644)
    (tmp_path / "contexts").chmod(0o750)
    assert await kinds(tmp_path) == ["permissions"]
    assert (folder / "messages.jsonl").stat().st_mode & 0o777 == 0o644
    assert await mended(tmp_path) == ["permissions"]
    assert (folder / "messages.jsonl").stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700


async def test_torn_and_corrupt_lines_are_kept_aside_and_the_rest_is_read(tmp_path: Path) -> None:
    folder = await make_home(tmp_path)
    log = folder / "messages.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join((lines[0], b'{"seq":2,"role":br\xffken}\n', *lines[2:], b'{"seq":6,"ro')))
    assert await kinds(tmp_path) == ["corrupt_line", "torn_tail"]
    assert await mended(tmp_path) == ["corrupt_line", "torn_tail"]
    assert {line.data for line in kept_aside(log)} == {b'{"seq":2,"role":br\xffken}', b'{"seq":6,"ro'}
    assert log.read_bytes().endswith(lines[-1])
    report = await examine(tmp_path)
    assert {finding.kind for finding in report.notes} == {"kept_aside"}
    async with file_store(tmp_path) as store:
        assert len((await contents(store, TaskId("task")))["api"]) == 4


async def test_records_that_are_lost_or_damaged_are_made_anew_and_the_bytes_kept(tmp_path: Path) -> None:
    folder = await make_home(tmp_path)
    (folder / "state.json").write_text('{"status": "comp')
    (folder / "metadata.json").unlink()
    assert await kinds(tmp_path) == ["damaged_record", "interrupted_move"] or await kinds(tmp_path) == [
        "damaged_record"
    ]
    assert "damaged_record" in await mended(tmp_path)
    assert '{"status": "comp' in [path.read_text() for path in folder.glob("state.json.corrupt-*")]
    assert json.loads((folder / "metadata.json").read_text())["uuid"] == "task"
    assert json.loads((folder / "state.json").read_text())["resumable"]


@unix
async def test_the_tasks_of_dead_processes_are_ended(tmp_path: Path) -> None:
    script = (
        "import asyncio, os, sys, pathlib\n"
        "from hdsp_agent.persistence import *\n"
        "async def main():\n"
        "    store = FileStore(pathlib.Path(sys.argv[1]))\n"
        "    await store.start()\n"
        "    log = await store.create(NewTaskRecord(task_id='dead'))\n"
        "    await log.append_api(ApiDraft(role='user', content='said'), durable=True)\n"
        "    os._exit(0)\n"
        "asyncio.run(main())\n"
    )
    subprocess.run([sys.executable, "-c", script, tmp_path], cwd=ROOT, check=True)
    assert await kinds(tmp_path) == ["dead_task"]
    assert await mended(tmp_path) == ["dead_task"]
    async with file_store(tmp_path) as store:
        assert await store.tasks("completed") == ["dead"]
        assert len((await contents(store, TaskId("dead")))["api"]) == 1


@unix
async def test_interrupted_moves_orphan_locks_and_leftovers_are_seen_to(tmp_path: Path) -> None:
    folder = await make_home(tmp_path)
    other = folder.with_name("other")
    shutil.copytree(folder, other)
    state = json.loads((other / "state.json").read_text())
    (other / "state.json").write_text(json.dumps({**state, "status": "completing", "outcome": "timeout"}))
    (folder / ".lock").write_text('{"process_id": 4194300, "hostname": "x", "acquired_at": "", "heartbeat_at": ""}')
    (folder / ".lock").chmod(0o600)
    os.utime(folder / ".lock", (0, 0))
    unfinished = folder.with_name(".gone.00000000")
    unfinished.mkdir(0o700)
    os.utime(unfinished, (0, 0))
    assert await kinds(tmp_path) == ["interrupted_move", "orphan_lock", "unfinished"]
    assert await mended(tmp_path) == ["interrupted_move", "orphan_lock", "unfinished"]
    assert json.loads((other / "state.json").read_text())["status"] == "timeout"
    assert not (folder / ".lock").exists()
    assert not unfinished.exists()


async def test_a_task_that_is_worked_on_is_left_to_who_works_on_it(tmp_path: Path) -> None:
    async with file_store(tmp_path) as store:
        log = await store.create(NewTaskRecord())
        await log.append_api(ApiDraft(role="user", content="x"), durable=True)
        with (tmp_path / "contexts" / "running" / log.task_id / "messages.jsonl").open("ab") as file:
            file.write(b'{"seq":2,')
        before = every_byte(tmp_path)
        assert (await examine(tmp_path, repair=True)).findings == []
        assert every_byte(tmp_path) == before
        await log.close()
    # A task that is paused is as it should be.
    assert await mended(tmp_path) == ["torn_tail"]
    state = tmp_path / "contexts" / "running" / log.task_id / "state.json"
    state.write_text(json.dumps({**json.loads(state.read_text()), "status": "processing"}))
    # What the torn line was is kept beside it.
    assert {finding.kind for finding in (await examine(tmp_path)).notes} == {"stopped_task", "kept_aside"}
    assert await mended(tmp_path) == ["stopped_task"]
    assert json.loads(state.read_text())["status"] == "paused"
    assert {finding.kind for finding in (await examine(tmp_path)).notes} == {"kept_aside"}


@pytest.mark.parametrize("same", [True, False])
async def test_a_packing_that_was_interrupted_is_finished_without_losing_a_byte(tmp_path: Path, same: bool) -> None:
    folder = await make_home(tmp_path, days=8)
    packed = folder / "messages.jsonl.gz"
    plain = subprocess.run(["gzip", "-dc", packed], capture_output=True, check=True).stdout
    (folder / "messages.jsonl").write_bytes(plain if same else plain.splitlines(keepends=True)[0])
    (folder / "messages.jsonl").chmod(0o600)
    bytes_packed = packed.read_bytes()
    assert await kinds(tmp_path) == ["interrupted_packing"]
    assert await mended(tmp_path) == ["interrupted_packing"]
    assert not packed.exists()
    assert [path.read_bytes() for path in folder.glob("messages.jsonl.gz.corrupt-*")] == (
        [] if same else [bytes_packed]
    )


async def test_a_packed_log_that_is_damaged_is_told_and_left(tmp_path: Path) -> None:
    folder = await make_home(tmp_path, days=8)
    data = bytearray((folder / "messages.jsonl.gz").read_bytes())
    data[30] ^= 0xFF
    (folder / "messages.jsonl.gz").write_bytes(data)
    assert await kinds(tmp_path) == ["damaged_log"]
    assert await kinds(tmp_path, repair=True) == ["damaged_log"]
    assert (folder / "messages.jsonl.gz").read_bytes() == data


async def test_artifacts_are_checked_against_their_names_and_the_messages(tmp_path: Path) -> None:
    missing = hashlib.sha256(b"missing").hexdigest()
    async with file_store(tmp_path) as store:
        log = await store.create(NewTaskRecord())
        good = await log.put_artifact(b"good")
        bad = await log.put_artifact(b"bad")
        await log.append_api(ApiDraft(role="user", content=f"artifact:{good} artifact:{missing} commit {'a' * 64}"))
        await log.finish()
    artifacts = tmp_path / "contexts" / "completed" / log.task_id / "artifacts"
    (artifacts / bad).write_bytes(b"rotten")
    report = await examine(tmp_path)
    assert {(finding.kind, finding.path.name) for finding in report.problems} == {
        ("artifact_damaged", bad),
        ("artifact_missing", missing),
    }
    assert await kinds(tmp_path, repair=True) == ["artifact_missing"]
    assert [path.read_bytes() for path in artifacts.glob("*.corrupt-*")] == [b"rotten"]


async def test_an_index_out_of_step_is_brought_in_line_with_the_folders(tmp_path: Path) -> None:
    await make_home(tmp_path)
    async with history(tmp_path) as index:
        await index.upsert(task("gone"))
        await index.upsert(task("task", title="of another time", total_cost=9))
    report = await examine(tmp_path)
    assert sorted(str(finding.task_id) for finding in report.problems) == ["gone", "task"]
    assert await mended(tmp_path) == ["index_out_of_step"]
    async with history(tmp_path) as index:
        assert await index.ids() == ["task"]
        hit = await index.get("task")
        assert hit is not None
        assert hit.item.total_cost == 0.5
        await index.forget(["task"])
    assert await mended(tmp_path) == ["index_out_of_step"]


async def test_unknown_files_and_what_was_set_aside_are_noted_and_left_alone(tmp_path: Path) -> None:
    folder = await make_home(tmp_path)
    for path in (folder / "notes.txt", tmp_path / "stranger", tmp_path / "config.json.corrupt-20260101"):
        path.write_text("x")
    (folder / "artifacts" / "odd").write_text("x")
    for path in tmp_path.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    report = await examine(tmp_path, repair=True)
    assert report.problems == []
    assert {finding.path.name for finding in report.notes} == {
        "notes.txt", "stranger", "config.json.corrupt-20260101", "odd"
    }  # fmt: skip
    assert (tmp_path / "stranger").read_text() == "x"


async def test_settings_that_cannot_be_read_and_a_missing_home_are_told(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{")
    (tmp_path / "config.json").chmod(0o600)
    tmp_path.chmod(0o700)
    assert await kinds(tmp_path) == ["damaged_settings"]
    assert await kinds(tmp_path / "nowhere") == ["missing"]


async def test_a_restoring_that_was_interrupted_is_finished(tmp_path: Path) -> None:
    await make_home(tmp_path)
    staging = tmp_path / ".restoring-0a0a0a0a"
    (staging / "memories").mkdir(parents=True, mode=0o700)
    (staging / "memories").chmod(0o700)
    report = {"created_at": "", "tasks": 0, "files": 0, "bytes": 0, "aside": True, "replaced": []}
    journal = {"staging": staging.name, "aside": "before-restore-x", "step": "aside", "report": report}
    (tmp_path / ".restore.json").write_text(json.dumps(journal))
    (tmp_path / ".restore.json").chmod(0o600)
    assert "interrupted_restore" in await kinds(tmp_path)
    assert "interrupted_restore" in await mended(tmp_path)
    assert (tmp_path / "memories").is_dir()
    assert (tmp_path / "before-restore-x" / "contexts" / "completed" / "task").is_dir()


async def test_each_backend_has_a_history_of_its_own_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await make_home(tmp_path)
    monkeypatch.setenv("HDSP_AGENT_STORAGE_BACKEND", "sqlite")
    async with kept_store(tmp_path) as store:
        await finished(store, task_id="kept")
        backends: tuple[Backend, ...] = ("files", "sqlite")
        for backend in backends:
            database = StateDatabase(history_database(tmp_path, backend))
            index = HistoryIndex(database)
            async with database, index:
                await index.rebuild(task_records(open_store(tmp_path, backend), "me"))
                assert await index.ids() == (["kept"] if backend == "sqlite" else ["task"])
        assert await kinds(tmp_path) == []
    (note,) = (await examine(tmp_path, backend="sqlite")).notes
    assert (note.kind, "Tasks kept in files are not shown (1)" in note.message) == ("other_backend", True)
    (note,) = (await examine(tmp_path, backend="files")).notes
    assert "migrate --to files" in note.message
    async with file_store(tmp_path) as files, kept_store(tmp_path) as rows:
        await migrate(files, rows)
    assert (await examine(tmp_path, backend="sqlite")).notes == []


@pytest.mark.each_backend("sqlite", "postgres")
async def test_a_database_is_looked_over_and_mended(tmp_path: Path) -> None:
    look = partial(examine, tmp_path, backend=backend_under_test(), url=storage_url())
    missing = hashlib.sha256(b"missing").hexdigest()
    async with kept_store(tmp_path) as store:
        log = await store.create(NewTaskRecord())
        name = await log.put_artifact(b"whole")
        await log.append_api(ApiDraft(role="user", content=f"artifact:{name} commit {'a' * 64}"))
        await log.finish()
        assert (await look()).findings == []
        dead, spoilt = await finished(store, task_id="dead"), await finished(store, task_id="spoilt")
        log = await store.create(NewTaskRecord())
        await log.append_api(ApiDraft(role="user", content=f"artifact:{missing}"))
        await log.finish()
    spoil_state(tmp_path, spoilt)
    damage_line(tmp_path, dead, "api", 2)
    leave_behind(tmp_path, dead)
    report = await look()
    assert {(finding.kind, finding.task_id) for finding in report.problems} == {
        ("dead_task", dead), ("damaged_record", spoilt), ("artifact_missing", log.task_id)
    }  # fmt: skip
    assert {(finding.kind, finding.task_id) for finding in report.notes} == {("corrupt_line", dead)}
    report = await look(repair=True)
    assert {finding.kind for finding in report.mended} == {"dead_task", "damaged_record"}
    assert [finding.kind for finding in report.problems] == ["artifact_missing"]
    report = await look()
    assert [finding.kind for finding in report.problems] == ["artifact_missing"]
    assert {finding.kind for finding in report.notes} == {"corrupt_line", "kept_aside"}
    async with kept_store(tmp_path) as store:
        assert (await (await store.view(dead)).read_state()).status == "failed"


async def test_a_database_that_is_none_of_ours_or_damaged_is_told(tmp_path: Path) -> None:
    path = tmp_path / "tasks.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE theirs (id)")
    path.chmod(0o600)
    tmp_path.chmod(0o700)
    assert await kinds(tmp_path) == ["database_damaged"]
    before = path.read_bytes()
    assert await kinds(tmp_path, repair=True) == ["database_damaged"]
    assert path.read_bytes() == before
    path.write_bytes(b"SQLite format 3\0" + bytes(5_000))
    assert await kinds(tmp_path) == ["database_damaged"]
