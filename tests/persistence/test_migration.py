from __future__ import annotations

import asyncio
import gzip
import hashlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, closing
from pathlib import Path

import pytest

from hdsp_agent.errors import InvalidInput
from hdsp_agent.messages import HistoryItem, TaskId
from hdsp_agent.persistence import (
    ApiDraft,
    NewTaskRecord,
    RewindMark,
    SummaryDraft,
    TaskLog,
    TaskReader,
    TaskStore,
    ToolDraft,
    kept_aside,
)
from hdsp_agent.persistence._backends import DATABASE_NAME, Backend, open_store
from hdsp_agent.persistence._records import Outcome, Place
from hdsp_agent.persistence.exchange._migration import NotMigrated, migrate

from .._helpers.long_tests import rounds
from .._helpers.stored_tasks import storage_url, stored_in
from ._helpers.store_contract import asked, said

ROOT = Path(__file__).parents[2]
STREAMS = ("ui", "api", "summaries", "tools", "marks")
each_way = pytest.mark.parametrize(
    ("first", "second"),
    [("files", "sqlite"), ("sqlite", "files"), ("files", "postgres"), ("postgres", "files"), ("sqlite", "postgres")],
)


@pytest.fixture(autouse=True)
def a_server_if_need_be(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where PostgreSQL is one of the two, a database of this test's own."""
    with ExitStack() as stack:
        callspec = getattr(request.node, "callspec", None)
        if callspec is not None and "postgres" in callspec.params.values():
            pytest.importorskip("psycopg")
            stack.enter_context(stored_in(request.getfixturevalue("postgres_database")))
        yield


@asynccontextmanager
async def opened(home: Path, backend: Backend) -> AsyncIterator[TaskStore]:
    store = open_store(home, backend, url=storage_url())
    await store.start()
    try:
        yield store
    finally:
        await store.stop()


async def converse(store: TaskStore, name: str, *, messages: int = 5) -> TaskLog:
    log = await store.create(NewTaskRecord(task_id=TaskId(name), user="ada", workspace="/w", config={"한": 1}))
    for number in range(messages):
        await log.append_api(ApiDraft(role="user", content=f"{name} {number} 안녕\n\u2028", ts=log.next_ts()))
        message = said(log, f"first {number}")
        await log.put_ui(message)
        await log.put_ui(message.model_copy(update={"text": f"then {number}"}))
    await log.append_tool(ToolDraft(tool_name="t", arguments={"a": [1]}, status="success", duration_ms=3))
    await log.append_summary(SummaryDraft(start_seq=1, end_seq=2, summary="s", original_tokens=9, summary_tokens=3))
    await log.append_mark(
        RewindMark(id="m", ts=log.next_ts(), ui_end=1, api_end=1, target_ts=1, api_cutoff=1, ui_from=1, api_hides=[])
    )
    await log.put_artifact(name.encode() * 1000)
    item = HistoryItem(id=log.task_id, number=1, ts=1, task=name, tokens_in=1, tokens_out=2, total_cost=0.5)
    log.update_state(total_tokens_used=7, history_item=item)
    return log


async def everything(reader: TaskReader) -> dict[str, object]:
    found: dict[str, object] = {"metadata": reader.metadata, "state": await reader.read_state()}
    for stream in STREAMS:
        found[stream] = [record async for record in getattr(reader, stream).iterate()]
    return found


def fingerprint(home: Path) -> dict[str, str]:
    return {
        str(path.relative_to(home)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(home.rglob("*"))
        if path.is_file()
    }


@each_way
async def test_tasks_are_the_same_in_the_other_backend(tmp_path: Path, first: Backend, second: Backend) -> None:
    told: list[tuple[str, int, int | None]] = []
    async with opened(tmp_path / "a", first) as source, opened(tmp_path / "b", second) as target:
        ends: tuple[tuple[str, Outcome], ...] = (("one", "completed"), ("two", "failed"))
        for name, outcome in ends:
            await (await converse(source, name)).finish(outcome)
        await (await converse(source, "resting")).close()
        report = await migrate(source, target, progress=lambda *what: told.append(what))
        assert report.complete
        assert (sorted(report.copied), report.already, report.damaged) == (["one", "resting", "two"], [], [])
        # 5 API messages, 10 forms of 5 UI messages, a tool, a summary and a mark in each.
        assert (report.tasks, report.lines, report.artifacts) == (3, 54, 3)
        assert told[0] == ("migrate tasks", 0, 3) and told[-1] == ("migrate tasks", 3, 3)
        places: tuple[tuple[Place, list[str]], ...] = (("running", ["resting"]), ("completed", ["one", "two"]))
        for place, ids in places:
            assert sorted(await target.tasks(place)) == ids
        for task_id in await source.tasks():
            before, after = await source.view(task_id), await target.view(task_id)
            assert await everything(after) == await everything(before)
            data = task_id.encode() * 1000
            assert await after.read_artifact(hashlib.sha256(data).hexdigest()) == data
        log = await target.resume(TaskId("one"))
        assert (await log.append_api(asked("more"))).seq == 6
        assert [m.text for m in await log.ui.newest(2)] == ["then 3", "then 4"]


async def test_there_and_back_every_byte_is_as_it_was_and_the_sources_are_untouched(tmp_path: Path) -> None:
    async with opened(tmp_path / "a", "files") as source:
        for name in ("one", "two"):
            await (await converse(source, name)).finish()
    before = fingerprint(tmp_path / "a")
    async with (
        opened(tmp_path / "a", "files") as source,
        opened(tmp_path / "b", "sqlite") as between,
        opened(tmp_path / "c", "files") as target,
    ):
        assert (await migrate(source, between)).complete
        assert (await migrate(between, target)).complete
        assert len(await between.tasks()) == 2
    assert fingerprint(tmp_path / "a") == before
    assert fingerprint(tmp_path / "c") == before
    if sys.platform != "win32":
        paths = list((tmp_path / "c").rglob("*"))
        assert {path.stat().st_mode & 0o777 for path in paths if path.is_file()} == {0o600}
        assert {path.stat().st_mode & 0o777 for path in paths if path.is_dir()} == {0o700}


@each_way
async def test_a_task_that_somebody_works_on_is_left_out_until_it_rests(
    tmp_path: Path, first: Backend, second: Backend
) -> None:
    async with opened(tmp_path / "a", first) as source, opened(tmp_path / "b", second) as target:
        await (await converse(source, "done")).finish()
        busy = await converse(source, "busy")
        report = await migrate(source, target)
        assert not report.complete
        assert report.copied == ["done"]
        assert report.skipped == [NotMigrated(TaskId("busy"), report.skipped[0].reason)]
        assert f"process {os.getpid()}" in report.skipped[0].reason
        await busy.append_api(asked("more"))
        await busy.finish()
        report = await migrate(source, target)
        assert report.complete
        assert (report.copied, report.already) == (["busy"], ["done"])
        assert await (await target.view(TaskId("busy"))).api.count() == 6


@each_way
async def test_a_task_that_went_on_in_the_target_stays_as_it_is_there(
    tmp_path: Path, first: Backend, second: Backend
) -> None:
    async with opened(tmp_path / "a", first) as source, opened(tmp_path / "b", second) as target:
        for name in ("one", "two"):
            await (await converse(source, name)).finish()
        await migrate(source, target)
        log = await target.resume(TaskId("one"))
        await log.append_api(asked("in the target"))
        await log.finish()
        log = await source.resume(TaskId("two"))
        await log.append_api(asked("in the source"))
        await log.finish()
        report = await migrate(source, target)
        assert report.already == ["one"]
        assert [left.task_id for left in report.skipped] == ["two"]
        assert "other content" in report.skipped[0].reason
        assert [r.content for r in await (await target.view(TaskId("one"))).api.newest(1)] == ["in the target"]
        assert await (await target.view(TaskId("two"))).api.count() == 5


@each_way
async def test_a_dry_run_changes_nothing(tmp_path: Path, first: Backend, second: Backend) -> None:
    async with opened(tmp_path / "a", first) as source, opened(tmp_path / "b", second) as target:
        await (await converse(source, "one")).finish()
        report = await migrate(source, target, dry_run=True)
        assert (report.copied, report.lines, report.complete) == (["one"], 18, False)
        assert await target.tasks() == []


async def test_a_damaged_archive_fails_alone(tmp_path: Path) -> None:
    async with opened(tmp_path, "files") as old, opened(tmp_path, "sqlite") as new:
        for name in ("good", "spoilt"):
            log = await converse(old, name)
            await log.finish()
        log_file = tmp_path / "contexts/completed/spoilt/messages.jsonl"
        packed = bytearray(gzip.compress(log_file.read_bytes()))
        packed[10:40] = b"\xff" * 30
        log_file.with_name("messages.jsonl.gz").write_bytes(packed)
        log_file.unlink()
        report = await migrate(old, new)
        assert report.copied == ["good"]
        assert [left.task_id for left in report.failed] == ["spoilt"]


async def test_gzipped_logs_are_copied_and_damaged_lines_told_and_kept(tmp_path: Path) -> None:
    async with opened(tmp_path / "a", "files") as source:
        await (await converse(source, "one", messages=20)).finish()
        folder = tmp_path / "a" / "contexts" / "completed" / "one"
        log = folder / "messages.jsonl"
        lines = log.read_bytes().splitlines(keepends=True)
        lines[7] = b"XXXX" + lines[7][4:]
        lines.append(b'{"seq":21,"role":"us')
        log.with_name("messages.jsonl.gz").write_bytes(gzip.compress(b"".join(lines)))
        log.unlink()
        with open(folder / "ui_messages.jsonl", "ab") as file:
            file.write(b'{"ts":99999999999999,"type":"of a newer version"}\n')
        (folder / "state.json.corrupt-then").write_bytes(b"\0\0")
        async with opened(tmp_path / "b", "sqlite") as between, opened(tmp_path / "c", "files") as target:
            report = await migrate(source, between)
            assert report.complete
            assert [(notice.task_id, notice.stream, notice.size) for notice in report.damaged] == [
                ("one", "api", len(lines[7]) - 1), ("one", "api", len(lines[-1])),
            ]  # fmt: skip
            assert await (await between.view(TaskId("one"))).api.count() == 19
            assert (await migrate(source, between)).already == ["one"]
            assert (await migrate(between, target)).damaged == []
    folder = tmp_path / "c" / "contexts" / "completed" / "one"
    assert (folder / "messages.jsonl").read_bytes() == b"".join(lines[:7] + lines[8:-1])
    assert b"of a newer version" in (folder / "ui_messages.jsonl").read_bytes()
    assert [line.data for line in kept_aside(folder / "messages.jsonl")] == [lines[7].rstrip(b"\n"), lines[-1]]
    assert (folder / "state.json.corrupt-then").read_bytes() == b"\0\0"


async def test_a_copy_that_is_not_the_same_is_taken_back_and_told(tmp_path: Path) -> None:
    async with opened(tmp_path / "a", "files") as source, opened(tmp_path / "b", "sqlite") as target:
        await (await converse(source, "one")).finish()
        with closing(sqlite3.connect(tmp_path / "b" / DATABASE_NAME)) as connection:
            connection.execute(
                "CREATE TRIGGER spoil AFTER INSERT ON tool_calls BEGIN "
                "INSERT INTO marks (task, seq, record) VALUES (NEW.task, 9, '{\"seq\":9}'); END"
            )
        before = fingerprint(tmp_path / "a")
        report = await migrate(source, target)
        assert (report.copied, [left.task_id for left in report.failed], report.complete) == ([], ["one"], False)
        assert "marks" in report.failed[0].reason and "was deleted" in report.failed[0].reason
        assert await target.tasks() == []
        with closing(sqlite3.connect(tmp_path / "b" / DATABASE_NAME)) as connection:
            assert connection.execute("SELECT COUNT(*) FROM messages").fetchone() == (0,)
            connection.execute("DROP TRIGGER spoil")
        assert fingerprint(tmp_path / "a") == before
        assert (await migrate(source, target)).complete


@pytest.mark.in_short(1)
@pytest.mark.skipif(sys.platform == "win32", reason="Kills as Unix does")
@pytest.mark.parametrize("way", ["files", "sqlite"])
@pytest.mark.slow
async def test_a_migration_that_was_killed_goes_on_when_run_again(tmp_path: Path, way: Backend) -> None:
    home = tmp_path / "home"
    names = [f"task-{number}" for number in range(30)]
    async with opened(home, way) as source:
        for name in names:
            log = await converse(source, name, messages=2)
            await asyncio.gather(*(log.append_api(asked("x" * 2000)) for _ in range(40)))
            await log.finish()
    other: Backend = "sqlite" if way == "files" else "files"
    random.seed(way)
    kills = copied = 0
    for _ in range(rounds(3, 6)):
        mover = subprocess.Popen(
            [sys.executable, "-m", "tests.persistence._helpers.table_processes", "migrate", str(home), str(int(way == "files"))],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
        )  # fmt: skip
        assert mover.stdin is not None and mover.stdout is not None
        # Each run goes over what is there already, and a few tasks further.
        while int(mover.stdout.readline()) < copied + 2:
            mover.stdin.write(b"\n")
        copied += 2
        mover.stdin.write(b"\n")
        time.sleep(random.uniform(0, 0.01))
        mover.send_signal(signal.SIGKILL)
        mover.wait()
        mover.stdin.close()
        mover.stdout.close()
        kills += mover.returncode == -signal.SIGKILL
    assert kills == rounds(3, 6)
    async with opened(home, way) as source, opened(home, other) as target:
        assert copied <= len(await target.tasks()) < len(names)
        report = await migrate(source, target)
        assert report.complete
        assert sorted([*report.copied, *report.already]) == sorted(names)
        for name in names:
            assert await everything(await target.view(TaskId(name))) == await everything(
                await source.view(TaskId(name))
            )


async def test_a_store_is_not_migrated_to_itself(tmp_path: Path) -> None:
    async with opened(tmp_path, "sqlite") as ours, opened(tmp_path, "sqlite") as theirs:
        with pytest.raises(InvalidInput, match="itself"):
            await migrate(ours, theirs)


async def test_a_target_that_cannot_be_written_is_told_and_can_be_had_later(tmp_path: Path) -> None:
    async with opened(tmp_path / "a", "files") as source, opened(tmp_path / "b", "sqlite") as target:
        for name in ("one", "two"):
            await (await converse(source, name)).finish()
        (tmp_path / "b" / DATABASE_NAME).rename(tmp_path / "away")
        report = await migrate(source, target)
        assert [left.task_id for left in report.failed] and report.copied == []
        (tmp_path / "away").rename(tmp_path / "b" / DATABASE_NAME)
        assert sorted((await migrate(source, target)).copied) == ["one", "two"]
