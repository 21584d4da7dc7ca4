"""Reading what others are just saving."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from jupyter_server.services.contents.filemanager import FileContentsManager

from hdsp_agent.errors import NotFound, Unavailable
from hdsp_agent.messages import CellId, SetNotebookMetadata
from hdsp_agent.notebooks import _whole_reads
from hdsp_agent.notebooks.documents.contents import ContentsNotebooks

from ._helpers.contents_managers import raw_cells, write
from ._helpers.odd_notebooks import code, notebook

CELLS = 1000
READS = 40


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds become tenths."""
    for name in ("_QUIET_SECONDS", "_LONGEST_WAIT_SECONDS"):
        monkeypatch.setattr(_whole_reads, name, getattr(_whole_reads, name) / 10)


@pytest.mark.long
@pytest.mark.slow
async def test_no_read_is_torn_while_another_process_saves(folder: Path, manager: FileContentsManager) -> None:
    command = [sys.executable, "-m", "tests.notebooks._helpers.saving_process", str(folder), "a.ipynb", str(CELLS)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as neighbour:
        assert neighbour.stdin and neighbour.stdout
        assert await asyncio.to_thread(neighbour.stdout.readline) == "saving\n"
        assert (folder / "a.ipynb").stat().st_size > 4_000_000
        document = ContentsNotebooks(manager).document("a.ipynb")
        seen = set()
        for _ in range(READS):
            snapshot = await document.snapshot()
            assert len(snapshot.cells) == CELLS
            numbers = {cell.source.partition("\n")[0] for cell in snapshot.cells}
            assert len(numbers) == 1
            seen |= numbers
        neighbour.stdin.close()
        saves = int(await asyncio.to_thread(neighbour.stdout.readline))
    assert len(seen) > 2 and saves >= len(seen)
    assert not list(folder.glob("*.invalid"))


async def test_a_read_waits_until_a_save_is_done(folder: Path, manager: FileContentsManager) -> None:
    write(folder, "a.ipynb", notebook(code("old")))
    (folder / ".~a.ipynb").write_bytes((folder / "a.ipynb").read_bytes())
    (folder / "a.ipynb").write_bytes(b"")
    read = asyncio.create_task(ContentsNotebooks(manager).document("a.ipynb").snapshot())
    await asyncio.sleep(0.3)
    assert not read.done()
    write(folder, "a.ipynb", notebook(code("new")))
    (folder / ".~a.ipynb").unlink()
    assert (await read).cells[0].source == "new"


async def test_a_copy_left_behind_by_a_crash_does_not_hide_a_whole_notebook(
    folder: Path, manager: FileContentsManager, impatient: None
) -> None:
    write(folder, "a.ipynb", notebook(code("whole")))
    (folder / ".~a.ipynb").write_text("whatever")
    assert (await ContentsNotebooks(manager).document("a.ipynb").snapshot()).cells[0].source == "whole"


async def test_half_a_notebook_beside_its_copy_is_left_to_the_person(
    folder: Path, manager: FileContentsManager, impatient: None
) -> None:
    whole = write(folder, "a.ipynb", notebook(code("whole")))
    (folder / ".~a.ipynb").write_bytes(whole)
    (folder / "a.ipynb").write_bytes(whole[:20])
    with pytest.raises(Unavailable, match=r"\.~a\.ipynb"):
        await ContentsNotebooks(manager).document("a.ipynb").snapshot()
    assert (folder / "a.ipynb").read_bytes() == whole[:20] and (folder / ".~a.ipynb").read_bytes() == whole


async def test_a_file_that_grows_without_a_copy_is_read_when_it_is_whole(
    folder: Path, manager: FileContentsManager
) -> None:
    whole = json.dumps(notebook(*(code("x" * 100) for _ in range(50))))
    file = folder / "a.ipynb"
    file.write_text(whole[:50])
    read = asyncio.create_task(ContentsNotebooks(manager).document("a.ipynb").snapshot())
    for place in range(50, len(whole), 1000):
        with file.open("a") as more:
            more.write(whole[place : place + 1000])
        await asyncio.sleep(0.05)
    assert len((await read).cells) == 50


async def test_the_copy_of_a_linked_notebook_is_beside_what_the_link_leads_to(
    folder: Path, manager: FileContentsManager
) -> None:
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    write(elsewhere, "real.ipynb", notebook(code("real")))
    (folder / "a.ipynb").symlink_to("elsewhere/real.ipynb")
    (elsewhere / ".~real.ipynb").write_text("a copy")
    document = ContentsNotebooks(manager).document("a.ipynb")
    read = asyncio.create_task(document.snapshot())
    await asyncio.sleep(0.2)
    assert not read.done()
    (elsewhere / ".~real.ipynb").unlink()
    assert (await read).cells[0].source == "real"
    await document.apply([SetNotebookMetadata(key="k", value=1)])
    assert (folder / "a.ipynb").is_symlink()
    assert raw_cells(elsewhere / "real.ipynb")[0]["id"] == CellId("cell-0")


async def test_what_is_not_there_is_said(folder: Path, manager: FileContentsManager) -> None:
    with pytest.raises(NotFound):
        await ContentsNotebooks(manager).document("a.ipynb").snapshot()
