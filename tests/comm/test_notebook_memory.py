"""Tabs from before a restart: waited for, and not written behind."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hdsp_agent.comm import Owner
from hdsp_agent.comm.identity import server_owner
from hdsp_agent.comm.notebook_memory import NotebookMemory, RememberedTab
from hdsp_agent.comm.services import Services
from hdsp_agent.errors import UnsavedElsewhere
from hdsp_agent.messages import CellId, ReplaceSource
from tests.comm._helpers.browser_tabs import BrowserTab
from tests.comm.channel._helpers.channel_panel import Panel
from tests.notebooks._helpers.pages import Page, code, notebook, sources_in

PATH = "work.ipynb"
CHANGE = ReplaceSource(cell_id=CellId("one"), source="a = 2")


def tab(client_id: str, *, dirty: bool, age: float = 0) -> RememberedTab:
    return RememberedTab(Owner(server_owner()), client_id, {PATH: dirty}, time.time() - age)


async def test_what_is_remembered_last_is_recalled_by_a_server_of_the_same_folder(tmp_path: Path) -> None:
    memory = NotebookMemory(tmp_path, tmp_path / "one")
    for dirty in (False, True):
        memory.remember([tab("a", dirty=dirty), tab("old", dirty=True, age=100_000)])
    await memory.stop()
    assert [(one.client_id, one.notebooks) for one in await NotebookMemory(tmp_path, tmp_path / "one").recall()] == [
        ("a", {PATH: True})
    ]
    assert await NotebookMemory(tmp_path, tmp_path / "other").recall() == []
    assert (tmp_path / "open_notebooks.json").stat().st_mode & 0o077 == 0


async def test_a_damaged_memory_is_no_memory(tmp_path: Path) -> None:
    (tmp_path / "open_notebooks.json").write_text("[{")
    assert await NotebookMemory(tmp_path, tmp_path).recall() == []


@pytest.fixture
def file(jp_root_dir: Path) -> Path:
    place = jp_root_dir / PATH
    place.write_text(json.dumps(notebook(code("one", "a = 1"))), "utf-8")
    return place


@asynccontextmanager
async def restarted(services: Services, *, dirty: bool, patience: float) -> AsyncIterator[None]:
    """A server that has just begun, and knows that tab-1 had the notebook open."""
    tabs = services.notebooks.tabs
    memory = tabs._memory
    assert memory is not None
    memory.remember([tab("tab-1", dirty=dirty)])
    await memory.stop()
    tabs.patience, tabs.restart_patience = 0.2, patience
    await tabs.start()
    yield


async def test_a_tab_that_had_unsaved_changes_and_does_not_come_back_is_not_written_behind(
    services: Services, file: Path
) -> None:
    before = file.read_bytes()
    async with restarted(services, dirty=True, patience=0.5):
        with pytest.raises(UnsavedElsewhere):
            await services.notebooks.notebooks.access.document(PATH).apply([CHANGE])
    assert file.read_bytes() == before


async def test_a_tab_that_had_nothing_unsaved_is_waited_for_and_then_done_without(
    services: Services, file: Path
) -> None:
    async with restarted(services, dirty=False, patience=0.8):
        begun = asyncio.get_running_loop().time()
        await services.notebooks.notebooks.access.document(PATH).apply([CHANGE])
        assert asyncio.get_running_loop().time() - begun >= 0.7
    assert "a = 2" in file.read_text("utf-8")


async def test_a_tab_that_comes_back_late_does_the_work(services: Services, file: Path, jp_ws_fetch: Any) -> None:
    page = Page(file)
    async with restarted(services, dirty=True, patience=20):
        work = asyncio.create_task(services.notebooks.notebooks.access.document(PATH).apply([CHANGE], save=False))
        await asyncio.sleep(0.8)
        assert not work.done()
        panel = Panel(await jp_ws_fetch("hdsp-agent", "comm"), "tab-1")
        try:
            await panel.open(version=services.version)
            async with BrowserTab(panel, page).at_work() as browser:
                await browser.tell()
                await asyncio.wait_for(work, 60)
        finally:
            await panel.leave()
    assert sources_in(file) == ["a = 1"]
    assert "a = 2" in json.dumps(page.content)
