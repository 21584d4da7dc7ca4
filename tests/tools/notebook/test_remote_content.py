"""What a Markdown cell fetches when JupyterLab shows it: the page's tests hold the same table to JupyterLab's own renderer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NotRequired, TypedDict

import pytest

from hdsp_agent.agent.approval import ApprovalEngine
from hdsp_agent.config import GlobalSettings, ModeConfig, OperatorPolicy
from hdsp_agent.messages import CellId, ChangeCellType, DeleteCell, InsertCell, NotebookOperation, ReplaceSource
from hdsp_agent.notebooks import Cell, CellType, source_hash
from hdsp_agent.tools.notebook._remote_content import remote_content
from hdsp_agent.tools.notebook._remote_risks import remote_risks

from ..._helpers.timing import processor_time
from ._helpers.notebook_tasks import notebook_task

TABLE = Path(__file__).parents[3] / "src/ui/markdown/__tests__/remotecontent.json"
PICTURE = "![plot](https://e.test/?q=secret)"
LINK = "[docs](https://e.test/docs)"


class Form(TypedDict):
    """One text, and what becomes of it."""

    text: str
    fetched: bool
    """Whether it counts as using the network."""
    asks: bool
    """Whether JupyterLab's renderer makes something of it that asks another host."""
    draws: NotRequired[bool]
    links: NotRequired[bool]


