"""kill −9 in the middle of every phase, of the server's process and of the kernel; and the button that stops a cell."""

from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.checkpoints.variables import VariableManifest
from hdsp_agent.errors import Unavailable
from tests._helpers.long_tests import rounds
from tests.persistence.test_crashes import quick_folder, unix

from ..files._helpers.crashing import assert_whole_wherever_it_is_killed
from ._helpers.kernel_fixtures import KernelSetup, kernel_setup, watched

__all__ = ["quick_folder"]

MADE = (
    "import numpy as np\n"
    "class Point:\n    kind = 'first'\n"
    "points = [Point() for n in range(3000)]; big = np.arange(400_000); words = ['a']"
)
CHANGED = "Point.kind = 'second'; points.append(1); big[0] = 7; words.append('b'); later = 2"
TOLD = "(Point.kind, len(points), int(big[0]), words, 'later' in globals())"
FIRST = "('first', 3000, 0, ['a'], False)"
SECOND = "('second', 3001, 7, ['a', 'b'], True)"

ONCE = """exec('''
import os, signal, sys
at = sys.modules["_hdsp_agent_variables_runtime"]
*path, name = {where!r}.split(".")
for one in path:
    at = getattr(at, one)
original = getattr(at, name)
def once(*arguments, **options):
    setattr(at, name, original)
    found = original(*arguments, **options) if {after} else None
    os.kill(os.getpid(), signal.{signal})
    return found if {after} else original(*arguments, **options)
setattr(at, name, once)
''', {{}})"""
"""Has a signal sent before or after one thing the runtime does; the namespace is left as it is."""

SAVING = {
    "looking": ("_sweep.Sweeper.sweep", False),
    "pickled": ("_groups.save", True),
    "writing": ("_chunks.os.open", False),
    "written": ("_chunks.os.fsync", True),
    "naming": ("_chunks.os.replace", False),
    "named": ("_chunks.os.replace", True),
    "telling": ("answers.do_collect", False),
}
RESTORING = {
    "beginning": ("_restore.restore", False),
    "reading": ("_chunks.Chunks._read", True),
    "read": ("_objects.load", True),
    "classes": ("_restore._set", True),
    "putting": ("_restore._put", False),
    "put": ("_restore._put", True),
}


@pytest.mark.in_short(1)
@unix
@pytest.mark.slow
@pytest.mark.parametrize(("what", "least"), [("capture", 12), ("restore", 16)])
def test_variables_and_store_are_whole_wherever_the_server_is_killed(quick_folder: Path, what: str, least: int) -> None:
    assert_whole_wherever_it_is_killed("variables._helpers.killed_operation", quick_folder, what, rounds(3, 1), least)


async def _once(at: KernelSetup, where: str, after: bool, signal: str) -> None:
    code = ONCE.format(where=where, after=after, signal=signal)
    assert (await at.work.cell(code, store_history=False)).state == "ok"


async def _watched(at: KernelSetup, target: VariableManifest | None) -> None:
    """Go to the target, or save, until the kernel dies."""
    link = await at.link()
    async with watched(at.work):
        if target is None:
            await at.checkpoints.capture(link)
        else:
            await at.checkpoints.restore(target.id, link)


@pytest.mark.in_short(1)
@unix
@pytest.mark.slow
@pytest.mark.parametrize("what", ["capture", "restore"])
async def test_the_store_is_whole_wherever_the_kernel_is_killed(tmp_path: Path, what: str) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(MADE)
        first = await at.save()
        for phase, (where, after) in (SAVING if what == "capture" else RESTORING).items():
            # Something new each time, so that there is something to write.
            await at.run(CHANGED, f"big[1] = {len(phase)}{len(where)}")
            second = await at.save() if what == "restore" else None
            await _once(at, where, after, "SIGKILL")
            with pytest.raises(Unavailable):
                await _watched(at, first if second is not None else None)
            for manifest in at.store.manifests():
                assert at.store.missing(at.store.load(manifest)) == 0, phase
            await at.restart()
            if second is not None:
                await at.restore(second)
                assert await at.told(TOLD) == SECOND, phase
            await at.restore(first)
            assert await at.told(TOLD) == FIRST, phase


@pytest.mark.in_short(2)
@unix
@pytest.mark.parametrize("phase", RESTORING)
async def test_a_restore_that_somebody_stops_is_whole_or_nothing(tmp_path: Path, phase: str) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(MADE)
        first = await at.save()
        await at.run(CHANGED)
        second = await at.save()
        await _once(at, *RESTORING[phase], "SIGINT")
        try:
            await at.restore(first)
        except Unavailable as error:
            assert "KeyboardInterrupt" in str(error)
            assert await at.told(TOLD) == SECOND
        else:
            assert phase in ("putting", "put")
            assert await at.told(TOLD) == FIRST
        await at.restore(second)
        assert await at.told(TOLD) == SECOND
        await at.restore(first)
        assert await at.told(TOLD) == FIRST


@unix
async def test_a_capture_that_somebody_stops_is_none_and_the_next_misses_nothing(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(MADE)
        first = await at.save()
        await at.run(CHANGED)
        await _once(at, "_groups.save", True, "SIGINT")
        with pytest.raises(Unavailable, match="KeyboardInterrupt"):
            await at.save()
        assert at.store.manifests() == [first.id]
        second = await at.save(thorough=False)
        assert set(second.names) == {name for group in second.groups for name in group.names}
        await at.restore(first)
        assert await at.told(TOLD) == FIRST
        await at.restore(second)
        assert await at.told(TOLD) == SECOND


@unix
async def test_stopping_what_follows_a_cell_is_not_shown_to_its_person(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(MADE)
        await at.checkpoints.follow(await at.link())
        await _once(at, "_groups.save", True, "SIGINT")
        cell = await at.work.cell(CHANGED)
        assert (cell.state, cell.outputs.outputs) == ("ok", [])
        second = await at.save(thorough=False)
        await at.run("points = big = words = later = None")
        await at.restore(second)
        assert await at.told(TOLD) == SECOND
