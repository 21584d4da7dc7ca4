"""Quota, and what no quota drops."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hdsp_agent.checkpoints import AsyncFileCheckpoints, FileLimits
from hdsp_agent.errors import NotFound

from ._helpers.workspace_fixtures import assert_sound, git, picture, the_store, write


async def test_the_oldest_go_first_and_the_rest_can_still_be_restored(workspace: Path, store_dir: Path) -> None:
    checkpoints = AsyncFileCheckpoints(workspace, store_dir)
    write(workspace, {"same": os.urandom(50_000)})
    records, pictures = [], []
    for number in range(9):
        write(workspace, {"a": f"{number}" * 100, f"dir{number}/x": os.urandom(10_000)})
        records.append(await checkpoints.save(f"save {number}", changes_by="agent"))
        pictures.append(picture(workspace))
    checkpoints = AsyncFileCheckpoints(workspace, store_dir, FileLimits(checkpoints=5, kept_checkpoints=2))
    before = await checkpoints.statistics()
    after = await checkpoints.gc()
    assert before.wants_gc and not after.wants_gc
    assert (before.states, after.states) == (9, 5)
    assert [record.id for record in await checkpoints.list()] == [record.id for record in reversed(records[4:])]
    assert git(the_store(store_dir), "log", "--format=%s", "checkpoints").decode().split("\n")[0] == "save 8"
    assert_sound(store_dir, leftovers=True)
    with pytest.raises(NotFound, match="deleted to save space"):
        await checkpoints.restore(records[0].id)
    await checkpoints.restore(records[4].id)
    assert picture(workspace) == pictures[4]
    await checkpoints.undo()
    assert picture(workspace) == pictures[8]


async def test_space_comes_back_but_never_at_the_cost_of_the_newest(workspace: Path, store_dir: Path) -> None:
    checkpoints = AsyncFileCheckpoints(workspace, store_dir)
    for number in range(8):
        write(workspace, {"a": os.urandom(100_000)})
        await checkpoints.save(f"save {number}", changes_by="agent")
    checkpoints = AsyncFileCheckpoints(workspace, store_dir, FileLimits(quota_bytes=450_000, kept_checkpoints=3))
    assert (await checkpoints.statistics()).bytes > 800_000
    after = await checkpoints.gc()
    assert after.states == 4
    assert after.bytes < 450_000
    on_disk = sum(path.stat().st_size for path in (the_store(store_dir) / "objects" / "pack").iterdir())
    assert on_disk < 460_000
    write(workspace, {"a": os.urandom(600_000)})
    await checkpoints.save("huge", changes_by="agent")
    assert (await checkpoints.gc()).states == 3
    assert_sound(store_dir, leftovers=True)


async def test_what_an_undo_needs_is_never_dropped(workspace: Path, store_dir: Path) -> None:
    checkpoints = AsyncFileCheckpoints(workspace, store_dir, FileLimits(checkpoints=3, kept_checkpoints=3))
    write(workspace, {"a": "1"})
    first = await checkpoints.save("first")
    write(workspace, {"a": "2"})
    await checkpoints.save("second", changes_by="agent")
    done = await checkpoints.restore(first.id)
    for number in range(10):
        write(workspace, {"b": f"{number}"})
        await checkpoints.save("more", changes_by="agent")
    await checkpoints.gc()
    await checkpoints.close()
    # The three newest, and both ends of the restore.
    assert (await checkpoints.statistics()).states == 5
    await checkpoints.undo(done.id)
    assert (workspace / "a").read_text() == "2"
    assert_sound(store_dir, leftovers=True)


async def test_a_server_notices_that_another_packed_the_store_anew(workspace: Path, store_dir: Path) -> None:
    limits = FileLimits(checkpoints=2, kept_checkpoints=1)
    one, two = (AsyncFileCheckpoints(workspace, store_dir, limits) for _ in range(2))
    write(workspace, {"keep/a": "1", "b": "1"})
    await one.save("first")
    (workspace / "keep").rename(workspace / "away")
    for number in range(5):
        write(workspace, {"b": f"{number} two"})
        await two.save("more", changes_by="agent")
    await two.gc()
    await two.close()
    (workspace / "away").rename(workspace / "keep")
    record = await one.save("after")
    await one.close()
    assert git(the_store(store_dir), "show", f"{record.commit}:keep/a") == b"1"
    assert_sound(store_dir, leftovers=True)


async def test_saving_tidies_up_by_itself(workspace: Path, store_dir: Path) -> None:
    checkpoints = AsyncFileCheckpoints(workspace, store_dir, FileLimits(checkpoints=20, kept_checkpoints=2))
    for number in range(45):
        write(workspace, {"a": f"{number}"})
        await checkpoints.save("next", changes_by="agent")
    await checkpoints.close()
    assert (await checkpoints.statistics()).states <= 30
    assert_sound(store_dir, leftovers=True)


async def test_tidying_waits_until_nothing_is_asked_for_a_moment(
    workspace: Path, store_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hdsp_agent.checkpoints.files.async_file_checkpoints._PAUSE_SECONDS", 1.0)
    checkpoints = AsyncFileCheckpoints(workspace, store_dir, FileLimits(checkpoints=5, kept_checkpoints=2))
    for number in range(20):
        write(workspace, {"a": f"{number}"})
        await checkpoints.save("next", changes_by="agent")
        if checkpoints._tidying is not None:
            break
    tidying = checkpoints._tidying
    assert tidying is not None and not tidying.done()
    assert (await checkpoints.statistics()).states == number + 1
    await tidying
    assert (await checkpoints.statistics()).states == 5
    await checkpoints.close()


async def test_many_small_packs_become_few(workspace: Path, store_dir: Path) -> None:
    checkpoints = AsyncFileCheckpoints(workspace, store_dir)
    for number in range(70):
        write(workspace, {"a": f"{number}"})
        await checkpoints.save("next", changes_by="agent")
    await checkpoints.close()
    statistics = await checkpoints.statistics()
    assert (statistics.states, statistics.wants_gc) == (70, False)
    assert statistics.packs < 20
    assert_sound(store_dir, leftovers=True)


async def test_two_servers_save_at_once_without_losing_anything(workspace: Path, store_dir: Path) -> None:
    import asyncio

    servers = [AsyncFileCheckpoints(workspace, store_dir) for _ in range(3)]

    async def work(number: int, server: AsyncFileCheckpoints) -> list[str]:
        ids = []
        for turn in range(5):
            write(workspace, {f"{number}.txt": f"{turn}"})
            ids.append((await server.save(f"{number} {turn}", message_ts=number * 100 + turn)).id)
        return ids

    ids = await asyncio.gather(*(work(number, server) for number, server in enumerate(servers)))
    known = [record.id for record in await AsyncFileCheckpoints(workspace, store_dir).list()]
    assert sorted(known) == sorted(one for some in ids for one in some)
    assert [done.seq for done in await servers[0].operations()] == list(range(15, 0, -1))
    assert_sound(store_dir, leftovers=True)


async def test_a_quota_that_becomes_smaller_holds_from_the_next_save_on(workspace: Path, store_dir: Path) -> None:
    checkpoints = AsyncFileCheckpoints(workspace, store_dir, FileLimits(kept_checkpoints=2))
    for number in range(6):
        write(workspace, {"data.bin": os.urandom(100_000)})
        await checkpoints.save(f"{number}")
    assert len(await checkpoints.list()) == 6
    checkpoints.set_limits(FileLimits(quota_bytes=250_000, kept_checkpoints=2))
    await checkpoints.save("look")
    await checkpoints.close()
    assert len(await checkpoints.list()) == 2
    assert (await checkpoints.statistics()).bytes <= 250_000
