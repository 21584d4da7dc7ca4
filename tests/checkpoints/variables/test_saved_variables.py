"""What of a real kernel's variables comes back, in the same life of the kernel and in another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.checkpoints.variables import VariableLimits

from ...notebooks.kernels._helpers.executors import text_of
from ._helpers.kernel_fixtures import KernelSetup, kernel_setup

IMPORTED_IN_KERNELS = ("pandas",)


async def _there_and_back(
    at: KernelSetup, made: tuple[str, ...], broken: str, told: str, *, lost: tuple[str, ...] = ()
) -> str:
    """Make variables, save, break them, restore, and again in a fresh kernel: what ``told`` says stays the same."""
    await at.run(*made)
    before = await at.told(told)
    saved = await at.save()
    await at.run(broken)
    broke = await at.work.cell(f"print({told})", store_history=False)
    assert text_of(broke).strip() != before
    report = await at.restore(saved)
    assert report.lost == lost
    assert await at.told(told) == before
    await at.restart()
    report = await at.restore(saved)
    assert report.lost == lost
    assert await at.told(told) == before
    # What came from the store is saved and comes back again as well.
    again = await at.save()
    await at.restart()
    await at.restore(again)
    assert await at.told(told) == before
    return before


@pytest.mark.long
async def test_a_large_frame(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await _there_and_back(
            at,
            (
                (
                    "import numpy as np, pandas as pd\n"
                    "r = np.random.default_rng(1)\n"
                    "df = pd.DataFrame({'a': r.random(200_000), 'n': np.arange(200_000),\n"
                    "  's': r.integers(0, 10**9, 200_000).astype(str), 'k': r.choice(list('abc'), 200_000)})\n"
                    "df.loc[3, 's'] = None\n"
                    "by_key = df.groupby('k').a.mean(); when = pd.date_range('2020', periods=3, tz='Asia/Seoul')"
                ),
            ),
            "df['a'] = 0; df.loc[5, 's'] = 'x'; by_key = when = None",
            "int(pd.util.hash_pandas_object(df).sum()), [str(d) for d in df.dtypes], by_key.to_dict(), when",
        )


async def test_a_large_array_edited_in_place_costs_what_changed(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run("import numpy as np, hashlib\narr = np.random.default_rng(1).random(5_000_000)")
        first = await at.save()
        whole = at.store.size()
        assert whole >= 40_000_000
        await at.run("arr[0] = 1")
        second = await at.save(thorough=False)
        assert at.store.size() - whole <= 2 * 1024 * 1024
        assert first.state_hash != second.state_hash
        await at.restore(first)
        assert await at.told("arr[0] != 1 and arr.flags.owndata and arr.flags.writeable") == "True"
        await at.restore(second)
        assert await at.told("float(arr[0])") == "1.0"


async def test_signs_that_flip_are_seen(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run("import numpy as np\narr = np.random.default_rng(1).random(1_000_000)")
        first = await at.save()
        for change in (
            "arr[[3, 9]] *= -1",
            "arr[:] = arr[::-1].copy()",
            "arr[[7, 8]] = arr[[8, 7]]",
            "np.random.shuffle(arr)",
        ):
            await at.run(change)
            second = await at.save()
            assert second.state_hash != first.state_hash, change
            first = second


@pytest.mark.long
async def test_a_hundred_thousand_objects_and_what_is_deep_in_them(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await _there_and_back(
            at,
            (
                "class Point:\n    def __init__(self, x): self.x = x; self.tags = []\n",
                "points = [Point(n) for n in range(100_000)]; alias = points; some = points[7]",
            ),
            "points[99_999].x = -1; some = None",
            "sum(p.x for p in points), points is alias, some is alias[7], isinstance(some, Point)",
        )


async def test_aliases_and_views_stay_what_they_are(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await _there_and_back(
            at,
            (
                (
                    "import numpy as np\n"
                    "base = np.arange(1000.); part = base[10:20]; back = base[::-1]; square = base.reshape(10, 100).T\n"
                    "odd = np.arange(5000)[1::2]; even = odd.base[::2]\n"
                    "raw = bytearray(8000); over = np.frombuffer(raw, dtype='i4')\n"
                    "shared = [1]; box = {'it': shared}; pair = (shared, base); me = []; me.append(me)\n"
                    "fixed = np.arange(2000); fixed.flags.writeable = False; sorted_f = np.asfortranarray(np.ones((60, 40)))"
                ),
            ),
            "base = part = box = over = fixed = None; me.clear()",
            "[np.shares_memory(base, part), np.shares_memory(base, back), np.shares_memory(base, square),"
            " np.shares_memory(odd, even) or np.may_share_memory(odd, even), np.shares_memory(over, np.frombuffer(raw, 'u1')),"
            " box['it'] is shared, pair[0] is shared, pair[1] is base, me[0] is me, fixed.flags.writeable,"
            " part.tolist(), back[:3].tolist(), square.shape, square[3, 2], sorted_f.flags.f_contiguous, part.base is base]",
        )


async def test_a_variable_stays_the_very_object_that_a_class_holds(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(
            "import threading\n"
            "class Registry:\n    items = [1]; other = {'a': []}\n    def add(self, one): self.items.append(one)\n"
            "class Locked:\n    lock = threading.Lock(); names = ['n']\n"
            "items = Registry.items; pair = (items, Registry.other); names = Locked.names"
        )
        saved = await at.save()
        # A class that cannot be saved takes nothing along.
        assert {name: one.status for name, one in saved.variables.items()} == {
            "threading": "module", "Registry": "saved", "Locked": "failed", "items": "saved", "pair": "saved", "names": "saved"
        }  # fmt: skip
        told = "items is Registry.items, pair[0] is items, pair[1] is Registry.other, items, pair, names"
        before = "True True True [1] ([1], {'a': []}) ['n']"
        await at.run("Registry().add(2)")
        await at.restore(saved)
        assert await at.told(told) == before
        # Held no longer, it is saved for itself, though it is the same object still.
        await at.run("Registry.items = []")
        apart = await at.save()
        await at.run("items = None")
        await at.restore(apart)
        assert await at.told("items, Registry.items, pair[0] is items") == "[1] [] True"
        await at.restart()
        await at.restore(saved)
        assert await at.told(told) == before
        await at.run("Registry().add(3)")
        assert await at.told("items") == "[1, 3]"


async def test_views_of_bytes_stay_views_of_the_same_bytes(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(
            "import array\n"
            "raw = bytearray(b'0123456789'); view = memoryview(raw); part = view[2:6]; fixed = view.toreadonly()\n"
            "numbers = array.array('i', [1, 2, 3]); over = memoryview(numbers)[1:]; plain = memoryview(b'abc')\n"
            "large = bytearray(100_000); into = memoryview(large)[50_000:]; every = view[::2]"
        )
        saved = await at.save()
        assert {name: one.status for name, one in saved.variables.items() if one.status != "saved"} == {
            "array": "module",
            "every": "live",
        }
        await at.run("raw[0] = 65; view = part = None")
        await at.restore(saved)
        told = "view.obj is raw, part.obj is raw, bytes(part), fixed.readonly, over.tolist(), bytes(plain), len(into)"
        expected = "True True b'2345' True [2, 3] b'abc' 50000"
        assert await at.told(told) == expected
        await at.restart()
        await at.restore(saved)
        assert await at.told(told) == expected
        await at.run("part[0] = 65; numbers[2] = 7; into[0] = 1")
        assert await at.told("bytes(raw), over[1], large[50_000]") == "b'01A3456789' 7 1"


async def test_a_frame_and_its_column_stay_apart_where_writing_copies(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run("import pandas as pd\ndf = pd.DataFrame({'a': range(5000)}); s = df['a']")
        saved = await at.save()
        await at.restart()
        await at.restore(saved)
        await at.run("s.iloc[0] = 99")
        assert await at.told("int(df.a[0]), int(s[0])") == "0 99"


FUNCTIONS = (
    (
        "rate = 2\n"
        "def scaled(x): return x * rate\n"
        "def twice(x): return scaled(scaled(x))\n"
        "def fact(n): return 1 if n < 2 else n * fact(n - 1)\n"
        "table = {'f': lambda x: x + rate}\n"
    ),
    (
        "def counter():\n"
        "    n = 0\n"
        "    def up():\n"
        "        nonlocal n\n"
        "        n += 1\n"
        "        return n\n"
        "    return up, lambda: n\n"
        "up, look = counter(); up(); up()\n"
        "import functools, math\n"
        "half = functools.partial(scaled, 0.5)\n"
        "@functools.lru_cache(maxsize=7)\ndef cached(x): return x * rate\n"
        "def with_defaults(a, b=[1], *, c={'k': 2}) -> int:\n    'says so'\n    return a\n"
        "with_defaults.note = 'n'\n"
        "made = {}; exec('def inner(x): return x + k\\nk = 5', made); inner = made['inner']; del made\n"
    ),
)


async def test_functions_read_the_notebooks_own_globals(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(*FUNCTIONS)
        saved = await at.save()
        assert {name: one.why for name, one in saved.unsaved.items()} == {}
        assert saved.variables["twice"].needs == ("scaled",)
        told = (
            "scaled(1), twice(1), fact(5), table['f'](1), look(), half(), inner(1), with_defaults.__doc__, with_defaults.note,"
            " cached(2), cached.cache_parameters()['maxsize'], with_defaults.__defaults__, with_defaults.__kwdefaults__, with_defaults.__annotations__"
        )
        before = await at.told(told)
        for restart in (False, True):
            await at.run("rate = 100; up()\ndef scaled(x): return 0\ntable = fact = None; with_defaults.note = 'm'")
            if restart:
                await at.restart()
            await at.restore(saved)
            assert await at.told(told) == before
            # The pair still shares its cell, and the functions see later changes of globals.
            await at.run("rate = 10; up()")
            assert await at.told("twice(1), table['f'](1), look(), scaled.__globals__ is globals()") == "100 11 3 True"
            await at.restore(saved)


CLASSES = (
    (
        "import abc, dataclasses, enum, collections, typing\n"
        "class Base(abc.ABC):\n"
        "    made = 0\n"
        "    def __init__(self, v): self.v = v; type(self).made += 1\n"
        "    @abc.abstractmethod\n"
        "    def area(self): ...\n"
        "class Square(Base):\n"
        "    def area(self): return super().__class__ and self.v ** 2\n"
        "    def parent(self): return super().__init__\n"
        "    @property\n"
        "    def side(self): return self.v\n"
        "    @classmethod\n"
        "    def unit(cls): return cls(1)\n"
        "    @staticmethod\n"
        "    def name(): return 'square'\n"
        "class Slim:\n    __slots__ = ('a', '__b')\n    def __init__(self): self.a = 1; self.__b = 2\n"
        "    def b(self): return self.__b\n"
        "@dataclasses.dataclass\nclass Row:\n    x: int\n    y: list = dataclasses.field(default_factory=list)\n    z: int = 3\n"
        "class Color(enum.Enum):\n    RED = 1\n    BLUE = 'b'\n    def nice(self): return self.name.title()\n"
        "class Bits(enum.IntFlag):\n    A = enum.auto()\n    B = enum.auto()\n"
        "Pair = collections.namedtuple('Pair', 'left right', defaults=[5])\n"
        "class Typed(typing.NamedTuple):\n    a: int\n    b: str = 'q'\n"
        "T = typing.TypeVar('T')\n"
        "class Meta(type):\n    def __len__(cls): return 7\n"
        "class Odd(metaclass=Meta):\n    class Inner:\n        v = 3\n"
    ),
    (
        "square = Square(3); one = Square.unit(); slim = Slim(); row = Row(1); color = Color.RED; bits = Bits.A | Bits.B\n"
        "pair = Pair(1); typed = Typed(4); odd = Odd(); inner = Odd.Inner(); method = square.area"
    ),
)
CLASSES_TOLD = (
    "square.area(), one.side, Square.made, Base.made, Square.name(), isinstance(square, Base), slim.a, slim.b(),"
    " row, Row(5, z=4), dataclasses.fields(Row)[2].default, dataclasses.fields(Row)[0].default is dataclasses.MISSING,"
    " color is Color.RED, Color('b').nice(), int(bits), Bits(3) == bits, pair, Pair(2)._replace(left=9), typed,"
    " Typed(1), len(Odd), inner.v, type(inner) is Odd.Inner, method(), method.__self__ is square, type(square) is Square,"
    " Square.unit().area(), square.parent() is not None"
)


async def test_classes_of_the_notebook(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(*CLASSES)
        saved = await at.save()
        assert {name: one.why for name, one in saved.unsaved.items()} == {}
        before = await at.told(CLASSES_TOLD)
        await at.restore(saved)
        await at.run(
            "kept = Square; Square.made = 77; Square.area = lambda self: -1; Square.extra = 1; square.v = 8; color = None"
        )
        await at.restore(saved, leave=["kept"])
        assert await at.told(CLASSES_TOLD) == before
        assert await at.told("kept is Square, hasattr(Square, 'extra')") == "True False"
        await at.run("class Square: pass\nRow = None")
        await at.restore(saved)
        assert await at.told(CLASSES_TOLD) == before
        await at.restart()
        await at.restore(saved)
        assert await at.told(CLASSES_TOLD) == before


LIVE = (
    "import sqlite3, threading, socket, subprocess, io, asyncio, types, json",
    (
        "gen = (n for n in range(5)); next(gen)\n"
        "handle = open('there.txt', 'w'); db = sqlite3.connect(':memory:'); cursor = db.cursor(); lock = threading.Lock()\n"
        "event = threading.Event(); sock = socket.socket(); thread = threading.Thread(target=print)\n"
        "dynamic = types.ModuleType('dynamic'); holder = {'log': handle, 'n': 1}\n"
        "text = io.StringIO('kept'); text.read(2)\n"
        "shared = [1]; beside = [shared, gen]"
    ),
)


async def test_what_has_no_bytes_is_reported_and_spoils_nothing_else(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(*LIVE)
        saved = await at.save()
        live = {"gen", "handle", "db", "cursor", "lock", "event", "sock", "thread", "holder", "beside",
                "dynamic"}  # fmt: skip
        assert {name for name, one in saved.unsaved.items() if one.status == "live"} == live
        assert {name: saved.unsaved[name].why for name in ("gen", "handle", "db", "lock")} == {
            "gen": "it holds a generator",
            "handle": "it holds an open file",
            "db": "it holds a database connection",
            "lock": "it holds a lock",
        }
        assert {name for name, one in saved.variables.items() if one.status == "saved"} == {"text", "shared"}
        await at.run("shared.append(2); text.read(); handle.write('x')")
        report = await at.restore(saved)
        # The same objects still: kept, and what was done with them since is not undone.
        assert set(report.kept_live) == live
        assert report.lost == ()
        assert await at.told("shared, text.read(), handle.tell()") == "[1] pt 1"
        await at.run("gen = 'gone'; sock.close()")
        report = await at.restore(saved)
        assert report.lost == ("gen",)
        assert await at.told("'gen' in globals()") == "False"
        await at.restart()
        report = await at.restore(saved)
        assert set(report.lost) == live
        assert await at.told("sorted(n for n in ('shared', 'text', 'json', 'gen', 'db') if n in globals())") == (
            "['json', 'shared', 'text']"
        )


async def test_what_is_too_large_or_cannot_be_pickled_is_reported(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path, VariableLimits(variable_bytes=1_000_000, total_bytes=3_000_000)) as at:
        await at.run(
            "class No:\n    def __reduce__(self): raise ValueError('never')\n"
            "no = No(); big = bytes(2_000_000); a = bytes(900_000); b = a + b'1'[:0] + bytes(1); c = bytes(900_001)[1:]; d = bytes(899_000)\n"
            "small = [no, 1]; fine = 3"
        )
        saved = await at.save()
        assert saved.variables["no"].status == "failed"
        assert "never" in (saved.variables["no"].why or "")
        assert saved.variables["small"].status == "failed"
        assert saved.variables["big"].status == "too_large"
        assert [saved.variables[name].status for name in "abcd"].count("too_large") == 1
        assert saved.variables["fine"].status == "saved"


@pytest.mark.parametrize("count", [300])
async def test_many_small_variables_fit_into_one_record(tmp_path: Path, count: int) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(f"for n in range({count}): globals()[f'v{{n}}'] = {{'n': n}}\ndel n")
        saved = await at.save()
        assert len(saved.groups) == count
        assert at.store.size() == 0
        await at.run("v7['n'] = 0; del v8")
        await at.restore(saved)
        assert await at.told("v7, v8") == "{'n': 7} {'n': 8}"


async def test_large_arrays_that_a_class_holds(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await _there_and_back(
            at,
            (
                (
                    "import numpy as np\n"
                    "class Table:\n"
                    "    words = np.array([f'w{n}' for n in range(2000)], object); numbers = np.arange(5000.)\n"
                    "table = Table()"
                ),
            ),
            "Table.words[1999] = 'x'; Table.numbers[7] = -1",
            "Table.words[1999], len(Table.words), Table.numbers[7], Table.numbers.sum(), type(table) is Table",
        )


async def test_arrays_own_their_memory_and_keep_their_order(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await _there_and_back(
            at,
            (
                (
                    "import numpy as np\n"
                    "c = np.arange(2_000_000.).reshape(1000, 2000); f = np.asfortranarray(c[:900]) * 1; fixed = c.copy() + 1\n"
                    "fixed.flags.writeable = False\n"
                    "when = np.arange('2020-01-01', '2040-01-01', dtype='datetime64[D]'); yes = np.arange(9000) % 3 == 0\n"
                    "rows = np.zeros(3000, [('a', 'i4'), ('b', 'f8')]); rows['b'] = 2.5"
                ),
            ),
            "c = f = fixed = when = yes = rows = None",
            "[(v.dtype.str, v.shape, v.flags.owndata or v.base.flags.owndata, v.flags.writeable, v.flags.f_contiguous,"
            " v.sum().item() if v.dtype.kind in 'fb' else str(v[-1])) for v in (c, f, fixed, when, yes, rows) if v is not None]",
        )


async def test_what_takes_the_place_of_something_large_has_its_room(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path, VariableLimits(variable_bytes=2_000_000, total_bytes=3_000_000)) as at:
        await at.run("a = b'1' * 1_800_000; small = 1")
        await at.save()
        for change in ("a = b'2' * 1_900_000", "a = [b'3' * 1_900_000]", "a.append(1)", "other = a; small = a"):
            await at.run(change)
            saved = await at.save(thorough=False)
            assert {one.status for one in saved.variables.values()} == {"saved"}, change
