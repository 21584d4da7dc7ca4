"""A restore leaves large arrays where they are in memory, but never where anybody else would see them change."""

from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.errors import Unavailable

from ._helpers.kernel_fixtures import kernel_setup

IMPORTED_IN_KERNELS = ("pandas",)

LARGE = "import numpy as np\nbig = np.arange(700_000.0)\n"
"""Six pieces of the store."""
WHERE = "big.ctypes.data, id(big)"


async def test_an_array_and_a_frame_are_changed_where_they_are_and_back_again(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(LARGE + "import pandas as pd\nframe = pd.DataFrame({'a': big + 1, 'b': big * 2})")
        where = f"{WHERE}, frame._mgr.blocks[0].values.ctypes.data"
        before, saved = await at.told(where), await at.save()
        await at.run("big[-1] = big[300_000] = -1; frame['c'] = 1.0")
        report = await at.restore(saved)
        assert await at.told("(big == np.arange(700_000)).all(), (frame.b == big * 2).all(), list(frame)") == (
            "True True ['a', 'b']"
        )
        assert await at.told(where) == before
        await at.restore(report.before)
        assert await at.told("big[-1], big[300_000], big[:-1].sum() == np.arange(699_999).sum() - 300_001") == (
            "-1.0 -1.0 True"
        )
        assert await at.told(f"list(frame), (frame.c == 1).all(), ({where}) == ({before.replace(' ', ', ')})") == (
            "['a', 'b', 'c'] True True"
        )
        # What the sweep after a restore has seen is what there is.
        await at.restore(saved)
        assert set((await at.plan(saved)).named("keep")) == {"big", "frame", "np", "pd"}


@pytest.mark.parametrize(
    ("also", "look"),
    [
        ("waits = (one[0] for one in [big])", "next(waits)"),
        ("waits = (one for one in big[:5])", "next(waits)"),
        ("_ = 0\nbig", "next(iter(Out.values()))[0]"),
        ("import weakref\nclass Box: pass\n_box = Box(); _box.big = memoryview(big)", "_box.big[0]"),
    ],
)
async def test_what_somebody_else_has_of_an_array_stays_as_it_is(tmp_path: Path, also: str, look: str) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(LARGE)
        saved = await at.save()
        await at.run("big[0] = 7", also)
        await at.restore(saved)
        assert await at.told(f"big[0], {look}") == "0.0 7.0"


async def test_while_a_thread_runs_arrays_are_made_anew(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(LARGE + "import threading")
        before, saved = await at.told("big.ctypes.data"), await at.save()
        await at.run("big[0] = 7; threading.Thread(target=lambda: threading.Event().wait(), daemon=True).start()")
        await at.restore(saved)
        assert await at.told(f"big[0], big.ctypes.data == {before}") == "0.0 False"


async def test_variables_that_are_left_keep_the_array_that_they_share(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(LARGE + "tied = big[:10]")
        saved = await at.save()
        await at.run("big[0] = 7; later = big")
        await at.restore(saved, leave=["tied"])
        assert await at.told("big[0], tied[0], 'later' in globals()") == "0.0 7.0 False"
        await at.run("big[0] = 8; later = {'it': big}")
        await at.restore(saved, leave=["later"])
        assert await at.told("big[0], tied[0], later['it'][0]") == "0.0 0.0 8.0"


async def test_arrays_are_as_they_were_where_a_restore_fails(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "eager.py").write_text(
        "class Eager:\n"
        "    def __setstate__(self, state):\n"
        "        state['big'][0] = 100\n"
        "        self.__dict__.update(state)\n"
        "        if state['fails']: raise RuntimeError('not today')\n"
    )
    async with kernel_setup(tmp_path) as at:
        await at.run(
            LARGE + "import eager\n"
            "one = eager.Eager(); one.big, one.fails = big + 1, True\n"
            "class Mine(eager.Eager): pass\n"
            "two = Mine(); two.big, two.fails = big + 1, True\n"
        )
        saved = await at.save()
        await at.run("big[0] = one.x = two.x = 7")
        for leave in ("one", "two"):
            with pytest.raises(Unavailable, match="not today"):
                await at.restore(saved, leave=[leave])
            assert await at.told("big[0], one.big[0], one.x, two.big[0], two.x") == "7.0 1.0 7 1.0 7"


async def test_a_sweep_holds_no_values_when_it_is_over(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run("import gc, weakref\ngc.disable()\nclass Node: pass\nnode = Node(); gone = weakref.ref(node)")
        await at.save()
        await at.run("del node")
        assert await at.told("gone()") == "None"
