"""``hdsp-agent search``: passages that answer a question, from the terminal."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import nbformat
import pytest

from hdsp_agent._person import person_of_server
from hdsp_agent.cli._main import main
from hdsp_agent.memory import Memories
from hdsp_agent.messages import TaskId

from ..agent.recall.test_past_search import past


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
    # The words are enough, and a model is not loaded for each of them.
    _settings(tmp_path / "home", searchByMeaning="off")
    assert main([*home, "--json", "search", "walrus"]) == 0
    [found] = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["title"], found["place"]) == ("notebook", "zoo.ipynb", "a")
    assert main([*home, "search", "--kind", "memory", "months"]) == 0
    out = capsys.readouterr().out
    assert "MEMORY.md" in out and "ages are in months" in out
    _settings(tmp_path / "home", searchByMeaning="bundled")
    assert main([*home, "search", "kubernetes"]) == 0
    assert "Nothing was found" in capsys.readouterr().err


@pytest.mark.long
def test_what_is_remembered_is_not_found_where_memory_is_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Memories(tmp_path / "home", "", lambda folder: None).folder("").write("MEMORY.md", "- ages are in months\n")
    search = ["--home", str(tmp_path / "home"), "search", "months"]
    assert main(search) == 0
    assert "ages are in months" in capsys.readouterr().out
    _settings(tmp_path / "home", memoryEnabled=False)
    assert main(search) == 0
    assert "Nothing was found" in capsys.readouterr().err


def test_an_endpoint_without_numpy_leaves_the_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "numpy", None)
    Memories(tmp_path / "home", "", lambda folder: None).folder("").write("MEMORY.md", "- ages are in months\n")
    endpoint = {"searchByMeaning": "endpoint", "searchEndpointUrl": "http://127.0.0.1:9/v1", "searchEndpointModel": "m"}
    _settings(tmp_path / "home", **endpoint)
    assert main(["--home", str(tmp_path / "home"), "search", "months"]) == 0
    assert "ages are in months" in capsys.readouterr().out


def _settings(home: Path, **settings: object) -> None:
    path = home / "config.json"
    content = json.loads(path.read_text()) if path.exists() else {"version": 1}
    path.write_text(json.dumps({**content, "globalSettings": settings}))


@pytest.mark.each_backend("postgres")
def test_what_another_server_wrote_to_the_database_is_found_in_a_terminal_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    (tmp_path / "home").mkdir()
    _settings(tmp_path / "home", searchByMeaning="off")
    search = ["--home", str(tmp_path / "home"), "search", "heron"]

    async def write() -> TaskId:
        async with past(tmp_path / "there") as there:
            return await there.conversation("The heron is grey", "Noted.", owner=person_of_server())

    async def delete(task_id: TaskId) -> None:
        async with past(tmp_path / "there") as there:
            await there.store.delete(task_id)
            await there.index.forget([task_id])

    task_id = asyncio.run(write())
    assert main(search) == 0
    out = capsys.readouterr().out
    assert task_id in out and "The heron is grey" in out
    asyncio.run(delete(task_id))
    assert main(search) == 0
    assert "Nothing was found" in capsys.readouterr().err
