"""Who is asked for each operation, and what happens when that tab goes in the middle."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path

import pytest
from jupyter_server.services.contents.filemanager import FileContentsManager

from hdsp_agent.errors import HdspAgentError, InvalidInput, NotAllowed, NotFound, Unavailable, UnsavedElsewhere
from hdsp_agent.messages import (
    CellId,
    ChangeOutputsMessage,
    DeleteCell,
    InsertCell,
    MoveCell,
    OutputDetail,
    ReplaceSource,
    SetCellMetadata,
    SetNotebookMetadata,
    SetOutputs,
    TaskId,
)
from hdsp_agent.notebooks import (
    CellConflict,
    EditSource,
    NotebookAccess,
    NotebookSnapshot,
    TabGone,
    TabSilent,
    TabView,
    source_hash,
)
from hdsp_agent.notebooks._document import Applied, Operation
from hdsp_agent.notebooks.documents.contents import ContentsNotebooks

from ._helpers.pages import Page, Tabs, code, file_hash, notebook, sources_in, text

PATH = "work.ipynb"
ONE, TWO = CellId("one"), CellId("two")


class Rooms:
    """Collaboration: a room, or why there is none."""

    def __init__(self, page: Page | None = None, error: HdspAgentError | None = None) -> None:
        self.page = page
        self.error = error
        self.opened = False

    async def document(self, path: str, *, create: bool = False) -> Room | None:
        if self.error is not None:
            raise self.error
        self.opened = self.opened or create
        return Room(self.page) if self.page is not None and (self.opened or self.page.visible) else None


class Room:
    """A shared notebook."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.path = page.path

    async def snapshot(self, *, outputs: OutputDetail = "none") -> NotebookSnapshot:
        return NotebookSnapshot(self.path, (), {}, 4, 5, "r", "room")

    async def apply(
        self,
        operations: Sequence[Operation],
        *,
        save: bool = True,
        task_id: TaskId | None = None,
        review: bool = False,
        signatures: Collection[str] | None = None,
    ) -> Applied:
        return Applied(None, True, (), "of the room")

    async def show(self, change: ChangeOutputsMessage) -> bool:
        self.page.show(change)
        return True


@pytest.fixture
def file(folder: Path) -> Path:
    place = folder / PATH
    place.write_text(json.dumps(notebook(code("one", "a = 1"), text("two", "words"))), "utf-8")
    return place


@pytest.fixture
def tabs() -> Tabs:
    return Tabs()


@pytest.fixture
def access(manager: FileContentsManager, tabs: Tabs) -> NotebookAccess:
    return NotebookAccess(ContentsNotebooks(manager), tabs)


# ---- the choice


async def test_a_notebook_nobody_has_open_is_changed_on_the_disk(
    access: NotebookAccess, tabs: Tabs, file: Path
) -> None:
    applied = await access.document(PATH).apply([EditSource(ONE, "1", "2")])
    assert sources_in(file) == ["a = 2", "words"] and applied.saved
    assert tabs.saves == [(PATH, file_hash(file), False)], "tabs that show it are not told"


async def test_an_open_notebook_is_read_and_changed_in_its_tab(access: NotebookAccess, tabs: Tabs, file: Path) -> None:
    page = Page(file)
    page.type_in(1, "typed, not saved")
    tabs.pages.append(page)
    document = access.document(PATH)
    snapshot = await document.snapshot()
    assert snapshot.source == "tab" and snapshot.dirty and snapshot.cells[1].source == "typed, not saved"
    applied = await document.apply([EditSource(ONE, "1", "2")])
    assert page.sources == ["a = 2", "typed, not saved"] and applied.saved
    assert tabs.saves == [(PATH, file_hash(file), True)]


async def test_a_notebook_is_as_it_is_on_screen_where_its_file_may_be_behind(
    access: NotebookAccess, tabs: Tabs, file: Path
) -> None:
    assert await access.on_screen(PATH, "me") is None
    page = Page(file)
    tabs.pages.append(page)
    assert await access.on_screen(PATH, "me") is None
    page.cells[0] |= {"outputs": [{"output_type": "stream", "name": "stdout", "text": "2\n"}], "execution_count": 3}
    page.type_in(0, "print(2)")
    assert await access.on_screen(PATH, "me") == page.content
    page.save()
    assert await access.on_screen(PATH, "me") is None


