"""Saving leaves no trace, and other kernels are refused."""

from __future__ import annotations

import ast
from importlib.resources import files
from pathlib import Path

import pytest

from hdsp_agent.checkpoints.variables import VariableCheckpoints, VariableStore
from hdsp_agent.errors import Unsupported

from ...notebooks.kernels._helpers.executors import NOTEBOOK, headless_executor, text_of
from ...notebooks.kernels.test_variable_inspection import STATE
from ._helpers.kernel_fixtures import KEY, kernel_setup


async def test_namespace_history_outputs_and_count_stay_as_they_were(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run("a = [41]", "a[0] + 1", "'last'")
        before = text_of(await at.work.cell(STATE, store_history=False))
        saved = await at.save()
        await at.save(thorough=False)
        await at.checkpoints.follow(await at.link())
        await at.plan(saved)
        await at.restore(saved)
        assert text_of(await at.work.cell(STATE, store_history=False)) == before
        await at.work.cell("a.append(5)", store_history=False)
        await at.restore(saved)
        assert text_of(await at.work.cell(STATE, store_history=False)) == before
        assert (await at.work.cell("_")).execution_count == 4


async def test_hooks_of_cells_do_not_fire_and_nothing_is_printed(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        hooks = "\n".join(
            f"get_ipython().events.register('{name}', lambda *a: heard.append('{name}'))"
            for name in ("pre_execute", "pre_run_cell", "post_execute", "post_run_cell")
        )
        await at.run("heard = []\n" + hooks)
        saved = await at.save()
        await at.run("heard.clear()")
        await at.run("heard.clear()")
        await at.save()
        await at.plan(saved)
        assert await at.told("list(heard)") == "['post_execute', 'post_run_cell', 'pre_execute', 'pre_run_cell']"


async def test_collecting_garbage_stays_switched_as_it_was(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run("import gc; gc.disable()")
        await at.save()
        assert await at.told("gc.isenabled()") == "False"
        await at.run("gc.enable()")
        await at.save()
        assert await at.told("gc.isenabled()") == "True"


async def test_a_kernel_of_another_language_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    async with headless_executor(folder) as work:
        await work.run("x=1", kernel_name="bash")
        checkpoints = VariableCheckpoints(VariableStore(tmp_path / "store", KEY))
        with pytest.raises(Unsupported, match="this one is for bash"):
            await checkpoints.capture(await work.executor.link(NOTEBOOK))


@pytest.mark.parametrize("name", ["_chunks", "_classes", "_code", "_groups", "_objects", "_plain_data", "_protocol", "_reachability",
                                  "_restore", "_reused_arrays", "_sent_pieces", "_shared_groups", "_sweep", "_unsavable"])  # fmt: skip
def test_what_runs_in_the_kernel_is_python_3_8(name: str) -> None:
    source = (
        files("hdsp_agent.checkpoints.variables").joinpath("runtime").joinpath(f"{name}.py").read_text(encoding="utf-8")
    )
    tree = ast.parse(source, feature_version=(3, 8))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            assert node.func.attr not in {"removeprefix", "removesuffix"}
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            assert node.module is not None and not node.module.startswith("hdsp_agent")
