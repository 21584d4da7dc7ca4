"""Reading notebooks: outlines, sources, outputs, and what must not be read."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from hdsp_agent.messages import NotebookRef
from hdsp_agent.tools import PathPolicy, notebook_digest

from ...notebooks._helpers.headless import end_kernel, headless_notebooks
from ._helpers.notebook_tasks import notebook_task, texts

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


async def test_an_outline_tells_ids_types_and_what_never_ran(workspace: Path) -> None:
    async with notebook_task(workspace, ("markdown", "## Data\n\ntext"), "x = 1", "print(x)\nx") as task:
        text = await task.text("read_notebook")
        assert "work.ipynb: 3 cells, 2 of them code; no kernel runs, made for python3." in text
        assert "1 c1 markdown ## Data … 3 lines" in text
        assert "2 c2 code [ ] (never ran) x = 1" in text
        assert task.approvals[0].action.risks == {"read"}
        assert task.approvals[0].shown["tool"] == "readNotebook"


async def test_states_follow_what_ran_and_what_was_changed(workspace: Path) -> None:
    async with notebook_task(workspace, "x = 1", "y = x", "y") as task:
        await task.text("run_cells", cells=["all"])
        assert "2 c2 code [2] (fresh)" in await task.text("read_notebook")
        await task.text("edit_cells", operations=[{"op": "replace", "cell": "c1", "source": "x = 2"}])
        await task.text("run_cells", cells=["c1"])
        await asyncio.to_thread(task.change, "c3", "y + 1")
        text = await task.text("read_notebook")
        assert "1 c1 code [4] (fresh) x = 2" in text
        assert "2 c2 code [2] (stale: cell 1 above ran later) y = x" in text
        assert "3 c3 code [3] (stale: changed since it ran) y + 1" in text
        await task.text("manage_kernel", action="restart")
        assert "(unknown) x = 2" in await task.text("read_notebook", cells=["c1"])


async def test_without_a_kernel_nothing_that_ran_is_there(workspace: Path) -> None:
    async with notebook_task(workspace, "x = 1") as task:
        await task.text("run_cells", cells=["all"])
        await end_kernel(task.notebooks.executor, "work.ipynb")
        assert "(stale: not run in this kernel)" in await task.text("read_notebook")


async def test_cells_are_named_by_id_number_and_range(workspace: Path) -> None:
    async with notebook_task(workspace, *(f"v{number}" for number in range(1, 7))) as task:
        for cells, expected in (
            (["c2", 4], [2, 4]),
            (["2-3"], [2, 3]),
            (["5.."], [5, 6]),
            (["..c2"], [1, 2]),
            (["c3..4", "3"], [3, 4]),
            ("6", [6]),
        ):
            text = await task.text("read_notebook", view="cells", cells=cells)
            assert [number for number in range(1, 7) if f"\nv{number}\n" in text] == expected, cells
        shown = [approval.shown["reason"] for approval in task.approvals]
        assert shown == ["cells: 2, 4", "cells: 2-3", "cells: 5-6", "cells: 1-2", "cells: 3-4", "cells: 6"]
        assert "has no cell nope. Its cells, by number and id: 1 c1, 2 c2" in await task.failure(
            "read_notebook", cells=["nope"]
        )
        assert "leads backwards" in await task.failure("read_notebook", cells=["4..2"])


async def test_outputs_are_bounded_kept_and_masked(workspace: Path) -> None:
    code = f"for number in range(3000): print(number, 'a line of text')\nprint('{SECRET}')"
    async with notebook_task(workspace, code) as task:
        result = await task.call("run_cells", cells=["c1"])
        text = texts(result.content)
        assert len(text) < 12_000
        assert "is left out: read or search it with read_command_output and artifact_id" in text
        assert SECRET not in text
        [(name, data)] = task.artifacts.items()
        assert name in text and b"1500 a line of text" in data and SECRET.encode() not in data
        found = await task.text("read_command_output", artifact_id=name, search="^1500 ")
        assert "1500 a line" in found
        text = texts((await task.call("read_notebook", view="outputs")).content)
        assert SECRET not in text and "2999 a line of text" in text
        assert all(SECRET not in shown for shown in task.shown_texts)


async def test_a_long_table_keeps_its_head_its_end_and_its_shape(workspace: Path) -> None:
    code = (
        "print('   city    value')\n"
        "for row in range(4000): print(f'{row:<6} Seoul   {row * 1.5:>9}')\n"
        "print('[4000 rows x 2 columns]')"
    )
    async with notebook_task(workspace, code) as task:
        text = texts((await task.call("run_cells", cells=["c1"])).content)
        read = texts((await task.call("read_notebook", view="outputs")).content)
    for told in (text, read):
        assert "   city    value" in told and "[4000 rows x 2 columns]" in told and "rows left out" in told
        assert "Total output lines: 4002" in told and len(told) < 12_500


async def test_a_long_traceback_keeps_where_it_broke_and_why(workspace: Path) -> None:
    code = (
        "def step(number):\n    if number == 0:\n        raise ValueError('the last row is broken')\n"
        "    return other(number - 1)\ndef other(number):\n    return step(number)\nstep(60)"
    )
    async with notebook_task(workspace, code) as task:
        text = texts((await task.call("run_cells", cells=["c1"])).content)
    assert "ValueError: the last row is broken" in text and "earlier frames left out" in text
    assert "raise ValueError('the last row is broken')" in text and "Total output lines" in text


async def test_of_a_progress_bar_only_its_end_is_told(workspace: Path) -> None:
    code = "for n in range(0, 101): print(f'train: {n:>3}%|{\"█\" * (n // 5):<20}| {n}/100 [00:{n % 60:02}<00:10]')\nprint('done')"
    async with notebook_task(workspace, code) as task:
        text = texts((await task.call("run_cells", cells=["c1"])).content)
    assert "100/100" in text and "done" in text
    assert "50/100" not in text


async def test_what_was_cut_is_told_of_all_there_was(workspace: Path) -> None:
    code = "for number in range(60_000): print(f'{number:>9} is a line of text')"
    async with notebook_task(workspace, code) as task:
        text = texts((await task.call("run_cells", cells=["c1"])).content)
    assert "Total output lines: 60000" in text
    assert re.search(r"1,6(80,000|79,999) characters is left out", text)


async def test_images_are_shown_to_the_model_scaled(workspace: Path) -> None:
    code = "from PIL import Image\nfrom IPython.display import display\ndisplay(Image.new('RGB', (3000, 1000), 'red'))"
    async with notebook_task(workspace, code) as task:
        ran = await task.call("run_cells", cells=["c1"])
        assert not ran.is_error and isinstance(ran.content, list)
        assert [block["type"] for block in ran.content] == ["text", "image"]
        [row] = task.rows("cell_executed")
        assert row.images[0].startswith("data:image/")
        read = await task.call("read_notebook", view="outputs")
        assert isinstance(read.content, list) and read.content[-1]["type"] == "image"


async def test_what_is_no_notebook_or_is_hidden_is_refused(workspace: Path) -> None:
    (workspace / "bad.ipynb").write_text("{not json")
    (workspace / "old.ipynb").write_text('{"nbformat": 3, "nbformat_minor": 0, "worksheets": [], "metadata": {}}')
    (workspace / ".hdspignore").write_text("private/\n")
    async with notebook_task(workspace) as task:
        assert "its JSON is not valid" in await task.failure("read_notebook", path="bad.ipynb")
        assert "notebook of format 3" in await task.failure("read_notebook", path="old.ipynb")
        assert "There is no notebook gone.ipynb" in await task.failure("read_notebook", path="gone.ipynb")
        assert "hidden from you" in await task.failure("read_notebook", path="private/x.ipynb")
        assert "is not a notebook" in await task.failure("read_notebook", path="a.py")
        assert "outside the folder Jupyter serves" in await task.failure("read_notebook", path="../out.ipynb")
        task.notebook = None
        assert "say which one by its path" in await task.failure("read_notebook")
        assert task.approvals == []


async def test_a_notebook_behind_a_link_keeps_the_name_it_was_called_by(workspace: Path) -> None:
    (workspace / "real").mkdir()
    (workspace / "link").symlink_to("real")
    async with notebook_task(workspace) as task:
        await asyncio.to_thread(task.write, "x = 1", name="real/a.ipynb")
        assert "link/a.ipynb: 1 cells" in await task.text("read_notebook", path="link/a.ipynb")
        task.notebook = NotebookRef(path="link/a.ipynb")
        await task.text("edit_cells", operations=[{"op": "insert", "source": "y"}])
        assert task.approvals[-1].action.path == "link/a.ipynb"
        assert await asyncio.to_thread(task.sources, "real/a.ipynb") == ["x = 1", "y"]


async def test_a_workspace_inside_the_servers_folder_names_notebooks_its_own_way(workspace: Path) -> None:
    async with notebook_task(workspace, "x = 1") as task, headless_notebooks(workspace.parent) as notebooks:
        task.working_notebooks = notebooks
        assert "work.ipynb: 1 cells" in await task.text("read_notebook", path="work.ipynb")
        task.notebook = NotebookRef(path="work/work.ipynb")
        await task.text("run_cells", cells=["1"])
        [row] = task.rows("cell_executed")
        assert row.notebook is not None and row.notebook.path == "work/work.ipynb"
        assert task.approvals[-1].action.path == "work.ipynb"


async def test_a_digest_tells_each_cell_and_keeps_hidden_notebooks_hidden(workspace: Path) -> None:
    async with notebook_task(workspace, *(f"v{number}" for number in range(100))) as task:
        told = await notebook_digest(task.notebooks, "work.ipynb", task.paths)
        assert told is not None and told.about == "Notebook of this task: work.ipynb, 100 cells, no kernel runs."
        assert told.is_seen and told.cells[0] == ("c1", "c1 code [ ] (never ran) v0") and len(told.cells) == 100
        gone = await notebook_digest(task.notebooks, "gone.ipynb", task.paths)
        assert gone is not None and "There is no notebook gone.ipynb" in gone.about and not gone.is_seen
        (workspace / ".hdspignore").write_text("*.ipynb\n")
        hidden = await asyncio.to_thread(PathPolicy, workspace)
        assert await notebook_digest(task.notebooks, "work.ipynb", hidden) is None


@pytest.mark.parametrize("folder", [False, True])
async def test_a_file_put_under_an_old_name_past_jupyter_is_the_one_that_is_meant(
    workspace: Path, folder: bool
) -> None:
    old, new = ("there/work.ipynb", "elsewhere/work.ipynb") if folder else ("work.ipynb", "renamed.ipynb")

    def renamed_and_copied() -> None:
        (workspace / "there").mkdir()
        task.write("mine = 1", name=old)
        (workspace / (old if not folder else "there")).rename(workspace / (new if not folder else "elsewhere"))
        (workspace / "there").mkdir(exist_ok=True)
        task.write("other = 2", name=old)

    async with notebook_task(workspace) as task:
        await asyncio.to_thread(renamed_and_copied)
        access = task.notebooks.access
        access.moved(*(("there", "elsewhere") if folder else (old, new)))
        assert "other = 2" in await task.text("read_notebook", path=old)
        await task.text("edit_cells", path=old, operations=[{"op": "edit", "cell": 1, "old": "2", "new": "3"}])
        assert await asyncio.to_thread(task.sources, new) == ["mine = 1"]
        assert await asyncio.to_thread(task.sources, old) == ["other = 3"]
        # And what was deleted in Jupyter and brought back past it.
        access.deleted(old)
        assert "other = 3" in await task.text("read_notebook", path=old)


async def test_a_notebook_renamed_to_where_it_is_hidden_is_not_reached_by_its_old_name(workspace: Path) -> None:
    def renamed() -> None:
        (workspace / ".hdspignore").write_text("secret/\n", "utf-8")
        (workspace / "secret").mkdir()
        (workspace / "work.ipynb").rename(workspace / "secret" / "work.ipynb")

    async with notebook_task(workspace, "token = 'x'") as task:
        await asyncio.to_thread(renamed)
        task.notebooks.access.moved("work.ipynb", "secret/work.ipynb")
        for path in ({}, {"path": "work.ipynb"}):
            result = await task.call("read_notebook", **path)
            assert result.is_error and "hidden" in texts(result.content) and "token" not in texts(result.content)
