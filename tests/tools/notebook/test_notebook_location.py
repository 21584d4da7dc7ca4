"""Which file a call means: one with several names, and one that became another while the person was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hdsp_agent.tools import Approval

from ...notebooks._helpers.pages import Page, Tabs
from ._helpers.notebook_tasks import NAME, notebook_task

APPROVED = Approval(approved=True, by_person=True)


async def test_a_notebook_open_by_a_link_is_read_changed_and_run_in_its_tab(workspace: Path) -> None:
    tabs = Tabs()
    async with notebook_task(workspace, "a = 1", "b = 2", tabs=tabs) as task:
        link = workspace / "link.ipynb"
        link.symlink_to(workspace / NAME)
        page = Page(link)
        page.type_in(1, "b = 'typed, not saved'")
        tabs.pages.append(page)
        assert "typed, not saved" in await task.text("read_notebook", path=NAME, view="cells")
        change = [{"op": "edit", "cell": "c1", "old": "1", "new": "10"}]
        assert "Changed link.ipynb" in await task.text("edit_cells", path=NAME, operations=change)
        assert page.sources == ["a = 10", "b = 'typed, not saved'"] and len(page.asked) == 1
        await task.text("run_cells", path=NAME, cells=["c1"])
        assert page.shown and {one.path for one in page.shown} == {"link.ipynb"}
        tabs.pages.clear()
        await task.text("run_code", path=NAME, code="a")
        kernels = await task.notebooks.executor.kernels()
        assert [kernel.path for kernel in kernels] == ["link.ipynb"], "its kernel goes on when the tab is closed"


async def test_a_name_that_is_hidden_is_not_gone_through_because_a_tab_uses_it(workspace: Path) -> None:
    tabs = Tabs()
    async with notebook_task(workspace, "a = 1", tabs=tabs) as task:
        (workspace / ".hdspignore").write_text("hidden.ipynb\n")
        link = workspace / "hidden.ipynb"
        link.symlink_to(workspace / NAME)
        tabs.pages.append(Page(link))
        change = [{"op": "insert", "source": "x"}]
        assert "hidden from you" in await task.failure("edit_cells", path=NAME, operations=change)


CALLS: dict[str, dict[str, Any]] = {
    "read_notebook": {"view": "cells"},
    "edit_cells": {"operations": [{"op": "insert", "source": "x"}]},
    "run_cells": {"cells": ["all"]},
    "run_code": {"code": "1"},
    "install_packages": {"packages": ["nothing-of-the-kind"]},
    "manage_kernel": {"action": "start"},
    "inspect_variables": {},
}


@pytest.mark.parametrize("tool", CALLS)
async def test_what_became_a_link_while_the_question_waited_is_let_be(
    workspace: Path, tmp_path_factory: pytest.TempPathFactory, tool: str
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "theirs.ipynb"
    async with notebook_task(workspace, "a = 1") as task:

        def swap() -> None:
            (workspace / NAME).rename(outside)
            (workspace / NAME).symlink_to(outside)

        before = (workspace / NAME).read_bytes()
        task.decide = after(swap)
        assert "became something else" in await task.failure(tool, **CALLS[tool])
        assert outside.read_bytes() == before and not await task.notebooks.executor.kernels()


async def test_a_link_in_the_workspace_that_leads_elsewhere_by_now_is_let_be(workspace: Path) -> None:
    async with notebook_task(workspace, "a = 1") as task:
        await asyncio.to_thread(task.write, "b", name="other.ipynb")
        link = workspace / "link.ipynb"
        link.symlink_to(workspace / NAME)

        def swap() -> None:
            link.unlink()
            link.symlink_to(workspace / "other.ipynb")

        task.decide = after(swap)
        change = [{"op": "insert", "source": "x"}]
        assert "became something else" in await task.failure("edit_cells", path="link.ipynb", operations=change)
        assert await asyncio.to_thread(task.sources, "other.ipynb") == ["b"]


async def test_a_folder_that_became_a_link_gets_no_new_notebook(
    workspace: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    async with notebook_task(workspace) as task:
        (workspace / "shelf").mkdir()

        def swap() -> None:
            (workspace / "shelf").rmdir()
            (workspace / "shelf").symlink_to(outside)

        task.decide = after(swap)
        assert "became something else" in await task.failure("create_notebook", path="shelf/new.ipynb", cells=[])
        assert not list(outside.iterdir())


async def test_a_rename_while_the_question_waits_is_no_reason_to_stop(workspace: Path) -> None:
    async with notebook_task(workspace, "a = 1") as task:

        def rename() -> None:
            (workspace / NAME).rename(workspace / "new.ipynb")
            task.notebooks.access.moved(NAME, "new.ipynb")

        task.decide = after(rename)
        await task.text("edit_cells", operations=[{"op": "insert", "source": "x"}])
        assert await asyncio.to_thread(task.sources, "new.ipynb") == ["a = 1", "x"]


def after(happening: Callable[[], None]) -> Callable[[object], Any]:
    """The person says yes, but something happens first."""

    async def decide(_: object) -> Approval:
        await asyncio.to_thread(happening)
        return APPROVED

    return decide
