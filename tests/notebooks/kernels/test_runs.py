"""Running cells in a real ipykernel."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hdsp_agent.errors import NotFound
from hdsp_agent.messages import CellId, TaskId
from hdsp_agent.notebooks.kernels import CellRun, CellRunSpec, Run, RunLimits

from ._helpers.executors import NOTEBOOK, headless_executor, text_of, until


def test_the_package_is_imported_without_jupyter_and_zeromq() -> None:
    code = (
        "import sys, hdsp_agent.notebooks.kernels;"
        "print(sorted({name.partition('.')[0] for name in sys.modules} &"
        " {'jupyter_server', 'jupyter_client', 'tornado', 'zmq', 'nbformat', 'PIL'}))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


async def test_a_cell_runs_and_its_result_and_count_are_there(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        run = await work.run("x = 20", "print('hello'); x + 1")
        first, second = run.cells
        assert (first.state, first.execution_count) == ("ok", 1)
        assert (second.state, second.execution_count) == ("ok", 2)
        assert second.outputs.outputs == [
            {"output_type": "stream", "name": "stdout", "text": "hello\n"},
            {"output_type": "execute_result", "data": {"text/plain": "21"}, "metadata": {}, "execution_count": 2},
        ]
        assert second.started_at is not None and second.ended_at is not None
        assert run.done and work.executor.get(run.id) is run


async def test_the_kernel_hears_which_cell_it_runs(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        code = "get_ipython().kernel.get_parent()['metadata']"
        shown = text_of(await work.cell(code))
        assert "'cellId': 'c0'" in shown and "'deletedCells': []" in shown


async def test_an_error_ends_the_run_and_the_next_cells_do_not_run(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        run = await work.run("1/0", "print('never')")
        failed, skipped = run.cells
        assert failed.state == "error" and failed.error is not None
        assert failed.error.ename == "ZeroDivisionError"
        assert failed.outputs.outputs[-1]["output_type"] == "error"
        assert (skipped.state, skipped.reason, skipped.outputs.outputs) == ("interrupted", "not_run", [])


async def test_errors_do_not_stop_a_run_that_shall_go_on(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        run = await work.run("1/0", "print('after')", stop_on_error=False)
        assert [cell.state for cell in run.cells] == ["error", "ok"]


async def test_scratch_code_leaves_history_and_count_alone(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        await work.run("a = 1")
        run = await work.executor.run(NOTEBOOK, [CellRunSpec(None, "print(a)")], store_history=False)
        assert await run.wait(30) and text_of(run.cells[0]) == "1\n"
        assert (await work.cell("2")).execution_count == 2


async def test_waiting_gives_up_after_a_while_and_the_run_goes_on(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        may_end = tmp_path / "may-end"
        run = await work.start(
            f"import os, time\nprint('begun', flush=True)\nwhile not os.path.exists({str(may_end)!r}): time.sleep(0.01)\n"
            "print('end')"
        )
        await until(lambda: "begun" in text_of(run.cells[0]))
        assert not await run.wait(0.2)
        assert run.cells[0].state == "running" and run.cells[0].execution_count is None
        may_end.touch()
        assert await run.wait(30) and text_of(run.cells[0]) == "begun\nend\n"


async def test_a_run_is_interrupted_and_its_next_cells_are_not_run(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        run = await work.start("import time\ntime.sleep(60)", "print('never')")
        await until(lambda: run.cells[0].state == "running")
        await run.interrupt()
        assert await run.wait(30)
        assert [cell.state for cell in run.cells] == ["interrupted", "interrupted"]
        assert [cell.reason for cell in run.cells] == ["interrupted", "not_run"]
        assert (await work.cell("'alive'")).state == "ok"


async def test_interrupting_a_run_that_waits_does_not_touch_the_one_that_runs(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        may_end = tmp_path / "may-end"
        waits = f"import os, time\nwhile not os.path.exists({str(may_end)!r}): time.sleep(0.01)\nprint('whole')"
        first = await work.start(waits)
        second = await work.start("print('never')")
        await until(lambda: first.cells[0].state == "running")
        await second.interrupt()
        assert second.done and second.cells[0].reason == "not_run"
        may_end.touch()
        assert await first.wait(30) and text_of(first.cells[0]) == "whole\n"


async def test_a_silent_cell_is_interrupted_at_the_idle_limit(tmp_path: Path) -> None:
    async with headless_executor(tmp_path, RunLimits(idle_seconds=3)) as work:
        cell = await work.cell("import time\nfor i in range(12): print(i, flush=True); time.sleep(0.3)\ntime.sleep(60)")
        assert (cell.state, cell.reason) == ("timed_out", "idle_limit")
        assert "11" in text_of(cell)


async def test_a_cell_that_prints_for_ever_is_interrupted_at_the_total_limit(tmp_path: Path) -> None:
    async with headless_executor(tmp_path, RunLimits(total_seconds=1.5)) as work:
        cell = await work.cell("while True: print('again')")
        assert (cell.state, cell.reason) == ("timed_out", "total_limit")
        assert (await work.cell("1")).state == "ok"


@pytest.mark.long
async def test_a_cell_that_ignores_its_interruption_ends_for_us_and_a_restart_helps(tmp_path: Path) -> None:
    async with headless_executor(tmp_path, RunLimits(total_seconds=2, interrupt_seconds=1)) as work:
        deaf = "import time\nwhile True:\n  try: time.sleep(60)\n  except KeyboardInterrupt: pass"
        cell = await work.cell(deaf)
        assert (cell.state, cell.reason) == ("timed_out", "interrupt_ignored")
        assert cell.advice is not None and "restart" in cell.advice
        waiting = await work.start("'next'")
        assert not await waiting.wait(0.5)
        await work.executor.restart(NOTEBOOK)
        assert waiting.cells[0].reason == "kernel_restarted"
        assert (await work.cell("'fresh'")).state == "ok"


async def test_input_is_refused_with_advice(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        cell = await work.cell("input('name? ')")
        assert (cell.state, cell.reason) == ("error", "input_requested")
        assert cell.advice is not None and "cannot ask for input" in cell.advice


async def test_the_same_kernel_is_found_again_and_a_tab_finds_it_by_path(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        runs = await asyncio.gather(work.run("a = 1"), work.run("b = 2"))
        assert all(run.cells[0].state == "ok" for run in runs)
        sessions = await work.kernels.port.sessions()
        assert [(one.path, one.kernel_name) for one in sessions] == [(NOTEBOOK, "python3")]
        assert text_of(await work.cell("a + b")) == "3"


async def test_a_missing_kernel_is_told_with_those_there_are(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        with pytest.raises(NotFound, match=r"no kernel 'julia-9'.*python3"):
            await work.start("1", kernel_name="julia-9")
        assert await work.executor.kernels() == []


async def test_a_task_holds_its_kernel_until_it_ends(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        await work.run("1", task_id=TaskId("t1"))
        kernel = await work.kernel_id()
        model = work.kernels.kernels.kernel_model(kernel)
        assert model["connections"] == 1
        await work.run("2", task_id=TaskId("t1"))
        assert work.kernels.kernels.kernel_model(kernel)["connections"] == 1
        await work.executor.release(TaskId("t1"))
        assert work.kernels.kernels.kernel_model(kernel)["connections"] == 0


@pytest.mark.long
async def test_activity_is_told_while_cells_run(tmp_path: Path) -> None:
    from hdsp_agent.notebooks.kernels import Executor

    async with headless_executor(tmp_path) as work:
        heard: list[float] = []
        executor = Executor(work.kernels.port, active=lambda: heard.append(time.monotonic()))
        run = await executor.run(NOTEBOOK, [CellRunSpec(CellId("c"), "import time; time.sleep(4)")])
        assert await run.wait(30)
        await executor.close()
        assert len(heard) >= 4 and heard[-1] - heard[0] >= 2


async def test_a_listener_hears_of_every_state(tmp_path: Path) -> None:
    class Listener:
        def __init__(self) -> None:
            self.states: list[str] = []

        def changed(self, run: Run, cell: CellRun) -> None:
            if not self.states or self.states[-1] != cell.state:
                self.states.append(cell.state)

    async with headless_executor(tmp_path) as work:
        listener = Listener()
        await work.run("print(1)", listeners=(listener,))
        assert listener.states == ["running", "ok"]


async def test_what_a_pager_would_show_stands_below_the_cell(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        assert "Return the number of items" in text_of(await work.cell("len?"))


async def test_a_display_of_an_earlier_cell_is_updated_there(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        first = await work.cell("h = display('before', display_id=True)")
        version = first.outputs.version
        second = await work.cell("h.update('after')")
        assert text_of(first) == "'after'" and second.outputs.outputs == []
        assert [change.change for change in first.outputs.changes_since(version)] == ["put"]


async def test_what_a_thread_prints_later_comes_to_its_cell(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        code = (
            "import threading, time\ndef late(): time.sleep(0.5); print('late')\nthreading.Thread(target=late).start()"
        )
        cell = await work.cell(code)
        await until(lambda: "late" in text_of(cell))


@pytest.mark.long
async def test_a_hundred_megabytes_of_prints_are_bounded_and_kept(tmp_path: Path) -> None:
    kept: list[bytes] = []

    async def keep(data: bytes) -> str:
        kept.append(data)
        return "artifact-1"

    async with headless_executor(tmp_path, RunLimits(kept_bytes=5_000_000)) as work:
        cell = await work.cell("for i in range(100_000): print(i, 'x' * 1000)", keep=keep)
        assert cell.state == "ok" and cell.artifact == "artifact-1"
        shown = text_of(cell)
        assert shown.startswith("0 xxx") and f"\n{99_999} xxx" in shown and len(shown) < 1_100_000
        assert "characters left out" in shown
        assert cell.outputs.characters > 100_000_000 and cell.outputs.dropped > 95_000_000
        assert 4_500_000 < len(kept[0]) <= 5_000_000 and kept[0].startswith(b"0 xxx")


@pytest.mark.long
async def test_a_flood_of_displays_is_counted_and_the_result_is_not_lost(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        cell = await work.cell("for i in range(5000): display(i)\n'the result'")
        assert cell.state == "ok"
        outputs = cell.outputs.outputs
        assert len(outputs) == 1002 and cell.outputs.dropped_outputs == 4000
        assert any("the result" in str(one) for one in outputs) and "4,000 more outputs" in str(outputs)
