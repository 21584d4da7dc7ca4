"""Variables of a real kernel, looked at from outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.errors import Unsupported
from hdsp_agent.notebooks.kernels import InspectionLimits, Variable, VariablesReport

from ._helpers.executors import NOTEBOOK, HeadlessExecutor, headless_executor, text_of, until

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
