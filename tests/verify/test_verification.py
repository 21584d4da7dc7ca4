"""Real notebooks in real kernels: sound ones are proved, and planted faults are found and named."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
import pytest
from nbclient import NotebookClient

from hdsp_agent.cli._main import main
from hdsp_agent.errors import InvalidInput, NotFound, Unavailable
from hdsp_agent.verify import NotebookReport, VerifyOptions, _workspace_copy, junit_xml, verify_apart, verify_notebook

from ._notebooks import ran, saved

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Proactor event loop:RuntimeWarning")]


def found(report: NotebookReport) -> list[tuple[int, str | None]]:
    return [(cell.number, cell.cause) for cell in report.differing]


async def test_a_sound_notebook_is_proved_once_and_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "flats.csv").write_text("rent\n1\n2\n", encoding="utf-8")
    notebook = ran(
        tmp_path,
        "import pandas as pd\nflats = pd.read_csv('flats.csv')\nflats",
        "print(sum([0.1] * 10))\nobject()",
        "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2, 3]);",
        "import random\nrandom.seed(1)\nrandom.random()",
        "open('made.txt', 'w').write('x')",
        "1 / 0 if False else 5",
    )
    (tmp_path / "made.txt").unlink()
    report = await verify_notebook(saved(tmp_path, notebook))
    assert found(report) == []
    assert (report.is_proved, report.runs, len(report.cells)) == (True, 1, 6)
    # It ran in a copy.
    assert not (tmp_path / "made.txt").exists()


@pytest.mark.long
async def test_what_a_cell_shows_long_after_it_is_done_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path, ran(tmp_path, "print(1)"))
    poll = NotebookClient._async_poll_output_msg

    async def late(self: NotebookClient, *arguments: Any) -> None:
        # Longer than nbclient waits by itself.
        await asyncio.sleep(5)
        await poll(self, *arguments)

    monkeypatch.setattr(NotebookClient, "_async_poll_output_msg", late)
    assert found(await verify_notebook(path)) == []


async def test_what_is_around_the_notebook_is_found_and_not_told_of_as_a_copy(tmp_path: Path) -> None:
    work, data = tmp_path / "work", tmp_path / "data"
    for folder in (work, data):
        folder.mkdir()
    (data / "x.txt").write_text("7", encoding="utf-8")
    (work / "inner.txt").write_text("8", encoding="utf-8")
    (work / "link").symlink_to("../data")
    (work / "own").symlink_to(work / "inner.txt")
    os.mkfifo(work / "pipe")
    notebook = ran(
        work,
        "print(open('../data/x.txt').read(), open('link/x.txt').read(), open('own').read())",
        "import os\nprint(os.getcwd())",
        "open('own', 'w').write('changed')",
    )
    (work / "inner.txt").write_text("8", encoding="utf-8")
    assert found(await verify_notebook(saved(work, notebook))) == []
    assert (work / "inner.txt").read_text("utf-8") == "8"


async def test_what_stands_beside_the_folder_is_copied_if_it_is_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_workspace_copy, "_MOST_BYTES_BESIDE", 1000)
    work, small, large = (tmp_path / name for name in ("work", "small", "large"))
    for folder in (work, small / "inner", large):
        folder.mkdir(parents=True)
    for file in (small / "inner" / "x.txt", tmp_path / "beside.txt", tmp_path / ".hidden"):
        file.write_text("7", encoding="utf-8")
    (large / "x.txt").write_text("7" * 2000, encoding="utf-8")
    places = ("../small/inner/x.txt", "../beside.txt", "../large/x.txt", "../.hidden")
    notebook = ran(
        work,
        "from pathlib import Path\nprint(Path('../small/inner').resolve())",
        f"for place in {places}:\n    print(open(place).read(1))",
        f"for place in {places}:\n    open(place, 'a').write('new')",
    )
    for file in (small / "inner" / "x.txt", tmp_path / "beside.txt", large / "x.txt", tmp_path / ".hidden"):
        file.write_text(file.read_text("utf-8").replace("new", ""), encoding="utf-8")
    assert found(await verify_notebook(saved(work, notebook))) == []
    is_new = [(work / place).read_text("utf-8").endswith("new") for place in places]
    # What is large or hidden is the person's own.
    assert is_new == [False, False, True, True]


async def test_a_notebook_is_verified_as_it_is_told_and_not_as_its_file_has_it(tmp_path: Path) -> None:
    printed = nbformat.v4.new_output("stream", text="1\n")
    told = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("print(1)", outputs=[printed])])
    content = json.loads(nbformat.writes(told))
    path = saved(tmp_path, nbformat.v4.new_notebook())
    report = await verify_apart(path, lambda progress: None, content)
    assert report.is_proved and [cell.state for cell in report.cells] == ["same"]
    with pytest.raises(InvalidInput) as refused:
        await verify_apart(path, lambda progress: None, {"cells": "none"})
    assert refused.value.params["why"] == "not_a_notebook"


async def test_keys_are_kept_from_the_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-treasure")
    notebook = ran(tmp_path, "import os\nprint('ANTHROPIC_API_KEY' in os.environ)")
    [cell] = (await verify_notebook(saved(tmp_path, notebook))).differing
    assert cell.detail.startswith("“True” is “False” now")


async def test_hidden_state_and_order_are_named(tmp_path: Path) -> None:
    notebook = ran(
        tmp_path,
        "gone = 5",
        "print(gone)",
        "print(later)",
        "later = 7",
        "print(len(files) > 0)",
        "files = !ls",
        order=[0, 3, 1, 2, 5, 4],
    )
    del notebook.cells[0]
    report = await verify_notebook(saved(tmp_path, notebook))
    assert found(report) == [(1, "hidden_state"), (2, "order"), (4, "order")]
    assert report.cells[0].detail == "NameError: name 'gone' is not defined. No cell seems to make gone."
    assert "later is made in cell 3" in report.cells[1].detail


async def test_what_is_another_at_each_run_is_told_from_what_changed(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("1", encoding="utf-8")
    notebook = ran(
        tmp_path,
        "import random\nprint(random.random())",
        "print(open('data.txt').read())",
        "count = 0",
        "count += 1\ncount",
        order=[0, 1, 2, 3, 3],
    )
    (tmp_path / "data.txt").write_text("2", encoding="utf-8")
    report = await verify_notebook(saved(tmp_path, notebook))
    # The last cell ran twice.
    assert found(report) == [(1, "varies"), (2, "changed"), (4, "hidden_state")]
    assert report.runs == 2
    assert report.cells[1].detail.startswith("1 is 2 now.")


async def test_files_and_modules_that_are_gone_are_named_with_what_follows(tmp_path: Path) -> None:
    (tmp_path / "gone.csv").write_text("a\n1\n", encoding="utf-8")
    (tmp_path / "helper_of_mine.py").write_text("x = 1\n", encoding="utf-8")
    notebook = ran(
        tmp_path,
        "import pandas as pd\ntable = pd.read_csv('gone.csv')",
        "print(table.sum())",
        "import helper_of_mine",
        "print('on its own')",
    )
    for name in ("gone.csv", "helper_of_mine.py"):
        (tmp_path / name).unlink()
    report = await verify_notebook(saved(tmp_path, notebook))
    assert found(report) == [(1, "missing_file"), (2, "follows"), (3, "missing_module")]
    assert "There is no file gone.csv." in report.cells[0].detail
    assert "Cell 1, which makes table, fails." in report.cells[1].detail


async def test_tags_and_comments_of_nbval_are_respected(tmp_path: Path) -> None:
    notebook = ran(
        tmp_path,
        "import time\nprint(time.time_ns() % 10**9)  # NBVAL_IGNORE_OUTPUT",
        "# NBVAL_IGNORE_OUTPUT\nprint(time.time_ns() % 10**9)",
        "# NBVAL_SKIP\nprint(time.time_ns() % 10**9)",
        "print(time.time_ns() % 10**9)",
        "print(1)",
        "print(2)",
        order=range(5),
    )
    notebook.cells[3].metadata["tags"] = ["nbval-skip"]
    notebook.cells[4].metadata["tags"] = ["raises-exception"]
    report = await verify_notebook(saved(tmp_path, notebook))
    assert [cell.state for cell in report.cells] == [
        *("differs", "same", "skipped", "skipped", "differs"),
        # It never ran, so that there is nothing to compare.
        "unsaved",
    ]
    assert "does not fail any more" in report.cells[4].detail


@pytest.mark.long
async def test_what_cannot_be_run_says_why(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        await verify_notebook(tmp_path / "none.ipynb")
    (tmp_path / "text.ipynb").write_text("no notebook", encoding="utf-8")
    with pytest.raises(InvalidInput):
        await verify_notebook(tmp_path / "text.ipynb")
    path = saved(tmp_path, ran(tmp_path, "import time", "time.sleep(0)"))
    with pytest.raises(Unavailable, match="no kernel nowhere"):
        await verify_notebook(path, VerifyOptions(kernel="nowhere"))
    path = saved(tmp_path, ran(tmp_path, "1"), lambda notebook: notebook.cells[0].update(source="while True: pass"))
    with pytest.raises(Unavailable, match="Cell 1 ran longer than 1 seconds"):
        await verify_notebook(path, VerifyOptions(cell_seconds=1))


def test_the_command_tells_people_programs_and_ci(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = saved(tmp_path, ran(tmp_path, "print(1)", "print(2)"))
    home = ["--home", str(tmp_path / "home")]
    assert main([*home, "verify", str(path)]) == 0
    assert f"{path}: 2 as saved (" in capsys.readouterr().out
    notebook = json.loads(path.read_text("utf-8"))
    notebook["cells"][1]["outputs"][0]["text"] = "3\n"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    report = tmp_path / "report.xml"
    assert main([*home, "--json", "verify", str(path)]) == 3
    [told] = json.loads(capsys.readouterr().out)
    assert told["proved"] is False and told["cells"][1]["cause"] == "changed"
    # One that cannot be run keeps nobody from the others.
    assert main([*home, "verify", str(tmp_path / "none.ipynb"), str(path), "--junit", str(report)]) == 1
    out, err = capsys.readouterr()
    assert "none.ipynb is not a file" in err
    assert f"{path}: cell 2: changed: 3 is 2 now." in out and f"{path}: 1 as saved, 1 not (" in out
    none, suite = ElementTree.parse(report).getroot()
    assert (none.attrib["errors"], suite.attrib["errors"]) == ("1", "0")
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("2", "1")
    assert [case.attrib["name"] for case in suite if len(case)] == ["Cell 2"]
    assert main([*home, "verify", str(path), "--junit", str(tmp_path / "no" / "report.xml")]) == 2


def test_who_interrupts_leaves_nothing_behind(tmp_path: Path) -> None:
    started = tmp_path / "started"
    code = f"import time\nopen({str(started)!r}, 'w').close()\ntime.sleep(0)"
    notebook = ran(tmp_path, code)
    started.unlink()
    path = saved(
        tmp_path, notebook, lambda notebook: notebook.cells[0].update(source=code.replace("sleep(0)", "sleep(600)"))
    )
    (tmp_path / "temporary").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "hdsp_agent.cli", "--home", str(tmp_path / "home"), "verify", str(path)],
        env={**os.environ, "TMPDIR": str(tmp_path / "temporary")}, stderr=subprocess.PIPE,
    )  # fmt: skip
    while not started.exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate()
    assert process.returncode == 130
    assert told.decode().strip() == "hdsp-agent: interrupted; no report was made"
    assert not list((tmp_path / "temporary").glob("hdsp-agent-verify-*"))


def test_junit_takes_any_text() -> None:
    from hdsp_agent.verify import CellReport

    cell = CellReport(1, "a", "differs", "changed", "\x1b[0m <&> \x00")
    text = junit_xml([NotebookReport("n.ipynb", "python3", (cell,), 1.0, 1)])
    assert ElementTree.fromstring(text.partition("\n")[2])[0][0][0].attrib["message"] == "�[0m <&> �"


def test_junit_takes_any_path_and_counts_what_could_not_run() -> None:
    text = junit_xml([NotebookReport("a\udcff\x01<.ipynb", "", (), 0.0, 0, "no kernel")])
    suite = ElementTree.fromstring(text.encode())[0]
    assert suite.attrib["name"] == suite[0].attrib["classname"] == "a��<.ipynb"
    assert suite.attrib["tests"] == suite.attrib["errors"] == "1" == str(len(suite))
