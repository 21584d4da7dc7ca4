"""Lists, dictionaries and objects that are told from what they were by looking, and what is taken from memory on the way back."""

from __future__ import annotations

from pathlib import Path

import pytest

from ._helpers.kernel_fixtures import KernelSetup, kernel_setup

MADE = (
    "import hashlib, weakref, numpy as np\n"
    "class Point:\n    def __init__(self, x): self.x = x; self.tags = [x]\n"
    "class Other(Point): pass\n"
    "points = [Point(n) for n in range(3000)]; rows = [{'n': n, 's': str(n)} for n in range(3000)]\n"
    "cut = [[1], [2, 3]]; mixed = [1, [2], 'x']; sets = [{1}, frozenset([2]), (3, [4])]; keyed = {(1, 'a'): [1], 2: 'b'}\n"
    "twins = [[1], [1]]; lone = [[1]]; odd = [[1], len]; odder = [[1], len]"
)
CHANGES = {
    "an attribute": ("points[5].x = -1", "points[5].x"),
    "the name of an attribute": ("own = points[6].__dict__; own['y'] = own.pop('x'); del own", "vars(points[6])"),
    "the order of attributes": ("points[10].x = vars(points[10]).pop('x')", "list(vars(points[10]))"),
    "an object's class": ("points[7].__class__ = Other", "type(points[7]).__name__"),
    "the order of objects": ("points[8], points[9] = points[9], points[8]", "points[8].x, points[9].x"),
    "what an object lists": ("points[2999].tags.append('more')", "points[2999].tags"),
    "an object more": ("points.append(Point(7))", "len(points)"),
    "the order of keys": ("rows[3]['n'] = rows[3].pop('n')", "list(rows[3])"),
    "values that trade places": ("rows[1]['n'], rows[2]['n'] = rows[2]['n'], rows[1]['n']", "rows[1:3]"),
    "a number of another kind": ("rows[4]['n'] = 4.0", "rows[4]"),
    "what is true and one": ("rows[1]['n'] = True", "rows[1]"),
    "where a list ends": ("cut[0].append(cut[1].pop(0))", "cut"),
    "a list and a number that trade places": ("mixed[0], mixed[1] = mixed[1], mixed[0]", "mixed"),
    "a set": ("sets[0].add(9)", "sets"),
    "a list in a tuple": ("sets[2][1].append(9)", "sets"),
    "a key of many": ("keyed[(1, 'b')] = keyed.pop((1, 'a'))", "keyed"),
    "two that become one": ("twins[1] = twins[0]", "twins[0] is twins[1]"),
    "two of two variables that become one": ("lone[0] = twins[0]", "lone[0] is twins[0]"),
    "the same where functions are in it": ("odder[0] = odd[0]", "odder[0] is odd[0]"),
}


async def _is_found_and_undone(at: KernelSetup, how: str, change: str, told: str) -> None:
    before = await at.told(told)
    first = await at.save()
    await at.run(change)
    changed = await at.told(told)
    assert changed != before, how
    second = await at.save(thorough=False)
    assert [group.digest for group in second.groups] != [group.digest for group in first.groups], how
    await at.restore(first)
    assert await at.told(told) == before, how
    await at.restore(second)
    assert await at.told(told) == changed, how


async def test_every_change_in_plain_data_is_seen(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(MADE)
        for how, (change, told) in CHANGES.items():
            await _is_found_and_undone(at, how, change, told)
        saved = await at.save()
        await at.restart()
        await at.restore(saved)
        assert await at.told("twins[0] is twins[1] is lone[0], odder[0] is odd[0], len(points)") == "True True 3001"


async def test_what_has_not_changed_is_not_turned_into_bytes_again(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(MADE)
        first = await at.save()
        await at.run(
            "exec('''import sys\nruntime = sys.modules['_hdsp_agent_variables_runtime']\nreal = runtime._groups.save\n"
            "saved = runtime.saved = []\ndef save(names, *rest): saved.extend(names); return real(names, *rest)\n"
            "runtime._groups.save = save''', {})"
        )
        await at.run("points[5].x = -1; twins[0][0] = twins[0][0]")
        second = await at.save()
        told = await at.told("sorted(__import__('sys').modules['_hdsp_agent_variables_runtime'].saved)")
        assert "'points'" in told
        # Of those that hold functions it cannot be told by looking.
        assert not [name for name in ("rows", "cut", "mixed", "sets", "keyed", "twins", "lone") if repr(name) in told]
        assert second.group_of("rows") == first.group_of("rows")


async def test_what_is_looked_at_lives_no_longer_for_it(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(
            MADE, "gone = []\nclass Loud:\n    def __del__(self): gone.append(1)\nheld = [Loud(), {'in': Loud()}]"
        )
        await at.save()
        await at.run("held.clear()")
        assert await at.told("gone") == "[1, 1]"


async def test_an_array_comes_back_from_memory_only_where_that_is_what_it_was(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(
            MADE, "big = np.random.default_rng(1).random(1_000_000); big_f = np.asfortranarray(big.reshape(1000, 1000))"
        )
        told = "hashlib.sha256(big.tobytes()).hexdigest(), hashlib.sha256(big_f.tobytes()).hexdigest(), big_f.flags.f_contiguous"
        before = await at.told(told)
        first = await at.save()
        # As a thread might, after the variables were looked at: nothing of it may come back.
        await at.run(
            "exec('''import sys\nat = sys.modules['_hdsp_agent_variables_runtime']._restore\nreal = at.restore\n"
            "def once(*arguments):\n    at.restore = real\n    space['big'][300_000:] = 0\n    space['big_f'][:, 500:] = 0\n"
            "    return real(*arguments)\nat.restore = once''', {'space': globals()})"
        )
        await at.run("big[0] = 5; big_f[0, 0] = 5")
        assert set((await at.restore(first)).loaded) == {"big", "big_f"}
        assert await at.told(told) == before
        assert await at.told("big.flags.owndata, big.flags.writeable") == "True True"


@pytest.mark.in_short(1)
@pytest.mark.parametrize("cold", [False, True])
async def test_strings_that_are_there_still_are_taken_as_they_are(tmp_path: Path, cold: bool) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(
            MADE, "names = np.array([f'name {n}' for n in range(5000)], object); box = {'names': names, 'n': 1}"
        )
        told = "names[0], names[4999], len(set(names)), box['n'], box['names'] is names, names.flags.writeable"
        before = await at.told(told)
        first = await at.save()
        for change in ("box['n'] = 2", "names[0] = 'x'", "box['n'] = 3; names[1] = names[2]", "names[4999] = None"):
            await at.run(change)
            assert await at.told(told) != before
            second = await at.save()
            changed = await at.told(told)
            if cold:
                await at.restart()
                await at.run("import numpy as np")
            await at.restore(first)
            assert await at.told(told) == before, change
            await at.restore(second)
            assert await at.told(told) == changed, change
            await at.restore(first)
            assert await at.told(told) == before, change
