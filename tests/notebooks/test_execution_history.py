"""What is remembered of runs, and for how long it holds."""

from __future__ import annotations

from pathlib import Path

from hdsp_agent.messages import CellId, TaskId
from hdsp_agent.notebooks import NOTHING_SEEN, ExecutionHistory, source_hash
from hdsp_agent.notebooks.kernels import CellRunSpec

from ._helpers.headless import headless_notebooks

A = CellId("a")


def test_a_restart_and_another_kernel_begin_anew() -> None:
    life = ["first"]
    executions = ExecutionHistory(lambda kernel: life[0])
    executions.began("n.ipynb", "k", A, source_hash("x"))
    assert executions.memory("n.ipynb", "k").ran[A].order == 1
    assert executions.memory("n.ipynb", "another") is NOTHING_SEEN
    life[0] = "second"
    assert executions.memory("n.ipynb", "k") is NOTHING_SEEN
    executions.began("n.ipynb", "k", CellId("b"), source_hash("x"))
    assert set(executions.memory("n.ipynb", "k").ran) == {"b"}


def test_without_a_kernel_it_is_known_that_nothing_is_there() -> None:
    memory = ExecutionHistory(lambda kernel: "").memory("n.ipynb", None)
    assert memory.complete and not memory.ran


def test_only_the_last_run_of_a_cell_can_fail() -> None:
    executions = ExecutionHistory(lambda kernel: "life")
    first = executions.began("n.ipynb", "k", A, source_hash("x"))
    second = executions.began("n.ipynb", "k", A, source_hash("x"))
    executions.failed("n.ipynb", A, first)
    assert not executions.memory("n.ipynb", "k").ran[A].failed
    executions.failed("n.ipynb", A, second)
    assert executions.memory("n.ipynb", "k").ran[A].failed


async def test_a_run_goes_on_under_the_notebooks_new_name(tmp_path: Path) -> None:
    async with headless_notebooks(tmp_path) as notebooks:
        (tmp_path / "old.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
        specs = [CellRunSpec(A, "import time; time.sleep(0.5)"), CellRunSpec(CellId("b"), "1 / 0")]
        run = await notebooks.run("old.ipynb", specs, task_id=TaskId("t"))
        while run.cells[0].state != "running":
            await run.wait(0.01)
        (tmp_path / "old.ipynb").rename(tmp_path / "new.ipynb")
        notebooks.access.moved("old.ipynb", "new.ipynb")
        assert await run.wait(30)
        ran = notebooks.executions.memory("new.ipynb", run.kernel_id).ran
        assert (ran[A].failed, ran[CellId("b")].failed) == (False, True)


def test_what_ran_is_known_after_the_folder_was_renamed() -> None:
    executions = ExecutionHistory(lambda kernel: "life")
    executions.began("old/n.ipynb", "k", A, source_hash("x"))
    executions.began("older/n.ipynb", "k", A, source_hash("x"))
    executions.moved("old", "new")
    assert executions.memory("new/n.ipynb", "k").ran and executions.memory("older/n.ipynb", "k").ran
    assert executions.memory("old/n.ipynb", "k") is NOTHING_SEEN


def test_a_notebook_that_took_the_name_of_another_keeps_what_ran_in_it() -> None:
    executions = ExecutionHistory(lambda kernel: "life")
    executions.began("mine.ipynb", "k", A, source_hash("x"))
    executions.began("taken.ipynb", "k", CellId("b"), source_hash("x"))
    executions.moved("mine.ipynb", "taken.ipynb")
    assert list(executions.memory("taken.ipynb", "k").ran) == [A]
