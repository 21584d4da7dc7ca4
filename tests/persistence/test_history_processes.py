"""Two servers on one home: nothing is lost, and each soon sees what the other did."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hdsp_agent.persistence.history._index import HistoryChange
from hdsp_agent.persistence.history._query import HistoryQuery

from .._helpers.forked_python import forked_python
from .._helpers.long_tests import rounds
from .._helpers.timing import until
from ._helpers.history_samples import eventually, found, history, task

ROOT = Path(__file__).resolve().parents[2]


@asynccontextmanager
async def neighbour(home: Path, name: str, count: int) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        forked_python(), "-m", "tests.persistence._helpers.history_process", str(home), name, str(count),
        cwd=ROOT, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert await line(process) == b"ready\n"
        yield process
    finally:
        if process.returncode is None:
            await tell(process)
        assert await process.wait() == 0


async def line(process: asyncio.subprocess.Process) -> bytes:
    assert process.stdout is not None
    return await asyncio.wait_for(process.stdout.readline(), 60)


async def tell(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    process.stdin.write(b"go\n")
    await process.stdin.drain()


@pytest.mark.each_backend("files", "postgres")
async def test_two_processes_starting_and_writing_at_once_lose_nothing(tmp_path: Path) -> None:
    async with neighbour(tmp_path, "one", 40) as one, neighbour(tmp_path, "two", 40) as two:
        await asyncio.gather(tell(one), tell(two))
        assert list(await asyncio.gather(line(one), line(two))) == [b"done\n", b"done\n"]
    async with history(tmp_path) as index:
        expected = {f"{name}{n}" for name in ("one", "two") for n in range(40) if n % 10 != 9}
        assert set(await found(index, limit=500)) == expected | {"shared"}
        shared = await index.get("shared")
        assert shared is not None
        assert (shared.item.mode, shared.item.workspace) == ("one", "two"), "fields of one must survive the other"
        assert (await index.search(HistoryQuery("one이 쓴"))).total == 36
        assert await index.problems() == []


@pytest.mark.long
@pytest.mark.each_backend("files", "postgres")
async def test_what_another_process_does_is_reported(tmp_path: Path) -> None:
    changes: list[HistoryChange] = []
    async with history(tmp_path, on_change=changes.append, poll_seconds=0.5) as index:
        await index.upsert(task("mine"))
        async with neighbour(tmp_path, "one", 10) as one:
            await asyncio.sleep(1.5)
            changes.clear()  # making its own connection may count as a change
            await tell(one)
            assert await line(one) == b"done\n"
            await until(
                # Who hears at once may hear of what is gone a moment later, too.
                lambda: (
                    {item.id for change in changes for item in change.changed} - {"one9"}
                    == {f"one{n}" for n in range(9)} | {"shared"}
                )
            )
            await until(lambda: {name for change in changes for name in change.removed} == {"one9"})
            assert not any(change.everything for change in changes)
            changes.clear()
            await index.upsert(task("mine", ts=2))
            await index.delete("one0")
            await asyncio.sleep(1.0)
            assert changes == [], "what this process did itself is no news"


@pytest.mark.each_backend("files", "postgres")
async def test_a_process_that_is_killed_while_writing_leaves_a_history_that_works(tmp_path: Path) -> None:
    async with history(tmp_path) as index:
        for delay in (0.05, 0.1, 0.2)[: rounds(1, 3)]:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "tests.persistence._helpers.history_process", str(tmp_path), "one", "100000",
                cwd=ROOT, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            )  # fmt: skip
            assert await line(process) == b"ready\n"
            before = set(await index.ids())
            await tell(process)
            await asyncio.sleep(delay)
            process.kill()
            await process.communicate()
            await index.upsert(task(f"after{delay}"))
            # It takes every tenth of its own away.
            kept = {name for name in before if not (name.startswith("one") and name.endswith("9"))}
            assert {*kept, f"after{delay}"} <= set(await index.ids())
        assert await index.problems() == []


async def test_when_one_process_makes_a_damaged_file_anew_the_other_follows(tmp_path: Path) -> None:
    changes: list[HistoryChange] = []
    async with history(tmp_path, on_change=changes.append) as here, history(tmp_path) as there:
        await here.upsert(task("before"))
        (tmp_path / "state.db").rename(tmp_path / "elsewhere.db")
        await there.upsert(task("there"))
        await here.upsert(task("here"))
        assert sorted(await found(here)) == sorted(await found(there)) == ["here", "there"]
        await eventually(lambda: _said_everything(changes))


async def _said_everything(changes: list[HistoryChange]) -> bool:
    return any(change.everything for change in changes)
