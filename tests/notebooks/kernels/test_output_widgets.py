"""Output widgets: outputs are where nbclient puts them, which does what JupyterLab does.

What nbclient showed is kept in ``nbclient_outputs.json``, which ``make test-long`` compares with nbclient itself: its
kernel now and then takes two minutes to answer. ``python -m tests.notebooks.kernels.test_output_widgets`` writes it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

import nbformat
import pytest

from tests._helpers.long_tests import rounds

from ._helpers.executors import HeadlessExecutor, headless_executor, text_of

RECORDED: Final = Path(__file__).parent / "nbclient_outputs.json"

IMPORTED = (
    "from ipywidgets import Output, interact, IntSlider\nfrom IPython.display import display, clear_output, HTML\n"
)
SHOWN = "print([(o['output_type'], o.get('text') or o.get('ename') or o['data']['text/plain']) for o in out.outputs])"
NOTEBOOKS = {
    "prints": ["out = Output()\nout", "with out:\n    print('inside')\nprint('outside')", SHOWN],
    "displays": ["out = Output()", "with out:\n    display(HTML('<b>x</b>')); print('y')\n'result'", SHOWN],
    "errors": ["out = Output()", "with out:\n    1 / 0\nprint('goes on')", SHOWN],
    "cleared": ["out = Output()", "with out:\n    print('a'); clear_output(); print('b')", SHOWN],
    "cleared when the next comes": [
        "out = Output()",
        "with out:\n    print('a'); clear_output(wait=True)",
        SHOWN,
        "with out:\n    print('b')",
        SHOWN,
    ],
    "in turn": ["out = Output()", "with out:\n    print(1)", "with out:\n    print(2)", SHOWN],
    "nested": [
        "out = Output(); inner = Output()",
        "with out:\n    print('a')\n    with inner:\n        print('b')",
        SHOWN,
        SHOWN.replace("out.outputs", "inner.outputs"),
    ],
    # Without widgets too: by their ids displays change in other cells, results as well, until they are cleared.
    "displays that change": [
        (
            "def result(it):\n"
            "    shell = get_ipython(); data, metadata = shell.display_formatter.format(it)\n"
            "    content = {'data': data, 'metadata': metadata, 'transient': {'display_id': 'r'},\n"
            "               'execution_count': shell.execution_count - 1}\n"
            "    shell.kernel.session.send(shell.kernel.iopub_socket, 'execute_result', content, shell.get_parent())"
        ),
        "print('above'); first = display('one', display_id='d'); print('below')",
        "display('two', display_id='d'); result('a'); print('end')",
        "first.update('three'); _ = display('b', display_id='r', update=True)",
        "gone = display('four', display_id='g'); clear_output(wait=True); print('five')",
        "gone.update('six')\nfor number in range(3):\n    clear_output()\n    print(number)",
    ],
    "interact": [
        "@interact(x=IntSlider(3))\ndef f(x):\n    print('x is', x)\n    return x * 2",
        "out = f.widget.out",
        SHOWN,
        "f.widget.children[0].value = 5",
        SHOWN,
    ],
}


def with_nbclient(codes: list[str], folder: Path) -> list[object]:
    """In a process of its own: nbclient's loop is not the tests'."""
    path = folder / "beside.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in codes]), path)
    command = [sys.executable, "-c", "from nbclient.cli import main; main()", "--inplace", "--timeout=120", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    return [[brief(output) for output in cell.outputs] for cell in nbformat.read(path, 4).cells]


def brief(output: object) -> object:
    assert isinstance(output, dict)
    data = output.get("data")
    shown = output.get("text"), data and data.get("text/plain")
    return output["output_type"], output.get("name"), output.get("execution_count"), shown


async def with_agent(work: HeadlessExecutor, codes: list[str]) -> list[object]:
    cells = [await work.cell(code) for code in codes]
    # Later cells may have changed what earlier ones show.
    return [[brief(output) for output in cell.outputs.outputs] for cell in cells]


def codes_of(name: str) -> list[str]:
    first, *others = NOTEBOOKS[name]
    return [IMPORTED + first, *others]


@pytest.mark.in_short(3)
@pytest.mark.parametrize("name", list(NOTEBOOKS))
async def test_outputs_are_where_nbclient_puts_them(tmp_path: Path, name: str) -> None:
    async with headless_executor(tmp_path) as work:
        ours = await with_agent(work, codes_of(name))
    assert json.loads(json.dumps(ours)) == json.loads(RECORDED.read_text(encoding="utf-8"))[name]


@pytest.mark.skipif(rounds(0, 1) == 0, reason="make test-long runs it")
@pytest.mark.parametrize("name", list(NOTEBOOKS))
def test_nbclient_still_puts_them_there(tmp_path: Path, name: str) -> None:
    theirs = json.loads(json.dumps(with_nbclient(codes_of(name), tmp_path)))
    assert theirs == json.loads(RECORDED.read_text(encoding="utf-8"))[name]


async def test_what_a_widget_had_before_we_came_stays_in_it(tmp_path: Path) -> None:
    async with headless_executor(tmp_path) as work:
        await work.run(IMPORTED + "out = Output(); out.append_stdout('theirs\\n')")
        link = await work.executor.link("work.ipynb")
        link.lose("connection_lost")
        await work.run("with out:\n    print('ours')", "with out:\n    print('again')")
        assert text_of(await work.cell(SHOWN)) == "[('stream', 'theirs\\n'), ('stream', 'ours\\nagain\\n')]\n"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        recorded = {name: with_nbclient(codes_of(name), Path(folder)) for name in NOTEBOOKS}
    RECORDED.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")
