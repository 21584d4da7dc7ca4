"""Notebooks open in tabs of a real server: who has the lease, and what becomes of work when tabs come and go."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hdsp_agent.comm.notebook_tabs import NotebookTabs
from hdsp_agent.comm.services import Services
from hdsp_agent.errors import HdspAgentError, InvalidInput, NotFound, Unavailable, UnsavedElsewhere
from hdsp_agent.messages import (
    ApplyNotebookOperationsMessage,
    CellId,
    ChangeOutputsMessage,
    InsertCell,
    ReadNotebookMessage,
    ReloadNotebookMessage,
    ReplaceSource,
    TaskId,
)
from hdsp_agent.notebooks import EditSource, NotebookAccess
from hdsp_agent.notebooks.kernels import CellRunSpec
from tests._helpers.jupyter_fetch import Fetch
from tests.comm._helpers.browser_tabs import BrowserTab
from tests.comm.channel._helpers.channel_panel import Panel
from tests.notebooks._helpers.headless import end_kernel
from tests.notebooks._helpers.pages import Page, code, notebook, sources_in, text

PATH = "work.ipynb"
ONE = CellId("one")
PATIENCE = 0.6
LONG = 60.0
"""For what a busy machine is to be waited for."""
Open = Callable[..., AbstractAsyncContextManager[BrowserTab]]


@pytest.fixture
def tabs(services: Services) -> NotebookTabs:
    """What the server knows of tabs. It runs for longer than it waits for those from before its start."""
    tabs = services.notebooks.tabs
    tabs.patience, tabs.answer_seconds = PATIENCE, LONG
    tabs._started -= 60
    return tabs


@pytest.fixture
def access(services: Services, tabs: NotebookTabs) -> NotebookAccess:
    return services.notebooks.notebooks.access


@pytest.fixture
def file(jp_root_dir: Path) -> Path:
    place = jp_root_dir / PATH
    place.write_text(json.dumps(notebook(code("one", "a = 1"), text("two", "words"))), "utf-8")
    return place


@pytest.fixture
def opened(services: Services, jp_ws_fetch: Any) -> Open:
    """Opens tabs that have these pages open and have told so."""

    @asynccontextmanager
    async def tab(*pages: Page, client_id: str | None = None, tells: bool = True) -> AsyncIterator[BrowserTab]:
        panel = Panel(await jp_ws_fetch("hdsp-agent", "comm"), client_id)
        try:
            await panel.open(version=services.version)
            async with BrowserTab(panel, *pages).at_work() as one:
                if tells:
                    await one.tell()
                yield one
        finally:
            await panel.leave()

    return tab


async def until(holds: Callable[[], object], seconds: float = 60) -> None:
    end = asyncio.get_running_loop().time() + seconds
    while not holds():
        assert asyncio.get_running_loop().time() < end, "this did not come about"
        await asyncio.sleep(0.01)


# ---- leases


async def test_the_tab_that_has_a_notebook_open_changes_and_saves_it(
    access: NotebookAccess, file: Path, opened: Open
) -> None:
    page = Page(file)
    async with opened(page):
        applied = await access.document(PATH).apply([EditSource(ONE, "1", "2")])
        assert applied.saved and applied.content_hash == page.content_hash
        assert page.sources[0] == "a = 2" and sources_in(file)[0] == "a = 2"
        assert len(page.asked) == 1


async def test_of_two_tabs_one_changes_the_notebook_and_the_other_shows_it(
    access: NotebookAccess, file: Path, opened: Open
) -> None:
    first, second = Page(file), Page(file)
    async with opened(first) as one, opened(second) as other:
        await access.document(PATH).apply([EditSource(ONE, "1", "2")])
        await until(lambda: second.sources[0] == "a = 2")
        assert first.asked and not second.asked
        assert (one.reloads, other.reloads) == (0, 1)


async def test_the_tab_with_unsaved_changes_takes_the_lease(access: NotebookAccess, file: Path, opened: Open) -> None:
    first, second = Page(file), Page(file)
    async with opened(first), opened(second) as other:
        second.type_in(1, "typed")
        await other.tell()
        await access.document(PATH).apply([EditSource(ONE, "1", "2")])
        assert second.sources == ["a = 2", "typed"] and not first.asked


async def test_the_tab_that_was_saved_last_takes_the_lease_even_if_nobody_saw_it_unsaved(
    access: NotebookAccess, file: Path, opened: Open
) -> None:
    first, second = Page(file), Page(file)
    async with opened(first), opened(second) as other:
        await access.document(PATH).apply([EditSource(ONE, "1", "2")])
        await until(lambda: second.sources[0] == "a = 2")
        await asyncio.sleep(0.1)
        # Typed and saved faster than a tab tells of it.
        second.type_in(1, "typed")
        second.save()
        await other.tell()
        await access.document(PATH).apply([EditSource(ONE, "2", "3")])
        await until(lambda: first.sources == second.sources == ["a = 3", "typed"])
        assert sources_in(file) == ["a = 3", "typed"]


async def test_two_tabs_with_unsaved_changes_are_not_set_against_each_other(
    access: NotebookAccess, file: Path, opened: Open
) -> None:
    first, second = Page(file), Page(file)
    first.type_in(1, "mine")
    second.type_in(1, "yours")
    async with opened(first), opened(second):
        with pytest.raises(UnsavedElsewhere, match="another tab"):
            await access.document(PATH).apply([EditSource(ONE, "1", "2")])


async def test_what_the_person_saves_after_the_agent_makes_no_tab_reload_for_ever(
    access: NotebookAccess, file: Path, opened: Open
) -> None:
    first, second = Page(file), Page(file)
    async with opened(first) as one, opened(second) as other:
        await access.document(PATH).apply([EditSource(ONE, "1", "2")])
        await until(lambda: second.sources[0] == "a = 2")
        first.type_in(0, "mine")
        first.save()
        await one.tell()
        await other.tell()
        await asyncio.sleep(0.2)
        assert (one.reloads, other.reloads) == (0, 1)


async def test_a_tab_that_was_away_while_the_agent_saved_shows_it_when_it_is_back(
    access: NotebookAccess, tabs: NotebookTabs, file: Path, opened: Open
) -> None:
    page = Page(file)
    async with opened(page, client_id="same") as tab:
        await tab.panel.drop()
    await asyncio.sleep(PATIENCE + 0.2)
    await access.document(PATH).apply([EditSource(ONE, "1", "2")])
    async with opened(page, client_id="same") as tab:
        await until(lambda: page.sources[0] == "a = 2")
        assert tab.reloads == 1


async def test_a_read_only_tab_gets_no_lease(access: NotebookAccess, file: Path, opened: Open) -> None:
    page = Page(file)
    page.read_only = True
    async with opened(page):
        await access.document(PATH).apply([EditSource(ONE, "1", "2")])
        assert not page.asked and sources_in(file)[0] == "a = 2"


# ---- tabs that come and go


async def test_a_tab_that_comes_back_is_asked_again_and_does_it_once(
    access: NotebookAccess, tabs: NotebookTabs, file: Path, opened: Open
) -> None:
    tabs.patience = LONG
    page = Page(file)
    async with opened(page, client_id="same") as before:
        before.answers = False
        before.deaf = lambda message: isinstance(message, ReadNotebookMessage)
        insert = InsertCell(cell_id=CellId("new"), after=ONE, cell_type="code", source="b")
        # Nothing is to be looked up for an insertion but the ids, so it is asked for the cells first.
        work = asyncio.create_task(access.document(PATH).apply([insert]))
        await until(lambda: before.heard)
        before.deaf = lambda message: False
        await before.panel.drop()
    async with opened(page, client_id="same") as between:
        between.answers = True
        between.deaf = lambda message: False
        applied = await work
    assert applied.saved and sources_in(file) == ["a = 1", "b", "words"]


async def test_operations_done_before_the_connection_was_lost_are_answered_after(
    access: NotebookAccess, tabs: NotebookTabs, file: Path, opened: Open
) -> None:
    tabs.patience = LONG
    page = Page(file)
    async with opened(page, client_id="same") as before:
        work = asyncio.create_task(access.document(PATH).apply([ReplaceSource(cell_id=ONE, source="a = 2")]))

        def lose_answer(answer: dict[str, object]) -> dict[str, object]:
            before.answers = "total" in answer
            return answer

        before.change_answer = lose_answer
        await until(lambda: page.asked)
        await before.panel.drop()
    async with opened(page, client_id="same"):
        applied = await work
    assert applied.saved and page.asked == [page.asked[0]] * 2 and len(page.done) == 1
    assert page.sources[0] == "a = 2"


async def test_a_tab_that_connects_again_before_its_old_connection_is_known_to_be_dead(
    access: NotebookAccess, tabs: NotebookTabs, file: Path, opened: Open
) -> None:
    page = Page(file)
    looked: list[str] = []
    tabs.on_opened(looked.append)
    async with opened(page, client_id="same") as old:
        old.deaf = lambda message: True
        work = asyncio.create_task(access.document(PATH).apply([EditSource(ONE, "1", "2")]))
        await until(lambda: [one for one in old.heard if isinstance(one, ReadNotebookMessage)])
        async with opened(page, client_id="same"):
            assert (await work).saved and page.sources[0] == "a = 2"
            # The page has forgotten what it was shown: it is shown everything anew.
            assert looked == [PATH, PATH]


async def test_a_tab_that_leaves_in_the_middle_leaves_the_work_to_the_disk(
    access: NotebookAccess, file: Path, opened: Open
) -> None:
    page = Page(file)
    async with opened(page) as tab:
        tab.deaf = lambda message: isinstance(message, ApplyNotebookOperationsMessage)
        work = asyncio.create_task(access.document(PATH).apply([EditSource(ONE, "1", "2")]))
        await until(lambda: [one for one in tab.heard if isinstance(one, ApplyNotebookOperationsMessage)])
        tab.pages.clear()
        await tab.tell()
    assert (await work).saved
    assert sources_in(file)[0] == "a = 2" and not page.asked


async def test_a_tab_that_vanishes_in_the_middle_is_waited_for_and_then_the_disk_is_written(
    access: NotebookAccess, file: Path, opened: Open
) -> None:
    page = Page(file)
    async with opened(page) as tab:
        tab.deaf = lambda message: isinstance(message, ApplyNotebookOperationsMessage)
        work = asyncio.create_task(access.document(PATH).apply([EditSource(ONE, "1", "2")]))
        await until(lambda: [one for one in tab.heard if isinstance(one, ApplyNotebookOperationsMessage)])
        await tab.panel.drop()
    assert (await work).saved and sources_in(file)[0] == "a = 2"


async def test_a_tab_that_is_there_and_never_answers_is_told_of_and_not_gone_around(
    access: NotebookAccess, tabs: NotebookTabs, file: Path, opened: Open
) -> None:
    tabs.answer_seconds = 0.4
    page = Page(file)
    async with opened(page) as tab:
        tab.deaf = lambda message: True
        with pytest.raises(Unavailable, match="does not answer"):
            await access.document(PATH).apply([EditSource(ONE, "1", "2")])
        assert sources_in(file)[0] == "a = 1"
        tabs.answer_seconds = LONG
        tab.deaf = lambda message: False
        assert (await access.document(PATH).apply([EditSource(ONE, "1", "2")])).saved


async def test_a_page_that_says_goodbye_takes_what_was_not_saved_with_it(
    access: NotebookAccess, file: Path, opened: Open
) -> None:
    page = Page(file)
    page.type_in(1, "typed")
    async with opened(page) as tab:
        tab.pages.clear()
        await tab.tell()
    await access.document(PATH).apply([EditSource(ONE, "1", "2")])
    assert sources_in(file) == ["a = 2", "words"]


async def test_a_tab_that_vanished_with_unsaved_changes_is_not_forgotten(
    access: NotebookAccess, tabs: NotebookTabs, file: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Page(file)
    page.type_in(1, "typed")
    async with opened(page, client_id="laptop") as tab:
        await tab.panel.drop()
    waits, wait = 0, tabs._next_change

    async def counted(*of: Any) -> None:
        nonlocal waits
        waits += 1
        await wait(*of)

    monkeypatch.setattr(tabs, "_next_change", counted)
    for _ in range(2):
        before = waits
        with pytest.raises(UnsavedElsewhere, match="cannot be reached"):
            await access.document(PATH).apply([EditSource(ONE, "1", "2")])
    assert waits == before, "it is waited for once"
    # It wakes up again.
    async with opened(page, client_id="laptop"):
        await access.document(PATH).apply([EditSource(ONE, "1", "2")])
    assert page.sources == ["a = 2", "typed"]


async def test_who_opens_the_notebook_anew_goes_on_without_the_tab_that_was_lost(
    access: NotebookAccess, file: Path, opened: Open
) -> None:
    lost, fresh = Page(file), Page(file)
    lost.type_in(1, "typed before the browser crashed")
    async with opened(lost, client_id="crashed") as tab:
        await tab.panel.drop()
    async with opened(fresh, client_id="after"):
        await asyncio.sleep(PATIENCE + 0.3)
        await access.document(PATH).apply([EditSource(ONE, "1", "2")])
    assert fresh.sources == ["a = 2", "words"]


async def test_shared_changes_are_nobodys_unsaved_ones(
    access: NotebookAccess, file: Path, opened: Open, tabs: NotebookTabs
) -> None:
    page = Page(file)
    page.type_in(1, "typed")
    page.collaborative = True
    async with opened(page) as tab:
        await tab.panel.drop()
    await access.document(PATH).apply([EditSource(ONE, "1", "2")])
    assert sources_in(file)[0] == "a = 2"


async def test_tabs_from_before_a_restart_are_waited_for(
    access: NotebookAccess, tabs: NotebookTabs, file: Path, opened: Open
) -> None:
    tabs._started += 60
    tabs.patience = LONG
    page, other = Page(file), Page(file)
    other.path = "other.ipynb"
    page.type_in(1, "typed")
    work = asyncio.create_task(access.document(PATH).apply([EditSource(ONE, "1", "2")]))
    async with opened(other):
        await asyncio.sleep(0.2)
        async with opened(page):
            await work
    assert page.sources == ["a = 2", "typed"]


# ---- names


async def test_a_notebook_renamed_in_its_tab_goes_on_there(access: NotebookAccess, file: Path, opened: Open) -> None:
    page = Page(file)
    async with opened(page) as tab:
        document = access.document(PATH)
        await document.snapshot()
        page.file = file.rename(file.with_name("new.ipynb"))
        page.path = "new.ipynb"
        await tab.tell(renamed={PATH: "new.ipynb"})
        await document.apply([EditSource(ONE, "1", "2")])
        assert document.path == "new.ipynb" and page.sources[0] == "a = 2" and not file.exists()


async def test_a_rename_in_the_file_browser_takes_task_and_kernel_along(
    access: NotebookAccess, services: Services, file: Path, jp_fetch: Fetch, jp_serverapp: Any
) -> None:
    document = access.document(PATH)
    await document.snapshot()
    sessions = jp_serverapp.session_manager
    session = await sessions.create_session(path=PATH, name=PATH, type="notebook", kernel_name="python3")
    try:
        await jp_fetch("api", "contents", PATH, method="PATCH", body=json.dumps({"path": "new.ipynb"}))
        await until(lambda: document.path == "new.ipynb")
        applied = await document.apply([EditSource(ONE, "1", "2")])
        assert applied.saved and not file.exists() and sources_in(file.with_name("new.ipynb"))[0] == "a = 2"
        kernel = await services.notebooks.notebooks.kernel(PATH)
        assert kernel is not None and kernel.id == session["kernel"]["id"]
    finally:
        await sessions.delete_session(session["id"])


async def test_a_renamed_folder_takes_its_notebooks_and_their_kernels_along(
    access: NotebookAccess, services: Services, file: Path, jp_fetch: Fetch, jp_serverapp: Any
) -> None:
    (file.parent / "old").mkdir()
    file.rename(file.parent / "old" / PATH)
    document = access.document(f"old/{PATH}")
    sessions = jp_serverapp.session_manager
    session = await sessions.create_session(path=f"old/{PATH}", name=PATH, type="notebook", kernel_name="python3")
    try:
        await jp_fetch("api", "contents", "old", method="PATCH", body=json.dumps({"path": "new"}))
        await until(lambda: document.path == f"new/{PATH}")
        assert (await document.apply([EditSource(ONE, "1", "2")])).saved
        assert sources_in(file.parent / "new" / PATH)[0] == "a = 2"
        kernel = await services.notebooks.notebooks.kernel(f"old/{PATH}")
        assert kernel is not None and kernel.path == f"new/{PATH}"
    finally:
        await sessions.delete_session(session["id"])


async def test_a_notebook_deleted_in_the_file_browser_is_not_found(
    access: NotebookAccess, file: Path, opened: Open, jp_fetch: Fetch
) -> None:
    page = Page(file)
    async with opened(page):
        document = access.document(PATH)
        await document.snapshot()
        await jp_fetch("api", "contents", PATH, method="DELETE")
        await asyncio.sleep(0.05)
        with pytest.raises(NotFound, match="deleted"):
            await document.apply([EditSource(ONE, "1", "2")])
        assert not page.asked and not file.exists()
        body = json.dumps({"type": "notebook", "format": "json", "content": page.content})
        await jp_fetch("api", "contents", PATH, method="PUT", body=body)
        page.content_hash = ""
        await asyncio.sleep(0.05)
        assert (await document.apply([EditSource(ONE, "1", "2")])).saved


# ---- tabs that answer wrongly


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"cells": None}, Unavailable),
        ({"total": 7, "cells": []}, Unavailable),
        ({"cells": [{"no": "cell"}], "total": 1}, InvalidInput),
        ({"cells": [{"cell_type": "code", "source": 5}], "total": 1}, InvalidInput),
        ({"nbformat": 3}, HdspAgentError),
        ({"status": "failed", "message": "it is broken"}, HdspAgentError),
        ({"type": "notebookOperationsResult"}, Unavailable),
    ],
)
async def test_a_malformed_answer_is_a_typed_error_and_the_tab_goes_on(
    access: NotebookAccess,
    tabs: NotebookTabs,
    file: Path,
    opened: Open,
    wrong: dict[str, object],
    error: type[Exception],
) -> None:
    tabs.answer_seconds = 0.5
    page = Page(file)
    async with opened(page) as tab:

        def malformed(answer: dict[str, object]) -> dict[str, object]:
            if wrong.get("type"):
                return {"type": wrong["type"], "opId": answer["opId"], "status": "applied"}
            return {key: value for key, value in {**answer, **wrong}.items() if value is not None}

        tab.change_answer = malformed
        with pytest.raises(error):
            await access.document(PATH).snapshot()
        tabs.answer_seconds = LONG
        tab.change_answer = lambda answer: answer
        assert (await access.document(PATH).snapshot()).source == "tab"


async def test_an_answer_nobody_waits_for_does_no_harm(access: NotebookAccess, file: Path, opened: Open) -> None:
    async with opened(Page(file)) as tab:
        assert (await tab.panel.ask("notebookOperationsResult", opId="never", status="applied"))["ok"]
        assert not (await tab.panel.ask("notebookPage", opId="never", status="nonsense"))["ok"]
        assert (await access.document(PATH).snapshot()).source == "tab"


async def test_outputs_of_a_run_reach_the_tab_that_has_the_lease_and_no_other(
    access: NotebookAccess, file: Path, opened: Open
) -> None:
    first, second = Page(file), Page(file)
    change = ChangeOutputsMessage(path=PATH, cell_id=ONE, run_id="r", base=0, version=1, changes=[], state="running")
    assert not await access.show(change)
    async with opened(first), opened(second):
        assert await access.show(change)
        await until(lambda: first.shown)
        assert not second.shown


# ---- one file, several names


async def test_a_notebook_open_by_a_link_is_not_written_behind_its_tab(
    access: NotebookAccess, tabs: NotebookTabs, file: Path, opened: Open
) -> None:
    link = file.with_name("link.ipynb")
    link.symlink_to(file)
    page, other = Page(file, "link.ipynb"), Page(file)
    page.type_in(1, "typed, not saved")
    async with opened(page), opened(other) as one:
        await access.document(PATH).apply([EditSource(ONE, "1", "2")])
        assert page.sources == ["a = 2", "typed, not saved"] and not other.asked
        await until(lambda: one.reloads == 1)
        assert other.sources[1] == "typed, not saved"
    page.type_in(1, "typed again")
    async with opened(page) as tab:
        await tab.panel.drop()
        with pytest.raises(UnsavedElsewhere):
            await access.document(PATH).apply([EditSource(ONE, "2", "3")])


# ---- what was missed


async def test_a_tab_that_was_silent_is_looked_at_again_when_it_speaks(
    access: NotebookAccess, tabs: NotebookTabs, file: Path, opened: Open
) -> None:
    looked: list[str] = []
    tabs.on_opened(looked.append)
    tabs.answer_seconds = 0.3
    async with opened(Page(file)) as tab:
        assert looked == [PATH]
        await tab.tell()
        assert looked == [PATH], "it is no news that it has it open"
        tab.deaf = lambda message: True
        with pytest.raises(Unavailable, match="does not answer"):
            await access.document(PATH).apply([EditSource(ONE, "1", "2")])
        tabs.answer_seconds = LONG
        await tab.panel.ask("notebookOperationsResult", opId="late", status="applied")
        await tab.tell()
        assert looked == [PATH, PATH]


async def test_outputs_a_silent_tab_did_not_take_are_put_in_when_it_is_back(
    services: Services, tabs: NotebookTabs, file: Path, opened: Open
) -> None:
    tabs.answer_seconds = 0.3
    notebooks, page = services.notebooks.notebooks, Page(file)
    async with opened(page) as tab:
        tab.deaf = lambda message: isinstance(message, ApplyNotebookOperationsMessage)
        run = await notebooks.run(PATH, [CellRunSpec(ONE, "print('kept')")], task_id=TaskId("t"))
        await run.wait(60)
        await notebooks.live_outputs.settled(run)
        assert "does not answer" in str(notebooks.live_outputs.problem(run)) and not page.asked
        tabs.answer_seconds = LONG
        tab.deaf = lambda message: False
        await tab.tell()
        await until(lambda: page.asked and "kept" in file.read_text("utf-8"))
        await end_kernel(notebooks.executor, PATH)


async def test_a_tab_that_comes_to_a_notebook_is_told_what_nobody_has_looked_at(
    services: Services, access: NotebookAccess, file: Path, opened: Open
) -> None:
    unreviewed = services.notebooks.notebooks.unreviewed
    before = await access.document(PATH).snapshot()
    change = ReplaceSource(cell_id=ONE, source="a = 2")
    await access.document(PATH).apply([change])
    unreviewed.note(PATH, before, [change], TaskId("t"))
    told = {"cellId": "one", "taskId": "t", "before": "a = 1", "after": "a = 2"}
    page = Page(file)
    async with opened(page, tells=False) as tab:
        assert await news(tab, page) == {PATH: [told]}
        assert await news(tab, page) is None, "it knows"
        async with opened(Page(file), tells=False) as other:
            assert await news(other, page) == {PATH: [told]}
            before = await access.document(PATH).snapshot()
            change = ReplaceSource(cell_id=ONE, source="a = 3")
            unreviewed.note(PATH, before, [change], TaskId("t"))
            other.deaf = lambda message: isinstance(message, ReloadNotebookMessage)
            await access.document(PATH).apply([change])
            assert await news(tab, page) is None, "it did this itself"
            assert await news(other, page) == {PATH: [told | {"after": "a = 3"}]}
        await tab.panel.ask("cellReview", path=PATH, cellId="one", accepted=True)
    async with opened(page, tells=False) as tab:
        assert await news(tab, page) is None


async def news(tab: BrowserTab, page: Page) -> object:
    """What a tab is told that tells that it has a page open."""
    answer = await tab.panel.ask("openNotebooks", notebooks=[page.told().to_wire()])
    assert answer["ok"], answer
    result: Any = answer.get("result")
    return result and result["unreviewed"]


async def test_a_tab_whose_folder_was_renamed_is_waited_for(
    access: NotebookAccess, tabs: NotebookTabs, file: Path, opened: Open
) -> None:
    tabs.patience = LONG
    (file.parent / "old").mkdir()
    page = Page(file.rename(file.parent / "old" / PATH), f"old/{PATH}")
    async with opened(page) as tab:
        await access.document(f"old/{PATH}").apply([EditSource(ONE, "1", "2")])
        (file.parent / "old").rename(file.parent / "new")
        page.file = file.parent / "new" / PATH
        tabs.file_renamed("old", "new")
        access.moved("old", "new")
        work = asyncio.create_task(access.document(f"old/{PATH}").apply([EditSource(ONE, "2", "3")]))
        await asyncio.sleep(0.1)
        page.path = f"new/{PATH}"
        await tab.tell(renamed={f"old/{PATH}": f"new/{PATH}"})
        await work
        assert page.sources[0] == "a = 3" and len(page.asked) == 2


async def test_of_the_files_the_agent_left_the_last_are_remembered(tabs: NotebookTabs) -> None:
    for number in range(1_500):
        tabs.saved(f"{number}.ipynb", "hash", by=None)
    left = tabs._files._hashes
    assert len(left) == 1_000 and "1499.ipynb" in left
