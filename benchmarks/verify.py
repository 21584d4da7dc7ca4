"""Verifying notebooks: planted faults that are found, sound cells that are taken for faults, and what it costs.

The corpus is made here: ten notebooks in three forms each. Every one runs first, then a fault is planted in two of the
three forms; in the third only what does not matter is changed, such as float noise, the layout of a table or a seeded figure.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

import nbformat
from nbclient import NotebookClient

from hdsp_agent.verify import Cause, verify_notebook

from .results import Result, result

Notebook = Any
Change = Callable[[Notebook, Path], None]
_RUNS: Final = 3
_CELLS: Final = 50
_DATA: Final = "town,rent,size\nOban,700,50\nWick,550,45\nOban,900,80\nTain,640,52\n"
_READ: Final = "import pandas as pd\nflats = pd.read_csv('flats.csv')"
_POINTS: Final = (
    "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.scatter([1, 2, 3], [1, 5, 2])\nplt.title('Rent in 2023');"
)
_PLOT: Final = "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot(flats['rent']);"


@dataclass(frozen=True)
class _Fault:
    """What is planted, by the place of the cell that is to be told, from 0, and why."""

    plant: Change
    at: int
    causes: tuple[Cause, ...]
    also: tuple[int, ...] = ()
    """Cells that show something else because of it."""


@dataclass(frozen=True)
class _Case:
    """A notebook, how its cells ran, and the two faults that are planted in copies of it."""

    name: str
    cells: tuple[str, ...]
    faults: tuple[_Fault, _Fault]
    noise: Change = lambda notebook, folder: None
    order: tuple[int, ...] | None = None


def measure() -> list[Result]:
    """Nothing is measured in parallel: each notebook has its own kernel."""
    return asyncio.run(_measured())


async def _measured() -> list[Result]:
    found = planted = alarms = sound = named = 0
    for case in _CASES:
        for fault in (*case.faults, None):
            with tempfile.TemporaryDirectory() as made:
                folder = Path(made)
                (folder / "flats.csv").write_text(_DATA, encoding="utf-8")
                notebook = await asyncio.to_thread(_ran, folder, case)
                (case.noise if fault is None else fault.plant)(notebook, folder)
                path = folder / "work.ipynb"
                _write(notebook, path)
                report = await verify_notebook(path)
            told = {cell.number - 1: cell.cause for cell in report.cells if cell.state == "differs"}
            follows = {at for at, cause in told.items() if cause == "follows"}
            if fault is not None:
                planted += 1
                found += fault.at in told
                named += told.get(fault.at) in fault.causes
                if fault.at not in told:
                    print(f"verify: {case.name}: the fault in cell {fault.at + 1} was not found", flush=True)
            expected = set() if fault is None else {fault.at, *fault.also}
            false = set(told) - expected - follows
            if false:
                print(
                    f"verify: {case.name}: false alarms {sorted(at + 1 for at in false)}: {report.differing}",
                    flush=True,
                )
            alarms += len(false)
            sound += len(report.cells) - len(expected) - len(follows)
    bare, ours = await _costs()
    return [
        result(
            "verify.faults_found", f"planted faults that are told, of {planted} in {3 * len(_CASES)} notebooks",
            100 * found / planted, "%", goal=">= 95 %", met=found >= 0.95 * planted, runs=planted,
        ),
        result(
            "verify.causes_named", "planted faults that are told with their cause", 100 * named / planted, "%",
            goal="none", met=True, runs=planted,
        ),
        result(
            "verify.false_alarms", f"sound cells that are told as faults, of {sound}", 100 * alarms / sound, "%",
            goal="<= 2 %", met=alarms <= 0.02 * sound, runs=sound,
        ),
        result(
            "verify.time", f"a sound notebook of {_CELLS} cells; beside it nbclient alone", median(ours), "s",
            baseline=median(bare), goal="<= 1.3 times", met=median(ours) <= 1.3 * median(bare), runs=_RUNS,
        ),
    ]  # fmt: skip


def _ran(folder: Path, case: _Case) -> Notebook:
    made: Any = nbformat.v4
    notebook = made.new_notebook(cells=[made.new_code_cell(source) for source in case.cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    client = NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    with client.setup_kernel():
        for at in case.order or range(len(case.cells)):
            client.execute_cell(notebook.cells[at], at)
    return notebook


def _write(notebook: Notebook, path: Path) -> None:
    made: Any = nbformat
    made.write(notebook, path)


async def _costs() -> tuple[list[float], list[float]]:
    cells = ["import math"] + [f"print(sum(math.sqrt(i) for i in range(200_000)) + {at})" for at in range(_CELLS - 1)]
    case = _Case("long", tuple(cells), (_NOTHING, _NOTHING))
    bare, ours = [], []
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "work.ipynb"
        _write(await asyncio.to_thread(_ran, path.parent, case), path)
        for _ in range(_RUNS):
            begun = time.perf_counter()
            await asyncio.to_thread(_ran, path.parent, case)
            bare.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            assert (await verify_notebook(path)).is_proved
            ours.append(time.perf_counter() - begun)
    return bare, ours


def _says(at: int, text: str) -> Change:
    """The cell is saved with another text."""

    def plant(notebook: Notebook, folder: Path) -> None:
        output = notebook.cells[at].outputs[0]
        if output.output_type == "stream":
            output["text"] = text
        else:
            output["data"] = {"text/plain": text}

    return plant


def _without(at: int) -> Change:
    """A cell is gone."""

    def plant(notebook: Notebook, folder: Path) -> None:
        del notebook.cells[at]

    return plant


def _moved(at: int, to: int) -> Change:
    """A cell stands elsewhere."""

    def plant(notebook: Notebook, folder: Path) -> None:
        notebook.cells.insert(to, notebook.cells.pop(at))

    return plant


def _other_data(text: str | None) -> Change:
    """The file holds something else, or is gone."""

    def plant(notebook: Notebook, folder: Path) -> None:
        if text is None:
            (folder / "flats.csv").unlink()
        else:
            (folder / "flats.csv").write_text(text, encoding="utf-8")

    return plant


def _replaced(at: int, old: str, new: str) -> Change:
    """The code of a cell is another than what ran."""

    def plant(notebook: Notebook, folder: Path) -> None:
        cell = notebook.cells[at]
        assert old in cell.source
        cell["source"] = cell.source.replace(old, new)

    return plant


def _laid_out(at: int) -> Change:
    """The saved table has other classes and ids."""

    def plant(notebook: Notebook, folder: Path) -> None:
        data = notebook.cells[at].outputs[0].data
        data["text/html"] = data["text/html"].replace('class="dataframe"', 'class="dataframe other" id="T_1"')

    return plant


_NOTHING: Final = _Fault(lambda notebook, folder: None, 0, ())
_CASES: Final = (
    _Case(
        "table", (_READ, "flats.groupby('town')[['rent']].mean()", "print(len(flats))"),
        (
            _Fault(_other_data(_DATA.replace("900", "950")), 1, ("changed",)),
            _Fault(_other_data(None), 0, ("missing_file",)),
        ),
        noise=_laid_out(1),
    ),
    _Case(
        "hidden", ("factor = 3", "values = [1, 2, 3]", "print([factor * value for value in values])", "print('end')"),
        (_Fault(_without(0), 1, ("hidden_state",)), _Fault(_moved(0, 3), 1, ("order",))),
    ),
    _Case(
        "random", ("import random\nrandom.seed(4)", "print([random.random() for _ in range(5)])", "print('done')"),
        (
            _Fault(_replaced(0, "random.seed(4)", "random.seed()"), 1, ("varies",)),
            _Fault(_without(0), 0, ("hidden_state",)),
        ),
    ),
    _Case(
        "floats", ("parts = [0.1] * 10", "print(sum(parts))", "print(sum(parts) / 3)"),
        (
            _Fault(_says(1, "1.0001\n"), 1, ("changed",)),
            _Fault(_replaced(0, "* 10", "* 11"), 1, ("changed",), also=(2,)),
        ),
        noise=_says(1, "1.0\n"),
    ),
    _Case(
        "figure", (_READ, _PLOT, "print(flats['rent'].max())"),
        (
            _Fault(_replaced(1, "flats['rent']", "flats['size']"), 1, ("changed",)),
            _Fault(_other_data(_DATA.replace("700", "70")), 1, ("changed",)),
        ),
    ),
    _Case(
        "points", ("shown = True", _POINTS),
        (
            _Fault(_replaced(1, "[1, 5, 2]", "[1, 4, 2]"), 1, ("changed",)),
            _Fault(_replaced(1, "2023", "2019"), 1, ("changed",)),
        ),
    ),
    _Case(
        "module", ("import statistics", "print(statistics.median([1, 5, 9]))"),
        (
            _Fault(_replaced(0, "import statistics", "import statistics_of_mine as statistics"), 0, ("missing_module",)),
            _Fault(_replaced(1, "median", "mode"), 1, ("changed",)),
        ),
    ),
    _Case(
        "function", ("def double(x):\n    return 2 * x", "double(21)", "print([double(x) for x in range(3)])"),
        (
            _Fault(_replaced(0, "2 * x", "2 * x + 1"), 1, ("changed",), also=(2,)),
            _Fault(_replaced(1, "double(21)", "double('a', 1)"), 1, ("fails",)),
        ),
    ),
    _Case(
        "clock", ("import time", "begun = 5", "print('took', begun, 's')"),
        (
            _Fault(_replaced(1, "begun = 5", "begun = time.perf_counter_ns()"), 2, ("varies",)),
            _Fault(_says(2, "took 6 s\n"), 2, ("changed",)),
        ),
    ),
    _Case(
        "objects", ("class Flat:\n    pass", "print(Flat())", "flats = {'Oban': 2, 'Wick': 1}", "flats"),
        (
            _Fault(_says(3, "{'Oban': 2, 'Wick': 3}"), 3, ("changed",)),
            _Fault(_replaced(2, "'Wick': 1", "'Tain': 1"), 3, ("changed",)),
        ),
        noise=_says(1, "<__main__.Flat object at 0x7f00deadbeef>\n"),
    ),
)  # fmt: skip
