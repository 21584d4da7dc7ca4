"""Restores are whole, refused with a reason, and taken back."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from hdsp_agent.checkpoints.variables import VariableCheckpoints, VariableStore, user_key
from hdsp_agent.errors import Conflict, NotAllowed, NotFound, StorageUnavailable, Unavailable, Unsupported

from ...notebooks.kernels._helpers.executors import NOTEBOOK, until
from ._helpers.kernel_fixtures import kernel_setup, watched


async def test_a_restore_is_taken_back_by_what_was_before(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run("a = [1]; b = {'x': 1}; same = 'as ever'")
        saved = await at.save()
        await at.run("a.append(2); del b; c = 3; import json")
        report = await at.restore(saved)
        assert (set(report.loaded), set(report.removed), report.kept) == ({"a", "b"}, {"c", "json"}, ("same",))
        assert await at.told("a, b, 'c' in globals(), 'json' in globals()") == "[1] {'x': 1} False False"
        undone = await at.restore(report.before)
        assert await at.told("a, 'b' in globals(), c, json.dumps(1)") == "[1, 2] False 3 1"
        await at.restore(undone.before)
        assert await at.told("a") == "[1]"


async def test_what_is_right_already_stays_the_same_object(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run("import numpy as np\nbig = np.zeros(100_000); other = [1]\nclass Box: pass\nbox = Box()")
        saved = await at.save()
        before = await at.told("id(big), id(Box), id(box)")
        await at.run("other.append(2)")
        assert (await at.restore(saved)).loaded == ("other",)
        assert await at.told("id(big), id(Box), id(box)") == before


async def test_some_can_be_restored_and_some_be_left(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run("a = [1]; tied = a; b = [1]; c = [1]")
        saved = await at.save()
        await at.run("a.append(2); b.append(2); c.append(2); later = 1; _hidden = 2")
        assert set((await at.restore(saved, leave=["b", "c", "later"])).loaded) == {"a", "tied"}
        assert await at.told("a, tied is a, b, later") == "[1] True [1, 2] 1"
        await at.restore(saved, leave=["b", "later"])
        assert await at.told("b, c, later, _hidden") == "[1, 2] [1] 1 2"


async def test_what_came_since_and_cannot_be_saved_stays(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run("a = [1]; tied = a; b = 1; c = (n for n in 'then'); module = 1")
        saved = await at.save()
        await at.run(
            "a = (n for n in range(3)); tied = [2]; b = 2; c = (n for n in 'now'); model = (n for n in range(5))"
        )
        await at.run("import json; module = json; later = 1")
        report = await at.restore(saved)
        assert set(report.kept_unsaved) == {"a", "c", "model"}
        assert (set(report.loaded), set(report.removed)) == ({"tied", "b", "module"}, {"json", "later"})
        assert await at.told("next(a), tied, b, next(c), next(model), module") == "0 [1] 1 n 0 1"
        undone = await at.restore(report.before)
        assert {"a", "c", "model"} <= set(undone.kept_live)
        assert await at.told("next(a), tied, b, next(c), next(model), module is json") == "1 [2] 2 o 1 True"


async def test_what_cannot_be_saved_is_replaced_only_if_that_is_said(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run("a = [1]")
        saved = await at.save()
        await at.run("a = (n for n in range(3)); model = (n for n in range(5))")
        link = await at.link()
        plan = await at.checkpoints.plan(saved.id, link)
        assert {one.name: (one.action, one.type) for one in plan.variables} == {
            "a": ("keep_unsaved", "generator"),
            "model": ("keep_unsaved", "generator"),
        }
        assert all(one.why for one in plan.variables)
        plan = await at.checkpoints.plan(saved.id, link, overwrite=True)
        assert {one.name: one.action for one in plan.variables} == {"a": "load", "model": "remove"}
        await at.restore(saved, overwrite=True)
        assert await at.told("a, 'model' in globals()") == "[1] False"


async def test_nothing_changes_where_something_cannot_be_read(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(
            "class Moody:\n    fails = False\n    def __setstate__(self, state):\n"
            "        if open_sesame: raise RuntimeError('not today')\n"
            "moody = Moody(); moody.x = 1; a = [1]; open_sesame = True"
        )
        saved = await at.save()
        await at.run("moody.x = 2; a.append(2); b = 3")
        with pytest.raises(
            Unavailable, match="moody cannot be restored, so nothing was changed: RuntimeError: not today"
        ):
            await at.restore(saved)
        assert await at.told("moody.x, a, b") == "2 [1, 2] 3"
        await at.restore(saved, leave=["moody"])
        assert await at.told("moody.x, a, 'b' in globals()") == "2 [1] False"


async def test_a_cell_that_ran_in_between_is_a_conflict(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run("a = [1]")
        saved = await at.save()
        await at.run("a.append(2)")
        plan = await at.plan(saved)
        assert [(one.name, one.action) for one in plan.variables] == [("a", "load")]
        await at.run("a.append(3)")
        with pytest.raises(Conflict):
            await at.restore(saved, expected=plan)
        assert await at.told("a") == "[1, 2, 3]"
        await at.restore(saved, expected=await at.plan(saved))
        assert await at.told("a") == "[1]"


async def test_a_busy_kernel_is_not_waited_for_longer_than_is_said(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run("a = [1]")
        saved = await at.save()
        await at.run("a.append(2)")
        running = asyncio.create_task(at.work.run("import time; time.sleep(50)"))
        await until(lambda: any(run.cells[0].state == "running" for run in at.work.executor.runs()))
        begun: list[str] = []
        with pytest.raises(Conflict, match="is busy, so nothing was restored"):
            await asyncio.wait_for(at.restore(saved, within=0.2, begins=begun.append), 45)
        assert not begun
        await at.work.executor.interrupt(NOTEBOOK)
        await running
        report = await at.restore(saved, within=30, begins=begun.append)
        assert begun == [report.before] and await at.told("a") == "[1]"


async def test_another_python_or_another_pandas_is_refused_with_the_reason(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run("import pandas as pd\ndf = pd.DataFrame({'a': [1]}); n = 1")
        saved = await at.save()
        await at.run("df = None; n = 2")
        other = saved.environment.model_copy(update={"python": "3.7"})
        at.store.keep(saved.model_copy(update={"id": "a" * 16, "environment": other}))
        with pytest.raises(Unsupported, match=r"were saved in CPython 3\.7, and this kernel is CPython 3\."):
            await at.restore("a" * 16)
        libraries = {**saved.environment.libraries, "pandas": "1.5.3"}
        other = saved.environment.model_copy(update={"libraries": libraries})
        at.store.keep(saved.model_copy(update={"id": "b" * 16, "environment": other}))
        with pytest.raises(Unsupported, match=r"saved with pandas 1\.5\.3, and this kernel has pandas"):
            await at.restore("b" * 16)
        assert await at.told("df, n") == "None 2"


async def test_a_store_of_another_user_is_refused(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run("a = 1")
        saved = await at.save()
        stranger = VariableCheckpoints(VariableStore(at.store.folder, b"the key of somebody else"))
        with pytest.raises(NotAllowed, match="was not made by this user"):
            await stranger.restore(saved.id, await at.link())
        copied = shutil.copytree(at.store.folder, tmp_path / "copied")
        own = VariableCheckpoints(VariableStore(copied, user_key(tmp_path / "keys" / "own")))
        with pytest.raises(NotAllowed, match="someone else wrote, so it is not loaded"):
            await own.restore(saved.id, await at.link())
        path = at.store.folder / "manifests" / f"{saved.id}.json"
        outer = json.loads(path.read_text(encoding="utf-8"))
        outer["manifest"] = outer["manifest"].replace('"a"', '"b"')
        path.write_text(json.dumps(outer), encoding="utf-8")
        with pytest.raises(NotAllowed):
            await at.restore(saved)
        path.write_text("{", encoding="utf-8")
        with pytest.raises(StorageUnavailable):
            await at.restore(saved)
        with pytest.raises(NotFound):
            await at.restore("0" * 16)
        assert await at.told("a") == "1"


async def test_a_damaged_piece_is_noticed_before_anything_is_read_from_it(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run("import numpy as np\na = np.arange(10_000); b = 1")
        saved = await at.save()
        piece = next(path for path in at.store.pieces.rglob("*") if path.is_file())
        good = piece.read_bytes()
        piece.write_bytes(good[:-1] + b"\1")
        await at.run("a[0] = 5; b = 2")
        with pytest.raises(Unavailable, match="is not what it was when it was written"):
            await at.restore(saved)
        piece.unlink()
        with pytest.raises(StorageUnavailable, match="no longer exist"):
            await at.restore(saved)
        assert await at.told("int(a[0]), b") == "5 2"
        piece.write_bytes(good)
        await at.restore(saved)
        assert await at.told("int(a[0]), b") == "0 1"


async def test_a_full_disk_saves_nothing_and_says_so(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run("import numpy as np, resource\na = np.arange(10); big = np.arange(400_000)")
        # No file may be larger than this: the pieces of the array cannot be written.
        await at.run("resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))")
        with pytest.raises(StorageUnavailable, match="could not be written"):
            await at.save()
        assert at.store.manifests() == []
        assert [path for path in at.store.pieces.rglob("*.part")] == []
        await at.run("resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)")
        saved = await at.save()
        await at.run("big[0] = 9; a = None")
        await at.restore(saved)
        assert await at.told("int(big[0]), a[1]") == "0 1"


async def test_a_kernel_that_vanishes_leaves_no_half_checkpoint(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run("a = [1]")
        saved = await at.save()
        await at.run(
            "import os\nclass Deadly:\n    def __reduce__(self): os._exit(1)\n",
            "big = [bytes(3_000_000)]; deadly = Deadly()",
        )
        link = await at.link()
        with pytest.raises(Unavailable):
            async with watched(at.work):
                await at.checkpoints.capture(link)
        assert at.store.manifests() == [saved.id]
        await at.restart()
        await at.restore(saved)
        assert await at.told("a") == "[1]"


async def test_what_nobody_needs_is_dropped_and_kernels_write_it_again(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run("import numpy as np\na = np.arange(100_000)")
        first = await at.save()
        await at.run("a = a * 2")
        second = await at.save()
        size = at.store.size()
        at.store.collect([second.id], spared_seconds=0)
        assert at.store.size() < size
        with pytest.raises(NotFound):
            await at.restore(first)
        await at.run("a = np.arange(100_000)")
        third = await at.save()
        assert at.store.missing(third) == 0
        # Behind everybody's back: the kernel is asked to write it again.
        for path in [path for path in at.store.pieces.rglob("*") if path.is_file()]:
            path.unlink()
        fourth = await at.save()
        assert at.store.missing(fourth) == 0


async def test_of_a_parent_only_its_cells_are_kept(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.save()
        await at.run("import numpy as np\nfile = open('f', 'w')\na = np.arange(100_000)")
        first = await at.save()
        await at.run("a = a * 2")
        second = await at.save()
        whole = at.store.size()
        # What was just written goes too, if nobody needs it.
        at.store.collect([second.id], [first.id])
        assert at.store.size() < whole
        with pytest.raises(NotFound, match="deleted to make room"):
            await at.restore(first)
        await at.restart()
        report = await at.restore(second)
        assert report.lost == ("file",)
        assert ["file = open" in (cell.source or "") for cell in report.rerun.cells] == [True]
        assert await at.told("int(a[2])") == "4"


def test_a_users_key_is_made_once_and_is_theirs_alone(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "variables"
    key = user_key(path)
    assert len(key) == 32
    assert user_key(path) == key
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]
