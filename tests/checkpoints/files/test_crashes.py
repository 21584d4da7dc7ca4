"""kill −9 in the middle of every phase."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hdsp_agent.checkpoints import AsyncFileCheckpoints
from hdsp_agent.checkpoints.files.restoration import Restoration
from hdsp_agent.errors import Conflict
from tests._helpers.long_tests import rounds
from tests.persistence.test_crashes import unix

from ._helpers.crashing import Died, assert_whole_wherever_it_is_killed
from ._helpers.workspace_fixtures import picture, write


@pytest.mark.in_short(1)
@unix
@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "step", "least"),
    [
        ("save", rounds(4, 2), 15),
        ("restore", rounds(9, 3), 100),
        ("recover", rounds(23, 7), 100),
        ("collect", rounds(13, 7), 40),
    ],
)
def test_an_operation_killed_anywhere_is_whole_or_can_be_rolled_back(
    quick_folder: Path, what: str, step: int, least: int
) -> None:
    assert_whole_wherever_it_is_killed("files._helpers.killed_operation", quick_folder, what, step, least)


async def die_half_way(
    checkpoints: AsyncFileCheckpoints, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[bytes, object]:
    """Leave a half restore behind: a and b are back, c and the deletion of new are not."""
    write(workspace, {"a": "1", "b": "1", "c": "1"})
    first = await checkpoints.save("before")
    write(workspace, {"a": "2", "b": "2", "c": "2", "new": "2"})
    await checkpoints.save("after", changes_by="agent")
    there: dict[bytes, object] = dict(picture(workspace))
    real = os.replace

    def replace(source: bytes, target: bytes, **folders: int) -> None:
        if target == b"c":
            raise Died
        real(source, target, **folders)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace)
        patch.setattr(Restoration, "roll_back", lambda self: (_ for _ in ()).throw(Died()))
        with pytest.raises(Died):
            await checkpoints.restore(first.id)
    assert (workspace / "a").read_text() == "1"
    return there


async def test_a_half_restore_is_offered_to_be_rolled_back(
    checkpoints: AsyncFileCheckpoints, workspace: Path, store_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await die_half_way(checkpoints, workspace, monkeypatch)
    later = AsyncFileCheckpoints(workspace, store_dir)
    half = await later.interrupted()
    assert half is not None and half.status == "begun" and half.target is not None
    with pytest.raises(Conflict, match="interrupted"):
        await later.restore(half.target)
    done = await later.recover("roll_back")
    assert done is not None and done.kind == "recovery"
    assert picture(workspace) == before
    assert await later.interrupted() is None
    assert await later.recover("roll_back") is None
    await later.restore(half.target)
    assert (workspace / "c").read_text() == "1"


async def test_a_half_restore_can_be_kept_as_it_is(
    checkpoints: AsyncFileCheckpoints, workspace: Path, store_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await die_half_way(checkpoints, workspace, monkeypatch)
    later = AsyncFileCheckpoints(workspace, store_dir)
    done = await later.recover("keep")
    assert done is not None and done.status == "left"
    assert [(workspace / name).read_text() for name in ("a", "b", "c", "new")] == ["1", "1", "2", "2"]
    assert sorted(os.listdir(workspace)) == ["a", "b", "c", "new"]
    assert await later.interrupted() is None


async def test_what_the_person_wrote_after_the_crash_is_not_rolled_back(
    checkpoints: AsyncFileCheckpoints, workspace: Path, store_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await die_half_way(checkpoints, workspace, monkeypatch)
    write(workspace, {"b": "mine", "other": "mine"})
    later = AsyncFileCheckpoints(workspace, store_dir)
    # The agent's first look after the crash must not make it the agent's.
    await later.save("next")
    done = await later.recover("roll_back")
    assert done is not None and done.kept == 2
    values = [(workspace / name).read_text() for name in ("a", "b", "c", "new", "other")]
    assert values == ["2", "mine", "2", "2", "mine"]
