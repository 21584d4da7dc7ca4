"""``hdsp-agent search``: passages that answer a question, from the terminal."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

from hdsp_agent.cli._main import main
from hdsp_agent.memory import Memories


def test_memory_and_notebooks_are_searched_without_a_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    Memories(tmp_path / "home", "", lambda folder: None).folder("").write("MEMORY.md", "- ages are in months\n")
    cell = nbformat.v4.new_code_cell("walrus = 1", id="a")
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), work / "zoo.ipynb")
    home = ["--home", str(tmp_path / "home")]
    assert main([*home, "--json", "search", "walrus"]) == 0
    [found] = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["title"], found["place"]) == ("notebook", "zoo.ipynb", "a")
    assert main([*home, "search", "--kind", "memory", "months"]) == 0
    out = capsys.readouterr().out
    assert "MEMORY.md" in out and "ages are in months" in out
    assert main([*home, "search", "kubernetes"]) == 0
    assert "Nothing was found" in capsys.readouterr().err
