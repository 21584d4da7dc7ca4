"""A server that dies between the parts of a restore: what it left is known, and can be taken back or kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.checkpoints.files import stable_read
from hdsp_agent.checkpoints.timeline._restore import CheckpointRestore
from hdsp_agent.errors import Conflict
from tests._helpers.long_tests import rounds
from tests.persistence.test_crashes import unix

from ..files._helpers.crashing import Died, assert_whole_wherever_it_is_killed
from ._helpers.timeline_fixtures import CELLS, EVERYTHING, PATH, TimelineSetup, timeline_setup
from .test_restoring import Conversation, broken, is_broken, is_whole


@pytest.mark.in_short(1)
@unix
@pytest.mark.slow
@pytest.mark.parametrize(("what", "step", "least"), [("restore", rounds(17, 4), 40), ("recover", rounds(17, 7), 20)])
def test_a_restore_killed_anywhere_is_whole_or_can_be_rolled_back(
    quick_folder: Path, what: str, step: int, least: int
) -> None:
    assert_whole_wherever_it_is_killed("timeline._helpers.killed_restore", quick_folder, what, step, least)


@pytest.mark.in_short(1)
@unix
@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "step", "least"),
    [
        ("save", rounds(29, 9), 40),
        ("restore", rounds(43, 13), 80),
        ("recover", rounds(53, 19), 50),
        ("collect", rounds(59, 23), 60),
    ],
)
def test_files_cells_and_variables_are_whole_wherever_their_server_is_killed(
    quick_folder: Path, what: str, step: int, least: int
) -> None:
    assert_whole_wherever_it_is_killed("timeline._helpers.killed_with_variables", quick_folder, what, step, least)


class Deadly(Conversation):
    """The server dies when all but the conversation is back."""

    async def go_back(self, mark_id: str) -> None:
        raise Died


async def die(here: TimelineSetup, target: str, monkeypatch: pytest.MonkeyPatch, before: str | None = None) -> None:
    """Leave a restore behind of which all parts are done but the conversation, or those from ``before`` on."""

    async def nobody_is_left(*_: object) -> None:
        return None

    async def deadly(*_: object, **__: object) -> None:
        raise Died

    with monkeypatch.context() as patch:
        patch.setattr(CheckpointRestore, "_take_back", nobody_is_left)
        if before is not None:
            patch.setattr(CheckpointRestore, before, deadly)
        with pytest.raises(Died):
            await here.line.restore(target, EVERYTHING, conversation=Deadly())


@pytest.mark.in_short(1)
@pytest.mark.parametrize("before", [None, "_cells", "_values"])
async def test_all_that_was_done_is_rolled_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    async with timeline_setup(tmp_path) as here:
        target = await broken(here)
        await die(here, target, monkeypatch, before)
        assert here.csv == "x\n1\n"
        line = here.another_line()
        half = await line.interrupted()
        assert half is not None and half.parts is not None and half.status == "begun"
        view = await line.view()
        assert view.interrupted is not None and view.interrupted.id == half.id
        with pytest.raises(Conflict, match="interrupted"):
            await line.restore(target, CELLS)
        await line.recover("roll_back")
        assert await is_broken(here) and await line.interrupted() is None
        await line.restore(target, EVERYTHING)
        assert await is_whole(here)


async def test_what_was_done_can_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with timeline_setup(tmp_path) as here:
        target = await broken(here)
        await die(here, target, monkeypatch)
        line = here.another_line()
        await line.recover("keep")
        assert await is_whole(here) and await line.interrupted() is None


async def test_what_the_person_did_since_the_crash_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with timeline_setup(tmp_path) as here:
        target = await broken(here)
        await die(here, target, monkeypatch)
        await here.edit("two", "2", "since")
        await here.run("value.append('since')")
        await here.another_line().recover("roll_back")
        assert here.sources == ["a = broken", "b = since"] and here.csv == "gone\n"
        assert await here.value("value") == "[1, 2, 3, 'since']"


async def test_a_notebook_torn_by_the_crash_is_mended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with timeline_setup(tmp_path) as here:
        target = await broken(here)
        await die(here, target, monkeypatch)
        here.file.write_text(here.file.read_text("utf-8")[:100], "utf-8")
        monkeypatch.setattr(stable_read, "_RECENT_SECONDS", 0.5)
        await here.another_line().recover("roll_back")
        assert await is_broken(here)


async def test_a_restore_under_way_is_not_one_that_was_cut_short(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        target = await broken(here)
        other = here.another_line()
        seen: list[object] = []

        class Slow(Conversation):
            async def go_back(self, mark_id: str) -> None:
                seen.append(await other.interrupted())
                with pytest.raises(Conflict, match="being restored"):
                    await other.restore(target, CELLS)
                seen.append(await other.save("meanwhile"))
                await super().go_back(mark_id)

        await here.line.restore(target, EVERYTHING, conversation=Slow())
        assert seen[0] is None and len(seen) == 2
        assert await is_whole(here)
        view = await other.view()
        assert view.operations[0].kind == "save" and view.operations[0].checkpoint is not None
        restored = view.operations[1]
        assert restored.kind == "restore" and restored.status == "done" and restored.undoable
        assert restored.checkpoint is not None and restored.checkpoint.here, "the head is not where the workspace is"
        await other.undo()
        assert await is_broken(here)
        assert PATH in {
            path
            for one in (await other.view()).operations
            for path in (one.checkpoint.notebooks if one.checkpoint else ())
        }
