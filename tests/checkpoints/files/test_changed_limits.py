"""Limits that change: the same content is the same whether it is kept in a pack or, as a large file, beside them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hdsp_agent.checkpoints import AsyncFileCheckpoints, FileLimits
from hdsp_agent.checkpoints.files.records import Changed
from hdsp_agent.checkpoints.files.restoration import Restoration

from ._helpers.crashing import Died
from ._helpers.workspace_fixtures import assert_sound, picture, the_store, write

PACKED = FileLimits(file_bytes=1_000_000, touched_file_bytes=2_000_000, cloned_bytes=0)
BESIDE = FileLimits(file_bytes=100_000, touched_file_bytes=2_000_000, cloned_bytes=0)
both_ways = pytest.mark.parametrize(("old", "new"), [(PACKED, BESIDE), (BESIDE, PACKED)], ids=["lowered", "raised"])


@both_ways
@pytest.mark.parametrize("same_server", [False, True])
async def test_what_was_saved_before_is_restored_and_that_is_undone(
    workspace: Path, store_dir: Path, old: FileLimits, new: FileLimits, *, same_server: bool
) -> None:
    files = AsyncFileCheckpoints(workspace, store_dir, old)
    write(workspace, {"a": "1", "data": b"1" * 300_000, "gone": b"g" * 300_000})
    before = picture(workspace)
    first = await files.save("first", touching=["data", "gone"])
    write(workspace, {"a": "2", "data": b"2" * 300_000})
    (workspace / "gone").unlink()
    after = picture(workspace)
    second = await files.save("second", changes_by="agent")
    if same_server:
        files.set_limits(new)
    else:
        files = AsyncFileCheckpoints(workspace, store_dir, new)
        await files.save("seen", touching=["data", "gone"])
    await files.restore(first.id)
    assert picture(workspace) == before
    await files.undo()
    assert picture(workspace) == after
    await files.restore(first.id)
    third = await files.save("third", changes_by="agent")
    files = AsyncFileCheckpoints(workspace, store_dir, old)
    await files.save("seen", touching=["data", "gone"])
    await files.restore(second.id)
    assert picture(workspace) == after
    await files.restore(third.id)
    assert picture(workspace) == before
    assert_sound(store_dir)


@both_ways
async def test_an_unchanged_file_is_no_change_of_anybody(
    workspace: Path, store_dir: Path, old: FileLimits, new: FileLimits
) -> None:
    write(workspace, {"a": "1", "data.csv": b"1" * 300_000, "moved": b"m" * 300_000})
    first = await AsyncFileCheckpoints(workspace, store_dir, old).save("first", touching=["data.csv", "moved"])
    (workspace / "moved").rename(workspace / "there")
    files = AsyncFileCheckpoints(workspace, store_dir, new)
    second = await files.save("second", touching=["data.csv", "moved", "there"], changes_by="agent")
    assert second.changed == Changed(files=2)
    (change,) = (await files.diff(first.id, second.id)).files
    assert (change.path, change.change) == ("there", "renamed")
    write(workspace, {"a": "2"})
    os.utime(workspace / "data.csv", ns=(10**18, 10**18))
    third = await files.save("third", touching=["there"], changes_by="agent")
    (change,) = (await files.diff(second.id, third.id)).files
    assert change.path == "a"
    (workspace / "data.csv").chmod(0o600)
    fourth = await files.save("fourth", changes_by="agent")
    found = {change.path: change.change for change in (await files.diff(first.id, fourth.id)).files}
    assert found == {"a": "modified", "data.csv": "attributes", "there": "renamed"}
    plan = await files.plan_restore(first.id)
    assert (plan.conflicts, plan.left) == ((), ())
    changes = {change.path: change.action for change in plan.changes}
    assert changes == {"a": "overwrite", "data.csv": "attributes", "moved": "create", "there": "delete"}


@both_ways
async def test_what_a_person_changed_is_still_asked_about(
    workspace: Path, store_dir: Path, old: FileLimits, new: FileLimits
) -> None:
    write(workspace, {"data": b"1" * 300_000})
    first = await AsyncFileCheckpoints(workspace, store_dir, old).save("first", touching=["data"])
    write(workspace, {"data": b"2" * 300_000})
    files = AsyncFileCheckpoints(workspace, store_dir, new)
    plan = await files.plan_restore(first.id)
    assert [change.path for change in plan.conflicts] == ["data"]
    await files.restore(first.id)
    assert (workspace / "data").read_bytes() == b"2" * 300_000


@both_ways
async def test_a_half_restore_is_rolled_back_under_other_limits(
    workspace: Path, store_dir: Path, monkeypatch: pytest.MonkeyPatch, old: FileLimits, new: FileLimits
) -> None:
    files = AsyncFileCheckpoints(workspace, store_dir, old)
    names = ["a", "b", "c"]
    write(workspace, dict.fromkeys(names, b"1" * 300_000))
    first = await files.save("before", touching=names)
    write(workspace, dict.fromkeys(names, b"2" * 300_000))
    after = picture(workspace)
    await files.save("after", changes_by="agent")
    real = os.replace

    def replace(source: bytes, target: bytes, **folders: int) -> None:
        if target == b"c":
            raise Died
        real(source, target, **folders)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace)
        patch.setattr(Restoration, "roll_back", lambda self: (_ for _ in ()).throw(Died()))
        with pytest.raises(Died):
            await files.restore(first.id)
    assert (workspace / "a").read_bytes() == b"1" * 300_000
    later = AsyncFileCheckpoints(workspace, store_dir, new)
    done = await later.recover("roll_back")
    assert done is not None and (done.kind, done.kept) == ("recovery", 0)
    assert picture(workspace) == after
    assert await later.interrupted() is None


async def test_two_servers_with_different_limits_restore_what_the_other_saved(workspace: Path, store_dir: Path) -> None:
    one, other = AsyncFileCheckpoints(workspace, store_dir, PACKED), AsyncFileCheckpoints(workspace, store_dir, BESIDE)
    states = []
    for number, server in enumerate((one, other, one, other)):
        write(workspace, {"data": b"%d" % number * 300_000, "a": f"{number}"})
        states.append((await server.save("next", touching=["data"], changes_by="agent"), picture(workspace)))
        # The other server's look at what nobody changed.
        seen = await (other if server is one else one).save("seen", touching=["data"], changes_by="agent")
        assert seen.id == states[-1][0].id or seen.changed == Changed()
    for record, there in (*states, *reversed(states)):
        for server in (one, other):
            await server.restore(record.id)
            assert picture(workspace) == there
    assert_sound(store_dir)


async def test_what_could_not_be_kept_afterwards_is_left_and_everything_else_restored(
    workspace: Path, store_dir: Path
) -> None:
    write(workspace, {"a": "1", "gone": b"g" * 300_000, "short": b"s" * 300_000})
    first = await AsyncFileCheckpoints(workspace, store_dir, PACKED).save("first")
    write(workspace, {"a": "2", "short": "2"})
    (workspace / "gone").unlink()
    after = picture(workspace)
    files = AsyncFileCheckpoints(
        workspace, store_dir, FileLimits(file_bytes=1000, touched_file_bytes=2000, cloned_bytes=0)
    )
    await files.save("second", changes_by="agent")
    plan = await files.plan_restore(first.id)
    assert [change.path for change in plan.changes] == ["a"]
    assert [(left.path, left.reason) for left in plan.left] == [("gone", "too_large"), ("short", "too_large")]
    await files.restore(first.id)
    assert (workspace / "a").read_text() == "1" and not (workspace / "gone").exists()
    await files.undo()
    assert picture(workspace) == after


async def test_what_cannot_be_compared_counts_as_another_content(
    workspace: Path, store_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(workspace, {"a": "1", "data": os.urandom(300_000)})
    first = await AsyncFileCheckpoints(workspace, store_dir, PACKED).save("first")
    (pack,) = (the_store(store_dir) / "objects" / "pack").glob("*.pack")
    data = bytearray(pack.read_bytes())
    for place in range(20_000, 280_000, 1000):
        data[place] ^= 0xFF
    pack.write_bytes(data)
    files = AsyncFileCheckpoints(workspace, store_dir, BESIDE)
    assert (await files.save("second", touching=["data"], changes_by="agent")).changed == Changed(files=1)
    write(workspace, {"a": "2"})
    third = await files.save("third", changes_by="agent")
    assert third.changed == Changed(files=1)
    assert [change.path for change in (await files.plan_restore(first.id)).changes] == ["a", "data"]
    assert "could not be compared" in caplog.text
