"""A notebook's variables over REST: with a real kernel on the real server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jupyter_client.kernelspec import NoSuchKernel, get_kernel_spec
from jupyter_server.serverapp import ServerApp

from hdsp_agent.comm.services import Services
from tests._helpers.jupyter_fetch import Fetch
from tests._helpers.timing import until
from tests.comm._helpers.jupyterlab_kernels import lab, write_notebook
from tests.comm._helpers.polled_answers import polled
from tests.comm.rest.test_checkpoints import post, refusal

PATH = "work.ipynb"
CELLS = ("n = 1",)


def by_name(view: Any) -> dict[str, Any]:
    return {one["name"]: one for one in view["variables"]}


async def seen(jp_fetch: Fetch) -> Any:
    """The variables, once the server knows that no cell runs, and the kernel what changed."""
    # It hears that a cell is done a moment after the reply to who ran it.
    return await polled(
        lambda: post(jp_fetch, "variables", path=PATH),
        lambda view: view["kernel"]["answers"] != "later" and view["since"].get("unknown") not in ("busy", "pending"),
    )


def changes(view: Any) -> dict[str, tuple[str, bool]]:
    return {one["name"]: (one["kind"], one["canRestore"]) for one in view["since"]["changes"]}


async def test_variables_are_listed_with_what_changed_since_the_newest_checkpoint(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    async with lab(jp_serverapp, jp_fetch, PATH, CELLS) as work:
        await work.run("import pandas as pd\ndf = pd.DataFrame({'price': [1.0, None]})\nrows = [1]\nold = 1")
        view = await seen(jp_fetch)
        assert (view["kernel"]["language"], view["kernel"]["answers"]) == ("python", "now")
        assert view["since"] == {"changes": [], "unknown": "no_checkpoint"}
        df = by_name(view)["df"]
        assert (df["shape"], df["columns"]) == ([2, 1], [{"name": "price", "dtype": "float64"}])
        assert [one["name"] for one in view["variables"]] == ["old", "rows", "df"]

        saved = await post(jp_fetch, "checkpoints", path=PATH, note="before")
        await work.run("rows.append(2); del old; new = 1")
        view = await seen(jp_fetch)
        assert view["since"]["checkpoint"] == saved["id"]
        expected = {"rows": ("changed", True), "new": ("added", False), "old": ("gone", True)}
        assert changes(view) == expected
        assert "since" not in await post(jp_fetch, "variables", path=PATH, changes=False)

        parts = {"variables": True, "path": PATH, "onlyVariables": ["rows"]}
        await post(jp_fetch, "checkpoints", saved["id"], "restore", parts=parts, path=PATH)
        del expected["rows"]
        assert changes(await seen(jp_fetch)) == expected
        # A checkpoint right after it is a new beginning.
        accepted = await post(jp_fetch, "checkpoints", path=PATH)
        assert not accepted.get("already")
        view = await seen(jp_fetch)
        assert (view["since"]["checkpoint"], changes(view)) == (accepted["id"], {})


async def test_where_variables_are_not_kept_it_is_said(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    await services.config.update({"checkpointVariables": False})
    async with lab(jp_serverapp, jp_fetch, PATH, CELLS) as work:
        await work.run("n = 1")
        assert (await seen(jp_fetch))["since"]["unknown"] == "turned_off"


async def test_a_kernel_that_was_never_asked_answers_when_its_cell_is_done(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    async with lab(jp_serverapp, jp_fetch, PATH, CELLS) as work:
        await work.run("n = 1")
        request = work.send("import os, time\nopen('go', 'w').close()\nwhile os.path.exists('go'): time.sleep(0.01)")
        # The server has yet to hear that it is busy.
        await until(lambda: getattr(work.manager, "execution_state", None) == "busy" and (jp_root_dir / "go").exists())
        view = await post(jp_fetch, "variables", path=PATH)
        assert (view["kernel"]["answers"], view["variables"]) == ("later", [])
        (jp_root_dir / "go").unlink()
        await work.replied(request)
        assert "n" in by_name(await seen(jp_fetch))


async def test_rows_of_a_variable(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    async with lab(jp_serverapp, jp_fetch, PATH, CELLS) as work:
        await work.run("import pandas as pd\ndf = pd.DataFrame({'price': [1.0, None] * 40})")
        table = await post(jp_fetch, "variables", "table", path=PATH, name="df", start=40)
        assert table["variable"]["columns"] == [{"name": "price", "dtype": "float64", "missing": 40}]
        assert (table["start"], table["index"][0], len(table["rows"])) == (40, "40", 40)
        assert table["rows"][:2] == [["1.0"], [None]]
        asked = {"path": PATH, "name": "gone"}
        assert (await refusal(post(jp_fetch, "variables", "table", **asked)))[0] == 404
        assert (await refusal(post(jp_fetch, "variables", "table", path=PATH, name="df", start=-1)))[0] == 400


async def test_no_kernel_is_started_to_look(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    write_notebook(jp_root_dir / PATH, *CELLS)
    assert await post(jp_fetch, "variables", path=PATH) == {"path": PATH, "variables": [], "unseen": []}
    assert (await refusal(post(jp_fetch, "variables", "table", path=PATH, name="n")))[0] == 404
    assert not jp_serverapp.kernel_manager.list_kernel_ids()


async def test_a_kernel_of_another_language_says_that_it_cannot(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    try:
        get_kernel_spec("bash")
    except NoSuchKernel:
        pytest.skip("there is no other kernel here")
    async with lab(jp_serverapp, jp_fetch, PATH, CELLS, kernel="bash"):
        view = await post(jp_fetch, "variables", path=PATH)
        assert view["variables"] == [] and view["kernel"]["answers"] == "never" and view["kernel"]["language"] == "bash"
