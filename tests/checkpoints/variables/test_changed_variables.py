"""Changes that no cell's text shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.checkpoints.variables import VariableLimits

from ._helpers.kernel_fixtures import kernel_setup

MADE = (
    "import threading, time, numpy as np\n"
    "big = np.zeros(3_000_000); items = list(range(200_000)); deep = [{'n': n} for n in range(60_000)]\n"
    "class Holder:\n"
    "    def touch(self): deep[5]['n'] = -1\n"
    "holder = Holder(); table = {'go': lambda: big.__setitem__(0, 1)}; bound = items.append\n"
    "def outer(): inner()\n"
    "def inner(): deep.append(1)\n"
    "def stepping():\n"
    "    yield 1\n"
    "    items[3] = 'stepped'\n"
    "    yield 2\n"
    "steps = stepping(); next(steps)\n"
    "name = 'big'"
)
CHANGES = {
    "a method": ("holder.touch()", "deep[5]['n']", "-1"),
    "a lambda in a dictionary": ("table['go']()", "big[0]", "1.0"),
    "a bound method": ("bound('more')", "items[-1]", "more"),
    "a function called by a function": ("outer()", "deep[-1]", "1"),
    "a generator": ("next(steps)", "items[3]", "stepped"),
    "exec": ("exec('big[1] = 2')", "big[1]", "2.0"),
    "globals()": ("globals()[name][2] = 3", "big[2]", "3.0"),
    "an alias": ("alias = deep; alias[9]['n'] = 'x'", "deep[9]['n']", "x"),
    "a view": ("view = big[10:]; view[0] = 4", "big[10]", "4.0"),
    "a magic": ("%time big[3] = 5", "big[3]", "5.0"),
    "setattr": ("Holder.note = 'new'; holder.x = 3", "holder.x", "3"),
}


@pytest.mark.in_short(3)
@pytest.mark.parametrize("how", list(CHANGES))
async def test_a_hidden_change_is_found_after_the_cell(tmp_path: Path, how: str) -> None:
    change, told, expected = CHANGES[how]
    async with kernel_setup(tmp_path) as at:
        await at.run(MADE)
        before = await at.save()
        was = await at.told(told) if how != "setattr" else ""
        await at.run(change)
        after = await at.save(thorough=False)
        assert after.state_hash != before.state_hash
        await at.restore(before)
        if how != "setattr":
            assert await at.told(told) == was
        await at.restore(after)
        assert await at.told(told) == expected


async def test_a_thread_that_works_on_is_found(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(
            MADE,
            "go = threading.Event()\ndef later():\n    go.wait()\n    big[7] = 7\n    time.sleep(100)\n"
            "worker = threading.Thread(target=later, daemon=True)",
        )
        await at.run("worker.start()")
        before = await at.save()
        await at.run("go.set(); time.sleep(1)")
        after = await at.save(thorough=False)
        big = after.group_of("big")
        assert big is not None and not big.assumed
        assert big.digest != (before.group_of("big") or big).digest
        report = await at.restore(before)
        assert await at.told("float(big[7]), worker.is_alive()") == "0.0 True"
        assert {"worker", "go"} <= set(report.kept_live)
        await at.restore(after)
        assert await at.told("float(big[7])") == "7.0"


async def test_a_cell_that_names_nothing_large_looks_at_nothing_large(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(MADE)
        await at.save()
        await at.run("x = 1")
        after = await at.save(thorough=False)
        assert {name for group in after.groups if group.assumed for name in group.names} >= {"deep", "items"}
        assert not (after.group_of("x") or after.groups[0]).assumed
        thorough = await at.save()
        assert not any(group.assumed for group in thorough.groups)
        assert thorough.state_hash == after.state_hash


async def test_after_each_run_the_kernel_saves_by_itself_when_told_to(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.checkpoints.follow(await at.link())
        # Both are queued: what the first left is not what the second made of it.
        await at.work.run("value = [1]", "kept = value[0]")
        first = await at.save(thorough=False)
        await at.run("value.append(2)")
        second = await at.save(thorough=False)
        again = await at.save(thorough=False)
        assert (first.run, second.run, again.sweep) == (2, 3, second.sweep)
        await at.restore(first)
        assert await at.told("value") == "[1]"
        assert [run.source for run in second.runs] == ["value.append(2)"]
        assert first.runs[-1].cell == "c1"


async def test_what_finds_no_time_is_saved_while_the_kernel_idles(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path, VariableLimits(inline_seconds=0.0)) as at:
        await at.run("import numpy as np\nbig = np.arange(3_000_000); words = [str(n) for n in range(100_000)]")
        saved = await at.save(thorough=False)
        assert {saved.variables[name].status for name in ("big", "words")} == {"saved"}
        await at.run("big[0] = 5; words = None")
        await at.restore(saved)
        assert await at.told("int(big[0]), len(words)") == "0 100000"


async def test_the_next_cell_does_not_wait_for_what_is_still_being_saved(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path, VariableLimits(inline_seconds=0.0)) as at:
        await at.checkpoints.follow(await at.link())
        await at.work.run(
            "import time\nmany = [{'n': n, 's': str(n)} for n in range(300_000)]", "began = time.time()", "x = 1"
        )
        saved = await at.save(thorough=False)
        # What was interrupted is saved in a later turn, and never half of it.
        assert saved.variables["many"].status in ("saved", "skipped")
        whole = await at.save()
        assert whole.variables["many"].status == "saved"


async def test_what_was_not_looked_at_in_time_still_shares_what_it_shares(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path, VariableLimits(inline_seconds=0.0)) as at:
        await at.run("deep = [[n] for n in range(50_000)]; one = deep[7]; pair = (one, deep[9])")
        first = await at.save(thorough=False)
        await at.run("deep[7].append('more'); deep.append(pair)")
        second = await at.save(thorough=False)
        for saved, told in ((first, "[7] True True False"), (second, "[7, 'more'] True True True")):
            assert {one.status for one in saved.variables.values()} == {"saved"}
            assert not any(one.partial for one in saved.variables.values())
            await at.restart()
            await at.restore(saved)
            assert await at.told("one, one is deep[7], pair[1] is deep[9], deep[-1] is pair") == told


async def test_an_array_that_a_thread_changes_meanwhile_is_said_to_be_torn_and_blocks_no_other(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(
            "import threading, numpy as np\nmoving = np.zeros(8_000_000)\nsmall = [1]\nstop = []\n"
            "def work():\n    while not stop:\n        moving[:] += 1\n"
            "worker = threading.Thread(target=work)\nworker.start()",
        )
        # On a crowded machine the thread may not get its turn while the array is written.
        while (saved := await at.save()).variables["moving"].why is None:
            await at.run("small")
        assert saved.variables["moving"].why == "a thread changed it while it was saved"
        await at.run("stop.append(1); worker.join(); moving[:] = -1; small.append(2); made = np.ones(8_000_000)")
        report = await at.restore(saved, overwrite=True)
        assert await at.told("small") == "[1]"
        assert "moving" in report.kept_live and "moving" not in report.kept
        # What was written while it changed is whole: the same values can be saved again.
        after = await at.save()
        await at.run("moving[:] = 5")
        await at.restore(after)
        assert await at.told("float(moving.min()), float(moving.max())") == "-1.0 -1.0"
