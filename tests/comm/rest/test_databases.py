"""A notebook's databases over REST: with a real kernel on the real server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jupyter_server.serverapp import ServerApp

from hdsp_agent.comm.services import Services
from tests._helpers.jupyter_fetch import Fetch
from tests._helpers.timing import until
from tests.comm._helpers.jupyterlab_kernels import lab, write_notebook
from tests.comm._helpers.polled_answers import polled
from tests.comm.rest.test_checkpoints import post, refusal

PATH = "work.ipynb"
CELLS = ("n = 1",)
MADE = (
    "import sqlite3; shop = sqlite3.connect(':memory:')\n"
    "shop.execute('create table people (id integer primary key, name text)')\n"
    "shop.execute(\"insert into people values (1, 'Zoe')\"); shop.execute('create view names as select name from people')"
)


async def seen(jp_fetch: Fetch) -> Any:
    """The databases, once the kernel has heard that no cell runs."""
    return await polled(lambda: post(jp_fetch, "databases", path=PATH), lambda view: view["answers"] != "later")


async def test_tables_and_their_columns_are_told_and_no_row(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    async with lab(jp_serverapp, jp_fetch, PATH, CELLS) as work:
        await work.run(MADE)
        view = await seen(jp_fetch)
        assert view == {
            "path": PATH,
            "answers": "now",
            "databases": [
                {
                    "name": "shop",
                    "kind": "sqlite",
                    "place": "",
                    "tables": [{"name": "names", "isView": True}, {"name": "people", "isView": False}],
                    "isPartial": False,
                    "isWaiting": False,
                }
            ],
        }
        whole = (await post(jp_fetch, "databases", "schema", path=PATH, database="shop"))["text"]
        assert "View names\n  name TEXT\nTable people\n  id INTEGER, primary key\n  name TEXT" in whole
        asked = {"path": PATH, "database": "shop", "table": {"name": "people"}}
        text = (await post(jp_fetch, "databases", "schema", **asked))["text"]
        assert "people" in text and "names" not in text and "Zoe" not in whole + text
        for wrong in ({"database": "n"}, {"database": "shop", "table": {"name": "gone"}}):
            assert (await refusal(post(jp_fetch, "databases", "schema", path=PATH, **wrong)))[0] == 404
        unnamed = post(jp_fetch, "databases", "schema", path=PATH, database="shop", table={"name": ""})
        assert (await refusal(unnamed))[0] == 400


async def test_the_list_is_made_anew_once_something_ran(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    async with lab(jp_serverapp, jp_fetch, PATH, CELLS) as work:
        await work.run(MADE)
        assert await seen(jp_fetch) == await seen(jp_fetch)
        await work.run("shop.execute('create table more (x)')")
        # The server hears of the run a moment after the reply to who ran it.
        await polled(
            lambda: seen(jp_fetch),
            lambda view: [one["name"] for one in view["databases"][0]["tables"]] == ["more", "names", "people"],
        )


async def test_while_a_cell_runs_it_is_said_that_it_takes_until_later(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    async with lab(jp_serverapp, jp_fetch, PATH, CELLS) as work:
        await work.run(MADE)
        await seen(jp_fetch)
        request = work.send("import os, time\nopen('go', 'w').close()\nwhile os.path.exists('go'): time.sleep(0.01)")
        await until((jp_root_dir / "go").exists)
        # The server has yet to hear that it is busy.
        view = await polled(lambda: post(jp_fetch, "databases", path=PATH), lambda view: view["answers"] == "later")
        assert view == {"path": PATH, "answers": "later", "databases": []}
        asked = post(jp_fetch, "databases", "schema", path=PATH, database="shop")
        assert await refusal(asked) == (503, "unavailable")
        (jp_root_dir / "go").unlink()
        await work.replied(request)
        assert (await seen(jp_fetch))["databases"][0]["name"] == "shop"


async def test_why_a_database_is_not_read_is_told(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    async with lab(jp_serverapp, jp_fetch, PATH, CELLS) as work:
        await work.run("import sqlite3; gone = sqlite3.connect(':memory:'); gone.close()")
        (view,) = (await seen(jp_fetch))["databases"]
        assert (view["reason"], view["error"]) == ("failed", "ProgrammingError: Cannot operate on a closed database.")


async def test_no_kernel_is_started_to_look(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    write_notebook(jp_root_dir / PATH, *CELLS)
    assert await post(jp_fetch, "databases", path=PATH) == {"path": PATH, "answers": "now", "databases": []}
    assert (await refusal(post(jp_fetch, "databases", "schema", path=PATH, database="shop")))[0] == 404
    assert not jp_serverapp.kernel_manager.list_kernel_ids()
