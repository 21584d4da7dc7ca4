from __future__ import annotations

import asyncio
import gzip
import json
import os
import shutil
import socket
import sys
import tracemalloc
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx

from hdsp_agent.errors import StorageUnavailable
from hdsp_agent.messages import ClineMessage, TaskId
from hdsp_agent.persistence import ApiDraft, DamageNotice, FileStore, NewTaskRecord, TaskStore, kept_aside
from hdsp_agent.persistence._records import estimated_tokens
from hdsp_agent.persistence.files._task_folders import Place, TaskFolders

from .._helpers.long_tests import rounds
from .._helpers.timing import until
from ._helpers.store_contract import StoreContract, asked, said


class TestFileStore(StoreContract):
    def make_store(self, home: Path) -> TaskStore:
        return FileStore(home)

    def leave_behind(self, home: Path, task_id: TaskId, *, locked: bool) -> None:
        folder = home / "contexts" / "running" / task_id
        state = json.loads((folder / "state.json").read_text(encoding="utf-8"))
        (folder / "state.json").write_text(json.dumps({**state, "status": "processing"}), encoding="utf-8")
        if locked:
            (folder / ".lock").write_text("", encoding="utf-8")

    def place_on_disk(self, home: Path) -> Path:
        return home / "contexts"

    async def test_a_task_that_moves_just_when_it_is_looked_for_is_read_where_it_went(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        find = TaskFolders.find
        is_to_move = False

        def find_and_move(folders: TaskFolders, task_id: TaskId) -> tuple[Place, Path]:
            nonlocal is_to_move
            place, folder = find(folders, task_id)
            if is_to_move:
                is_to_move = False
                os.rename(folder, folders.at("completed" if place == "running" else "running", task_id))
            return place, folder

        async with self.store(tmp_path / "home") as store:
            assert isinstance(store, FileStore)
            log = await store.create(NewTaskRecord(user="ada", config={"model": "fake"}))
            name = await log.put_artifact(b"plot")
            log.update_state(status="paused")
            await log.close()
            reader = await store.view(log.task_id)
            monkeypatch.setattr(TaskFolders, "find", find_and_move)

            is_to_move = True
            assert (await store.view(log.task_id)).metadata.config == {"model": "fake"}
            is_to_move = True
            assert (await reader.read_state()).status == "paused"
            is_to_move = True
            assert await reader.read_artifact(name) == b"plot"
            is_to_move = True
            assert store.overview(log.task_id, messages=1, size=False).state.status == "paused"
            is_to_move = True
            assert await store.size(log.task_id) > len(b"plot")

    async def test_the_folder_has_every_file_of_the_seed_and_only_the_owner_can_read_them(self, tmp_path: Path) -> None:
        home = tmp_path / "home"
        before = os.umask(0)
        try:
            async with self.store(home) as store:
                log = await store.create(NewTaskRecord(user="ada"))
                await log.append_api(asked("hi"))
                await log.put_artifact(b"x")
                await log.save_state()
                folder = home / "contexts" / "running" / log.task_id
                assert {path.name for path in folder.iterdir()} == {
                    "metadata.json", "state.json", "messages.jsonl", "summaries.jsonl", "tools.jsonl", ".lock",
                    "ui_messages.jsonl", "marks.jsonl", "artifacts",
                }  # fmt: skip
                modes = {path: path.stat().st_mode & 0o777 for path in (home, *home.rglob("*"))}
                if sys.platform != "win32":
                    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
                    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}
                metadata = json.loads((folder / "metadata.json").read_text())
                assert {"uuid", "task_key", "created_at", "process_id", "hostname", "config", "user"} <= set(metadata)
                assert (metadata["process_id"], metadata["hostname"]) == (os.getpid(), socket.gethostname())
                state = json.loads((folder / "state.json").read_text())
                assert {
                    "status", "started_at", "updated_at", "completed_at", "llm_call_count", "tool_call_count",
                    "total_tokens_used", "current_context_tokens", "compression_count", "last_activity", "error",
                } <= set(state)  # fmt: skip
                lock = json.loads((folder / ".lock").read_text())
                assert {"process_id", "hostname", "acquired_at", "heartbeat_at"} <= set(lock)
                line = json.loads((folder / "messages.jsonl").read_text())
                assert line.items() >= {"seq": 1, "role": "user", "content": "hi", "token_count": 1}.items()
                await log.finish()
                assert not (home / "contexts" / "completed" / log.task_id / ".lock").exists()
        finally:
            os.umask(before)

    async def test_the_heartbeat_shows_in_the_lock_and_the_state(self, tmp_path: Path) -> None:
        store = FileStore(tmp_path, heartbeat_seconds=0.05)
        await store.start()
        log = await store.create(NewTaskRecord())
        folder = tmp_path / "contexts" / "running" / log.task_id

        def look() -> tuple[int, str, str]:
            lock, state = (json.loads((folder / name).read_text()) for name in (".lock", "state.json"))
            return lock["beats"], lock["heartbeat_at"], state["updated_at"]

        first, acquired = look(), json.loads((folder / ".lock").read_text())["acquired_at"]

        def is_later() -> bool:
            now = look()
            return now[0] > first[0] and now[1] > first[1] and now[2] > first[2]

        await until(is_later)
        assert json.loads((folder / ".lock").read_text())["acquired_at"] == acquired
        await store.stop()

    async def test_the_event_loop_is_never_blocked(self, tmp_path: Path) -> None:
        with blockbuster_ctx(scanned_modules=["hdsp_agent"]):
            async with self.store(tmp_path / "home") as store:
                log = await store.create(NewTaskRecord())
                for number in range(30):
                    await log.append_api(asked(str(number)), durable=number % 3 == 0)
                    await log.put_ui(said(log, "x"))
                await log.api.page(before=5)
                await log.put_artifact(b"x")
                await log.sync()
                await log.finish()
                log = await store.resume(log.task_id)
                await store.recover()
                await (await store.view(log.task_id)).read_state()

    async def test_memory_does_not_grow_with_the_number_of_messages(self, tmp_path: Path) -> None:
        async with self.store(tmp_path / "home") as store:
            log = await store.create(NewTaskRecord())

            async def call_model(times: int) -> None:
                for number in range(times):
                    await log.append_api(asked(f"{number} " * 300))
                    await log.append_api(ApiDraft(role="assistant", content=f"{number} " * 300))
                    await log.put_ui(said(log, f"{number} " * 300))

            await call_model(50)
            tracemalloc.start()
            try:
                await call_model(50)
                before, _ = tracemalloc.get_traced_memory()
                await call_model(rounds(350, 1_000))
                after, _ = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            assert after - before < 100_000

    async def test_a_damaged_line_costs_nothing_else_and_is_told_and_kept(self, tmp_path: Path) -> None:
        told: list[DamageNotice] = []
        store = FileStore(tmp_path, on_damage=told.append)
        await store.start()
        log = await store.create(NewTaskRecord())
        for number in range(1, 101):
            await log.append_api(asked(f"message {number}"))
            await log.put_ui(ClineMessage(ts=number, type="say", say="text", text="early"))
            await log.put_ui(ClineMessage(ts=number, type="say", say="text", text=f"message {number}"))
        await log.finish()
        folder = tmp_path / "contexts" / "completed" / log.task_id
        damage(folder / "messages.jsonl", b"message 90")
        damage(folder / "messages.jsonl", b"message 40")
        damage(folder / "ui_messages.jsonl", b"message 95")
        log = await store.resume(log.task_id)
        assert [r.seq async for r in log.api.iterate()] == [n for n in range(1, 101) if n not in (40, 90)]
        ui = {message.ts: message.text async for message in log.ui.iterate()}
        assert ui == {n: "early" if n == 95 else f"message {n}" for n in range(1, 101)}
        assert (await log.append_api(asked("next"))).seq == 101
        folder = tmp_path / "contexts" / "running" / log.task_id
        assert len(kept_aside(folder / "messages.jsonl")) == 2
        assert b"XXXX" in kept_aside(folder / "ui_messages.jsonl")[0].data
        await log.close()
        log = await store.resume(log.task_id)
        assert await log.api.count() == 99
        await asyncio.sleep(0)
        assert sorted((notice.stream, notice.damage) for notice in told) == [
            ("api", "corrupt"), ("api", "corrupt"), ("ui", "corrupt"),
        ]  # fmt: skip
        await store.stop()

    async def test_a_damaged_state_is_kept_and_the_task_goes_on(self, tmp_path: Path) -> None:
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            await log.append_api(asked("hi"))
            await log.finish()
            folder = tmp_path / "contexts" / "completed" / log.task_id
            (folder / "state.json").write_bytes(b"\0" * 50)
            (folder / "metadata.json").write_bytes(b"{")
            state = await (await store.view(log.task_id)).read_state()
            assert state.status == "failed" and state.error is not None
            log = await store.resume(log.task_id)
            assert (await log.append_api(asked("more"))).seq == 2
            folder = tmp_path / "contexts" / "running" / log.task_id
            assert [path.read_bytes() for path in folder.glob("state.json.corrupt-*")] == [b"\0" * 50]

    async def test_gzipped_tasks_are_read_and_resumed(self, tmp_path: Path) -> None:
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            for number in range(500):
                await log.append_api(asked(f"message {number}"))
                await log.put_ui(said(log, f"message {number}"))
            await log.finish()
            folder = tmp_path / "contexts" / "completed" / log.task_id
            for path in folder.glob("*.jsonl"):
                with gzip.open(path.with_name(path.name + ".gz"), "wb") as packed:
                    packed.write(path.read_bytes())
                path.unlink()
            reader = await store.view(log.task_id)
            assert [r.seq for r in await reader.api.newest(3)] == [498, 499, 500]
            assert [r.seq for r in await reader.api.page(before=100, limit=2)] == [98, 99]
            assert [m.text async for m in reader.ui.iterate()] == [f"message {n}" for n in range(500)]
            log = await store.resume(log.task_id)
            assert (await log.append_api(asked("more"))).seq == 501
            assert [r.seq for r in await reader.api.newest(2)] == [500, 501]
            assert not list((tmp_path / "contexts" / "running" / log.task_id).glob("*.gz"))

    async def test_a_damaged_archive_says_so(self, tmp_path: Path) -> None:
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            await log.append_api(asked("x" * 10_000))
            await log.finish()
            path = tmp_path / "contexts" / "completed" / log.task_id / "messages.jsonl"
            packed = gzip.compress(path.read_bytes())
            path.with_name(path.name + ".gz").write_bytes(packed[: len(packed) // 2])
            path.unlink()
            with pytest.raises(StorageUnavailable, match="backup"):
                await (await store.view(log.task_id)).api.newest()

    async def test_a_folder_deleted_in_mid_task_is_noticed_by_the_next_message(self, tmp_path: Path) -> None:
        async with self.store(tmp_path) as store:
            log = await store.create(NewTaskRecord())
            await log.append_api(asked("hi"))
            shutil.rmtree(tmp_path / "contexts" / "running" / log.task_id)
            with pytest.raises(StorageUnavailable):
                await log.append_api(asked("lost?"))
            assert log.paused is not None
            with pytest.raises(StorageUnavailable):
                await log.append_api(asked("lost?"))


def damage(path: Path, text: bytes) -> None:
    """Overwrite the beginning of the last line that holds the text."""
    data = bytearray(path.read_bytes())
    start = data.rindex(b"\n", 0, data.rindex(b'"' + text + b'"')) + 1
    data[start : start + 4] = b"XXXX"
    path.write_bytes(bytes(data))


def test_a_token_is_reckoned_at_four_characters_and_begun_ones_count() -> None:
    assert [estimated_tokens("a" * length) for length in (0, 1, 4, 5, 400)] == [0, 1, 1, 2, 100]
