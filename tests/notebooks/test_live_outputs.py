"""What a real kernel prints, shown to a page that looks and kept in the notebook."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from jupyter_server.services.contents.filemanager import FileContentsManager

from hdsp_agent.errors import Unavailable
from hdsp_agent.messages import (
    ApplyNotebookOperationsMessage,
    CellId,
    ChangeOutputsMessage,
    ClearOutputs,
    DeleteCell,
    NotebookOperationsResultRequest,
    NotebookWorkMessage,
)
from hdsp_agent.notebooks import LiveOutputs, NotebookAccess, TabView, _live_outputs
from hdsp_agent.notebooks.documents.contents import ContentsNotebooks
from hdsp_agent.notebooks.kernels import CellRunSpec, Run

from .._helpers.long_tests import rounds
from ._helpers.pages import Page, Tabs, code, notebook
from .kernels._helpers.executors import HeadlessExecutor, headless_executor, until

# The Bash kernel's own description has a key that traitlets warns about.
pytestmark = pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning")

PATH = "work.ipynb"
COUNTED = "".join(f"{i}\n" for i in range(30))
WAITS = "print('begun')\nimport time\ntime.sleep(60)"


class LiveNotebook:
    """A notebook with its kernel, its live outputs and the page that shows them."""

    def __init__(self, folder: Path, manager: FileContentsManager, kernels: HeadlessExecutor) -> None:
        self.file = folder / PATH
        self._go = folder / "go"
        self.tabs = Tabs()
        self.access = NotebookAccess(ContentsNotebooks(manager), self.tabs)
        self.work: list[NotebookWorkMessage] = []
        self.live_outputs = LiveOutputs(self.access, on_work=self.work.append)
        self.kernels = kernels

    def write(self, *codes: str) -> None:
        cells = [code(f"c{number}", source) for number, source in enumerate(codes)]
        self.file.write_text(json.dumps(notebook(*cells)), "utf-8")

    def look(self) -> Page:
        """A page opens the notebook."""
        page = Page(self.file)
        self.tabs.pages.append(page)
        self.live_outputs.look(PATH)
        return page

    @property
    def counts(self) -> str:
        """Code that counts to 14, and on when it is let."""
        waits = f"not pathlib.Path({str(self._go)!r}).exists()"
        return (
            f"import pathlib, time\nfor i in range(30):\n    print(i, flush=True)\n"
            f"    while i == 14 and {waits}: time.sleep(0.01)"
        )

    def go_on(self) -> None:
        """Let it count on."""
        self._go.touch()

    async def start(self, *codes: str) -> Run:
        return await self.kernels.start(*codes, listeners=(self.live_outputs,))

    async def finish(self, run: Run) -> None:
        assert await run.wait(60)
        await self.live_outputs.settled(run)

    def kept(self, index: int = 0, file: Path | None = None) -> list[Any]:
        """The outputs in the file."""
        outputs = json.loads((file or self.file).read_text("utf-8"))["cells"][index]["outputs"]
        return [{**output, "text": "".join(output.get("text", ""))} for output in outputs]


@asynccontextmanager
async def live_notebook(folder: Path, manager: FileContentsManager, *codes: str) -> AsyncIterator[LiveNotebook]:
    async with headless_executor(folder) as kernels:
        one = LiveNotebook(folder, manager, kernels)
        one.write(*codes)
        try:
            yield one
        finally:
            await one.live_outputs.close()


def chains(shown: list[ChangeOutputsMessage]) -> bool:
    """Whether each message goes on where the last of its cell ended, from the beginning."""
    versions: dict[str, int] = {}
    for message in shown:
        if message.base != versions.get(message.cell_id, 0) or message.version < message.base:
            return False
        versions[message.cell_id] = message.version
    return True


async def test_a_page_sees_a_run_from_its_beginning_to_its_end(folder: Path, manager: FileContentsManager) -> None:
    last = "print('x')\n1/0"
    async with live_notebook(folder, manager) as show:
        show.write(show.counts, last)
        page = show.look()
        run = await show.start(show.counts, last)
        await until(lambda: "14" in str(page.cells[0]["outputs"]))
        before = len(page.shown)
        show.go_on()
        await show.finish(run)
        assert chains(page.shown) and len(page.shown) > before
        assert [message.state for message in page.shown][-1] == "error"
        for index, cell in enumerate(run.cells):
            assert page.cells[index]["outputs"] == cell.outputs.outputs
            assert page.cells[index]["execution_count"] == cell.execution_count == index + 1
        assert show.kept(0)[0]["text"] == COUNTED
        assert show.kept(1)[1]["ename"] == "ZeroDivisionError"
        assert show.live_outputs.problem(run) is None
        assert [cell.cell_id for cell in show.work[0].cells] == ["c0", "c1"] and show.work[-1].cells == []


async def test_whoever_waits_for_a_run_does_not_wait_for_the_next_frame(
    folder: Path, manager: FileContentsManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_live_outputs, "_FRAME_SECONDS", 3600.0)
    async with live_notebook(folder, manager, "1 + 1") as show:
        page = show.look()
        await show.finish(await show.start("1 + 1"))
        assert page.shown[-1].state == "ok" and show.kept()[0]["data"] == {"text/plain": "2"}


async def test_a_page_that_comes_in_the_middle_is_shown_everything(folder: Path, manager: FileContentsManager) -> None:
    async with live_notebook(folder, manager) as show:
        show.write(show.counts)
        run = await show.start(show.counts)
        await until(lambda: show.work and "14" in str(run.cells[0].outputs.outputs))
        show.work.clear()
        page = show.look()
        assert [cell.cell_id for cell in show.work[0].cells] == ["c0"], "it does not learn what is under way"
        await until(lambda: "14" in str(page.cells[0]["outputs"]))
        before = len(page.shown)
        show.go_on()
        await show.finish(run)
        assert chains(page.shown) and len(page.shown) > before
        assert page.cells[0]["outputs"] == run.cells[0].outputs.outputs


async def test_a_page_that_closes_in_the_middle_leaves_the_rest_to_the_file(
    folder: Path, manager: FileContentsManager
) -> None:
    async with live_notebook(folder, manager) as show:
        show.write(show.counts)
        page = show.look()
        run = await show.start(show.counts)
        await until(lambda: "14" in str(page.cells[0]["outputs"]))
        show.tabs.pages.clear()
        show.go_on()
        await show.finish(run)
        assert show.kept()[0]["text"] == COUNTED
        # And one that opens it again is shown what it missed, if anything.
        again = show.look()
        assert again.shown == []


async def test_what_ended_long_ago_is_not_shown_to_a_page_that_comes_now(
    folder: Path, manager: FileContentsManager
) -> None:
    async with live_notebook(folder, manager, "print(1)") as show:
        run = await show.start("print(1)")
        await show.finish(run)
        await show.access.document(PATH).apply([ClearOutputs(cell_id=run.cells[0].cell_id or "")])
        page = show.look()
        await asyncio.sleep(0.2)
        assert page.shown == [] and page.cells[0]["outputs"] == []


async def test_a_cell_deleted_while_it_runs_takes_only_its_own_outputs_with_it(
    folder: Path, manager: FileContentsManager
) -> None:
    async with live_notebook(folder, manager) as show:
        show.write(show.counts, "print('second')")
        run = await show.start(show.counts, "print('second')")
        await until(lambda: run.cells[0].state == "running")
        await show.access.document(PATH).apply([DeleteCell(cell_id=run.cells[0].cell_id or "")])
        show.go_on()
        await show.finish(run)
        assert [output["text"] for output in show.kept(0)] == ["second\n"]
        problem = show.live_outputs.problem(run)
        assert problem is not None and "c0" in problem and "deleted" in problem


async def test_a_flood_of_prints_hurts_neither_page_nor_file(folder: Path, manager: FileContentsManager) -> None:
    flood = f"for i in range({rounds(300, 1000)}):\n    print('x' * 100_000)\nprint('the end')"
    async with live_notebook(folder, manager, flood) as show:
        page = show.look()
        run = await show.start(flood)
        await show.finish(run)
        assert sum(len(message.to_json()) for message in page.shown) < 8_000_000
        assert show.file.stat().st_size < 2_000_000
        assert "the end" in str(show.kept()[-1])


async def test_cells_that_end_one_soon_after_the_other_are_saved_together(
    folder: Path, manager: FileContentsManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So that they do, however busy the machine is.
    monkeypatch.setattr(_live_outputs, "_SAVE_SECONDS", 3600.0)
    codes = [f"print({number})" for number in range(50)]
    async with live_notebook(folder, manager, *codes) as show:
        show.look()
        run = await show.start(*codes)
        await show.finish(run)
        assert [show.kept(number)[0]["text"] for number in range(50)] == [f"{number}\n" for number in range(50)]
        assert len(show.tabs.saves) <= 2


async def test_closing_keeps_what_a_cell_has_printed_so_far(folder: Path, manager: FileContentsManager) -> None:
    async with live_notebook(folder, manager, WAITS) as show:
        run = await show.start(WAITS)
        await until(lambda: run.cells[0].outputs.outputs)
        await show.live_outputs.close()
        assert show.kept()[0]["text"] == "begun\n"
        await run.interrupt()


async def test_closing_while_outputs_are_put_into_the_notebook_loses_none(
    folder: Path, manager: FileContentsManager
) -> None:
    async with live_notebook(folder, manager, "print('kept')") as show:
        page = show.look()
        asked = asyncio.Event()
        apply = show.tabs.apply

        async def slow(tab: TabView, message: ApplyNotebookOperationsMessage) -> NotebookOperationsResultRequest:
            if not asked.is_set():
                asked.set()
                await asyncio.sleep(60)
            return await apply(tab, message)

        show.tabs.apply = slow  # type: ignore[method-assign]  # a page that takes its time, once
        run = await show.start("print('kept')")
        await asked.wait()
        await show.live_outputs.close()
        assert show.kept()[0]["text"] == "kept\n" and len(page.asked) == 1
        assert run.done


async def test_a_run_goes_on_in_a_notebook_that_was_renamed(folder: Path, manager: FileContentsManager) -> None:
    async with live_notebook(folder, manager) as show:
        show.write(show.counts)
        page = show.look()
        run = await show.start(show.counts)
        await until(lambda: page.shown)
        page.file = show.file.rename(folder / "new.ipynb")
        page.path = "new.ipynb"
        show.access.moved(PATH, "new.ipynb")
        show.go_on()
        await show.finish(run)
        assert chains(page.shown)
        assert page.cells[0]["outputs"] == run.cells[0].outputs.outputs
        assert show.kept(0, page.file)[0]["text"].endswith("29\n") and not show.file.exists()


async def test_marks_go_along_with_a_renamed_folder(folder: Path, manager: FileContentsManager) -> None:
    async with live_notebook(folder, manager, "import time; time.sleep(30)") as show:
        run = await show.start("import time; time.sleep(30)")
        while not show.work:
            await run.wait(0.01)
        show.live_outputs.moved("elsewhere", "new")
        assert [message.path for message in show.work] == [PATH]
        show.live_outputs.moved(PATH, "new.ipynb")
        gone, now = show.work[-2:]
        assert (gone.path, gone.cells) == (PATH, []) and (now.path, now.cells) == ("new.ipynb", show.work[0].cells)
        await run.interrupt()


async def test_outputs_that_cannot_be_kept_are_told_of_and_nobody_waits_for_ever(
    folder: Path, manager: FileContentsManager
) -> None:
    async with live_notebook(folder, manager, "print(1)") as show:
        show.look()

        async def refuses(tab: TabView, message: ApplyNotebookOperationsMessage) -> NotebookOperationsResultRequest:
            raise Unavailable("The page does not save.")

        show.tabs.apply = refuses  # type: ignore[method-assign]  # a page with a dialog open
        run = await show.start("print(1)")
        await show.finish(run)
        assert "The page does not save." in str(show.live_outputs.problem(run))

        async def breaks(tab: TabView, message: ApplyNotebookOperationsMessage) -> NotebookOperationsResultRequest:
            raise ZeroDivisionError

        show.tabs.apply = breaks  # type: ignore[method-assign]  # what nobody foresaw
        run = await show.start("print(1)")
        await show.finish(run)
        assert "log" in str(show.live_outputs.problem(run))


SHOWS = "print('first'); d = display('one', display_id='d')"
UPDATES = "from IPython.display import update_display\nupdate_display('two', display_id='d')"


async def test_what_an_earlier_run_of_a_cell_still_shows_leaves_the_newer_outputs_alone(
    folder: Path, manager: FileContentsManager
) -> None:
    async with live_notebook(folder, manager, SHOWS, UPDATES) as show:
        page = show.look()
        await show.finish(await show.start(SHOWS))
        assert "one" in str(page.cells[0]["outputs"])
        newer = await show.start("print('newer')", UPDATES)
        await show.finish(newer)
        await asyncio.sleep(0.3)
        assert show.kept(0) == [{"output_type": "stream", "name": "stdout", "text": "newer\n"}]
        assert page.cells[0]["outputs"] == newer.cells[0].outputs.outputs


async def test_a_run_of_long_ago_that_shows_something_brings_none_of_its_outputs_back(
    folder: Path, manager: FileContentsManager
) -> None:
    codes = [SHOWS, "print('second')", "pass"]
    async with live_notebook(folder, manager, *codes) as show:
        await show.finish(await show.start(*codes))
        await show.access.document(PATH).apply([ClearOutputs(cell_id=CellId("c1"))])
        executor = show.kernels.executor
        for _ in range(12):
            specs = [CellRunSpec(CellId("c2"), "pass")]
            await show.finish(await executor.run(PATH, specs, listeners=(show.live_outputs,)))
        await show.finish(
            await executor.run(PATH, [CellRunSpec(CellId("c2"), UPDATES)], listeners=(show.live_outputs,))
        )
        await asyncio.sleep(0.5)
        assert show.kept(1) == []


async def test_a_cell_that_was_not_run_because_one_before_it_failed_keeps_its_outputs(
    folder: Path, manager: FileContentsManager
) -> None:
    async with live_notebook(folder, manager, "1/0", "print('old')") as show:
        page = show.look()
        await show.finish(await show.start("pass", "print('old')"))
        assert "old" in str(page.cells[1]["outputs"])
        run = await show.start("1/0", "print('old')")
        await show.finish(run)
        assert run.cells[1].started_at is None
        assert "old" in str(page.cells[1]["outputs"]) and show.kept(1)[0]["text"] == "old\n"


async def test_outputs_that_a_tab_kept_out_are_put_in_when_it_is_there_again(
    folder: Path, manager: FileContentsManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with live_notebook(folder, manager, "print(1)") as show:
        page = show.look()

        async def refuses(tab: TabView, message: ApplyNotebookOperationsMessage) -> NotebookOperationsResultRequest:
            raise Unavailable("The page is on a laptop that sleeps.")

        with monkeypatch.context() as patched:
            patched.setattr(show.tabs, "apply", refuses)
            run = await show.start("print(1)")
            await show.finish(run)
        assert show.live_outputs.problem(run) is not None and show.kept() == []
        page.cells[0]["outputs"] = []
        show.live_outputs.look(PATH)
        await show.live_outputs.settled(run)
        assert show.kept()[0]["text"] == "1\n" and page.cells[0]["outputs"] == run.cells[0].outputs.outputs
        assert show.live_outputs.problem(run) is None
