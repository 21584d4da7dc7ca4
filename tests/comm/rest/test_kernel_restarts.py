"""A person restarts a kernel and lets its cells run again up to one of them: with real kernels on the real server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jupyter_server.serverapp import ServerApp

from hdsp_agent.comm.services import Services
from tests._helpers.jupyter_fetch import Fetch
from tests.comm._helpers.jupyterlab_kernels import lab
from tests.comm._helpers.polled_answers import polled
from tests.comm.rest.test_checkpoints import NOBODY, get, post, refusal
from tests.comm.test_checkpoint_restore import value
from tests.comm.test_iopub_bridge import until

PATH = "work.ipynb"
CELLS = ("open('runs.txt', 'a').write('x')\nn = 1", "n += 1\nprint(n)", "raise ValueError('never')")


async def ended(jp_fetch: Fetch, run: str) -> Any:
    return await polled(lambda: get(jp_fetch, "kernel-restarts", run), lambda told: told["done"])


def outputs(file: Path) -> list[list[Any]]:
    return [cell["outputs"] for cell in json.loads(file.read_text("utf-8"))["cells"]]


async def test_the_kernel_restarts_and_its_cells_run_again_up_to_the_one_that_was_chosen(
    services: Services, tmp_path: Path, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    async with lab(jp_serverapp, jp_fetch, PATH, CELLS) as work:
        await work.run("n, mine = 99, 'kept'")
        preview = await post(jp_fetch, "kernel-restarts", "preview", path=PATH, cell="c1")
        assert [(cell["cell"], cell["source"]) for cell in preview["cells"]] == [("c0", CELLS[0]), ("c1", CELLS[1])]
        assert preview["cells"][0]["effects"] == ["files"] and preview["kernel"].startswith("Python 3")
        assert not (jp_root_dir / "runs.txt").exists() and await value(work, "n", tmp_path) == "99"

        run = await post(jp_fetch, "kernel-restarts", path=PATH, cell="c1", seen=preview["seen"])
        done = await ended(jp_fetch, run["id"])
        assert [(cell["cellId"], cell["state"]) for cell in done["cells"]] == [("c0", "ok"), ("c1", "ok")]
        await work.connect()
        assert await value(work, "(n, 'mine' in globals())", tmp_path) == "(2, False)"
        assert (jp_root_dir / "runs.txt").read_text() == "x"
        # What they print is in the notebook, as with every run.
        await until(lambda: outputs(jp_root_dir / PATH)[1])
        assert [one["text"] for one in outputs(jp_root_dir / PATH)[1]] == [["2\n"]]

        # What the kernel had is not lost.
        (before,) = [
            one["checkpoint"]
            for one in (await get(jp_fetch, "checkpoints"))["operations"]
            if one["checkpoint"]["reason"] == "before restart"
        ]
        assert (before["kind"], before["tool"], before["variables"]) == ("before", "restart", [PATH])
        await post(jp_fetch, "checkpoints", before["id"], "restore", parts={"variables": True}, path=PATH)
        assert await value(work, "(n, mine)", tmp_path) == "(99, 'kept')"


async def test_only_the_cells_that_were_seen_run(
    services: Services, tmp_path: Path, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    async with lab(jp_serverapp, jp_fetch, PATH, CELLS) as work:
        await work.run("n = 99")
        preview = await post(jp_fetch, "kernel-restarts", "preview", path=PATH, cell="c1")
        changed = (jp_root_dir / PATH).read_text().replace("n = 1", "n = 5")
        (jp_root_dir / PATH).write_text(changed)
        asked = {"path": PATH, "cell": "c1", "seen": preview["seen"]}
        assert await refusal(post(jp_fetch, "kernel-restarts", **asked)) == (409, "conflict")
        assert await value(work, "n", tmp_path) == "99"
        for nowhere in ({"cell": "gone"}, {"checkpoint": "0" * 16}):
            assert (await refusal(post(jp_fetch, "kernel-restarts", "preview", path=PATH, **nowhere)))[0] == 404
        assert (await refusal(post(jp_fetch, "kernel-restarts", "preview", path=PATH)))[0] == 400
        assert (await refusal(get(jp_fetch, "kernel-restarts", NOBODY)))[0] == 404
        # Nor is another kernel restarted than the one whose variables were said to be lost.
        preview = await post(jp_fetch, "kernel-restarts", "preview", path=PATH, cell="c1")
        await work.shut_down()
        asked["seen"] = preview["seen"]
        assert await refusal(post(jp_fetch, "kernel-restarts", **asked)) == (409, "conflict")


async def test_it_goes_up_to_where_a_checkpoint_was_and_stops_when_told(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    slow = "import pathlib, time\npathlib.Path('begun').touch()\nif pathlib.Path('slow').exists(): time.sleep(300)"
    async with lab(jp_serverapp, jp_fetch, PATH, ("a = 1", slow, "c = 3", "d = 4")) as work:
        # As the page does it, which names its cells to nobody but the kernel.
        await work.run("a = 1", slow)
        notebook = json.loads((jp_root_dir / PATH).read_text())
        for number, cell in enumerate(notebook["cells"][:2], 1):
            cell["execution_count"] = number
        (jp_root_dir / PATH).write_text(json.dumps(notebook))
        here = await post(jp_fetch, "checkpoints", note="here", path=PATH)
        await work.run("c = 3")
        preview = await post(jp_fetch, "kernel-restarts", "preview", path=PATH, checkpoint=here["id"])
        assert (preview["cellId"], len(preview["cells"])) == ("c1", 2)

        (jp_root_dir / "begun").unlink()
        (jp_root_dir / "slow").touch()
        preview = await post(jp_fetch, "kernel-restarts", "preview", path=PATH, cell="c3")
        run = await post(jp_fetch, "kernel-restarts", path=PATH, cell="c3", seen=preview["seen"])
        await until((jp_root_dir / "begun").exists)
        await post(jp_fetch, "kernel-restarts", run["id"], "stop")
        done = await ended(jp_fetch, run["id"])
        states = [(cell["state"], cell.get("error")) for cell in done["cells"]]
        assert [state for state, _ in states] == ["ok", "interrupted", "interrupted", "interrupted"]
        assert states[3][1] == "It was not run."
