"""Variables of a real kernel, looked at from outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.errors import NotFound, Unsupported
from hdsp_agent.notebooks.kernels import InspectionLimits, Variable, VariablesReport, VariableTable

from ._helpers.executors import NOTEBOOK, HeadlessExecutor, headless_executor, text_of, until

IMPORTED_IN_KERNELS = ("pandas",)

STATE = (
    "import json, sys; print(json.dumps([sorted(k for k in globals() if k not in ('__builtins__',)),"
    " [repr(v) for v in (In, _, __, ___, _i, _ii, Out)], get_ipython().execution_count,"
    " len(list(get_ipython().history_manager.get_range())), sorted(get_ipython().user_ns_hidden)]))"
)


async def look(work: HeadlessExecutor, *names: str) -> VariablesReport:
    return await work.executor.inspect(NOTEBOOK, names=names or None)


def by_name(report: VariablesReport) -> dict[str, Variable]:
    return {one.name: one for one in report.variables}


async def test_looking_leaves_namespace_history_outputs_and_count_as_they_were(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        await work.run("a = 41", "a + 1", "'last'")
        before = text_of(await work.cell(STATE, store_history=False))
        for _ in range(3):
            report = await look(work)
        assert [one.name for one in report.variables] == ["a"]
        assert text_of(await work.cell(STATE, store_history=False)) == before
        assert (await work.cell("_")).execution_count == 4


async def test_hooks_of_cells_do_not_fire(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        hooks = "\n".join(
            f"get_ipython().events.register('{name}', lambda *a: heard.append('{name}'))"
            for name in ("pre_execute", "pre_run_cell", "post_execute", "post_run_cell")
        )
        await work.run("heard = []\n" + hooks)
        await work.run("heard.clear()")
        await work.run("heard.clear()")
        await look(work)
        assert (
            text_of(await work.cell("list(heard)"))
            == "['post_execute', 'post_run_cell', 'pre_execute', 'pre_run_cell']"
        )


async def test_arrays_frames_and_containers_tell_shape_dtype_memory_and_head(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        await work.run(
            "import numpy as np, pandas as pd\n"
            "arr = np.arange(12, dtype='float32').reshape(3, 4)\n"
            "df = pd.DataFrame({'x': range(1000), 'label': ['a'] * 1000})\n"
            "series = df['x']\n"
            "big = {n: n * n for n in range(1_000_000)}\n"
            "words = ['w' * 5000] * 50\n"
            "huge = 10 ** 100_000\n"
            "gen = (n for n in range(3))\n"
            "def area(w, h=2): return w * h\n"
            "class Tensor:\n"
            "    shape = property(lambda s: (2, 3)); dtype = property(lambda s: 'bf16')\n"
            "    device = property(lambda s: 'cuda:0'); nbytes = 12\n"
            "tensor = Tensor()"
        )
        found = by_name(await look(work))
        arr, df = found["arr"], found["df"]
        assert (arr.type, arr.shape, arr.dtype, arr.memory) == ("numpy.ndarray", (3, 4), "float32", 48)
        assert (df.shape, df.columns[0]) == ((1000, 2), ("x", "int64"))
        assert df.head is not None and "label" in df.head and df.memory is not None and df.memory > 8000
        assert (found["series"].shape, found["series"].dtype) == ((1000,), "int64")
        assert found["big"].length == 1_000_000 and str(found["big"].head).startswith("{0: 0, 1: 1")
        assert found["words"].length == 50 and len(str(found["words"].head)) < 1000
        assert found["huge"].head == "an integer of 332193 bits"
        assert found["gen"].type == "generator" and str(found["gen"].head).startswith("<generator")
        assert found["area"].head == "area(w, h=2)"
        tensor = found["tensor"]
        assert (tensor.shape, tensor.dtype, tensor.device) == ((2, 3), "bf16", "cuda:0")
        assert "np" not in found and "In" not in found and "Out" not in found
        assert text_of(await work.cell("list(gen)")) == "[0, 1, 2]", "it was not used up"


async def test_reprs_that_raise_hang_or_print_cost_only_themselves(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        await work.run(
            "import time\n"
            "class Raises:\n    def __repr__(self): raise RuntimeError('no')\n"
            "class Exits:\n    def __repr__(self): raise SystemExit\n"
            "class Loops:\n    def __repr__(self):\n        while True: pass\n"
            "class Sleeps:\n    def __repr__(self): time.sleep(30)\n"
            "class Prints:\n    def __repr__(self): print('BOO'); return 'quiet'\n"
            "class Proxy:\n    def __getattribute__(self, name): raise KeyError(name)\n"
            "a, b, c, d, e, f, fine = Raises(), Exits(), Loops(), Sleeps(), Prints(), Proxy(), 1"
        )
        found = by_name(await look(work))
        assert found["a"].error == "RuntimeError: no" and found["b"].error is not None
        assert "took more than" in str(found["c"].error) and "took more than" in str(found["d"].error)
        assert found["e"].head == "quiet" and found["f"].type == "Proxy" and found["fine"].head == "1"
        cell = await work.cell("print('mine')")
        assert text_of(cell) == "mine\n"


async def test_named_variables_and_missing_ones(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        await work.run("x = 1; _private = 2")
        report = await look(work, "_private", "nothing")
        assert [one.name for one in report.variables] == ["_private"] and report.missing == ("nothing",)


async def test_what_there_is_no_room_for_is_named(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        await work.run("for n in range(50): globals()[f'v{n}'] = n")
        report = await work.executor.inspect(NOTEBOOK, limits=InspectionLimits(variables=10))
        assert len(report.variables) == 10 and len(report.unseen) == 41


async def test_variables_are_seen_while_a_cell_runs_and_its_figures_stay_whole(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        await work.run("%matplotlib inline\nimport matplotlib.pyplot as plt, os, time")
        may_end = tmp_path / "may-end"
        run = await work.start(
            "step = 7; plt.plot([1, 2]); print('drawn', flush=True)\n"
            f"while not os.path.exists({str(may_end)!r}): time.sleep(0.01)\nplt.title('done')"
        )
        await until(lambda: "drawn" in text_of(run.cells[0]))
        found = by_name(await look(work))
        assert found["step"].head == "7"
        assert run.cells[0].state == "running" and len(run.cells[0].outputs.outputs) == 1
        model = work.kernels.kernels.kernel_model(await work.kernel_id())
        assert model["execution_state"] == "busy", "looking does not make it seem idle"
        may_end.touch()
        assert await run.wait(30)
        assert sum("image/png" in str(one) for one in run.cells[0].outputs.outputs) == 1


async def test_after_a_restart_variables_are_seen_again(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        await work.run("x = 1")
        await look(work)
        await work.executor.restart(NOTEBOOK)
        assert (await look(work)).variables == ()


async def test_kernels_of_other_languages_say_so(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        run = await work.run("echo hello from bash", kernel_name="bash")
        assert text_of(run.cells[0]) == "hello from bash\n"
        with pytest.raises(Unsupported, match="Only Python kernels can list their variables; this one is for bash"):
            await look(work)


# ---- the rows of one


async def rows_of(work: HeadlessExecutor, name: str, start: int = 0, rows: int = 3) -> VariableTable:
    return await work.executor.look_into(NOTEBOOK, name, start=start, limits=InspectionLimits(rows=rows, columns=3))


async def test_rows_of_a_frame_come_with_types_and_what_is_missing(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        await work.run(
            "import numpy as np, pandas as pd\n"
            "df = pd.DataFrame({'x': [1.5, np.nan, 2 / 3, 4], 'when': pd.to_datetime(['2026-01-02', None] * 2),\n"
            "    'x2': list('abcd'), 'more': range(4)}, index=list('klmn')).rename(columns={'x2': 'x'})\n"
            "series = pd.Series([True, None], name='flag')"
        )
        first = await rows_of(work, "df")
        assert first.shape == (4, 4) and first.index == ("k", "l", "m")
        assert [(one.name, one.missing) for one in first.fields] == [("x", 1), ("when", 2), ("x", 0)]
        assert first.fields[0].dtype == "float64" and first.fields[1].dtype.startswith("datetime64")
        assert first.rows[:2] == (("1.5", "2026-01-02 00:00:00", "a"), (None, None, "b"))
        assert first.rows[2][0] == "0.6666666666666666"
        last = await rows_of(work, "df", start=3)
        assert (last.index, last.rows[0][0]) == (("n",), "4.0")
        assert (await rows_of(work, "df", start=10**12)).rows == ()
        series = await rows_of(work, "series")
        assert (series.fields[0].name, series.fields[0].missing, series.rows) == ("flag", 1, (("True",), (None,)))


async def test_rows_of_a_polars_frame(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        await work.run(
            "import polars as pl\n"
            "df = pl.DataFrame({'x': [1.5, None, 2.0], 'label': ['a', 'b', None]})\nseries = df['x']"
        )
        found = await rows_of(work, "df", start=1)
        assert [tuple(one) for one in found.fields] == [("x", "Float64", 1), ("label", "String", 1)]
        assert (found.shape, found.index) == ((3, 2), ("1", "2"))
        assert found.rows == ((None, "b"), ("2.0", None))
        assert (await rows_of(work, "series")).rows == (("1.5",), (None,), ("2.0",))
        listed = by_name(await look(work))["df"]
        assert listed.columns == (("x", "Float64"), ("label", "String"))


async def test_rows_of_arrays_and_containers(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        await work.run(
            "import numpy as np\n"
            "grid = np.arange(12).reshape(3, 4); line = np.array([0.1, np.nan]); cube = np.zeros((2, 2, 2))\n"
            "words = ['w' * 5000, 'b']; prices = {'tea': 3, 'milk': None}; text = 'long ' * 100; number = 7"
        )
        grid = await rows_of(work, "grid", start=1)
        assert [one.name for one in grid.fields] == ["0", "1", "2"] and grid.rows[0] == ("4", "5", "6")
        assert (await rows_of(work, "line")).rows == (("0.1",), ("nan",))
        prices = await rows_of(work, "prices")
        assert (prices.index, prices.rows, prices.length) == (("'tea'", "'milk'"), (("3",), ("None",)), 2)
        words = await rows_of(work, "words")
        assert words.index == ("0", "1") and len(str(words.rows[0][0])) < 200
        assert not (await rows_of(work, "cube")).rows and "0." in str((await rows_of(work, "cube")).head)
        assert (
            str((await rows_of(work, "text")).head).startswith("'long ") and (await rows_of(work, "number")).head == "7"
        )


async def test_one_odd_value_costs_only_itself(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        await work.run(
            "import datetime, json, numpy as np, pandas as pd\n"
            "class Raises:\n    def __repr__(self): raise RuntimeError('no')\n"
            "half = json.loads('\"\\\\ud83d\"')\n"
            "values = [Raises(), 10 ** 5000, list(range(10**6)), half, 'x' * 10**6, np.int64(3), pd.Period('2026-01')]\n"
            "odd = pd.DataFrame({'x': pd.Series(values, dtype=object), half: 1})\n"
            "moments = np.array(['2026-01-02', 'NaT'], dtype='datetime64[ns]')\n"
            "tuples = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([('a', 'x'), ('a', 'x')]))\n"
            "numbers = pd.DataFrame([[1, 2]]); unnamed = pd.Series([1]); empty = pd.DataFrame({'x': []})"
        )
        rows = [row[0] for row in (await rows_of(work, "odd", rows=10)).rows]
        assert "Raises" in str(rows[0])
        assert "ValueError" in str(rows[1]) or str(rows[1]).startswith("1000")
        assert len(str(rows[2])) < 200 and rows[3] == "\\ud83d" and len(str(rows[4])) < 200
        assert rows[5:] == ["3", "2026-01"]
        found = by_name(await look(work))
        assert found["odd"].columns[1][0] == "\\ud83d" and found["odd"].has_text_columns
        assert not found["tuples"].has_text_columns and not found["numbers"].has_text_columns
        assert (await rows_of(work, "moments")).rows[0] == ("2026-01-02T00:00:00.000000000",)
        assert [one.name for one in (await rows_of(work, "tuples")).fields] == ["('a', 'x')", "('a', 'x')"]
        assert [one.name for one in (await rows_of(work, "unnamed")).fields] == [""]
        empty = await rows_of(work, "empty")
        assert (empty.rows, [one.name for one in empty.fields]) == ((), ["x"])


async def test_missing_texts_of_very_long_columns_are_not_counted(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        await work.run(
            "import numpy as np, pandas as pd\n"
            "n = 1_000_001\n"
            "df = pd.DataFrame({'number': np.where(np.arange(n) % 2, np.nan, 1), 'text': pd.Series(['a'] * n, dtype=object)})"
        )
        assert [one.missing for one in (await rows_of(work, "df")).fields] == [500_000, None]


async def test_looking_at_rows_changes_nothing_and_costs_only_itself(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        await work.run(
            "import time, pandas as pd\n"
            "class Slow:\n    def __str__(self): time.sleep(30)\n    __repr__ = __str__\n"
            "slow = pd.DataFrame({'x': [Slow()]}); fine = [1]"
        )
        before = text_of(await work.cell(STATE, store_history=False))
        limits = InspectionLimits(seconds=0.5)
        assert "took more than" in str((await work.executor.look_into(NOTEBOOK, "slow", limits=limits)).error)
        assert (await rows_of(work, "fine")).rows == (("1",),)
        with pytest.raises(NotFound, match="no variable gone"):
            await rows_of(work, "gone")
        assert text_of(await work.cell(STATE, store_history=False)) == before


async def test_rows_are_shown_while_a_cell_runs(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        await work.run("x = [1, 2]")
        run = await work.start("import time\nwhile True: time.sleep(0.05)")
        await until(lambda: run.cells[0].state == "running")
        assert (await rows_of(work, "x")).rows == (("1",), ("2",))
        await run.interrupt()