async def test_what_others_have_not_saved_and_what_a_tab_does_not_tell_is_not_on_screen(
    access: NotebookAccess, tabs: Tabs, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Page(file)
    page.type_in(0, "typed, not saved")
    tabs.pages.append(page)
    assert await access.on_screen(PATH, "somebody else") is None and page.reads == 0
    for error in (TabSilent, TabGone):
        monkeypatch.setattr(page, "read", partial(_raise, error))
        assert await access.on_screen(PATH, "me") is None


def _raise(error: type[Exception], message: object) -> None:
    raise error


async def test_who_has_it_is_asked_anew_for_each_operation(access: NotebookAccess, tabs: Tabs, file: Path) -> None:
    document = access.document(PATH)
    await document.apply([EditSource(ONE, "1", "2")])
    page = Page(file)
    tabs.pages.append(page)
    await document.apply([EditSource(ONE, "2", "3")])
    assert len(page.asked) == 1
    tabs.pages.clear()
    await document.apply([EditSource(ONE, "3", "4")])
    assert len(page.asked) == 1 and sources_in(file)[0] == "a = 4"


async def test_a_long_notebook_is_read_page_by_page(access: NotebookAccess, tabs: Tabs, file: Path) -> None:
    page = Page(file)
    page.cells_a_page = 1
    tabs.pages.append(page)
    assert [cell.source for cell in (await access.document(PATH).snapshot()).cells] == ["a = 1", "words"]
    assert page.reads == 2


async def test_what_the_tab_can_judge_alone_needs_no_reading_first(
    access: NotebookAccess, tabs: Tabs, file: Path
) -> None:
    page = Page(file)
    tabs.pages.append(page)
    exact = ReplaceSource(cell_id=ONE, expect=source_hash("a = 1"), source="a = 2")
    await access.document(PATH).apply([SetOutputs(cell_id=ONE, outputs=[], execution_count=3), exact])
    assert page.reads == 0 and page.cells[0]["execution_count"] == 3 and page.sources[0] == "a = 2"


async def test_a_hash_of_what_a_cell_said_before_the_batch_is_as_good(
    access: NotebookAccess, tabs: Tabs, file: Path
) -> None:
    page = Page(file)
    page.exact = True
    tabs.pages.append(page)
    before = source_hash("a = 1")
    await access.document(PATH).apply(
        [
            ReplaceSource(cell_id=ONE, expect=before, source="a = 2"),
            ReplaceSource(cell_id=ONE, expect=before, source="a = 3"),
        ]
    )
    assert page.sources[0] == "a = 3" and len(page.done) == 2


async def test_whether_outputs_are_trusted_is_not_the_agents_to_say(
    access: NotebookAccess, tabs: Tabs, file: Path
) -> None:
    page = Page(file)
    tabs.pages.append(page)
    with pytest.raises(NotAllowed):
        await access.document(PATH).apply([SetCellMetadata(cell_id=ONE, key="trusted", value=True)])
    new = InsertCell(cell_id=CellId("new"), cell_type="code", source="", metadata={"trusted": True, "tags": ["a"]})
    await access.document(PATH).apply([new])
    assert page.cells[0]["metadata"] == {"tags": ["a"]}


async def test_an_edit_asks_the_tab_for_its_cells_once(access: NotebookAccess, tabs: Tabs, file: Path) -> None:
    page = Page(file)
    tabs.pages.append(page)
    await access.document(PATH).apply([EditSource(ONE, "1", "2")])
    assert page.reads == 1


async def test_a_tab_with_other_cells_answers_what_they_are(access: NotebookAccess, tabs: Tabs, file: Path) -> None:
    page = Page(file)
    tabs.pages.append(page)
    with pytest.raises(CellConflict) as caught:
        await access.document(PATH).apply([ReplaceSource(cell_id=ONE, expect=source_hash("old"), source="new")])
    assert [miss.source for miss in caught.value.mismatches] == ["a = 1"] and page.sources[0] == "a = 1"


async def test_a_read_only_tab_is_not_gone_around(access: NotebookAccess, tabs: Tabs, file: Path) -> None:
    page = Page(file)
    tabs.pages.append(page)
    page.read_only = True
    with pytest.raises(NotAllowed):
        await access.document(PATH).apply([EditSource(ONE, "1", "2")])
    assert sources_in(file)[0] == "a = 1"


# ---- what a notebook says of its checkpoints


HEAD = SetNotebookMetadata(key="hdsp_agent", value={"head": "now"})
POINTER = SetCellMetadata(cell_id=ONE, key="hdsp_checkpoint", value={"ts": 1})


async def test_a_closed_notebook_says_at_once_what_is_known_of_its_moments(
    access: NotebookAccess, tabs: Tabs, file: Path
) -> None:
    assert await access.point(PATH, [HEAD, POINTER])
    made = json.loads(file.read_text("utf-8"))
    assert (made["metadata"]["hdsp_agent"], made["cells"][0]["metadata"]) == (
        HEAD.value,
        {"hdsp_checkpoint": {"ts": 1}},
    )
    assert tabs.saves == [(PATH, file_hash(file), False)]


@pytest.mark.parametrize("who", ["agent", "person"])
async def test_an_open_notebook_says_it_when_it_is_saved_next_and_stays_clean_until_then(
    access: NotebookAccess, tabs: Tabs, file: Path, who: str
) -> None:
    page = Page(file)
    tabs.pages.append(page)
    before = file.read_bytes()
    assert not await access.point(PATH, [HEAD, POINTER])
    assert (page.dirty, page.revision, file.read_bytes(), tabs.saves) == (False, 0, before, [])
    if who == "agent":
        await access.document(PATH).apply([SetOutputs(cell_id=ONE, outputs=[], execution_count=3)])
    else:
        page.save()
    made = json.loads(file.read_text("utf-8"))
    assert (made["metadata"]["hdsp_agent"], made["cells"][0]["metadata"]) == (
        HEAD.value,
        {"hdsp_checkpoint": {"ts": 1}},
    )


async def test_what_waits_for_a_save_is_replaced_and_forgets_cells_that_are_gone(
    access: NotebookAccess, tabs: Tabs, file: Path
) -> None:
    page = Page(file)
    tabs.pages.append(page)
    await access.point(PATH, [SetCellMetadata(cell_id=TWO, key="old", value=1)])
    await access.point(PATH, [HEAD, POINTER])
    await access.document(PATH).apply([DeleteCell(cell_id=ONE)])
    made = json.loads(file.read_text("utf-8"))
    assert made["metadata"] == {"hdsp_agent": HEAD.value} and made["cells"][0]["metadata"] == {}


async def test_a_tab_that_left_has_not_been_told(access: NotebookAccess, tabs: Tabs, file: Path) -> None:
    tabs.pages.append(Page(file))
    tabs.before = tabs.leave
    before = file.read_bytes()
    assert not await access.point(PATH, [HEAD]) and file.read_bytes() == before


# ---- a tab that goes


async def test_a_tab_that_left_before_it_did_anything_leaves_the_work_to_the_disk(
    access: NotebookAccess, tabs: Tabs, file: Path
) -> None:
    tabs.pages.append(Page(file))
    tabs.before = tabs.leave
    applied = await access.document(PATH).apply([EditSource(ONE, "1", "12")])
    assert sources_in(file) == ["a = 12", "words"] and applied.saved


async def test_what_a_tab_did_and_saved_before_it_left_is_not_done_again(
    access: NotebookAccess, tabs: Tabs, file: Path
) -> None:
    tabs.pages.append(Page(file))
    tabs.after = tabs.leave
    new = InsertCell(cell_id=CellId("new"), after=ONE, cell_type="code", source="b")
    # Looked for a second time, the text to replace would be there again.
    applied = await access.document(PATH).apply([EditSource(ONE, "1", "11"), new, MoveCell(cell_id=TWO)])
    assert sources_in(file) == ["words", "a = 11", "b"]
    assert applied.saved and applied.content_hash == file_hash(file) and set(applied.changed) == {ONE, TWO, "new"}


async def test_what_a_tab_did_and_did_not_save_before_it_left_is_done_on_the_disk(
    access: NotebookAccess, tabs: Tabs, file: Path
) -> None:
    page = Page(file)
    page.saves = False
    tabs.pages.append(page)
    tabs.after = tabs.leave
    await access.document(PATH).apply([EditSource(ONE, "1", "2"), DeleteCell(cell_id=TWO)])
    assert sources_in(file) == ["a = 2"]


async def test_a_tab_that_closes_the_notebook_while_it_is_read_is_not_the_end(
    access: NotebookAccess, tabs: Tabs, file: Path
) -> None:
    page = Page(file)
    tabs.pages.append(page)
    page.path = "other.ipynb"
    page.visible = True

    async def holder(path: str) -> TabView | None:
        tabs.holder = Tabs.holder.__get__(tabs)  # type: ignore[method-assign]  # only the first time
        return TabView("me", "tab", Page(file).told())

    tabs.holder = holder  # type: ignore[method-assign]  # what the tab told is not true any more
    assert (await access.document(PATH).snapshot()).source == "disk"


async def test_a_tab_that_does_not_answer_is_told_of(access: NotebookAccess, tabs: Tabs, file: Path) -> None:
    tabs.pages.append(Page(file))

    def silent() -> None:
        raise TabSilent

    tabs.before = silent
    with pytest.raises(Unavailable, match="does not answer"):
        await access.document(PATH).apply([EditSource(ONE, "1", "2")])
    assert sources_in(file)[0] == "a = 1", "the file was written behind a tab that is there"


async def test_a_notebook_that_opens_and_closes_all_the_time_is_given_up(
    access: NotebookAccess, tabs: Tabs, file: Path
) -> None:
    tabs.pages.append(Page(file))

    def gone() -> None:
        raise TabGone

    tabs.before = gone
    with pytest.raises(Unavailable, match="again and again"):
        await access.document(PATH).apply([EditSource(ONE, "1", "2")])


# ---- unsaved changes elsewhere


async def test_unsaved_changes_elsewhere_forbid_to_write_and_not_to_read(
    access: NotebookAccess, tabs: Tabs, file: Path
) -> None:
    page = Page(file)
    page.type_in(0, "mine")
    tabs.dirty_elsewhere.append(TabView("me", "asleep", page.told()))
    with pytest.raises(UnsavedElsewhere, match="cannot be reached"):
        await access.document(PATH).apply([EditSource(ONE, "1", "2")])
    assert sources_in(file)[0] == "a = 1"
    assert (await access.document(PATH).snapshot()).cells[0].source == "a = 1"
    tabs.pages.append(Page(file))
    with pytest.raises(UnsavedElsewhere, match="another tab"):
        await access.document(PATH).apply([EditSource(ONE, "1", "2")])


# ---- several at once


async def test_two_batches_at_once_do_not_mix(access: NotebookAccess, tabs: Tabs, file: Path) -> None:
    tabs.pages.append(Page(file))
    document = access.document(PATH)
    await asyncio.gather(*(document.apply([EditSource(ONE, "a = ", f"a = {number}")]) for number in range(8)))
    assert sorted(sources_in(file)[0].removeprefix("a = ")) == sorted("012345671")


# ---- names


async def test_a_task_follows_a_renamed_notebook(access: NotebookAccess, tabs: Tabs, file: Path) -> None:
    heard: list[tuple[str, str]] = []
    access.on_moved(lambda old, new: heard.append((old, new)))
    document = access.document(PATH)
    await document.snapshot()
    file.rename(file.with_name("new.ipynb"))
    access.moved(PATH, "new.ipynb")
    access.moved(PATH, "new.ipynb")
    assert document.path == "new.ipynb" and (await document.snapshot()).path == "new.ipynb"
    file.with_name("new.ipynb").rename(file.with_name("newer.ipynb"))
    access.moved("new.ipynb", "newer.ipynb")
    # The tab tells of the first rename when the second has happened.
    access.moved(PATH, "new.ipynb")
    assert access.document(PATH).path == "newer.ipynb" and (await document.snapshot()).cells
    assert heard == [(PATH, "new.ipynb"), ("new.ipynb", "newer.ipynb")]


def test_names_go_back_and_forth_and_folders_take_what_is_in_them_along(access: NotebookAccess) -> None:
    access.moved("a.ipynb", "b.ipynb")
    access.moved("b.ipynb", "a.ipynb")
    assert access.now_at("a.ipynb") == "a.ipynb" and access.now_at("b.ipynb") == "a.ipynb"
    access.moved("x/y.ipynb", "x/z.ipynb")
    access.moved("x", "w")
    assert access.now_at("x/y.ipynb") == "w/z.ipynb" and access.now_at("x/other.ipynb") == "w/other.ipynb"
    assert access.now_at("xx/other.ipynb") == "xx/other.ipynb"
    access.moved("w", "v/w")
    assert access.now_at("x/y.ipynb") == "v/w/z.ipynb"
    access.appeared("x/other.ipynb")
    assert access.now_at("x/other.ipynb") == "x/other.ipynb" and access.now_at("x/third.ipynb") == "v/w/third.ipynb"
    access.moved("x", "u")
    assert access.now_at("x/other.ipynb") == "u/other.ipynb" and access.now_at("x/y.ipynb") == "v/w/z.ipynb"


async def test_a_new_notebook_under_an_old_name_is_the_new_one(access: NotebookAccess, file: Path) -> None:
    file.rename(file.with_name("new.ipynb"))
    access.moved(PATH, "new.ipynb")
    await access.create(PATH)
    assert access.now_at(PATH) == PATH and (await access.document(PATH).snapshot()).cells == ()


async def test_a_deleted_notebook_is_not_found_until_there_is_one_again(
    access: NotebookAccess, tabs: Tabs, file: Path
) -> None:
    page = Page(file)
    tabs.pages.append(page)
    document = access.document(PATH)
    file.unlink()
    access.deleted(PATH)
    with pytest.raises(NotFound, match="deleted"):
        await document.apply([EditSource(ONE, "1", "2")])
    assert not file.exists() and page.asked == []
    page.save()
    access.appeared(PATH)
    assert (await document.apply([EditSource(ONE, "1", "2")])).saved


def test_paths_are_those_of_the_contents_api(access: NotebookAccess, folder: Path, tmp_path: Path) -> None:
    (folder / "sub").mkdir()
    assert access.api_path(folder / "sub" / "n.ipynb") == "sub/n.ipynb"
    assert access.document("/sub//n.ipynb").path == "sub/n.ipynb"
    with pytest.raises(InvalidInput, match="outside"):
        access.api_path(tmp_path / "n.ipynb")
    for wrong in ("n.py", "../n.ipynb", "a\0.ipynb"):
        with pytest.raises(InvalidInput):
            access.document(wrong)


# ---- rooms


def _shown(path: str = PATH) -> ChangeOutputsMessage:
    return ChangeOutputsMessage(path=path, cell_id=ONE, run_id="r", base=0, version=1, changes=[], state="running")


async def test_a_room_goes_before_the_tabs_in_it(manager: FileContentsManager, tabs: Tabs, file: Path) -> None:
    page, shared = Page(file), Page(file)
    page.collaborative = True
    tabs.pages.append(page)
    access = NotebookAccess(ContentsNotebooks(manager), tabs, Rooms(shared))
    assert (await access.document(PATH).snapshot()).source == "room"
    shown = await access.on_screen(PATH, "somebody else")
    assert shown is not None and shown["cells"] == []
    assert (await access.document(PATH).apply([EditSource(ONE, "1", "2")])).content_hash == "of the room"
    assert await access.show(_shown())
    assert len(shared.shown) == 1 and page.shown == [] and page.asked == []


async def test_a_room_is_begun_for_a_tab_that_shares_and_not_for_nobody(
    manager: FileContentsManager, tabs: Tabs, file: Path
) -> None:
    shared = Page(file)
    shared.visible = False
    rooms = Rooms(shared)
    access = NotebookAccess(ContentsNotebooks(manager), tabs, rooms)
    assert (await access.document(PATH).snapshot()).source == "disk"
    page = Page(file)
    tabs.pages.append(page)
    assert (await access.document(PATH).snapshot()).source == "tab" and not rooms.opened
    page.collaborative = True
    assert (await access.document(PATH).snapshot()).source == "room"


async def test_where_the_room_cannot_be_had_a_tab_in_it_is_safe_and_the_disk_is_not(
    manager: FileContentsManager, tabs: Tabs, file: Path
) -> None:
    access = NotebookAccess(ContentsNotebooks(manager), tabs, Rooms(error=Unavailable("no room")))
    with pytest.raises(Unavailable, match="no room"):
        await access.document(PATH).apply([EditSource(ONE, "1", "2")])
    assert sources_in(file)[0] == "a = 1"
    page = Page(file)
    page.collaborative = True
    tabs.pages.append(page)
    await access.document(PATH).apply([EditSource(ONE, "1", "2")])
    assert page.sources[0] == "a = 2"
    # Outputs would come twice: from the room, and from what the tab is shown.
    assert not await access.show(_shown()) and page.shown == []


# ---- one file, several names


@pytest.fixture(params=["a link", "a link to the folder", "a second name"])
def other_name(file: Path, request: pytest.FixtureRequest) -> str:
    """Another path of the same notebook. A second name is what an upper-case one is where case does not count."""
    if request.param == "a link to the folder":
        (file.parent / "shelf").symlink_to(file.parent)
        return f"shelf/{PATH}"
    other = file.with_name("other.ipynb")
    if request.param == "a link":
        other.symlink_to(file)
    else:
        other.hardlink_to(file)
    return other.name


async def test_a_notebook_open_by_another_name_of_its_file_is_changed_in_its_tab(
    access: NotebookAccess, tabs: Tabs, file: Path, other_name: str
) -> None:
    page = Page(file, other_name)
    page.type_in(1, "typed, not saved")
    tabs.pages.append(page)
    document = access.document(PATH)
    assert (await document.snapshot()).cells[1].source == "typed, not saved"
    await document.apply([EditSource(ONE, "1", "2")])
    assert len(page.asked) == 1 and sources_in(file) == ["a = 2", "typed, not saved"]
    assert await access.is_watched(PATH)
    shown = ChangeOutputsMessage(path=PATH, cell_id=ONE, run_id="r", base=0, version=1, changes=[], state="running")
    assert await access.show(shown) and [one.path for one in page.shown] == [other_name]


async def test_what_is_unsaved_by_another_name_keeps_the_file_from_being_written(
    access: NotebookAccess, tabs: Tabs, file: Path, other_name: str
) -> None:
    gone = Page(file, other_name)
    gone.dirty = True
    tabs.dirty_elsewhere = [TabView("me", "gone", gone.told())]
    with pytest.raises(UnsavedElsewhere):
        await access.document(PATH).apply([EditSource(ONE, "1", "2")])
    tabs.dirty_elsewhere = []
    tabs.pages = [Page(file), Page(file, other_name)]
    for page in tabs.pages:
        page.type_in(1, f"typed in {page.path}")
    with pytest.raises(UnsavedElsewhere, match="in another tab"):
        await access.document(PATH).apply([EditSource(ONE, "1", "2")])
    assert sources_in(file)[0] == "a = 1"


async def test_of_two_names_the_one_with_unsaved_changes_is_asked_and_the_other_told(
    access: NotebookAccess, tabs: Tabs, file: Path, other_name: str
) -> None:
    named, other = Page(file), Page(file, other_name)
    other.type_in(1, "typed, not saved")
    tabs.pages = [named, other]
    await access.document(PATH).apply([EditSource(ONE, "1", "2")])
    assert other.asked and not named.asked
    assert tabs.saves == [(other_name, file_hash(file), True), (PATH, file_hash(file), False)]


async def test_a_link_that_leads_elsewhere_by_now_is_another_notebook(
    access: NotebookAccess, tabs: Tabs, file: Path
) -> None:
    link, elsewhere = file.with_name("link.ipynb"), file.with_name("elsewhere.ipynb")
    link.symlink_to(file)
    tabs.pages.append(Page(file, link.name))
    document = access.document(PATH)
    assert (await document.snapshot()).source == "tab"
    elsewhere.write_text(json.dumps(notebook(code("one", "b"))), "utf-8")
    link.unlink()
    link.symlink_to(elsewhere)
    assert (await document.snapshot()).source == "disk"


# ---- folders that move, and go


def test_a_folder_that_is_renamed_takes_along_what_is_known_of_it(access: NotebookAccess) -> None:
    moves: list[tuple[str, str]] = []
    access.on_moved(lambda old, new: moves.append((old, new)))
    access.deleted("new/b.ipynb")
    access.moved("old", "new")
    access.moved("new/a.ipynb", "new/c.ipynb")
    assert access.now_at("old/a.ipynb") == "new/c.ipynb" and access.now_at("old/b.ipynb") == "new/b.ipynb"
    assert moves == [("old", "new"), ("new/a.ipynb", "new/c.ipynb")]


async def test_what_was_in_a_deleted_folder_is_gone_until_it_is_there_again(
    access: NotebookAccess, tabs: Tabs, file: Path
) -> None:
    (file.parent / "shelf").mkdir()
    place = file.rename(file.parent / "shelf" / PATH)
    page = Page(place, f"shelf/{PATH}")
    tabs.pages.append(page)
    access.deleted("shelf")
    with pytest.raises(NotFound, match="deleted"):
        await access.document(f"shelf/{PATH}").apply([EditSource(ONE, "1", "2")])
    access.moved("drawer", "shelf")
    await access.document(f"shelf/{PATH}").apply([EditSource(ONE, "1", "2")])
    assert page.sources[0] == "a = 2"


@pytest.mark.long
def test_of_many_renames_and_deletions_the_last_are_remembered(access: NotebookAccess) -> None:
    for number in range(3_000):
        access.moved(f"{number}.ipynb", f"new-{number}.ipynb")
        access.deleted(f"gone-{number}.ipynb")
    assert access.now_at("2999.ipynb") == "new-2999.ipynb" and access.now_at("0.ipynb") == "0.ipynb"
    assert len(access._whereabouts._now) == len(access._whereabouts._gone) == 2_000