FORMS: list[Form] = json.loads(TABLE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("form", FORMS, ids=lambda form: repr(form["text"])[:80])
def test_what_counts_as_fetched(form: Form) -> None:
    found = remote_content(form["text"])
    assert bool(found.fetched) == form["fetched"]
    assert form["fetched"] or not form["asks"]
    if "links" in form:
        assert bool(found.links) == form["links"]


def test_the_table_has_what_it_should() -> None:
    assert len(FORMS) >= 130
    assert sum(form["asks"] for form in FORMS) >= 50
    assert sum(form.get("draws", False) for form in FORMS) >= 12
    assert sum(not form["fetched"] for form in FORMS) >= 35


@pytest.mark.parametrize(
    "text",
    [
        "![" * 100_000 + "](https://e.test)",
        "![a" * 100_000 + "//",
        "<a " * 100_000 + "//",
        "<img " + "a " * 100_000 + "//",
        "<img" + " " * 100_000 + "//",
        "<img src=" + '"' * 100_000 + "//",
        "[a]: " * 100_000 + "![a] //",
        "[" * 100_000 + "]: // ![a]",
        "```mermaid\n//x" + "`" * 100_000,
        "```mermaid\n" * 50_000 + "//",
        "```mermaid ```\n" * 50_000 + "x",
        "```mermaid\n" * 50_000 + "```",
        "&#x2f;" * 200_000,
        "://" * 100_000,
        "a." * 100_000 + "://",
        "](" * 100_000 + "//",
        "]:" + " " * 100_000 + "//x ![a]",
    ],
    ids=range(17),
)
def test_a_text_made_to_take_long_does_not(text: str) -> None:
    with processor_time(5):
        remote_content(text)


def cell(source: str, cell_type: CellType = "markdown") -> Cell:
    return Cell(id=CellId("c1"), cell_type=cell_type, source=source, hash=source_hash(source))


def insert(source: str, cell_type: CellType = "markdown") -> InsertCell:
    return InsertCell(cell_id=CellId("new"), cell_type=cell_type, source=source)


def changed(source: str) -> ReplaceSource:
    return ReplaceSource(cell_id=CellId("c1"), source=source)


TO_MARKDOWN = ChangeCellType(cell_id=CellId("c1"), cell_type="markdown")
TO_CODE = ChangeCellType(cell_id=CellId("c1"), cell_type="code")


@pytest.mark.parametrize(
    ("before", "operations", "risks", "flags"),
    [
        (cell("x"), [insert(PICTURE)], {"network"}, ("remote_content",)),
        (cell("x"), [insert(LINK)], set(), ("remote_content",)),
        (cell("x"), [insert("![plot](plot.png)")], set(), ()),
        (cell("x"), [insert(PICTURE, "code")], set(), ()),
        (cell("x"), [insert(PICTURE, "raw")], set(), ()),
        (cell("x"), [changed(PICTURE)], {"network"}, ("remote_content",)),
        (cell("x", "code"), [changed(PICTURE)], set(), ()),
        (cell("x", "code"), [changed(PICTURE), TO_MARKDOWN], {"network"}, ("remote_content",)),
        (cell(PICTURE, "code"), [TO_MARKDOWN], {"network"}, ("remote_content",)),
        (cell(PICTURE, "raw"), [TO_MARKDOWN], {"network"}, ("remote_content",)),
        (cell("x"), [changed(PICTURE), TO_CODE], set(), ()),
        (cell("x"), [changed(PICTURE), changed("y")], set(), ()),
        (cell("x"), [changed(PICTURE), DeleteCell(cell_id=CellId("c1"))], set(), ()),
        (cell(PICTURE), [changed(f"{PICTURE}\n\nmore")], set(), ()),
        (cell(LINK), [changed(f"{LINK} more")], set(), ()),
        (cell(PICTURE), [changed("![plot](https://e.test/?q=other)")], {"network"}, ("remote_content",)),
        (cell(f"`{LINK}`"), [changed(f"!{LINK}")], {"network"}, ("remote_content",)),
        (cell("![x]"), [changed("![x]\n\n[x]: https://e.test")], {"network"}, ("remote_content",)),
        (cell("x"), [], set(), ()),
    ],
)
def test_what_a_change_risks(
    before: Cell, operations: list[NotebookOperation], risks: set[str], flags: tuple[str, ...]
) -> None:
    found = remote_risks([before], operations)
    assert found.risks == risks
    assert found.flags == flags


async def test_changing_cells_asks_about_the_network(workspace: Path) -> None:
    async with notebook_task(workspace, ("markdown", "text"), "x = 1") as task:
        await task.text("read_notebook", view="cells")
        for operation, risks, flags in (
            ({"op": "insert", "cell_type": "markdown", "source": PICTURE}, {"write", "network"}, ("remote_content",)),
            ({"op": "edit", "cell": "c1", "old": "text", "new": PICTURE}, {"write", "network"}, ("remote_content",)),
            ({"op": "insert", "cell_type": "markdown", "source": LINK}, {"write"}, ("remote_content",)),
            ({"op": "insert", "cell_type": "markdown", "source": "![p](p.png)"}, {"write"}, ()),
            ({"op": "insert", "source": f"print('{PICTURE}')"}, {"write"}, ()),
            ({"op": "change_type", "cell": "c2", "cell_type": "markdown"}, {"write"}, ()),
        ):
            await task.text("edit_cells", operations=[operation])
            action = task.approvals[-1].action
            assert action.risks == risks, operation
            assert action.flags == flags, operation


async def test_a_new_notebook_asks_about_the_network(workspace: Path) -> None:
    async with notebook_task(workspace, "x") as task:
        await task.text("create_notebook", path="new.ipynb", cells=[{"source": PICTURE, "cell_type": "markdown"}])
        action = task.approvals[-1].action
        assert action.risks == {"write", "network"}
        assert action.flags == ("remote_content",)
        await task.text("create_notebook", path="newer.ipynb", cells=[{"source": PICTURE}])
        action = task.approvals[-1].action
        assert action.risks == {"write"}
        assert action.flags == ()


async def test_a_notebook_is_not_written_as_a_file(workspace: Path) -> None:
    async with notebook_task(workspace, "x") as task:
        await task.failure("write_to_file", path="other.ipynb", content="{}")
        assert not (workspace / "other.ipynb").exists()


async def test_auto_approved_edits_do_not_cover_it(workspace: Path) -> None:
    settings = GlobalSettings(auto_approval_enabled=True, always_allow_write=True)
    mode = ModeConfig(slug="code", name="Code", role_definition="Write code.", groups=("read", "edit", "command"))
    async with notebook_task(workspace, "x") as task:
        verdicts = []
        for source in (PICTURE, LINK):
            operation = {"op": "insert", "cell_type": "markdown", "source": source}
            await task.text("edit_cells", operations=[operation])
            action = task.approvals[-1].action
            decided = ApprovalEngine().decide(action, settings=settings, policy=OperatorPolicy(), mode=mode)
            verdicts.append(decided.verdict)
        assert verdicts == ["ask", "approve"]
