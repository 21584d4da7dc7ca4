"""``hdsp-agent run --notebook``, as a program: a real kernel that ends with it, and cells on the terminal."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

import nbformat
import pytest

from .test_run import DONE, Place, Turn, place

__all__ = ["place"]


def call(tool: str, id: str, **arguments: object) -> Turn:
    """A turn that is one call."""
    return ({"tool": tool, "arguments": arguments, "id": id},)


def notebook(place: Place, *sources: str) -> Path:
    """A notebook of these cells."""
    file = place.workspace / "a.ipynb"
    cells = [nbformat.v4.new_code_cell(source, id=f"c{at}") for at, source in enumerate(sources, 1)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), file)
    return file


def test_a_notebook_is_mended_and_run_without_a_server(place: Place) -> None:
    file = notebook(place, "import os\nprint('process', os.getpid())", "print(totl)")
    place.speak(
        call("read_notebook", "r"),
        call("run_cells", "f", cells=["all"]),
        call(
            "edit_cells", "e", operations=[{"op": "replace", "cell": "c2", "source": "total = 42\nprint(total)\ntotal"}]
        ),
        call("run_cells", "g", cells=["c2"]),
        DONE,
    )
    ran = place.run("Mend it", "--notebook", "a.ipynb", "--auto-read", "--auto-write", "--auto-run-cells")
    assert ran.code == 0, ran.err
    assert "> runCells a.ipynb" in ran.out and "> editCells a.ipynb" in ran.out
    assert re.search(r"cell 2: error, \[2\], \d+\.\d s", ran.out)
    assert "NameError: name 'totl' is not defined" in ran.out
    assert re.search(r"42\ncell 2: ok, \[3\], \d+\.\d s\n  42", ran.out)
    cells = json.loads(file.read_text())["cells"]
    assert cells[1]["source"] == ["total = 42\n", "print(total)\n", "total"]
    assert cells[1]["outputs"][0]["text"] == ["42\n"] and cells[1]["execution_count"] == 3
    found = re.search(r"process (\d+)", ran.out)
    assert found is not None
    with pytest.raises(ProcessLookupError):
        os.kill(int(found[1]), 0)


def test_without_leave_nothing_is_run_and_nothing_changed(place: Place) -> None:
    file = notebook(place, "open('made', 'w')")
    before = file.read_bytes()
    place.speak(call("run_cells", "f", cells=["all"]), DONE)
    ran = place.run("Run it", "--notebook", "a.ipynb", "--auto-read")
    assert ran.code == 3
    assert "denied, because nobody is here to approve it: runCells a.ipynb" in ran.err
    assert file.read_bytes() == before and not (place.workspace / "made").exists()


def test_json_stays_json_whatever_a_cell_has_programs_print(place: Place) -> None:
    notebook(place, "import os\nos.system('echo from a program')\nos.write(1, b'from a descriptor\\n')\nprint('seen')")
    place.speak(call("run_cells", "f", cells=["all"]), DONE)
    ran = place.run("Run it", "--notebook", "a.ipynb", "--auto", "--json")
    assert ran.code == 0, ran.err
    assert all(isinstance(json.loads(line), dict) for line in ran.out.splitlines())
    assert "seen" in ran.out


@pytest.mark.in_short(1)
@pytest.mark.skipif(os.name != "posix", reason="signals of this kind")
@pytest.mark.parametrize("told", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_what_ends_programs_ends_a_running_cell_and_keeps_what_it_printed(place: Place, told: str) -> None:
    file = notebook(
        place, "import os, time\nprint('process', os.getpid(), 'of the kernel', flush=True)\ntime.sleep(600)"
    )
    place.speak(call("run_cells", "f", cells=["all"]), DONE)
    program = place.home.start("run", "Run it", "--notebook", "a.ipynb", "--auto", "--workspace", str(place.workspace))
    assert program.stdout is not None
    seen = ""
    while "of the kernel" not in seen:
        piece = program.stdout.read(1)
        assert piece, "the program ended"
        seen += piece
    program.send_signal(getattr(signal, told))
    _, err = program.communicate(timeout=60)
    assert program.returncode == 130, err
    found = re.search(r"process (\d+)", seen)
    assert found is not None
    with pytest.raises(ProcessLookupError):
        os.kill(int(found[1]), 0)
    outputs = json.loads(file.read_text())["cells"][0]["outputs"]
    assert f"process {found[1]} of the kernel\n" in str(outputs[0]["text"]).replace("\\n", "\n")
