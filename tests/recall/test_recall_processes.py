"""Two servers on one home, and a file that is damaged: nothing wrong is found, and what was lost is told."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from hdsp_agent.recall import OutdatedSources, RecallQuery

from ._helpers.samples import conversation, found, recall, said

pytestmark = pytest.mark.each_backend("files", "postgres")

ROOT = Path(__file__).resolve().parents[2]


async def test_two_processes_writing_at_once_lose_nothing(tmp_path: Path) -> None:
    processes = [await _start(tmp_path, name) for name in ("one", "two")]
    for process in processes:
        assert await _line(process) == b"ready\n"
    for process in processes:
        _tell(process)
    for process in processes:
        assert await _line(process) == b"done\n"
        _tell(process)
        assert await process.wait() == 0
    async with recall(tmp_path) as index:
        assert await found(index, "draft", limit=200) == []
        versions = {f"{name}{number}": "2" for name in ("one", "two") for number in range(20) if number % 5 != 4}
        outdated = await index.outdated("conversation", versions, owner="ana")
        assert outdated == OutdatedSources(frozenset(), frozenset({"shared"}))
        assert len(await found(index, "common knowledge", limit=200)) == 1


async def test_what_another_process_put_in_is_found_at_once(tmp_path: Path) -> None:
    async with recall(tmp_path) as mine, recall(tmp_path) as theirs:
        await theirs.put(conversation("t"), said("written next door"), "1")
        assert await found(mine, "next door") == ["written next door"]
        await theirs.remove("conversation", ["t"])
        assert await found(mine, "next door") == []


@pytest.mark.each_backend("files")
@pytest.mark.parametrize("table", ["recall_sources", "recall_passages", "recall_texts", "recall_words"])
async def test_a_damaged_file_is_made_anew_and_asks_to_be_filled(tmp_path: Path, table: str) -> None:
    import sqlite3

    async with recall(tmp_path) as index:
        await index.put(conversation("t"), said("kept elsewhere too"), "1")
    connection = sqlite3.connect(tmp_path / "state.db")
    connection.execute(f"DROP TABLE {table}")
    connection.close()
    async with recall(tmp_path) as index:
        before = index.generation
        await index.search(RecallQuery("kept", "ana"))
        await index.put(conversation("t"), said("kept elsewhere too"), "1")
        assert await found(index, "kept elsewhere") == ["kept elsewhere too"]
        assert index.generation > before
    assert list(tmp_path.glob("state.db.corrupt-*"))


@pytest.mark.each_backend("files")
async def test_a_file_of_garbage_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "state.db").write_bytes(b"no database" * 1000)
    async with recall(tmp_path) as index:
        assert (await index.outdated("conversation", {"t": "1"}, owner="ana")).stale == {"t"}


async def _start(home: Path, name: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.recall._helpers.recall_process", str(home), name, "20",
        cwd=ROOT, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip


async def _line(process: asyncio.subprocess.Process) -> bytes:
    assert process.stdout is not None
    return await process.stdout.readline()


def _tell(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    process.stdin.write(b"go\n")
